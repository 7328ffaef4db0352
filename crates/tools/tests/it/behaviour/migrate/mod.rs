//! Moving guests: what PVE's preconditions say beforehand, how VMs, containers and HA differ, and what is told when it
//! does not work.

mod beforehand;
mod ha;
mod trouble;

use serde_json::json;
use tools::policy::Mode;
use tools::tool::Rendered;

use crate::house::{House, Nobody, call, done};

const MIGRATE: &str = "migrate_proxmox_vm";

async fn preview(house: &House, args: &str) -> Rendered {
    let mut call = call(MIGRATE, args);
    call.preview = true;
    done(house.engine.call(call, &Nobody).await).unwrap()
}

/// Where a guest is, and whether it runs.
fn place(house: &House, vmid: u32) -> (String, bool) {
    house.sim.world(|world| {
        let guest = &world.guests[&vmid];
        (guest.node.clone(), guest.is_running())
    })
}

fn on(node: &str, running: bool) -> (String, bool) {
    (node.to_owned(), running)
}

#[tokio::test]
async fn a_running_vm_moves_online_without_asking() {
    let house = House::new().await;
    let args = r#"{"vmid": 109, "target": "pve2", "with_local_disks": true}"#;
    let answer = house.call(MIGRATE, args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(answer.data["risk"], "change");
    assert!(
        answer.text.contains("a pause of mostly less than a second"),
        "{}",
        answer.text
    );
    assert_eq!(place(&house, 109), on("pve2", true));
    assert_eq!(
        answer.data["undo"],
        json!({"tool": MIGRATE, "arguments": {"vmid": 109, "target": "pve1", "with_local_disks": true}})
    );
}

#[tokio::test]
async fn a_running_container_asks_first_and_is_down_meanwhile() {
    let house = House::new().await;
    let fault = house
        .call(MIGRATE, r#"{"vmid": 200, "target": "pve2"}"#)
        .await
        .unwrap_err();
    assert!(fault.message.contains("only with a restart"), "{fault}");
    assert!(fault.hint.unwrap().contains("restart: true"));
    let args = r#"{"vmid": 200, "target": "pve2", "restart": true}"#;
    let asked = house.call(MIGRATE, args).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation");
    assert_eq!(asked.data["risk"], "disrupt");
    assert!(
        asked.text.contains("interrupted: container 200"),
        "{}",
        asked.text
    );
    assert_eq!(house.writes(), [""; 0]);
    let answer = house.agreed(MIGRATE, args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(place(&house, 200), on("pve2", true));
}

#[tokio::test]
async fn a_vm_with_a_restart_is_followed_to_its_new_node() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 110, "target": "pve1", "restart": true}"#;
    let answer = house.call(MIGRATE, args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(
        house.writes(),
        [
            "POST /nodes/pve2/qemu/110/status/shutdown",
            "POST /nodes/pve2/qemu/110/migrate",
            "POST /nodes/pve1/qemu/110/status/start",
        ]
    );
    assert_eq!(place(&house, 110), on("pve1", true));
}

#[tokio::test]
async fn a_disrupting_move_is_confirmed_by_its_value() {
    let house = House::new().await;
    let args = r#"{"vmid": 110, "target": "pve1", "restart": true}"#;
    let asked = house.call(MIGRATE, args).await.unwrap();
    let confirm = asked.data["confirm"].as_str().unwrap();
    let args =
        format!(r#"{{"vmid": 110, "target": "pve1", "restart": true, "confirm": "{confirm}"}}"#);
    let answer = house.call(MIGRATE, &args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
}

/// Whoever leaves it out as told would otherwise see the guest go to a node that nobody named.
#[tokio::test]
async fn the_node_that_it_is_on_is_told_from_the_one_to_go_to() {
    let house = House::new().await;
    let fault = house
        .call(MIGRATE, r#"{"vmid": 105, "node": "pve3"}"#)
        .await;
    let hint = fault.unwrap_err().hint.unwrap();
    assert!(
        hint.contains(r#"the node to go to is target: "pve3""#),
        "{hint}"
    );
    assert_eq!(house.writes(), [""; 0]);
}
