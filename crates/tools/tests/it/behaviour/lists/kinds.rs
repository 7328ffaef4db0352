//! What each kind of list shows, by filter, fields and order.

use serde_json::json;

use super::{LIST, values};
use crate::house::House;

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
        ("pool", 3, &["lab", "prod"]),
        ("all", 51, &["pve1", "100"]),
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
        ("volume", 51, &["local-lvm:vm-100-disk-0"]),
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
        (json!({"resource_type": "disk"}), "resource_type", "one of"),
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
