//! Every known way to lose a protected guest's disk is refused, in every mode, whoever agrees.

use tools::policy::{Mode, Policy, Rule, Verdict};

use crate::house::{Furnish, House};

/// Calls that would destroy something of guest 101 or 102 (PVE's flag) or 109 (the tag). Grows with the tools.
const WAYS: &[(&str, &str)] = &[
    (
        "delete_proxmox_vm",
        r#"{"vmid": 101, "stop": true, "purge": true}"#,
    ),
    ("delete_proxmox_vm", r#"{"vmid": 109, "stop": true}"#),
    (
        "delete_proxmox_vm_snapshot",
        r#"{"vmid": 101, "snapshot": "weekly"}"#,
    ),
    (
        "delete_proxmox_vm_snapshot",
        r#"{"vmid": 109, "snapshot": "weekly", "force": true}"#,
    ),
    (
        "rollback_proxmox_vm",
        r#"{"vmid": 101, "snapshot": "weekly", "start": true}"#,
    ),
    (
        "rollback_proxmox_vm",
        r#"{"vmid": 109, "snapshot": "weekly"}"#,
    ),
    (
        "rollback_proxmox_vm",
        r#"{"vmid": 101, "backup": "latest"}"#,
    ),
    (
        "backup_proxmox_vm",
        r#"{"vmid": 101, "storage": "vault", "keep_last": 1}"#,
    ),
    // Its disks taken away, or put in another's place.
    ("update_proxmox_vm", r#"{"vmid": 101, "delete": ["scsi1"]}"#),
    (
        "update_proxmox_vm",
        r#"{"vmid": 101, "set": {"scsi1": "local-lvm:8"}}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 101, "set": {"scsi1": "none,media=cdrom"}}"#,
    ),
    // A medium that is taken out does not become an unused disk.
    (
        "update_proxmox_vm",
        r#"{"vmid": 101, "set": {"scsi1": "local-lvm:vm-101-disk-1,media=cdrom"}}"#,
    ),
    ("update_proxmox_vm", r#"{"vmid": 101, "delete": ["ide3"]}"#),
    (
        "update_proxmox_vm",
        r#"{"vmid": 101, "set": {"ide3": "none,media=cdrom"}}"#,
    ),
    ("update_proxmox_vm", r#"{"vmid": 101, "delete": ["scsi7"]}"#),
    ("update_proxmox_vm", r#"{"vmid": 109, "delete": ["scsi0"]}"#),
    (
        "update_proxmox_vm",
        r#"{"vmid": 109, "set": {"scsi0": "local-lvm:vm-109-disk-0,snapshot=1"}}"#,
    ),
    // Hidden behind what is worse.
    (
        "update_proxmox_vm",
        r#"{"vmid": 109, "set": {"ciuser": "me"}, "delete": ["scsi0"]}"#,
    ),
    // Its protection taken off.
    (
        "update_proxmox_vm",
        r#"{"vmid": 101, "set": {"protection": false}}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 101, "delete": ["protection"]}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 101, "set": {"protection": 0, "ciuser": "me"}}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 109, "set": {"tags": "network"}}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 109, "set": {"tags": ["other"]}}"#,
    ),
    ("update_proxmox_vm", r#"{"vmid": 109, "delete": ["tags"]}"#),
    // It is made what never starts.
    (
        "update_proxmox_vm",
        r#"{"vmid": 101, "set": {"template": 1}}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 109, "set": {"template": true}}"#,
    ),
    // Its disks given to other guests.
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "set": {"scsi1": "local-lvm:vm-101-disk-1"}}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "set": {"scsi1": "file=local-lvm:vm-109-disk-0,size=4G"}}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 208, "set": {"mp1": "volume=local-lvm:vm-101-disk-1,mp=/db"}}"#,
    ),
    // By directory, file name or path; and on another node than the caller says of the guest that is changed.
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "set": {"scsi1": "nas:102/data.qcow2"}}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "set": {"scsi1": "nas:102/vm-999-disk-0.qcow2"}}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "set": {"scsi1": "nas:105/vm-102-disk-0.qcow2"}}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "set": {"scsi1": "/dev/pve/vm-101-disk-1"}}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "node": "pve1", "vm_type": "qemu", "set": {"scsi1": "nas:102/vm-102-disk-0.qcow2"}}"#,
    ),
    // A disk that it uses and that bears another guest's name.
    ("delete_proxmox_vm", r#"{"vmid": 105, "purge": true}"#),
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "delete": ["unused0"]}"#,
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "set": {"scsi1": "local-lvm:vm-105-disk-9"}}"#,
    ),
    (
        "rollback_proxmox_vm",
        r#"{"vmid": 105, "backup": "latest"}"#,
    ),
    (
        "rollback_proxmox_vm",
        r#"{"vmid": 100, "snapshot": "weekly"}"#,
    ),
    ("migrate_proxmox_vm", r#"{"vmid": 105, "target": "pve2"}"#),
    // By the API itself: its volumes and backups, its storage, disks of the node, another guest's configuration.
    (
        "write_proxmox_api",
        r#"{"method": "DELETE", "path": "/nodes/pve1/storage/local-lvm/content/local-lvm:vm-101-disk-1"}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "DELETE", "path": "/nodes/pve1/storage/local-lvm/content/vm-101-disk-1"}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "DELETE", "path": "/nodes/pve1/storage/local-lvm/content/local-lvm:vm-105-disk-0"}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "DELETE", "path": "/nodes/pve1/storage/vault/content/vault:backup/vm/101/2026-11-14T01:00:05Z"}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "PUT", "path": "/nodes/pve1/storage/nas/content/nas:backup/vzdump-qemu-101-2026_01_01-00_00_00.vma.zst", "params": {"protected": 0}}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "PUT", "path": "/nodes/pve1/storage/nas/content/nas:backup/vzdump-qemu-101-2026_01_01-00_00_00.vma.zst", "params": {"protected": "off"}}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "DELETE", "path": "/nodes/pve1/storage/vault/prunebackups", "params": {"vmid": null, "prune-backups": "keep-last=1"}}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "DELETE", "path": "/nodes/pve1/storage/vault/prunebackups", "params": {"vmid": 101, "prune-backups": "keep-last=1"}}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "DELETE", "path": "/nodes/pve1/storage/vault/prunebackups", "params": {"prune-backups": "keep-last=1"}}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "DELETE", "path": "/storage/local-lvm"}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "PUT", "path": "/nodes/pve1/lxc/208/config", "params": {"mp1": "volume=local-lvm:vm-101-disk-1,mp=/db"}}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "POST", "path": "/nodes/pve1/qemu/105/config", "params": {"scsi1": "local-lvm:vm-101-disk-1"}}"#,
    ),
    (
        "write_proxmox_api",
        r#"{"method": "PUT", "path": "/nodes/pve1/qemu/105/config", "params": {"scsi1": "file=/dev/pve/vm-101-disk-1,size=4G"}}"#,
    ),
    // By the names of other servers.
    ("delete_vm", r#"{"vmid": 105, "purge": true}"#),
    ("update_vm_config", r#"{"vmid": 101, "delete": "scsi1"}"#),
    ("update_vm_config", r#"{"vmid": 109, "tags": "network"}"#),
    (
        "delete_vm_snapshot",
        r#"{"vmid": 101, "snapname": "weekly"}"#,
    ),
    (
        "rollback_vm_snapshot",
        r#"{"vmid": 109, "snapname": "weekly"}"#,
    ),
    ("convert_vm_to_template", r#"{"vmid": 109}"#),
    (
        "move_vm_disk",
        r#"{"vmid": 109, "disk": "scsi0", "storage": "tank", "delete_original": true}"#,
    ),
    (
        "move_vm_disk",
        r#"{"vmid": 105, "disk": "scsi0", "storage": "tank", "delete_original": true}"#,
    ),
    (
        "move_vm_disk",
        r#"{"vmid": 101, "disk": "scsi1", "target_vmid": 105, "target_disk": "scsi5"}"#,
    ),
    (
        "send_vm_monitor_command",
        r#"{"vmid": 101, "command": "block_resize drive-scsi1 1G"}"#,
    ),
    // Straight from the storage: its own disks, another's that it uses, its backups.
    (
        "delete_storage_volume",
        r#"{"node": "pve1", "storage": "local-lvm", "volume": "local-lvm:vm-101-disk-1"}"#,
    ),
    (
        "delete_storage_volume",
        r#"{"node": "pve1", "storage": "nas", "volume": "102/vm-102-disk-0.qcow2"}"#,
    ),
    (
        "delete_storage_volume",
        r#"{"node": "pve1", "storage": "local-lvm", "volume": "local-lvm:vm-105-disk-0"}"#,
    ),
    (
        "delete_storage_volume",
        r#"{"node": "pve1", "storage": "vault", "volume": "vault:backup/vm/101/2026-11-14T01:00:05Z"}"#,
    ),
    (
        "delete_storage_volume",
        r#"{"node": "pve1", "storage": "vault", "volume": "backup/vm/101/2026-11-14T01:00:05Z"}"#,
    ),
    (
        "prune_storage_backups",
        r#"{"node": "pve1", "storage": "vault", "prune_backups": "keep-last=1", "dry_run": false}"#,
    ),
];

#[tokio::test]
async fn a_protected_guest_is_never_destroyed() {
    for mode in [Mode::Ask, Mode::Trusted] {
        let allow_all = Rule {
            verdict: Some(Verdict::Allow),
            ..Rule::default()
        };
        let policy = Policy {
            mode,
            modes: [("homelab".to_owned(), mode)].into(),
            rules: vec![allow_all],
            confirm: tools::policy::Confirm::Client,
            four_eyes: false,
            freeze: None,
            bounds: tools::caller::Bounds::default(),
        };
        let house = House::furnished(Furnish {
            policy,
            ..Furnish::default()
        })
        .await;
        house.sim.world(|world| {
            let snapshots = world.guests[&100].snapshots.clone();
            for vmid in [101, 109] {
                world
                    .guests
                    .get_mut(&vmid)
                    .unwrap()
                    .snapshots
                    .clone_from(&snapshots);
            }
            let mut set = |vmid, key: &str, value: &str| {
                let guest = world.guests.get_mut(&vmid).unwrap();
                guest.config.set(key, value);
            };
            set(101, "ide3", "local-lvm:vm-101-disk-2,media=cdrom");
            set(101, "scsi7", "/dev/sdb");
            set(102, "protection", "1");
            set(101, "scsi8", "local-lvm:vm-105-disk-0");
            set(101, "scsi9", "/dev/pve/vm-105-disk-9");
            set(101, "unused0", "local-lvm:vm-100-disk-0");
            set(105, "unused0", "local-lvm:vm-105-disk-9");
        });
        for (tool, args) in WAYS {
            let fault = house.agreed(tool, args).await.unwrap_err();
            // By what protects it, not because its owner could not be read.
            assert!(
                fault.message.contains("is protected (")
                    && !fault.message.contains("cannot be read"),
                "{tool} {args}: {fault}"
            );
        }
        assert_eq!(house.writes(), [""; 0]);
    }
}

#[tokio::test]
async fn a_preview_says_that_it_is_protected() {
    let house = House::new().await;
    for vmid in [101, 109] {
        let answer = house
            .call(
                "delete_proxmox_vm_preview",
                &format!(r#"{{"vmid": {vmid}, "stop": true}}"#),
            )
            .await
            .unwrap();
        assert!(answer.text.contains("would be refused"), "{}", answer.text);
        assert_eq!(answer.data["blocked"], true);
    }
}
