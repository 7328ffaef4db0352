//! Guests that are not there yet: where they go, and what they are made with.

mod card;
mod refused;
mod rights;
mod trouble;

use serde_json::{Value, json};
use tools::policy::Mode;
use tools::tool::Rendered;

use crate::house::House;

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJX5LbHZ1e2jVJ0y7cXw3dJQe0vY4m9tUo8pW1aBcDeF me@laptop";
const DEBIAN: &str = "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst";

async fn vm(house: &House, args: &Value) -> Result<Rendered, tools::fault::Fault> {
    house.call("create_proxmox_vm", &args.to_string()).await
}

async fn lxc(house: &House, args: &Value) -> Result<Rendered, tools::fault::Fault> {
    house.call("create_proxmox_lxc", &args.to_string()).await
}

async fn preview(house: &House, tool: &str, args: &Value) -> String {
    let arguments = json!({"tool": tool, "arguments": args}).to_string();
    let answer = house.call("preview_proxmox_change", &arguments).await;
    answer.unwrap().text
}

/// The value of a key in a guest's configuration, as the simulator has it.
fn config(house: &House, vmid: u32, key: &str) -> Option<String> {
    house.sim.world(|world| {
        let value = world.guests.get(&vmid)?.config.get(key);
        value.map(str::to_owned)
    })
}

fn made(answer: &Rendered) -> u32 {
    let vmid = answer.data["undo"]["arguments"]["vmid"].as_u64().unwrap();
    u32::try_from(vmid).unwrap()
}

/// The arguments of homelab_mcp's tools of these names.
#[tokio::test]
async fn cdrom_net0_and_swap_are_taken() {
    let house = House::in_mode(Mode::Trusted).await;
    let image = "nas:iso/debian-13.1.0-amd64-netinst.iso";
    let args = json!({"name": "a", "cdrom": image, "net0": "virtio,bridge=vmbr0"});
    let vmid = made(&vm(&house, &args).await.unwrap());
    assert!(config(&house, vmid, "ide2").unwrap().contains(image));
    let card = config(&house, vmid, "net0").unwrap();
    assert!(card.contains("bridge=vmbr0"), "{card}");
    let args = json!({"name": "b", "cdrom": image, "iso": "nas:iso/other.iso"});
    let fault = vm(&house, &args).await.unwrap_err();
    assert_eq!(fault.message, "iso and cdrom name different images");
    let answer = lxc(&house, &json!({"hostname": "c", "swap": 0})).await;
    let vmid = made(&answer.unwrap());
    assert_eq!(config(&house, vmid, "swap").as_deref(), Some("0"));
}

#[tokio::test]
async fn a_name_is_enough() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = vm(&house, &json!({"name": "app1"})).await.unwrap();
    let vmid = made(&answer);
    assert_eq!(vmid, 112, "the next free id");
    assert_eq!(config(&house, vmid, "memory").as_deref(), Some("2048"));
    assert_eq!(config(&house, vmid, "cores").as_deref(), Some("2"));
    let disk = config(&house, vmid, "scsi0").unwrap();
    assert!(
        disk.starts_with("nas:") && disk.contains("size=32G"),
        "{disk}"
    );
    let answer = lxc(&house, &json!({"hostname": "ct1"})).await.unwrap();
    let vmid = made(&answer);
    assert_eq!(config(&house, vmid, "memory").as_deref(), Some("512"));
    assert_eq!(config(&house, vmid, "unprivileged").as_deref(), Some("1"));
    assert_eq!(
        config(&house, vmid, "features").as_deref(),
        Some("nesting=1")
    );
    let disk = config(&house, vmid, "rootfs").unwrap();
    assert!(
        disk.starts_with("tank:") && disk.contains("size=8G"),
        "{disk}"
    );
}

#[tokio::test]
async fn what_was_chosen_is_shown_with_its_reason() {
    let house = House::new().await;
    let text = preview(&house, "create_proxmox_vm", &json!({"name": "app1"})).await;
    for part in [
        "on pve1, the node with the most free memory",
        "the most free space on pve1 for disks of VMs",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let text = preview(&house, "create_proxmox_lxc", &json!({"hostname": "ct1"})).await;
    assert!(text.contains("the newest Debian template there"), "{text}");
    assert_eq!(house.writes(), [""; 0]);
}

/// A guest goes where its storage and its installation media are, whatever memory is free elsewhere.
#[tokio::test]
async fn the_place_has_what_it_takes() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.world(|world| {
        let pve2 = world.nodes.get_mut("pve2").unwrap();
        pve2.memory *= 8;
    });
    let args = json!({"name": "rescue", "iso": "systemrescue-12.02-amd64.iso"});
    let text = preview(&house, "create_proxmox_vm", &args).await;
    assert!(text.contains("POST /nodes/pve1/qemu"), "{text}");
    assert!(
        text.contains("there is no ISO image systemrescue-12.02-amd64.iso on pve2"),
        "{text}"
    );
    let text = preview(&house, "create_proxmox_vm", &json!({"name": "app"})).await;
    assert!(text.contains("POST /nodes/pve2/qemu"), "{text}");
    house.sim.set_online("pve2", false);
    let text = preview(&house, "create_proxmox_vm", &json!({"name": "app"})).await;
    assert!(text.contains("POST /nodes/pve1/qemu"), "{text}");
}

#[tokio::test]
async fn windows_gets_hardware_that_its_installer_knows() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = json!({"name": "office", "vmid": 310, "ostype": "win11", "disk_size": "80G"});
    vm(&house, &args).await.unwrap();
    let set = |key| config(&house, 310, key).unwrap_or_default();
    assert_eq!(set("bios"), "ovmf");
    assert!(set("efidisk0").contains("pre-enrolled-keys=1"));
    assert!(set("tpmstate0").contains("version=v2.0"));
    assert!(set("sata0").contains("size=80G"));
    assert!(set("net0").starts_with("e1000="));
}

#[tokio::test]
async fn a_template_is_cloned_set_up_grown_and_started() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = json!({
        "name": "app2", "vmid": 311, "template": 900, "memory": "4096", "cores": 4, "disk_size": 40,
        "ciuser": "me", "cipassword": "hunter2", "sshkeys": [KEY], "ip": "192.168.1.50/24",
        "gateway": "192.168.1.1", "tags": ["web"], "vlan": 20, "start": true,
    });
    let shown = house.preview("create_proxmox_vm", &args.to_string()).await;
    let affects = shown.unwrap().data["affects"].to_string();
    assert!(affects.contains(KEY), "{affects}");
    let answer = vm(&house, &args).await.unwrap();
    let steps = answer.data["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4, "{}", answer.text);
    assert_eq!(
        house.writes(),
        [
            "POST /nodes/pve1/qemu/900/clone",
            "POST /nodes/pve1/qemu/311/config",
            "PUT /nodes/pve1/qemu/311/resize",
            "POST /nodes/pve1/qemu/311/status/start",
        ]
    );
    let set = |key| config(&house, 311, key).unwrap_or_default();
    assert_eq!(
        (set("memory"), set("cores")),
        ("4096".to_owned(), "4".to_owned())
    );
    assert_eq!(set("ciuser"), "me");
    assert_eq!(set("ipconfig0"), "ip=192.168.1.50/24,gw=192.168.1.1");
    assert!(
        set("sshkeys").contains("ssh-ed25519%20AAAA"),
        "{}",
        set("sshkeys")
    );
    assert!(set("scsi0").contains("size=40G"), "{}", set("scsi0"));
    assert!(set("net0").contains("bridge=vmbr0") && set("net0").contains("tag=20"));
    assert_eq!(set("tags"), "web");
}

/// A template without a cloud-init drive gets one.
#[tokio::test]
async fn cloud_init_gets_its_drive() {
    let house = House::in_mode(Mode::Trusted).await;
    for args in [
        json!({"name": "u", "vmid": 312, "template": 901, "ciuser": "me"}),
        json!({"name": "u", "vmid": 313, "storage": "local-lvm", "ciuser": "me"}),
    ] {
        vm(&house, &args)
            .await
            .unwrap_or_else(|fault| panic!("{args}: {fault}"));
    }
    for (vmid, slot) in [(312, "ide2"), (313, "ide0")] {
        let drive = config(&house, vmid, slot).unwrap();
        assert!(drive.contains("cloudinit"), "{vmid}: {drive}");
    }
}

/// An undo that would be refused is none.
#[tokio::test]
async fn the_way_back_from_a_protected_guest_is_a_persons() {
    let house = House::in_mode(Mode::Trusted).await;
    let words = "once a person has taken that off, delete_proxmox_vm with vmid";
    for (tool, args) in [
        (
            "create_proxmox_vm",
            r#"{"name": "a", "node": "pve1", "tags": "lab,Protected"}"#,
        ),
        (
            "create_proxmox_vm",
            r#"{"name": "a", "template": 900, "tags": "protected"}"#,
        ),
        (
            "create_proxmox_lxc",
            r#"{"hostname": "a", "node": "pve1", "tags": "protected"}"#,
        ),
        // A clone has the flag and the tags of its source.
        ("clone_proxmox_vm", r#"{"vmid": 101}"#),
        ("clone_proxmox_vm", r#"{"vmid": 109}"#),
    ] {
        let shown = house.preview(tool, args).await.unwrap();
        assert!(shown.text.contains(words), "{tool} {args}: {}", shown.text);
        let answer = house.call(tool, args).await.unwrap();
        assert_eq!(answer.data.get("undo"), None, "{tool} {args}");
    }
}
