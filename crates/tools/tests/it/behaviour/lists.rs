//! Lists: what each kind shows, what filters and cursors do, and what is said of what cannot be seen.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sim::{Fault, World, worlds};
use tools::tool::Rendered;

use crate::house::{Furnish, House};

const LIST: &str = "list_proxmox_resources";

async fn in_world(world: World) -> House {
    House::furnished(Furnish {
        world,
        ..Furnish::default()
    })
    .await
}

impl House {
    async fn list(&self, args: &Value) -> Rendered {
        self.call(LIST, &args.to_string())
            .await
            .unwrap_or_else(|fault| panic!("{args}: {fault}"))
    }

    /// The values of one field.
    async fn listed(&self, args: &Value, field: &str) -> Vec<String> {
        values(&self.list(args).await, field)
    }

    /// The values of one field over all pages.
    async fn paged(&self, mut args: Value, field: &str) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let page = self.list(&args).await;
            all.extend(values(&page, field));
            match page.data.get("next_cursor") {
                Some(cursor) => args["cursor"] = cursor.clone(),
                None => return all,
            }
        }
    }
}

fn values(answer: &Rendered, field: &str) -> Vec<String> {
    let rows = answer.data["resources"].as_array().unwrap();
    rows.iter()
        .map(|row| match &row[field] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
        .collect()
}

fn snapshot(name: &str) -> sim::world::guest::Snapshot {
    sim::world::guest::Snapshot {
        name: name.to_owned(),
        parent: None,
        time: sim::Time::from_secs(1_794_000_000),
        description: String::new(),
        config: sim::world::config::Config::default(),
        vmstate: None,
        state: None,
    }
}

#[tokio::test]
async fn every_kind_shows_what_there_is() {
    let house = House::new().await;
    for (kind, total, ids) in [
        ("guest", 26, &["100", "200", "901"][..]),
        ("vm", 26, &["100", "200"]),
        ("qemu", 14, &["100", "900"]),
        ("lxc", 12, &["200", "290"]),
        ("node", 3, &["pve1", "pve2", "pve3"]),
        ("storage", 10, &["local", "nas", "vault", "tank"]),
        ("pool", 2, &["lab", "prod"]),
        ("all", 44, &["pve1", "100"]),
        (
            "iso",
            4,
            &[
                "nas:iso/virtio-win-0.1.285.iso",
                "local:iso/systemrescue-12.02-amd64.iso",
            ],
        ),
        (
            "template",
            7,
            &[
                "290",
                "900",
                "local:vztmpl/alpine-3.22-default_20250617_amd64.tar.xz",
            ],
        ),
        (
            "backup",
            10,
            &[
                "vault:backup/vm/100/2026-11-15T01:00:04Z",
                "nas:backup/vzdump-lxc-200-2026_11_08-03_04_40.tar.zst",
            ],
        ),
        ("volume", 50, &["local-lvm:vm-100-disk-0"]),
        ("snapshot", 4, &["before-upgrade", "nightly"]),
    ] {
        let answer = house.list(&json!({"resource_type": kind})).await;
        assert_eq!(answer.data["total"], total, "{kind}: {}", answer.text);
        let shown = values(&answer, "id");
        for id in ids {
            assert!(shown.iter().any(|shown| shown == id), "{kind}: {shown:?}");
            assert!(answer.text.contains(id), "{kind}: {}", answer.text);
        }
        assert!(answer.data.get("notes").is_none(), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_shared_storage_is_asked_and_listed_once() {
    let house = House::new().await;
    house.list(&json!({"resource_type": "backup"})).await;
    let asked = house.sim.requests();
    let of = |storage: &str| {
        let path = format!("/storage/{storage}/content");
        asked.iter().filter(|one| one.path.contains(&path)).count()
    };
    assert_eq!(
        (of("nas"), of("vault"), of("local"), of("tank")),
        (1, 1, 3, 0)
    );
    let storages = house
        .list(&json!({"resource_type": "storage", "filter": "nas"}))
        .await;
    assert_eq!(values(&storages, "node"), ["pve1,pve2,pve3"]);
    let on_one = json!({"resource_type": "storage", "filter": "nas node:pve2"});
    assert_eq!(house.listed(&on_one, "node").await, ["pve2"]);
}

#[tokio::test]
async fn filters_reach_every_kind() {
    let house = House::new().await;
    for (kind, filter, ids) in [
        ("guest", "tag:prod -node:pve1", &["102", "201"][..]),
        (
            "guest",
            "vmid:100-103 status:running",
            &["100", "101", "102"],
        ),
        ("guest", "mem>40 type:lxc node:pve3", &["204", "206", "209"]),
        ("guest", "status:template", &["290", "900", "901"]),
        ("guest", "lock:*", &["107"]),
        ("storage", "disk>15", &["local-lvm"]),
        (
            "backup",
            "vmid:105",
            &["nas:backup/vzdump-qemu-105-2026_11_08-03_00_02.vma.zst"],
        ),
        (
            "backup",
            "staging",
            &["nas:backup/vzdump-qemu-105-2026_11_08-03_00_02.vma.zst"],
        ),
        (
            "backup",
            "created<2026-10-01",
            &["nas:backup/vzdump-qemu-103-2026_09_01-10_12_00.vma.zst"],
        ),
        (
            "volume",
            "size>300G content:images",
            &["tank:vm-103-disk-0"],
        ),
        (
            "template",
            "type:vztmpl node:pve2",
            &["local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst"],
        ),
        (
            "iso",
            "storage:local",
            &["local:iso/systemrescue-12.02-amd64.iso"],
        ),
        ("snapshot", "tag:web week", &["weekly"]),
        ("snapshot", "created<2026-11-01", &["before-upgrade"]),
    ] {
        let args = json!({"resource_type": kind, "filter": filter});
        assert_eq!(house.listed(&args, "id").await, ids, "{args}");
    }
}

#[tokio::test]
async fn what_a_filter_rules_out_is_not_even_asked() {
    let house = House::new().await;
    house
        .list(&json!({"resource_type": "snapshot", "filter": "tag:web"}))
        .await;
    house
        .list(&json!({"resource_type": "volume", "filter": "storage:nas"}))
        .await;
    let asked = house.sim.requests();
    let count = |part: &str| asked.iter().filter(|one| one.path.contains(part)).count();
    assert_eq!((count("/snapshot"), count("/content")), (1, 1));
}

#[tokio::test]
async fn fields_and_order_are_the_callers() {
    let house = House::new().await;
    let args =
        json!({"resource_type": "qemu", "fields": ["id", "size"], "sort": "-size", "limit": 2});
    let answer = house.list(&args).await;
    assert_eq!(
        answer.data["resources"],
        json!([{"id": "103", "size": 536_870_912_000_u64}, {"id": "104", "size": 85_899_345_920_u64}])
    );
    assert!(
        answer.text.starts_with("id   size\n103  500.0 GiB\n"),
        "{}",
        answer.text
    );
    let by_name = json!({"resource_type": "lxc", "fields": "name", "sort": "name", "limit": 2});
    assert_eq!(
        house.listed(&by_name, "name").await,
        ["adguard", "alpine-base"]
    );
    // What has no such value comes last, in either direction.
    for sort in ["cpu", "-cpu"] {
        let args = json!({"fields": ["status"], "sort": sort, "limit": 500});
        let status = house.listed(&args, "status").await;
        let running = status
            .iter()
            .position(|status| status != "running")
            .unwrap();
        assert!(
            status[running..].iter().all(|status| status != "running"),
            "{sort}: {status:?}"
        );
    }
}

#[tokio::test]
async fn wrong_words_are_told_with_the_right_ones() {
    let house = House::new().await;
    for (args, message, hint) in [
        (
            json!({"fields": ["id", "colour"]}),
            "fields: there is no field \"colour\"",
            "the fields are id, type",
        ),
        (
            json!({"sort": "-tag"}),
            "sort: there is no field \"tag\"",
            "did you mean tags?",
        ),
        (json!({"filter": "cpu>many"}), "\"many\"", "cpu>80"),
        (json!({"limit": 0}), "limit", "1 to 500"),
        (
            json!({"cursor": "30"}),
            "none that this tool gave",
            "next_cursor",
        ),
        (
            json!({"resource_type": "disk"}),
            "resource_type",
            "it takes",
        ),
    ] {
        let fault = house.call(LIST, &args.to_string()).await.unwrap_err();
        assert!(fault.message.contains(message), "{args}: {fault}");
        assert!(fault.hint.unwrap().contains(hint), "{args}");
    }
    let page = house.list(&json!({"limit": 5})).await;
    let args = json!({"cursor": page.data["next_cursor"], "filter": "tag:prod"});
    let fault = house.call(LIST, &args.to_string()).await.unwrap_err();
    assert!(fault.message.contains("belongs to another list"), "{fault}");
    assert!(
        house
            .sim
            .requests()
            .iter()
            .all(|one| one.path.ends_with("/cluster/resources"))
    );
}

#[tokio::test]
async fn pages_stay_right_while_guests_come_and_go() {
    const NEW: u32 = 150;
    let house = House::new().await;
    for sort in [json!(null), json!("name"), json!("-size")] {
        let args = json!({"limit": 7, "sort": sort});
        let whole: BTreeSet<_> = house.paged(args.clone(), "id").await.into_iter().collect();
        assert_eq!(whole.len(), 26, "{sort}");
        let first = house.list(&args).await;
        let seen = values(&first, "id");
        let gone = seen[0].parse::<u32>().unwrap();
        let guest = house.sim.world(|world| {
            let guest = world.guests.remove(&gone).unwrap();
            let mut new = guest.clone();
            new.vmid = NEW;
            world.guests.insert(NEW, new);
            guest
        });
        let mut rest = args.clone();
        rest["cursor"] = first.data["next_cursor"].clone();
        let after = house.paged(rest, "id").await;
        let mut all: BTreeSet<_> = seen.iter().chain(&after).cloned().collect();
        assert_eq!(
            all.len(),
            seen.len() + after.len(),
            "{sort}: a row came twice"
        );
        all.remove(&NEW.to_string());
        assert_eq!(all, whole, "{sort}: a row was lost");
        house.sim.world(|world| {
            world.guests.insert(gone, guest);
            world.guests.remove(&NEW);
        });
    }
}

#[tokio::test]
async fn a_page_of_moving_figures_says_so() {
    let house = House::new().await;
    let first = house.list(&json!({"sort": "-cpu", "limit": 5})).await;
    let args = json!({"sort": "-cpu", "limit": 5, "cursor": first.data["next_cursor"]});
    let second = house.list(&args).await;
    assert!(
        second.text.contains("changes from moment to moment"),
        "{}",
        second.text
    );
}

#[tokio::test]
async fn a_bad_day_becomes_notes() {
    let house = in_world(worlds::degraded()).await;
    for (kind, notes) in [
        (
            "guest",
            &["node pve3 is offline; guests there are shown as last known"][..],
        ),
        (
            "backup",
            &[
                "node pve3 is offline; what is only there is left out",
                "left out: storage nas (PVE says that it is not available)",
            ],
        ),
        (
            "snapshot",
            &["node pve3 is offline; what is only there is left out"],
        ),
    ] {
        let answer = house.list(&json!({"resource_type": kind})).await;
        assert!(answer.data["total"].as_u64().unwrap() > 0, "{kind}");
        assert_eq!(answer.data["notes"], json!(notes), "{kind}");
    }
    let asked = house.sim.requests();
    assert!(asked.iter().all(|one| !one.path.contains("/nodes/pve3/")));
}

#[tokio::test]
async fn a_storage_or_guest_that_fails_does_not_break_the_list() {
    let house = House::new().await;
    house.sim.fault(
        Fault::refuse(500, "mount error: stale file handle").on("GET", "*/storage/nas/content"),
    );
    house
        .sim
        .fault(Fault::refuse(500, "got timeout").on("GET", "*/qemu/100/snapshot"));
    let backups = house.list(&json!({"resource_type": "backup"})).await;
    assert_eq!(backups.data["total"], 6);
    assert!(
        backups.text.contains("left out: storage nas (")
            && backups.text.contains("stale file handle"),
        "{}",
        backups.text
    );
    let snapshots = house.list(&json!({"resource_type": "snapshot"})).await;
    assert_eq!(snapshots.data["total"], 2);
    assert!(
        snapshots.text.contains("left out: qemu/100 ("),
        "{}",
        snapshots.text
    );
}

#[tokio::test]
async fn what_a_missing_privilege_hides_is_named() {
    let audit: &[&str] = &["Datastore.Audit", "VM.Audit"];
    for (held, kind, said) in [
        (&[][..], "guest", "VM.Audit nowhere"),
        (&[], "snapshot", "VM.Audit nowhere"),
        (&[], "storage", "Datastore.Audit nowhere"),
        (&[], "iso", "Datastore.Audit nowhere"),
        (&[], "backup", "Datastore.Audit nowhere"),
        (&[], "pool", "Pool.Audit nowhere"),
        (&[], "node", "Sys.Audit on /nodes"),
        (
            audit,
            "backup",
            "backups on local, nas and vault may be hidden: PVE shows them with VM.Backup on their guest and Datastore.AllocateSpace",
        ),
        (
            audit,
            "volume",
            "disks on local-lvm, nas and tank may be hidden: PVE shows them with VM.Config.Disk",
        ),
    ] {
        let house = House::new().await;
        let args = json!({"resource_type": kind}).to_string();
        let answer = house.call_with(("/", held), LIST, &args).await.unwrap();
        assert!(answer.text.contains(said), "{kind}: {}", answer.text);
    }
    for held in [
        &[
            "Datastore.Audit",
            "VM.Audit",
            "Datastore.AllocateSpace",
            "VM.Backup",
        ][..],
        &["Datastore.Audit", "Datastore.Allocate"],
    ] {
        let house = House::new().await;
        let args = json!({"resource_type": "backup"}).to_string();
        let answer = house.call_with(("/", held), LIST, &args).await.unwrap();
        assert_eq!(answer.data["total"], 10, "{held:?}");
        assert!(!answer.text.contains("hidden"), "{held:?}: {}", answer.text);
    }
}

#[tokio::test]
async fn snapshots_of_many_guests_are_asked_in_turns() {
    let mut world = worlds::fleet(450);
    for vmid in (100..550).step_by(9) {
        let guest = world.guests.get_mut(&vmid).unwrap();
        guest.snapshots = vec![snapshot("old"), snapshot("new")];
    }
    let house = in_world(world).await;
    let first = house.list(&json!({"resource_type": "snapshot"})).await;
    assert!(first.data.get("total").is_none(), "not all were asked");
    assert!(
        first
            .text
            .contains("250 more were not: go on with the cursor"),
        "{}",
        first.text
    );
    assert_eq!(house.sim.requests().len(), 1 + 200);
    let all = house
        .paged(json!({"resource_type": "snapshot"}), "vmid")
        .await;
    assert_eq!(all.len(), 100);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 50);
    // In an order by a field only the guests that were asked can be told.
    let sorted = house
        .list(&json!({"resource_type": "snapshot", "sort": "-created", "limit": 500}))
        .await;
    assert!(sorted.text.contains("leave out sort"), "{}", sorted.text);
    let narrow = house
        .list(&json!({"resource_type": "snapshot", "filter": "vmid:100-199"}))
        .await;
    assert_eq!(
        (narrow.data["total"].as_u64(), narrow.data.get("notes")),
        (Some(24), None)
    );
}

/// Text and structure together stay under 2,000 tokens, whatever is listed.
#[tokio::test]
async fn ten_thousand_guests_fit_into_an_answer() {
    let mut world = worlds::fleet(10_000);
    for guest in world.guests.values_mut() {
        let long = format!("{}-{}", "a-rather-long-name".repeat(3), guest.vmid);
        guest.config.set("name", long.as_str());
        guest.config.set("hostname", long.as_str());
        guest.snapshots = vec![snapshot("before-the-upgrade-of-everything")];
    }
    let house = in_world(world).await;
    for (args, total) in [
        (json!({}), Some(10_000)),
        (json!({"resource_type": "all"}), None),
        (json!({"resource_type": "node"}), Some(40)),
        (json!({"resource_type": "storage"}), Some(80)),
        (
            json!({"resource_type": "volume", "filter": "node:pve0*"}),
            Some(2_250),
        ),
        (json!({"resource_type": "snapshot"}), None),
        (
            json!({"filter": "tag:prod status:running mem>40 -node:pve01", "sort": "-mem"}),
            None,
        ),
    ] {
        let answer = house.list(&args).await;
        let structured = serde_json::to_string(&answer.data).unwrap();
        let size = answer.text.len() + structured.len();
        assert!(size < 8_000, "{args}: {size} characters\n{}", answer.text);
        assert!(
            answer.data["resources"].as_array().unwrap().len() >= 10,
            "{args}: {}",
            answer.text
        );
        assert!(
            answer.data.contains_key("next_cursor") || total == Some(40),
            "{args}"
        );
        assert!(
            total.is_none_or(|total| answer.data["total"] == total),
            "{args}: {}",
            answer.text
        );
    }
}
