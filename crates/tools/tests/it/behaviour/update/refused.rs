//! What is refused, and what to send instead.

use serde_json::json;
use tools::policy::Mode;

use super::{UPDATE, refused, set_now};
use crate::house::House;

#[tokio::test]
async fn a_missing_privilege_is_named() {
    let house = House::new().await;
    let fault = house
        .call_with(
            ("/vms/105", &["VM.Audit", "VM.Config.CPU"]),
            UPDATE,
            r#"{"vmid": 105, "set": {"memory": 4096, "cores": 4}}"#,
        )
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("VM.Config.Memory on /vms/105"),
        "{fault}"
    );
    assert_eq!(set_now(&house, 105, "cores").as_deref(), Some("2"));
}

#[tokio::test]
async fn a_bridge_that_cannot_be_seen_is_not_said_to_be_missing() {
    let house = House::new().await;
    house.sim.world(|world| {
        world.add_token("narrow@pve!t", "secret");
        world.grant("narrow@pve", "/sdn/zones/localnetwork/vmbr0", &["SDN.Use"]);
    });
    let held = ["VM.Audit", "VM.Config.Network"];
    let set = r#"{"vmid": 105, "set": {"net1": "virtio,bridge=vmbr7"}}"#;
    let fault = house.call_with(("/vms/105", &held), UPDATE, set).await;
    let fault = fault.unwrap_err();
    let path = "SDN.Use on /sdn/zones/localnetwork/vmbr7";
    assert!(fault.message.contains(path), "{fault}");
    assert!(!fault.message.contains("there is no bridge"), "{fault}");
}

#[tokio::test]
async fn what_only_root_may_is_said_before_it_is_sent() {
    let house = House::in_mode(Mode::Trusted).await;
    for (vmid, set, what) in [
        (105, json!({"args": "-foo"}), "`args`"),
        (
            105,
            json!({"hookscript": "local:snippets/x.sh"}),
            "`hookscript`",
        ),
        (105, json!({"hostpci0": "00:1f.0"}), "no mapping"),
        (105, json!({"scsi1": "/dev/sdb"}), "path of the node"),
        (203, json!({"mp0": "/srv,mp=/srv"}), "path of the node"),
        (
            203,
            json!({"features": "nesting=1,keyctl=1"}),
            "other than nesting",
        ),
    ] {
        let fault = refused(&house, json!({"vmid": vmid, "set": set})).await;
        assert!(fault.message.contains("only root@pam itself"), "{fault}");
        assert!(fault.message.contains(what), "{what}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn wrong_settings_lead_to_right_ones() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, part) in [
        (
            json!({"vmid": 111, "set": {"sshkeys": "-----BEGIN OPENSSH PRIVATE KEY-----"}}),
            "send the public half",
        ),
        (
            json!({"vmid": 105, "set": {"memroy": 1}}),
            "did you mean `memory`?",
        ),
        (
            json!({"vmid": 105, "set": {"hostname": "a"}}),
            "it is called `name`",
        ),
        (
            json!({"vmid": 200, "set": {"name": "a"}}),
            "it is called `hostname`",
        ),
        (
            json!({"vmid": 105, "set": {"cores": "many"}}),
            "send a whole number",
        ),
        (
            json!({"vmid": 105, "set": {"onboot": "maybe"}}),
            "send true or false",
        ),
        (
            json!({"vmid": 105, "set": {"cores": null}}),
            "name it in delete",
        ),
        (
            json!({"vmid": 105, "set": {"lock": "backup"}}),
            "PVE sets and clears it itself",
        ),
        (
            json!({"vmid": 105, "set": {"unused0": "x:y"}}),
            "attach one by its volume",
        ),
        (
            json!({"vmid": 200, "set": {"unprivileged": false}}),
            "keeps what it was created as",
        ),
        (
            json!({"vmid": 200, "delete": ["rootfs"]}),
            "leave it out of delete",
        ),
        (
            json!({"vmid": 105, "set": {"cores": 1}, "delete": ["cores"]}),
            "leave it in one of the two",
        ),
        (
            json!({"vmid": 105}),
            "send set, delete, grow or regenerate_cloudinit",
        ),
        (
            json!({"vmid": 105, "regenerate_cloudinit": true}),
            "attach one first",
        ),
        (
            json!({"vmid": 200, "regenerate_cloudinit": true}),
            "a container has no cloud-init drive",
        ),
        (
            json!({"vmid": 105, "set": {"net1": "virtio,bridge=vmbr9"}}),
            "its bridges are vmbr0",
        ),
        (
            json!({"vmid": 105, "set": {"scsi1": "nowhere:8"}}),
            "those that do are",
        ),
        (
            json!({"vmid": 105, "grow": {"scsi0": "40"}}),
            "with its unit",
        ),
        (
            json!({"vmid": 107, "set": {"cores": 2}}),
            "is locked (backup)",
        ),
    ] {
        let fault = refused(&house, args.clone()).await;
        assert!(fault.to_string().contains(part), "{args}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

/// PVE would take it for another volume, and detach the disk that is there.
#[tokio::test]
async fn a_size_is_no_disk() {
    let house = House::in_mode(Mode::Trusted).await;
    for size in ["+10G", "50G"] {
        let fault = refused(&house, json!({"vmid": 105, "set": {"scsi0": size}})).await;
        let hint = fault.hint.unwrap();
        assert!(
            hint.contains(&format!(r#"grow: {{"scsi0": "{size}"}}"#)),
            "{hint}"
        );
    }
    let fault = refused(&house, json!({"vmid": 105, "set": {"scsi5": "32G"}})).await;
    let hint = fault.hint.unwrap();
    assert!(hint.contains("local-lvm:32"), "{hint}");
    assert_eq!(house.writes(), [""; 0]);
}
