//! Somebody else takes the id of a guest that is being made: theirs is neither called ours nor touched.

use serde_json::json;
use sim::Fault;
use tools::policy::Mode;

use crate::house::House;

/// Tool, the request that makes the guest, its configuration, arguments, and a guest of the same kind that is not it.
const MAKERS: [(&str, &str, &str, &str, u32); 4] = [
    (
        "create_proxmox_vm",
        "/nodes/*/qemu",
        "/nodes/*/qemu/320/config",
        r#"{"name": "a", "node": "pve1", "vmid": 320, "start": true}"#,
        105,
    ),
    (
        "create_proxmox_lxc",
        "/nodes/*/lxc",
        "/nodes/*/lxc/320/config",
        r#"{"hostname": "a", "node": "pve1", "vmid": 320, "start": true}"#,
        203,
    ),
    (
        "clone_proxmox_vm",
        "/nodes/*/qemu/*/clone",
        "/nodes/*/qemu/320/config",
        r#"{"vmid": 900, "new_vmid": 320, "start": true}"#,
        105,
    ),
    (
        "rollback_proxmox_vm",
        "/nodes/*/lxc",
        "/nodes/*/lxc/320/config",
        r#"{"vmid": 202, "backup": "latest", "new_vmid": 320, "storage": "local-lvm", "start": true}"#,
        203,
    ),
];

/// The request never arrived, and somebody else made a guest under the id meanwhile.
#[tokio::test]
async fn a_guest_of_somebody_else_is_not_taken_for_a_new_one() {
    for (tool, request, config, args, other) in MAKERS {
        let house = House::in_mode(Mode::Trusted).await;
        house.sim.world(|world| {
            let mut stranger = world.guests[&other].clone();
            stranger.vmid = 320;
            stranger.node = "pve1".to_owned();
            world.guests.insert(320, stranger);
        });
        let free = Fault::answer("GET", "/cluster/nextid", "320");
        let absent = Fault::refuse(500, "Configuration file 'x/320.conf' does not exist");
        let lost = Fault::drop_before().on("POST", request);
        for fault in [free, absent.on("GET", config).times(1), lost] {
            house.sim.fault(fault);
        }
        let answer = house.call(tool, args).await.unwrap();
        assert_eq!(answer.data["status"], "unknown", "{tool}: {}", answer.text);
        // Nor is it offered for deletion.
        assert_eq!(answer.data.get("undo"), None, "{tool}: {}", answer.text);
        let next = answer.data["next"].as_str().unwrap_or_default();
        assert!(next.contains("look at 320 first"), "{tool}: {next}");
        assert!(!answer.text.contains("delete_proxmox_vm"), "{tool}");
        assert_eq!(house.writes(), [""; 0], "{tool}");
    }
}

/// The same, and their task is in the list of the node.
#[tokio::test]
async fn a_task_of_somebody_else_is_not_followed() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 105, "action": "stop"}"#;
    house
        .call("start_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    house
        .sim
        .fault(Fault::drop_before().on("POST", "/nodes/*/qemu/105/status/stop"));
    let upid = "UPID:pve1:00000666:00071798:6AFA0665:qmstop:105:bob@pve!mcp:";
    let row = json!([{"upid": upid, "node": "pve1", "type": "qmstop", "id": "105", "user": "bob@pve", "starttime": 1_794_770_533, "pid": 1638, "pstart": 464_792}]);
    let none = Fault::answer("GET", "/nodes/pve1/tasks", json!([]));
    house.sim.fault(none.times(1));
    house
        .sim
        .fault(Fault::answer("GET", "/nodes/pve1/tasks", row));
    let answer = house.call("stop_proxmox_vm", args).await.unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    assert!(
        answer.text.contains("no task of it was found"),
        "{}",
        answer.text
    );
}

/// It was made, and is another one when the next step is due.
#[tokio::test]
async fn what_replaces_the_new_guest_is_not_started() {
    for (tool, _, config, args, _) in &MAKERS[..2] {
        let house = House::in_mode(Mode::Trusted).await;
        let is = |name: &str| Fault::answer("GET", config, json!({"name": name, "hostname": name}));
        house.sim.fault(is("a").times(2));
        house.sim.fault(is("b"));
        let fault = house.call(tool, args).await.unwrap_err();
        let words = "the vmid 320 now belongs to another guest (its name is \"b\")";
        assert!(fault.message.contains(words), "{tool}: {fault}");
        // Nor is it offered for deletion as what was made.
        let hint = fault.hint.as_deref().unwrap_or_default();
        assert!(
            hint.contains("leave the guest that has the id now alone"),
            "{fault}"
        );
        assert!(!hint.contains("delete_proxmox_vm"), "{fault}");
        assert_eq!(house.writes().len(), 1, "{tool}: the start was not sent");
    }
}
