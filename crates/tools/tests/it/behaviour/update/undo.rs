//! How a change is taken back.

use serde_json::json;
use tools::policy::Mode;

use super::{UPDATE, apply, config_of, pending, preview};
use crate::house::House;

/// The undo of each change, sent as it is proposed, brings the very configuration back.
#[tokio::test]
async fn the_undo_brings_the_old_configuration_back() {
    let cases = [
        json!({"vmid": 105, "set": {"memory": 4096, "cores": 4, "onboot": true, "description": "x"}, "delete": ["sockets"]}),
        json!({"vmid": 105, "set": {"net0": "virtio,bridge=vmbr0,tag=20", "net1": "virtio,bridge=vmbr0"}}),
        json!({"vmid": 105, "set": {"ide2": "nas:iso/debian-13.1.0-amd64-netinst.iso"}}),
        json!({"vmid": 105, "delete": ["scsi0"]}),
        json!({"vmid": 100, "set": {"memory": 8192, "tags": ["web"]}}),
        json!({"vmid": 111, "set": {"ciuser": "me", "sshkeys": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI me@home"}}),
        json!({"vmid": 200, "set": {"memory": 1024, "hostname": "ns", "net0": "name=eth0,bridge=vmbr0,ip=dhcp"}, "delete": ["startup"]}),
        json!({"vmid": 208, "delete": ["mp0"]}),
    ];
    for args in cases {
        let house = House::in_mode(Mode::Trusted).await;
        let vmid = u32::try_from(args["vmid"].as_u64().unwrap()).unwrap();
        let before = config_of(&house, vmid);
        let answer = apply(&house, &args).await;
        let undo = &answer.data["undo"];
        assert_eq!(undo["tool"], UPDATE, "{args}: {}", answer.text);
        apply(&house, &undo["arguments"]).await;
        assert_eq!(config_of(&house, vmid), before, "{args}: {undo}");
        assert_eq!(pending(&house, vmid), [""; 0], "{args}: {undo}");
    }
}

#[tokio::test]
async fn the_undo_says_what_it_does_not_bring_back() {
    let house = House::new().await;
    let grown = preview(&house, &json!({"vmid": 105, "grow": {"scsi0": "+8G"}})).await;
    assert_eq!(grown.data["irreversible"], "scsi0 stays grown");
    let both = json!({"vmid": 105, "set": {"cores": 4}, "grow": {"scsi0": "+8G"}});
    let both = preview(&house, &both).await;
    assert!(
        both.text
            .contains("the undo leaves this: scsi0 stays grown"),
        "{}",
        both.text
    );
    assert_eq!(both.data["undo"]["arguments"]["set"], json!({"cores": 2}));
    // PVE shows a mask, which is not what was set.
    house.set(111, "cipassword", "$5$salt$hash");
    let gone = json!({"vmid": 111, "delete": ["cipassword"]});
    let gone = preview(&house, &gone).await;
    assert_eq!(
        gone.data["irreversible"], "the old `cipassword` is not known",
        "{}",
        gone.text
    );
    let protected = preview(&house, &json!({"vmid": 105, "set": {"protection": true}})).await;
    assert!(
        protected.data["irreversible"]
            .as_str()
            .unwrap()
            .contains("only a person"),
        "{}",
        protected.text
    );
}
