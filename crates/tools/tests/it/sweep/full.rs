//! Tools with code of their own plan what PVE takes with every argument that they have, not only with those of their
//! examples. What is a method of the API and nothing more is held against the schemas by its declaration, in `versions`.

use std::collections::BTreeSet;

use tools::policy::Mode;
use tools::registry;
use tools::spec::Risk;
use tools::tool::Ran;

use super::reference::{schemas, valid};
use crate::house::{House, object};

/// Calls with what no example has.
pub(super) const MORE: &[(&str, &str)] = &[
    (
        "create_proxmox_vm",
        r#"{"name": "full", "vmid": 400, "node": "pve1", "memory": 1024, "cores": 2, "sockets": 2, "disk_size": 8, "storage": "local-lvm", "cdrom": "nas:iso/debian-13.1.0-amd64-netinst.iso", "bridge": "vmbr0", "vlan": 5, "ostype": "l26", "bios": "ovmf", "tags": "lab", "pool": "lab", "start": true}"#,
    ),
    (
        "create_proxmox_vm",
        r#"{"name": "full", "template": 900, "net0": "virtio,bridge=vmbr0", "cipassword": "change-me"}"#,
    ),
    (
        "create_proxmox_lxc",
        r#"{"hostname": "full", "memory": 1024, "swap": 256, "cores": 2, "storage": "local-lvm", "ssh_public_keys": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG1hZGUtdXAta2V5LWZvci10ZXN0cy1vbmx5LTAwMDAw me@laptop", "bridge": "vmbr0", "unprivileged": false, "nesting": false, "pool": "lab"}"#,
    ),
    (
        "create_proxmox_lxc",
        r#"{"hostname": "full", "storage": "local-lvm", "net0": "name=eth0,bridge=vmbr0,ip=dhcp"}"#,
    ),
    (
        "create_vm",
        r#"{"node": "pve1", "vmid": 400, "name": "full", "cores": 4, "sockets": 2, "scsi0": "local-lvm:8", "ostype": "l26", "bios": "ovmf", "start": true, "pool": "lab"}"#,
    ),
    (
        "create_container",
        r#"{"ostemplate": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst", "hostname": "full", "storage": "local-lvm", "memory": 1024, "cores": 2, "unprivileged": true, "ssh_public_keys": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG1hZGUtdXAta2V5LWZvci10ZXN0cy1vbmx5LTAwMDAw me@laptop"}"#,
    ),
    (
        "clone_vm",
        r#"{"vmid": 105, "newid": 400, "target": "pve1", "full": true, "storage": "tank", "description": "a copy", "pool": "lab"}"#,
    ),
    (
        "clone_vm",
        r#"{"vmid": 100, "newid": 400, "snapname": "weekly"}"#,
    ),
    (
        "clone_proxmox_vm",
        r#"{"vmid": 105, "target": "pve1", "storage": "tank", "description": "a copy", "pool": "lab"}"#,
    ),
    ("clone_proxmox_vm", r#"{"vmid": 100, "snapshot": "weekly"}"#),
    (
        "clone_container",
        r#"{"vmid": 203, "target": "pve3", "storage": "local-lvm", "pool": "lab"}"#,
    ),
    ("clone_container", r#"{"vmid": 202, "snapname": "nightly"}"#),
    (
        "update_vm_config",
        r#"{"vmid": 105, "name": "renamed", "sockets": 2, "cpu": "host", "net0": "virtio,bridge=vmbr0", "description": "x", "onboot": true, "agent": "1", "boot": "order=scsi0", "hotplug": "disk,network"}"#,
    ),
    (
        "update_container_config",
        r#"{"vmid": 203, "hostname": "renamed", "swap": 256, "searchdomain": "lan", "features": "nesting=1"}"#,
    ),
    (
        "update_vm_cloudinit",
        r#"{"vmid": 111, "cipassword": "change-me", "sshkeys": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG1hZGUtdXAta2V5LWZvci10ZXN0cy1vbmx5LTAwMDAw me@laptop", "nameserver": "192.168.1.1", "searchdomain": "lan"}"#,
    ),
    (
        "migrate_vm",
        r#"{"vmid": 109, "target": "pve3", "online": true, "with_local_disks": true, "targetstorage": "local-lvm"}"#,
    ),
    (
        "migrate_container",
        r#"{"vmid": 203, "target": "pve2", "target_storage": "tank"}"#,
    ),
    (
        "migrate_proxmox_vm",
        r#"{"vmid": 109, "target": "pve3", "online": true, "with_local_disks": true}"#,
    ),
    (
        "bulk_migrate_guests",
        r#"{"target": "pve3", "vms": "109", "with_local_disks": true}"#,
    ),
    (
        "stop_proxmox_vm",
        r#"{"filter": "tag:prod status:running", "max": 30, "action": "shutdown", "force": true, "timeout": 60}"#,
    ),
    ("start_proxmox_vm", r#"{"filter": "tag:prod", "max": 30}"#),
    (
        "update_acl",
        r#"{"path": "/pool/lab", "roles": "PVEAuditor", "groups": "admins", "propagate": false}"#,
    ),
    (
        "update_acl",
        r#"{"path": "/pool/lab", "roles": "PVEAuditor", "tokens": "root@pam!oxmox"}"#,
    ),
    (
        "prune_storage_backups",
        r#"{"node": "pve1", "storage": "nas", "prune_backups": "keep-last=1", "type": "lxc", "dry_run": false}"#,
    ),
    (
        "move_vm_disk",
        r#"{"vmid": 105, "disk": "scsi0", "storage": "nas", "format": "qcow2"}"#,
    ),
    (
        "rollback_vm_snapshot",
        r#"{"vmid": 100, "snapname": "weekly", "start": true}"#,
    ),
    (
        "rollback_proxmox_vm",
        r#"{"vmid": 202, "backup": "vault:backup/ct/202/2026-11-14T01:00:05Z", "new_vmid": 310, "storage": "local-lvm", "node": "pve1"}"#,
    ),
    ("reboot_vm", r#"{"vmid": 100, "timeout": 60}"#),
    ("reboot_container", r#"{"vmid": 200, "timeout": 60}"#),
    (
        "delete_vm_snapshot",
        r#"{"vmid": 100, "snapname": "before-upgrade", "force": true}"#,
    ),
    (
        "create_vm_snapshot",
        r#"{"vmid": 100, "snapname": "now", "vmstate": true}"#,
    ),
    (
        "backup_proxmox_vm",
        r#"{"vmid": 105, "storage": "nas", "prune": "keep-daily=7"}"#,
    ),
    ("type_vm_text", r#"{"vmid": 100, "text": "x", "pace": 20}"#),
    (
        "run_proxmox_vm_command",
        r#"{"vmid": 106, "command": ["cat"], "input": "x"}"#,
    ),
    (
        "vm_agent_exec",
        r#"{"vmid": 106, "command": "cat", "input_data": "x"}"#,
    ),
    (
        "delete_proxmox_vm_snapshot",
        r#"{"vmid": 100, "snapshot": "before-upgrade", "force": true}"#,
    ),
    (
        "delete_container_snapshot",
        r#"{"vmid": 202, "snapname": "nightly", "force": true}"#,
    ),
    (
        "vm_agent_file_read",
        r#"{"vmid": 106, "file": "/etc/hostname", "count": 100}"#,
    ),
    (
        "vm_agent_set_password",
        r#"{"vmid": 106, "username": "build", "password": "$6$salt$hash", "crypted": true}"#,
    ),
    ("vm_agent_fstrim", r#"{"vmid": 106, "node": "pve3"}"#),
    (
        "vm_agent_fsfreeze_freeze",
        r#"{"vmid": 106, "node": "pve3"}"#,
    ),
    ("vm_agent_fsfreeze_thaw", r#"{"vmid": 106, "node": "pve3"}"#),
    (
        "create_lvm",
        r#"{"node": "pve3", "name": "fast", "device": "/dev/sdb", "add_to_storage": true}"#,
    ),
    (
        "create_lvmthin",
        r#"{"node": "pve3", "name": "fast", "device": "/dev/sdb", "add_to_storage": true}"#,
    ),
    (
        "create_zfs_pool",
        r#"{"node": "pve3", "name": "flash", "raidlevel": "single", "devices": "/dev/sdb", "ashift": 12, "add_to_storage": true}"#,
    ),
    (
        "create_directory_storage",
        r#"{"node": "pve3", "name": "dumps", "device": "/dev/sdb", "add_to_storage": true}"#,
    ),
    (
        "order_node_certificate",
        r#"{"node": "pve2", "force": true}"#,
    ),
];

#[tokio::test]
async fn every_argument_is_planned_as_pve_takes_it() {
    let Some(schemas) = schemas() else {
        return;
    };
    let house = House::in_mode(Mode::Trusted).await;
    let context = house.context();
    let mut wrong = Vec::new();
    for (name, args) in MORE {
        let tool = registry::find_change(name).unwrap();
        let plan = match tool.run(object(args), &context).await {
            Ok(Ran::Plan(plan)) => plan,
            Ok(Ran::Answer(_)) => panic!("{name} planned nothing"),
            Err(fault) => {
                wrong.push(format!("{name} {args}: {fault}"));
                continue;
            }
        };
        for request in plan.requests() {
            for (version, methods) in &schemas {
                if let Err(why) = valid(&request, methods) {
                    wrong.push(format!("{name} {args} on {version}: {why}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_argument_is_left_out() {
    let mut unused = Vec::new();
    for tool in registry::all() {
        let spec = tool.spec();
        // What the sweeps' token or world does not allow is tried by tests of its own.
        let apart = !spec.special.wants.is_empty() || tool.relays();
        if spec.risk == Risk::Read || !tool.methods().is_empty() || apart {
            continue;
        }
        let more = MORE.iter().filter(|(name, _)| *name == spec.name);
        let calls = spec.examples.iter().map(|example| example.args);
        let used: BTreeSet<String> = calls
            .chain(more.map(|(_, args)| *args))
            .flat_map(|args| object(args).into_iter().map(|(name, _)| name))
            .collect();
        let input = tool.input();
        for name in input["properties"].as_object().unwrap().keys() {
            if !used.contains(name) {
                unused.push(format!("{}.{name}", spec.name));
            }
        }
    }
    assert_eq!(unused, [""; 0]);
}
