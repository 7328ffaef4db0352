//! Many guests at once: which they are, one plan, and each guest's own result.

mod meanwhile;
mod trouble;

use tools::fault::Kind;
use tools::policy::Mode;
use tools::tool::Rendered;

use crate::house::{Furnish, House};

/// The demo world and `count` further stopped VMs from 1001 on, all with the tag `crowd`.
async fn crowded(count: u32, mode: Mode) -> House {
    House::furnished(crowd(count, mode)).await
}

fn crowd(count: u32, mode: Mode) -> Furnish {
    let mut furnish = Furnish::default();
    furnish.policy.mode = mode;
    let model = furnish.world.guests[&105].clone();
    for vmid in 1001..=1000 + count {
        let mut guest = model.clone();
        guest.vmid = vmid;
        guest.config.set("name", format!("crowd{vmid}"));
        guest.config.set("tags", "crowd");
        furnish.world.guests.insert(vmid, guest);
    }
    furnish
}

/// The states of an outcome's steps, by the guest that each names.
fn states(answer: &Rendered) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let steps = answer.data["steps"].as_array().unwrap();
    steps
        .iter()
        .map(|step| (text(&step["step"]), text(&step["state"])))
        .collect()
}

fn running(house: &House, vmid: u32) -> bool {
    house.sim.world(|world| world.guests[&vmid].is_running())
}

#[tokio::test]
async fn exactly_one_way_to_say_which() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, says) in [
        ("{}", "no guest is named"),
        (r#"{"vmid": 105, "vmids": [203]}"#, "more than one was sent"),
        (r#"{"vmids": [105], "filter": "tag:web"}"#, "more than one"),
        (r#"{"vmids": []}"#, "vmids is empty"),
        (r#"{"filter": "  "}"#, "would match every guest"),
        (r#"{"filter": "tag:nobody"}"#, "no guest matches"),
        (r#"{"filter": "colour:red"}"#, "colour"),
        (r#"{"vmids": [105, 4711]}"#, "no guest has the vmid 4711"),
        (
            r#"{"vmids": [105, 203], "node": "pve1"}"#,
            "container 203 (media) is on node pve3",
        ),
    ] {
        for tool in ["start_proxmox_vm", "stop_proxmox_vm"] {
            let fault = house.call(tool, args).await.unwrap_err();
            assert!(fault.message.contains(says), "{tool} {args}: {fault}");
            assert!(fault.hint.is_some(), "{tool} {args}: {fault}");
        }
    }
    let fault = house
        .call(
            "start_proxmox_vm",
            r#"{"filter": "tag:web", "node": "pve1"}"#,
        )
        .await
        .unwrap_err();
    assert_eq!(
        fault.hint.as_deref(),
        Some(r#"send filter: "tag:web node:pve1""#)
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn twenty_guests_at_most_unless_more_are_asked_for() {
    let house = crowded(21, Mode::Trusted).await;
    let fault = house
        .call("start_proxmox_vm", r#"{"filter": "tag:crowd"}"#)
        .await
        .unwrap_err();
    assert_eq!(fault.kind, Kind::BadInput);
    assert!(
        fault.message.contains("matches 21 guests, more than 20"),
        "{fault}"
    );
    assert!(fault.hint.unwrap().contains("max: 21"));
    let vmids: Vec<u32> = (1001..=1021).collect();
    let args = serde_json::json!({ "vmids": vmids }).to_string();
    house.call("start_proxmox_vm", &args).await.unwrap_err();
    assert_eq!(house.writes(), [""; 0]);
    let answer = house
        .call("start_proxmox_vm", r#"{"filter": "tag:crowd", "max": 21}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(states(&answer).len(), 21);
    assert!((1001..=1021).all(|vmid| running(&house, vmid)));
    assert_eq!(house.audit().await.1.last().unwrap(), "applied");
    let undo = &answer.data["undo"];
    let args = undo["arguments"].to_string();
    let back = house.call(undo["tool"].as_str().unwrap(), &args);
    assert_eq!(back.await.unwrap().data["status"], "applied", "{undo}");
}

#[tokio::test]
async fn what_is_so_already_is_told_and_not_touched() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = house
        .call(
            "start_proxmox_vm",
            r#"{"vmids": [203, 105, 100, 200, 105]}"#,
        )
        .await
        .unwrap();
    assert_eq!(
        answer.data["summary"],
        "Start 2 guests (105 and 203); 2 are running already (100 and 200)"
    );
    assert_eq!(answer.data["steps"].as_array().unwrap().len(), 2);
    assert_eq!(
        answer.data["undo"],
        serde_json::json!({"tool": "stop_proxmox_vm", "arguments": {"vmids": [105, 203]}})
    );
    let again = house
        .call("start_proxmox_vm", r#"{"vmids": [105, 203]}"#)
        .await
        .unwrap();
    assert!(again.text.contains("Nothing to do"), "{}", again.text);
    assert_eq!(house.writes().len(), 2);
}

#[tokio::test]
async fn a_filter_stops_what_matches_and_its_undo_starts_just_that() {
    let house = House::in_mode(Mode::Trusted).await;
    let before: Vec<u32> = house.sim.world(|world| {
        let guests = world.guests.values();
        guests
            .filter(|guest| guest.node == "pve2" && guest.is_running())
            .map(|guest| guest.vmid)
            .collect()
    });
    let stopped = house
        .call("stop_proxmox_vm", r#"{"filter": "node:pve2"}"#)
        .await
        .unwrap();
    assert_eq!(stopped.data["status"], "applied", "{}", stopped.text);
    assert!(before.iter().all(|vmid| !running(&house, *vmid)));
    let undo = &stopped.data["undo"];
    assert_eq!(undo["arguments"]["vmids"], serde_json::json!(before));
    house
        .call(
            undo["tool"].as_str().unwrap(),
            &undo["arguments"].to_string(),
        )
        .await
        .unwrap();
    let after: Vec<u32> = before
        .iter()
        .copied()
        .filter(|vmid| running(&house, *vmid))
        .collect();
    assert_eq!(after, before);
}

/// What a person agreed to is a list of guests. One that comes to match the filter afterwards is none of them.
#[tokio::test]
async fn a_filter_is_settled_when_it_is_planned() {
    let house = House::new().await;
    let args = r#"{"filter": "tag:network"}"#;
    let asked = house.call("stop_proxmox_vm", args).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation");
    assert_eq!(states(&asked).len(), 2, "{}", asked.text);
    house.sim.world(|world| {
        let latecomer = world.guests.get_mut(&100).unwrap();
        latecomer.config.set("tags", "network");
    });
    let confirm = asked.data["confirm"].as_str().unwrap();
    let confirmed = format!(r#"{{"filter": "tag:network", "confirm": "{confirm}"}}"#);
    let answer = house.call("stop_proxmox_vm", &confirmed).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(states(&answer).len(), 2);
    assert!(running(&house, 100), "nobody agreed to that");
    assert!(!running(&house, 109) && !running(&house, 200));
}

/// One of them was replaced by another guest of the same number: none of them is touched.
#[tokio::test]
async fn every_guest_is_guarded() {
    let house = House::new().await;
    let asked = house
        .call("stop_proxmox_vm", r#"{"vmids": [100, 110]}"#)
        .await
        .unwrap();
    let confirm = asked.data["confirm"].as_str().unwrap();
    house.sim.world(|world| {
        let reused = world.guests.get_mut(&110).unwrap();
        reused
            .config
            .set("smbios1", "uuid=00000000-0000-4000-8000-00000000dead");
        reused
            .config
            .set("vmgenid", "00000000-0000-4000-8000-00000000beef");
    });
    let args = format!(r#"{{"vmids": [100, 110], "confirm": "{confirm}"}}"#);
    let fault = house.call("stop_proxmox_vm", &args).await.unwrap_err();
    assert!(
        fault
            .message
            .contains("the vmid 110 now belongs to another guest"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_changed_setting_names_its_guest_in_the_new_preview() {
    let house = House::new().await;
    let asked = house
        .call("stop_proxmox_vm", r#"{"vmids": [100, 110]}"#)
        .await
        .unwrap();
    let confirm = asked.data["confirm"].as_str().unwrap();
    house
        .sim
        .world(|world| world.guests.get_mut(&110).unwrap().config.set("cores", "6"));
    let args = format!(r#"{{"vmids": [100, 110], "confirm": "{confirm}"}}"#);
    let answer = house.call("stop_proxmox_vm", &args).await.unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
    assert!(
        answer.text.contains("cores of VM 110 (desktop)"),
        "{}",
        answer.text
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn what_stands_in_the_way_names_the_guest_and_nothing_is_sent() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.set_online("pve3", false);
    let fault = house
        .call("start_proxmox_vm", r#"{"vmids": [105, 203, 900]}"#)
        .await
        .unwrap_err();
    for says in [
        "node pve3 of container 203 (media) is offline",
        "VM 900 (debian-13) is a template",
    ] {
        assert!(fault.message.contains(says), "{fault}");
    }
    house.sim.set_online("pve3", true);
    let fault = house
        .call("start_proxmox_vm", r#"{"filter": "legacy"}"#)
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("VM 107 (legacy) is locked (backup)"),
        "{fault}"
    );
    let fault = house
        .call(
            "stop_proxmox_vm",
            r#"{"vmids": [100, 105], "action": "reboot"}"#,
        )
        .await
        .unwrap_err();
    assert_eq!(fault.message, "VM 105 (staging) is not running");
    assert_eq!(house.writes(), [""; 0]);
}

/// `protected` keeps a guest from being destroyed, not from being stopped.
#[tokio::test]
async fn a_protected_guest_stops_like_the_others() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = house
        .call("stop_proxmox_vm", r#"{"vmids": [101, 109]}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
}
