//! Templates, new VMs, and moving several guests.

use serde_json::json;
use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn only_what_is_off_and_has_no_snapshots_becomes_a_template() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 100}"#;
    let fault = house
        .call("convert_vm_to_template", args)
        .await
        .unwrap_err();
    assert!(fault.message.contains("is running"), "{fault}");
    assert!(
        fault.message.contains("before-upgrade and weekly"),
        "{fault}"
    );
    for (vmid, why) in [
        (107, "is locked (backup)"),
        (900, "is a template already"),
        (109, "is protected ("),
    ] {
        let args = format!(r#"{{"vmid": {vmid}}}"#);
        let fault = house
            .call("convert_vm_to_template", &args)
            .await
            .unwrap_err();
        assert!(fault.message.contains(why), "{fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
    let args = r#"{"vmid": 105}"#;
    let answer = house.call("convert_vm_to_template", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(house.config(105, "template").as_deref(), Some("1"));
}

#[tokio::test]
async fn a_new_vm_has_what_pve_calls_by_its_own_names() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"node": "pve2", "vmid": 301, "name": "app2", "cpu": "host", "scsi0": "tank:16,ssd=1", "machine": "q35", "boot": "order=scsi0;net0", "agent": "1", "onboot": true, "description": "builds", "cdrom": "nas:iso/debian-13.1.0-amd64-netinst.iso,media=cdrom"}"#;
    let answer = house.call("create_vm", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    for (key, value) in [
        ("cpu", "host"),
        ("machine", "q35"),
        ("boot", "order=scsi0;net0"),
        ("onboot", "1"),
        ("description", "builds"),
    ] {
        assert_eq!(house.config(301, key).as_deref(), Some(value), "{key}");
    }
    let disk = house.config(301, "scsi0").unwrap();
    assert!(
        disk.starts_with("tank:") && disk.contains("ssd=1") && disk.contains("size=16G"),
        "{disk}"
    );
}

#[tokio::test]
async fn a_new_vm_takes_no_disk_that_exists() {
    let house = House::in_mode(Mode::Trusted).await;
    for scsi0 in [
        "local-lvm:vm-101-disk-1",
        "/dev/sdb",
        "local-lvm:0,import-from=nas:import/x.qcow2",
    ] {
        let args =
            serde_json::json!({"node": "pve1", "vmid": 301, "name": "thief", "scsi0": scsi0});
        let fault = house
            .call("create_vm", &args.to_string())
            .await
            .unwrap_err();
        assert!(fault.message.contains("is no new disk"), "{scsi0}: {fault}");
    }
    // The arguments that only create_vm has are no way into the core's tool.
    let args = r#"{"name": "thief", "more": {"scsi0": "local-lvm:8"}}"#;
    let fault = house.call("create_proxmox_vm", args).await.unwrap_err();
    assert!(fault.message.contains("`more`"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn several_guests_move_with_one_plan() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"target": "pve3", "vms": "105,111,106"}"#;
    let preview = house.preview("bulk_migrate_guests", args).await.unwrap();
    // One is there already, and the others come from two nodes.
    for says in [
        "build; on pve3 already",
        "not by one call: 105 came from pve1",
    ] {
        assert!(preview.text.contains(says), "{}", preview.text);
    }
    let answer = house.call("bulk_migrate_guests", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let on = |vmid| house.sim.world(|world| world.guests[&vmid].node.clone());
    assert_eq!((on(105), on(111)), ("pve3".into(), "pve3".into()));
}

#[tokio::test]
async fn what_holds_one_guest_back_holds_all_and_says_whom() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"target": "pve2", "vms": "105,200,100"}"#;
    let fault = house.call("bulk_migrate_guests", args).await.unwrap_err();
    assert!(fault.message.contains("container 200 (dns)"), "{fault}");
    assert!(fault.message.contains("VM 100 (web)"), "{fault}");
    let hint = fault.hint.unwrap_or_default();
    assert!(hint.contains("online: true"), "{hint}");
    for (vms, why) in [
        ("", "names no guest"),
        ("105,x", "argument `vms`"),
        ("105,4711", "4711"),
    ] {
        let args = format!(r#"{{"target": "pve2", "vms": "{vms}"}}"#);
        let fault = house.call("bulk_migrate_guests", &args).await.unwrap_err();
        assert!(fault.message.contains(why), "{vms}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

/// What a refusal tells to send is taken by the tool that refused.
#[tokio::test]
async fn a_refusal_names_arguments_that_there_are() {
    let house = House::in_mode(Mode::Trusted).await;
    let template = "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst";
    let privileged = json!({
        "node": "pve1", "vmid": 330, "ostemplate": template, "hostname": "x",
        "unprivileged": false, "features": "nesting=1",
    });
    for (tool, args, hint, sent) in [
        (
            "delete_vm",
            json!({"vmid": 100, "purge": true}),
            "send stop: true",
            json!({"stop": true}),
        ),
        (
            "delete_container",
            json!({"vmid": 204, "purge": true}),
            "send force: true",
            json!({"force": true}),
        ),
        (
            "migrate_vm",
            json!({"vmid": 110, "target": "pve1", "online": false}),
            "send restart: true",
            json!({"restart": true}),
        ),
        (
            "create_container",
            privileged,
            "leave features out",
            json!({"features": null}),
        ),
    ] {
        let fault = house.call(tool, &args.to_string()).await.unwrap_err();
        assert!(fault.to_string().contains(hint), "{tool}: {fault}");
        let mut args = args;
        for (name, value) in sent.as_object().unwrap() {
            args[name] = value.clone();
        }
        let shown = house.preview(tool, &args.to_string()).await.unwrap();
        let still = shown.text.contains(hint);
        assert!(!still, "{tool}: {}", shown.text);
    }
    assert_eq!(house.writes(), [""; 0]);
}
