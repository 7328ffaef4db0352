//! What is in the file is believed only as far as its seals go.

use rusqlite::Connection;
use tools::outcome::StepOutcome;
use tools::store::{AuditEntry, Store, Verified};

fn entry(plan: &str) -> AuditEntry {
    AuditEntry::Closed {
        at: 1,
        plan: plan.to_owned(),
        result: "applied".to_owned(),
        reason: None,
        steps: Vec::<StepOutcome>::new(),
    }
}

fn filled(dir: &std::path::Path) -> Store {
    let store = Store::open(dir).unwrap();
    for plan in ["a", "b", "c"] {
        store.append_audit(&entry(plan)).unwrap();
    }
    store
}

#[test]
fn an_edited_removed_or_reordered_entry_is_found() {
    for sql in [
        "UPDATE audit SET entry = replace(entry, 'applied', 'refused') WHERE seq = 2",
        "DELETE FROM audit WHERE seq = 2",
        "UPDATE audit SET seq = -1 WHERE seq = 1; UPDATE audit SET seq = 1 WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = -1",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = filled(dir.path());
        assert!(matches!(
            store.verify_audit(None).unwrap(),
            Verified::Whole { entries: 3, .. }
        ));
        Connection::open(dir.path().join("oxmox.db"))
            .unwrap()
            .execute_batch(sql)
            .unwrap();
        assert!(
            matches!(store.verify_audit(None).unwrap(), Verified::Broken { .. }),
            "{sql}"
        );
    }
}

#[test]
fn a_cut_tail_is_found_with_a_head_from_outside_only() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path());
    let Verified::Whole { head, .. } = store.verify_audit(None).unwrap() else {
        panic!("broken")
    };
    Connection::open(dir.path().join("oxmox.db"))
        .unwrap()
        .execute_batch("DELETE FROM audit WHERE seq = 3")
        .unwrap();
    assert!(matches!(
        store.verify_audit(None).unwrap(),
        Verified::Whole { anchored: None, .. }
    ));
    assert!(matches!(
        store.verify_audit(Some(&head)).unwrap(),
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
