//! What write_proxmox_api does to guests, by whatever path: bound to the very guest, and never to a protected one.

use serde_json::{Value, json};

use crate::house::{House, Meanwhile};

const TOOL: &str = "write_proxmox_api";

async fn refused(house: &House, args: &Value) -> String {
    match house.agreed(TOOL, &args.to_string()).await {
        Ok(answer) => panic!("{args}: {}", answer.text),
        Err(fault) => fault.to_string(),
    }
}

#[tokio::test]
async fn a_guest_in_the_path_must_be_there() {
    let house = House::new().await;
    for (path, says) in [
        (
            "/nodes/pve2/qemu/105/status/start",
            "is on node pve1, not on pve2",
        ),
        (
            "/nodes/pve1/lxc/105/status/start",
            "is a VM, not a container",
        ),
        (
            "/nodes/pve1/qemu/987/status/start",
            "no guest has the vmid 987",
        ),
    ] {
        let said = refused(&house, &json!({"method": "POST", "path": path})).await;
        assert!(said.contains(says), "{path}: {said}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn rules_about_a_guest_hold_for_every_path_to_it() {
    use tools::policy::{Policy, Rule, Verdict};
    let rule = Rule {
        vmid: Some("105".to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = House::furnished(crate::house::Furnish {
        policy: Policy {
            rules: vec![rule],
            ..Policy::default()
        },
        ..crate::house::Furnish::default()
    })
    .await;
    for args in [
        json!({"method": "POST", "path": "/nodes/pve1/qemu/105/status/start"}),
        json!({"method": "POST", "path": "/cluster/ha/resources", "params": {"sid": "vm:105"}}),
        json!({"method": "PUT", "path": "/pools/lab", "params": {"vms": "105"}}),
        json!({"method": "POST", "path": "/nodes/pve1/startall", "params": {"vms": "105", "force": 1}}),
        json!({"method": "PUT", "path": "/nodes/pve1/lxc/208/config", "params": {"mp1": "local-lvm:vm-105-disk-0,mp=/x"}}),
    ] {
        let said = refused(&house, &args).await;
        assert!(said.contains("denies this"), "{args}: {said}");
    }
}

#[tokio::test]
async fn a_volume_in_use_is_not_deleted() {
    let house = House::new().await;
    let disk = house.config(105, "scsi0").unwrap();
    let volume = disk.split(',').next().unwrap();
    let storage = volume.split(':').next().unwrap();
    let path = format!("/nodes/pve1/storage/{storage}/content/{volume}");
    let said = refused(&house, &json!({"method": "DELETE", "path": path})).await;
    assert!(
        said.contains("uses") && said.contains("update_proxmox_vm"),
        "{said}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_guest_that_changed_meanwhile_is_not_touched() {
    let house = House::new().await;
    let args = json!({"method": "POST", "path": "/nodes/pve1/qemu/105/template"}).to_string();
    let replaced = Meanwhile(|| {
        house.set(105, "smbios1", "uuid=99999999-0000-4000-8000-000000000069");
        house.set(105, "vmgenid", "99999999-0000-4000-8000-000000000070");
        house.set(105, "meta", "creation-qemu=10.1.2,ctime=1790000000");
    });
    let fault = house.ask(TOOL, &args, &replaced).await.unwrap_err();
    assert!(fault.message.contains("105"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}
