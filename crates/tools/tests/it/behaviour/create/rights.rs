//! What a token must hold, and what is said if it does not.

use serde_json::json;
use tools::policy::Mode;

use super::{DEBIAN, config, lxc, made, preview};
use crate::house::House;

#[tokio::test]
async fn a_missing_privilege_is_named() {
    let house = House::in_mode(Mode::Trusted).await;
    let everything_but = [
        "VM.Allocate",
        "VM.Audit",
        "VM.Config.CPU",
        "VM.Config.Memory",
    ];
    let args = json!({"hostname": "a", "vmid": 320, "storage": "local-lvm", "ostemplate": DEBIAN});
    let fault = house
        .call_with(
            ("/vms/320", &everything_but),
            "create_proxmox_lxc",
            &args.to_string(),
        )
        .await
        .unwrap_err()
        .to_string();
    assert!(
        fault.contains("Datastore.AllocateSpace on /storage/local-lvm"),
        "{fault}"
    );
    let storage = ["Datastore.AllocateSpace"];
    let fault = house
        .call_with(
            ("/storage", &storage),
            "create_proxmox_lxc",
            &args.to_string(),
        )
        .await
        .unwrap_err()
        .to_string();
    assert!(fault.contains("VM.Config.Network on /vms/320"), "{fault}");
    assert_eq!(config(&house, 320, "memory"), None, "nothing was made");
}

/// Without SDN.Use a bridge cannot be seen: that it is missing is not claimed, the privilege is named.
#[tokio::test]
async fn an_unseen_bridge_is_not_called_missing() {
    let house = House::in_mode(Mode::Trusted).await;
    let storage = ["Datastore.AllocateSpace", "Datastore.Audit"];
    let args = json!({
        "tool": "create_proxmox_vm",
        "arguments": {"name": "a", "node": "pve1", "storage": "local-lvm"},
    });
    let answer = house
        .call_with(
            ("/storage", &storage),
            "preview_proxmox_change",
            &args.to_string(),
        )
        .await
        .unwrap();
    assert!(
        answer.text.contains("cannot be seen without SDN.Use"),
        "{}",
        answer.text
    );
    assert!(
        answer
            .text
            .contains("missing privilege: SDN.Use on /sdn/zones/localnetwork/vmbr0"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn a_privileged_container_takes_more_and_cannot_nest() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = json!({"hostname": "a", "vmid": 320, "unprivileged": false});
    let text = preview(&house, "create_proxmox_lxc", &args).await;
    assert!(text.contains("root on the node"), "{text}");
    let asked = House::new().await;
    let asked = lxc(&asked, &args).await.unwrap();
    assert_eq!(asked.data["risk"], "grant", "{}", asked.text);
    assert_eq!(asked.data["status"], "needs_confirmation");
    lxc(&house, &args).await.unwrap();
    assert_eq!(config(&house, 320, "unprivileged"), None);
    assert_eq!(config(&house, 320, "features"), None);
}

/// Rights on a pool are enough for a guest that goes into it.
#[tokio::test]
async fn rights_on_the_pool_count() {
    let house = House::in_mode(Mode::Trusted).await;
    let on_pool = [
        "VM.Allocate",
        "VM.Audit",
        "VM.Clone",
        "VM.Config.CDROM",
        "VM.Config.Cloudinit",
        "VM.Config.CPU",
        "VM.Config.Disk",
        "VM.Config.HWType",
        "VM.Config.Memory",
        "VM.Config.Network",
        "VM.Config.Options",
        "VM.PowerMgmt",
    ];
    house.sim.world(|world| {
        world.grant("narrow@pve", "/sdn", &["SDN.Use"]);
        world.grant("narrow@pve", "/storage", &["Datastore.AllocateSpace"]);
        world.grant("narrow@pve", "/vms/900", &["VM.Audit", "VM.Clone"]);
    });
    for (tool, args) in [
        (
            "create_proxmox_vm",
            json!({"name": "a", "pool": "lab", "ciuser": "me"}),
        ),
        (
            "create_proxmox_vm",
            json!({"name": "b", "pool": "lab", "template": 900, "ciuser": "me", "cores": 1, "disk_size": 20}),
        ),
        (
            "create_proxmox_lxc",
            json!({"hostname": "c", "pool": "lab", "start": true}),
        ),
    ] {
        let answer = house
            .call_with(("/pool/lab", &on_pool), tool, &args.to_string())
            .await
            .unwrap_or_else(|fault| panic!("{tool} {args}: {fault}"));
        assert_eq!(answer.data["status"], "applied", "{}", answer.text);
        let vmid = made(&answer);
        let member = house
            .sim
            .world(|world| world.pools["lab"].guests.contains(&vmid));
        assert!(member, "{tool} {args}");
    }
}
