//! Nodes, guests and tasks as resources.

use serde_json::{Value, json};
use sim::Fault;

use super::wire::{BOTH, Era, Person, Wire};
use super::world;

const TASK: &str = "UPID:pve3:000003FA:000186A0:6AF83F30:vzdump:107:root@pam:";

fn at(path: &str) -> String {
    format!("proxmox://cluster/homelab/{path}")
}

async fn read(wire: &mut Wire, uri: &str) -> Value {
    let read = wire.result("resources/read", json!({"uri": uri})).await;
    assert_eq!(read["contents"][0]["uri"], uri);
    serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn each_sort_is_found_by_its_template() {
    let world = world().await;
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let node = read(&mut wire, &at("node/pve1")).await;
        assert_eq!(node["status"], "online");
        assert!(
            node["guests"]
                .as_array()
                .unwrap()
                .iter()
                .any(|guest| guest["vmid"] == 105)
        );
        assert!(node["storage_count"].as_u64().unwrap() > 0);
        let guest = read(&mut wire, &at("guest/105")).await;
        assert_eq!(
            (&guest["name"], &guest["node"]),
            (&json!("staging"), &json!("pve1"))
        );
        assert!(guest["config"]["scsi0"].is_string(), "{guest}");
        assert!(guest["now"].get("cpu").is_some(), "{guest}");
        // Expanded by the rules of URI templates, or as it stands.
        for upid in [
            TASK.to_owned(),
            TASK.replace(':', "%3A").replace('@', "%40"),
        ] {
            let task = read(&mut wire, &at(&format!("task/{upid}"))).await;
            assert_eq!(
                (&task["upid"], &task["state"]),
                (&json!(TASK), &json!("failed"))
            );
            assert!(!task["log"].as_array().unwrap().is_empty());
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let gone = TASK.replace("000003FA", "0000FFFF");
    for uri in [
        at("node/pve9"),
        at("guest/4999"),
        at("guest/staging"),
        at("guest/105/config"),
        at("task/UPID"),
        at(&format!("task/{gone}")),
        at("node/%zz"),
        "proxmox://cluster/other/guest/105".to_owned(),
        "proxmox://guest/105".to_owned(),
    ] {
        let answer = wire.request("resources/read", json!({"uri": uri})).await;
        assert_eq!(answer["error"]["code"], -32602, "{uri}: {answer}");
    }
}

#[tokio::test]
async fn another_spelling_is_refused_with_the_right_one() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2025, Person::Absent).await;
    for (written, right) in [
        (at("guest/0105"), at("guest/105")),
        (at("guest/+105"), at("guest/105")),
        (at("guest/%2B105"), at("guest/105")),
        (at("guest/105/"), at("guest/105")),
        (at("guest/%31%305"), at("guest/105")),
        (at("node/pve%31"), at("node/pve1")),
        (
            at("").replace("homelab", "home%6Cab"),
            at("").trim_end_matches('/').to_owned(),
        ),
        (
            at("guest/105").replace("proxmox:", "PROXMOX:"),
            at("guest/105"),
        ),
        (
            at(&format!("task/{}", TASK.replace(':', "%3a"))),
            at(&format!("task/{TASK}")),
        ),
    ] {
        for method in ["resources/read", "resources/subscribe"] {
            let answer = wire.request(method, json!({"uri": written})).await;
            let said = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(
                said.ends_with(&format!(" {right}")),
                "{method} {written}: {answer}"
            );
        }
    }
}

#[tokio::test]
async fn a_guest_whose_configuration_cannot_be_read_is_shown_in_part() {
    let world = world().await;
    let refuse = Fault::refuse(500, "no way").on("GET", "/nodes/*/config");
    world.sim.fault(refuse);
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let guest = read(&mut wire, &at("guest/105")).await;
    assert_eq!(guest["name"], "staging");
    assert!(guest["problems"][0].as_str().unwrap().contains("no way"));
}

#[tokio::test]
async fn what_guests_wrote_is_harmless_and_secrets_are_blank() {
    let world = world().await;
    world.sim.world(|world| {
        let guest = world.guests.get_mut(&105).unwrap();
        guest.config.set("name", "evil\u{202e}name");
        guest.config.set("cipassword", "canary");
        guest.config.set("description", "x".repeat(9000));
    });
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let guest = read(&mut wire, &at("guest/105")).await.to_string();
    assert!(
        !guest.contains("canary") && !guest.contains('\u{202e}'),
        "{guest}"
    );
    assert!(guest.len() < 6000, "{}", guest.len());
}
