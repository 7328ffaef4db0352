//! What is in the file is believed only as far as its seals go.

use rusqlite::Connection;
use tools::outcome::StepOutcome;
use tools::store::{AuditEntry, Opening, PlanState, Store, StoredPlan, Verified};

fn entry(plan: &str) -> AuditEntry {
    AuditEntry::Closed {
        at: 1,
        plan: plan.to_owned(),
        result: "applied".to_owned(),
        reason: None,
        affects: Vec::new(),
        steps: Vec::<StepOutcome>::new(),
    }
}

async fn filled(dir: &std::path::Path) -> Store {
    let store = Store::open(dir).unwrap();
    for plan in ["a", "b", "c"] {
        store.append_audit(&entry(plan)).await.unwrap();
    }
    store
}

#[tokio::test]
async fn an_edited_removed_or_reordered_entry_is_found() {
    for sql in [
        "UPDATE audit SET entry = replace(entry, 'applied', 'refused') WHERE seq = 2",
        "DELETE FROM audit WHERE seq = 2",
        "UPDATE audit SET seq = -1 WHERE seq = 1; UPDATE audit SET seq = 1 WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = -1",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = filled(dir.path()).await;
        assert!(matches!(
            store.verify_audit(None).await.unwrap(),
            Verified::Whole { entries: 3, .. }
        ));
        Connection::open(dir.path().join("oxmox.db"))
            .unwrap()
            .execute_batch(sql)
            .unwrap();
        assert!(
            matches!(
                store.verify_audit(None).await.unwrap(),
                Verified::Broken { .. }
            ),
            "{sql}"
        );
    }
}

#[tokio::test]
async fn who_looks_often_has_only_what_is_new_read() {
    let walked_on = async |sql: &str| {
        let dir = tempfile::tempdir().unwrap();
        let store = filled(dir.path()).await;
        let Verified::Whole { entries, head, .. } = store.verify_audit(None).await.unwrap() else {
            panic!("broken")
        };
        store.append_audit(&entry("d")).await.unwrap();
        let database = Connection::open(dir.path().join("oxmox.db")).unwrap();
        database.execute_batch(sql).unwrap();
        store.verify_audit_since(entries, &head).await.unwrap()
    };
    // Long before: not read again.
    for unseen in ["", "UPDATE audit SET entry = '{}' WHERE seq = 1"] {
        let walked = walked_on(unseen).await;
        let is_whole = matches!(walked, Verified::Whole { entries: 4, .. });
        assert!(is_whole, "{unseen}: {walked:?}");
    }
    let cut_off = walked_on("DELETE FROM audit WHERE seq >= 3").await;
    assert!(
        matches!(
            cut_off,
            Verified::Whole {
                anchored: Some(false),
                ..
            }
        ),
        "{cut_off:?}"
    );
    for (sql, seq) in [
        ("UPDATE audit SET entry = '{}' WHERE seq = 4", 4),
        ("UPDATE audit SET seq = 5 WHERE seq = 4", 4),
        // Where it was before is not there any more: all are read.
        ("UPDATE audit SET link = 'x' WHERE seq = 3", 3),
        ("DELETE FROM audit WHERE seq = 3", 3),
        (
            "DELETE FROM audit WHERE seq = 3; UPDATE audit SET entry = '{}' WHERE seq = 1",
            1,
        ),
    ] {
        assert_eq!(walked_on(sql).await, Verified::Broken { seq }, "{sql}");
    }
}

#[tokio::test]
async fn a_cut_tail_is_found_with_a_head_from_outside_only() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path()).await;
    let Verified::Whole { head, .. } = store.verify_audit(None).await.unwrap() else {
        panic!("broken")
    };
    Connection::open(dir.path().join("oxmox.db"))
        .unwrap()
        .execute_batch("DELETE FROM audit WHERE seq = 3")
        .unwrap();
    assert!(matches!(
        store.verify_audit(None).await.unwrap(),
        Verified::Whole { anchored: None, .. }
    ));
    assert!(matches!(
        store.verify_audit(Some(&head)).await.unwrap(),
        Verified::Whole {
            anchored: Some(false),
            ..
        }
    ));
}

#[test]
fn a_newer_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path()).unwrap());
    Connection::open(dir.path().join("oxmox.db"))
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let Err(fault) = Store::open(dir.path()) else {
        panic!("opened")
    };
    assert!(fault.message.contains("newer oxmox"), "{fault}");
}

#[test]
fn a_store_whose_key_was_lost_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path()).unwrap());
    drop(Store::open(dir.path()).unwrap());
    std::fs::remove_file(dir.path().join("key")).unwrap();
    let Err(fault) = Store::open(dir.path()) else {
        panic!("opened")
    };
    assert!(fault.message.contains("other keys"), "{fault}");
    assert!(fault.to_string().contains("put back the file"), "{fault}");
    assert!(!dir.path().join("key").exists());
    std::fs::write(dir.path().join("key"), [7; 32]).unwrap();
    assert!(Store::open(dir.path()).is_err());
}

/// A plan that waits for a person.
pub(super) async fn plan_to_store() -> StoredPlan {
    let house = crate::house::House::new().await;
    let tool = tools::registry::find_change("delete_proxmox_vm").unwrap();
    let arguments = crate::house::object(r#"{"vmid": 105}"#);
    let Ok(tools::tool::Ran::Plan(plan)) = tool.run(arguments, &house.context()).await else {
        panic!("no plan");
    };
    StoredPlan {
        id: "p".to_owned(),
        caller: "me".to_owned(),
        arguments: "args".to_owned(),
        digest: plan.digest(),
        plan: *plan,
        state: PlanState::Waiting,
        expires: 100,
        decided_by: None,
    }
}

/// Whatever is written into the rows by hand, an approval is for one plan, one caller, one call, once.
#[tokio::test]
async fn an_edited_plan_row_approves_nothing() {
    let stored = plan_to_store().await;
    for (sql, still_good) in [
        ("UPDATE plans SET expires = expires", true),
        ("UPDATE plans SET caller = 'evil'", false),
        ("UPDATE plans SET arguments = 'other'", false),
        ("UPDATE plans SET expires = expires + 1000", false),
        ("UPDATE plans SET plan = replace(plan, '105', '104')", false),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.keep_plan(&stored, 1).await.unwrap();
        assert!(store.decide_plan(&stored, true, "person", 1).await.unwrap());
        let edit = |sql: &str| {
            Connection::open(dir.path().join("oxmox.db"))
                .unwrap()
                .execute_batch(sql)
                .unwrap();
        };
        edit(sql);
        let read = store.plan("p").await.unwrap().unwrap();
        assert_eq!(read.state == PlanState::Approved, still_good, "{sql}");
        if still_good {
            let opened = entry("p");
            let opening = Opening {
                worker: "worker",
                steps: &[],
                opened: &opened,
                now: 1,
            };
            for is_first in [true, false] {
                let begun = store.begin_plan("p", PlanState::Approved, &opening);
                assert_eq!(begun.await.unwrap(), is_first);
            }
            edit("UPDATE plans SET state = 'approved'");
            assert_ne!(
                store.plan("p").await.unwrap().unwrap().state,
                PlanState::Approved
            );
        }
    }
}

/// What has come since each version, taken away again.
const SINCE: [(i64, &str); 6] = [
    (6, "DROP TABLE tokens;"),
    (5, "DROP TABLE meta;"),
    (4, "DROP INDEX plans_by_expiry;"),
    (3, "DROP TABLE baselines;"),
    (2, "DROP TABLE handles; DROP TABLE steps;"),
    (
        1,
        "DROP TABLE leases;
         CREATE TABLE leases (
             caller TEXT NOT NULL, guest TEXT NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY (caller, guest)
         ) STRICT;
         INSERT INTO leases VALUES ('me', 'home/105', 100);",
    ),
];

/// All that there is in a file.
fn layout(dir: &std::path::Path) -> Vec<(String, Option<String>)> {
    let connection = Connection::open(dir.join("oxmox.db")).unwrap();
    let mut rows = connection
        .prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
        .unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn a_file_of_every_older_version_is_brought_forward() {
    let stored = plan_to_store().await;
    let new = tempfile::tempdir().unwrap();
    drop(Store::open(new.path()).unwrap());
    for count in 1..=SINCE.len() {
        let dir = tempfile::tempdir().unwrap();
        let store = filled(dir.path()).await;
        store.keep_plan(&stored, 1).await.unwrap();
        drop(store);
        let connection = Connection::open(dir.path().join("oxmox.db")).unwrap();
        let mut version = 0;
        for (older, sql) in &SINCE[..count] {
            connection.execute_batch(sql).unwrap();
            version = *older;
        }
        connection
            .pragma_update(None, "user_version", version)
            .unwrap();
        assert_ne!(layout(dir.path()), layout(new.path()), "version {version}");

        let store = Store::open(dir.path()).unwrap();
        assert_eq!(layout(dir.path()), layout(new.path()), "version {version}");
        let trail = store.verify_audit(None).await.unwrap();
        assert!(matches!(trail, Verified::Whole { entries: 3, .. }));
        let kept = store.plan(&stored.id).await.unwrap().unwrap();
        assert_eq!(kept.plan.digest(), stored.digest, "version {version}");
        assert!(store.decide_plan(&kept, true, "person", 1).await.unwrap());
        assert!(!store.has_lease("me", "home/105", 1).await.unwrap());
        let opened = entry(&kept.id);
        let opening = Opening {
            worker: "worker",
            steps: &[],
            opened: &opened,
            now: 7,
        };
        let begun = store.begin_plan(&kept.id, PlanState::Approved, &opening);
        assert!(begun.await.unwrap());
        assert_eq!(store.handle(&kept.id).await.unwrap().unwrap().begun, 7);
        assert!(store.baselines().await.unwrap().is_empty());
    }
}

/// More than is read at a time, of whatever grows.
#[tokio::test]
async fn a_long_trail_moves_whole() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::open(from.path()).unwrap();
    let entries: Vec<_> = (0..2_500).map(|it| entry(&it.to_string())).collect();
    store.append_audits(&entries).await.unwrap();
    store.keep_plan(&plan_to_store().await, 1).await.unwrap();
    let mut lines = Vec::new();
    let take = |line| {
        lines.push(line);
        Ok(())
    };
    assert_eq!(store.export(take).await.unwrap(), 2_501);
    std::fs::copy(from.path().join("key"), to.path().join("key")).unwrap();
    let other = Store::open(to.path()).unwrap();
    assert_eq!(other.import(&lines).await.unwrap(), 2_501);
    let moved = other.verify_audit(None).await.unwrap();
    assert_eq!(moved, store.verify_audit(None).await.unwrap());
}

/// A trail that was edited on its way does not become one that verifies.
#[tokio::test]
async fn a_broken_trail_does_not_move() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = filled(from.path()).await;
    let mut lines = Vec::new();
    let take = |line| {
        lines.push(line);
        Ok(())
    };
    store.export(take).await.unwrap();
    std::fs::copy(from.path().join("key"), to.path().join("key")).unwrap();
    let other = Store::open(to.path()).unwrap();
    let at = lines
        .iter()
        .position(|line: &String| line.contains("applied"));
    let first = at.unwrap();
    let mut edited = lines.clone();
    edited[first] = edited[first].replace("applied", "refused");
    let mut reordered = lines.clone();
    reordered.swap(first, first + 1);
    let mut numbered = lines.clone();
    numbered[first] = numbered[first].replacen("[1,", "[7,", 1);
    assert_ne!(numbered, lines);
    for broken in [edited, reordered, numbered] {
        let fault = other.import(&broken).await.unwrap_err();
        assert!(fault.message.contains("trail is broken"), "{fault}");
    }
    other.import(&lines).await.unwrap();
}

/// Forwards for whoever keeps a copy, backwards for whoever looks at what happened last.
#[tokio::test]
async fn a_trail_is_read_from_either_end() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path()).await;
    let since = store.audit_since(1).await.unwrap();
    let numbers: Vec<_> = since.iter().map(|(seq, ..)| *seq).collect();
    assert_eq!(numbers, [2, 3]);
    assert!(since[0].1.contains(r#""plan":"b""#), "{since:?}");
    assert_eq!(since[1].2, store.audit_trail(1).await.unwrap()[0].link);
    let (page, last) = store.audit_before(3).await.unwrap();
    let numbers: Vec<_> = page.iter().map(|link| link.seq).collect();
    assert_eq!((numbers, last), (vec![2, 1], Some(1)));
    let (page, last) = store.audit_before(1).await.unwrap();
    assert!(page.is_empty() && last.is_none());
}

#[tokio::test]
async fn change_is_refused_once_the_file_of_the_store_was_replaced_or_removed() {
    let replace = |file: &std::path::Path| {
        let copy = file.with_extension("copy");
        std::fs::copy(file, &copy).unwrap();
        std::fs::rename(copy, file).unwrap();
    };
    let remove = |file: &std::path::Path| std::fs::remove_file(file).unwrap();
    for swap in [&replace as &dyn Fn(&std::path::Path), &remove] {
        let dir = tempfile::tempdir().unwrap();
        let house = crate::house::House::furnished(crate::house::Furnish {
            state: tools::engine::State::Dir(dir.path().to_owned()),
            ..crate::house::Furnish::default()
        })
        .await;
        let set = |cores: u8| format!(r#"{{"vmid": 105, "set": {{"cores": {cores}}}}}"#);
        let done = house.call("update_proxmox_vm", &set(3)).await.unwrap();
        assert_eq!(done.data["status"], "applied");
        let before = house.writes();
        let store = house.engine.store().await.unwrap();
        assert!(store.is_in_place());
        swap(&dir.path().join("oxmox.db"));
        assert!(!store.is_in_place());
        let fault = house.call("update_proxmox_vm", &set(4)).await.unwrap_err();
        assert!(fault.message.contains("replaced or removed"), "{fault}");
        assert_eq!(house.writes(), before);
    }
}
