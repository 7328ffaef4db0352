//! What is asked for, what is left out, and what is not checked.

use serde_json::Value;
use tools::policy::Policy;

use super::{found, house, rows};
use crate::house::{Furnish, House, Nobody, call, done};

#[tokio::test]
async fn a_storage_that_cannot_be_seen_may_hold_the_backup() {
    let house = house(|world| {
        world.volumes.retain(|volume| volume.content != "backup");
        world.silent_storages.insert("local".to_owned());
    })
    .await;
    let (rows, unchecked) = found(&house, r#"{"code": "guest_without_recent_backup"}"#).await;
    assert!(rows.is_empty(), "{rows:?}");
    assert_eq!(
        unchecked,
        ["guest_without_recent_backup: not available: local"]
    );
}

#[tokio::test]
async fn what_is_not_checked_names_the_privilege() {
    let house = house(|world| world.volumes.retain(|volume| volume.content != "backup")).await;
    let audit = ["VM.Audit", "Sys.Audit", "Datastore.Audit"];
    let answer = house
        .call_with(("/", &audit), "list_proxmox_findings", "{}")
        .await
        .unwrap();
    assert_eq!(rows(&answer).len(), 0, "{}", answer.text);
    for (code, gap) in [
        (
            "guest_without_recent_backup",
            "Datastore.Allocate (or Datastore.AllocateSpace with VM.Backup on /vms) on /storage/local",
        ),
        (
            "update_pending",
            "the token lacks Sys.Modify on /nodes/pve01 and /nodes/pve02",
        ),
        (
            "disk_orphaned",
            "the token lacks Datastore.Allocate on /storage/local-lvm",
        ),
    ] {
        let gaps = answer.data["unchecked"].as_array().unwrap();
        let named = gaps.iter().any(|entry| {
            let (codes, reason) = entry.as_str().unwrap().split_once(": ").unwrap();
            codes.contains(code) && reason.contains(gap)
        });
        assert!(named, "{code}: {gaps:?}");
    }
}

#[tokio::test]
async fn a_token_that_sees_nothing_gets_no_clean_bill() {
    let house = house(|world| world.add_token("nobody@pve!t", "secret")).await;
    let token = ("nobody@pve".to_owned(), "t".to_owned(), "secret".to_owned());
    let engine = house.with_token(&token, Policy::default());
    let answer = done(
        engine
            .call(call("list_proxmox_findings", "{}"), &Nobody)
            .await,
    )
    .unwrap();
    let unchecked = answer.data["unchecked"].as_array().unwrap();
    let codes: std::collections::BTreeSet<_> = unchecked
        .iter()
        .filter_map(|gap| gap.as_str().unwrap().split(": ").next())
        .flat_map(|codes| codes.split(", "))
        .collect();
    // PVE shows certificates to everybody.
    assert_eq!(codes.len(), 10, "{codes:?}");
    assert!(!codes.contains("certificate_expiring"));
}

#[tokio::test]
async fn an_offline_node_is_said() {
    let house = house(|_| {}).await;
    house.sim.set_online("pve02", false);
    let (rows, unchecked) = found(&house, "{}").await;
    // The other node has nowhere to go now.
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0].1.contains("would not fit elsewhere"), "{rows:?}");
    let offline: Vec<_> = unchecked
        .iter()
        .filter(|gap| gap.as_str().unwrap().ends_with(": offline: pve02"))
        .collect();
    assert!(offline.len() >= 3, "{unchecked:?}");
}

#[tokio::test]
async fn pages_filters_and_wrong_arguments() {
    let house = house(|world| world.volumes.retain(|volume| volume.content != "backup")).await;
    let code = "guest_without_recent_backup";
    let args = |rest: &str| format!(r#"{{"code": "{code}", "limit": 3{rest}}}"#);
    let first = house
        .call("list_proxmox_findings", &args(""))
        .await
        .unwrap();
    assert_eq!(first.data["next_cursor"], "3", "{}", first.text);
    assert_eq!(first.data["codes"][0]["count"], 4);
    let (second, _) = found(&house, &args(r#", "cursor": "3""#)).await;
    assert_eq!(second.len(), 1);
    let (rows, _) = found(&house, r#"{"filter": "name:db*"}"#).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    let (rows, _) = found(&house, r#"{"node": "pve02"}"#).await;
    assert!(rows.is_empty(), "{rows:?}");
    for (wrong, hint) in [
        (r#"{"node": "pve9"}"#, "the nodes are pve01 and pve02"),
        (r#"{"cursor": "3"}"#, "send the code"),
        (r#"{"code": "nonsense"}"#, "snapshot_old"),
    ] {
        let fault = house
            .call("list_proxmox_findings", wrong)
            .await
            .unwrap_err();
        assert!(fault.to_string().contains(hint), "{wrong}: {fault}");
    }
}

/// Whatever call a finding proposes exists.
#[tokio::test]
async fn the_next_call_is_one_that_there_is() {
    let house = House::new().await;
    let answer = house
        .call("list_proxmox_findings", r#"{"limit": 200}"#)
        .await
        .unwrap();
    let mut seen = 0;
    for row in rows(&answer) {
        let Some(next) = row.get("next").and_then(Value::as_str) else {
            continue;
        };
        let (tool, arguments) = next.split_once(' ').unwrap();
        let tool = house.engine.registry().find(tool).unwrap();
        let described = house.engine.registry().describe(tool);
        tools::schema::known(&crate::house::object(arguments), &described.input).unwrap();
        seen += 1;
    }
    assert!(seen > 10, "{}", answer.text);
}

/// Requests stay few and the answer small, however many guests there are.
#[tokio::test]
async fn two_thousand_guests_are_no_trouble() {
    let house = House::furnished(Furnish {
        world: sim::worlds::fleet(2_000),
        ..Furnish::default()
    })
    .await;
    let answer = house.call("list_proxmox_findings", "{}").await.unwrap();
    let size = answer.text.len() + serde_json::to_string(&answer.data).unwrap().len();
    assert!(size < 8_000, "{size} characters: {}", answer.text);
    assert!(
        answer.text.contains("looked closely at 200 of 2000 guests"),
        "{}",
        answer.text
    );
    assert!(
        house.sim.requests().len() < 500,
        "{}",
        house.sim.requests().len()
    );
}
