//! What happens between the look and the end: changes of others, refusals half-way, lost answers.

use serde_json::{Value, json};
use sim::Fault;
use tools::policy::Mode;

use super::{UPDATE, apply, refused, sent, set_now};
use crate::house::House;

#[tokio::test]
async fn the_digest_goes_along() {
    let house = House::in_mode(Mode::Trusted).await;
    apply(&house, &json!({"vmid": 105, "set": {"cores": 4}})).await;
    assert!(sent(&house).contains("digest"), "{}", sent(&house));
    apply(&house, &json!({"vmid": 105, "grow": {"scsi0": "20G"}})).await;
    assert!(sent(&house).contains("digest"), "{}", sent(&house));
    apply(&house, &json!({"vmid": 203, "set": {"cores": 2}})).await;
    assert!(sent(&house).contains("digest"), "{}", sent(&house));
}

/// Between the look and the write somebody else is faster: PVE refuses by the digest, and its words arrive.
#[tokio::test]
async fn a_change_that_slips_in_between_is_refused_by_the_digest() {
    let house = House::in_mode(Mode::Trusted).await;
    // Two reads tell the plan and its guard the same; the world has moved on.
    let config = house.engine.clusters()[0]
        .pve
        .get::<Value>("/nodes/pve1/qemu/105/config")
        .await
        .unwrap();
    house
        .sim
        .fault(Fault::answer("GET", "/nodes/pve1/qemu/105/config", config));
    house.sim.world(|world| {
        world
            .guests
            .get_mut(&105)
            .unwrap()
            .config
            .set("onboot", "1");
    });
    let fault = refused(&house, json!({"vmid": 105, "set": {"cores": 4}})).await;
    assert!(fault.message.contains("checksum mismatch"), "{fault}");
    assert_eq!(set_now(&house, 105, "cores").as_deref(), Some("2"));
}

#[tokio::test]
async fn a_change_meanwhile_gives_a_new_preview() {
    let house = House::new().await;
    let args = json!({"vmid": 105, "delete": ["scsi0"]}).to_string();
    let asked = house.call(UPDATE, &args).await.unwrap();
    let id = asked.data["plan"].as_str().unwrap().to_owned();
    house.approve(&id).await;
    house
        .sim
        .world(|world| world.guests.get_mut(&105).unwrap().config.set("cores", "3"));
    let answer = house.call(UPDATE, &args).await.unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
    assert!(
        answer
            .text
            .contains("changed since the last preview: cores"),
        "{}",
        answer.text
    );
    assert_eq!(house.writes(), [""; 0]);
}

/// PVE refuses half-way: the configuration is changed, the disk is not, and the undo cleans up.
#[tokio::test]
async fn a_refused_resize_says_that_the_configuration_was_changed() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(Fault::fail_task(
        "resize",
        "lvextend: insufficient free space",
        "command 'lvextend' failed: exit code 5",
    ));
    let args = json!({"vmid": 105, "set": {"cores": 4}, "grow": {"scsi0": "1T"}});
    let fault = refused(&house, args).await;
    for part in [
        "exit code 5",
        "insufficient free space",
        "done before: Change cores of VM 105",
    ] {
        assert!(fault.message.contains(part), "{part}: {fault}");
    }
    let hint = fault.hint.unwrap();
    assert!(
        hint.contains(r#"update_proxmox_vm {"vmid":105,"set":{"cores":2}}"#),
        "{hint}"
    );
    assert_eq!(set_now(&house, 105, "cores").as_deref(), Some("4"));
    assert!(set_now(&house, 105, "scsi0").unwrap().contains("size=16G"));
}

/// A device that the guest does not let go of: PVE's task fails, the other settings are in, and both are told.
#[tokio::test]
async fn a_failed_hotplug_tells_what_waits() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .sim
        .world(|world| world.guests.get_mut(&100).unwrap().inside.os = false);
    let fault = refused(
        &house,
        json!({"vmid": 100, "set": {"name": "www"}, "delete": ["net0"]}),
    )
    .await;
    assert!(fault.message.contains("still busy in guest?"), "{fault}");
    assert!(
        fault.message.contains("waiting for a restart: net0"),
        "{fault}"
    );
    assert_eq!(set_now(&house, 100, "name").as_deref(), Some("www"));
}

#[tokio::test]
async fn a_lost_answer_is_found_by_its_task() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(
        Fault::drop_after()
            .on("POST", "/nodes/*/qemu/105/config")
            .times(1),
    );
    let answer = apply(&house, &json!({"vmid": 105, "set": {"cores": 4}})).await;
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(answer.text.contains(":qmconfig:105:"), "{}", answer.text);
    assert_eq!(house.writes().len(), 1, "sent once");
}

/// A container's change has no task; what can be read back is done, and what never arrived is unknown.
#[tokio::test]
async fn a_containers_lost_answer_is_read_back() {
    for (fault, status) in [
        (Fault::drop_after(), "applied"),
        (Fault::drop_before(), "unknown"),
    ] {
        let house = House::in_mode(Mode::Trusted).await;
        house
            .sim
            .fault(fault.on("PUT", "/nodes/*/lxc/203/config").times(1));
        let answer = apply(&house, &json!({"vmid": 203, "set": {"cores": 2}})).await;
        assert_eq!(answer.data["status"], status, "{}", answer.text);
        assert!(house.writes().len() <= 1, "sent once");
    }
}

/// What the guest is known by is not changed between two steps of one plan.
#[tokio::test]
async fn a_new_identity_is_a_call_of_its_own() {
    let house = House::in_mode(Mode::Trusted).await;
    let net = json!({"net1": "name=eth1,bridge=vmbr0"});
    let fault = refused(
        &house,
        json!({"vmid": 203, "set": net, "grow": {"rootfs": "70G"}}),
    )
    .await;
    assert!(fault.hint.unwrap().contains("in a second"));
    apply(&house, &json!({"vmid": 203, "set": net})).await;
    assert!(set_now(&house, 203, "net1").is_some());
}
