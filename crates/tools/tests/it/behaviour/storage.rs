//! Deleting what lies on storages, and overwriting disks: what is in use stays.

use serde_json::json;
use tools::policy::Mode;

use crate::house::{Furnish, House};

const DELETE: &str = "delete_storage_volume";

#[tokio::test]
async fn a_volume_in_use_is_not_deleted() {
    let house = House::in_mode(Mode::Trusted).await;
    for (node, volume, user) in [
        ("pve1", "local-lvm:vm-100-disk-0", "VM 100 (web) uses"),
        ("pve2", "nas:102/vm-102-disk-0.qcow2", "VM 102 (mail) uses"),
        // Not as a disk, and asked for at another node.
        (
            "pve1",
            "nas:iso/virtio-win-0.1.285.iso",
            "VM 104 (win11) uses",
        ),
    ] {
        let storage = volume.split(':').next().unwrap();
        let args = json!({"node": node, "storage": storage, "volume": volume}).to_string();
        let fault = house.call(DELETE, &args).await.unwrap_err();
        assert!(fault.message.contains(user), "{fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_detached_disk_is_in_use_still() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(100, "unused0", "local-lvm:vm-100-disk-0");
    let args = r#"{"node": "pve1", "storage": "local-lvm", "volume": "vm-100-disk-0"}"#;
    let fault = house.call(DELETE, args).await.unwrap_err();
    assert!(fault.to_string().contains("update_proxmox_vm"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_protected_backup_stays() {
    let house = House::in_mode(Mode::Trusted).await;
    let volume = "nas:backup/vzdump-qemu-103-2026_09_01-10_12_00.vma.zst";
    let args = json!({"node": "pve2", "storage": "nas", "volume": volume}).to_string();
    let fault = house.call(DELETE, &args).await.unwrap_err();
    assert!(
        fault.message.contains("protected against removal"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_volume_that_is_not_there_is_told_and_not_deleted() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"node": "pve1", "storage": "local", "volume": "iso/none.iso"}"#;
    let fault = house.call(DELETE, args).await.unwrap_err();
    assert!(fault.to_string().contains("systemrescue"), "{fault}");
    let args = r#"{"node": "pve1", "storage": "local", "volume": "nas:iso/x.iso"}"#;
    let fault = house.call(DELETE, args).await.unwrap_err();
    assert!(fault.message.contains("is on storage nas"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn pruning_only_tells_unless_it_is_said_otherwise() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"node": "pve1", "storage": "nas", "prune_backups": "keep-last=1"}"#;
    let answer = house.call("prune_storage_backups", args).await.unwrap();
    let older = "vzdump-lxc-200-2026_11_01-03_04_12.tar.zst: would go";
    assert!(answer.text.contains(older), "{}", answer.text);
    assert!(answer.text.contains("stays, protected"), "{}", answer.text);
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn pruning_all_guests_names_each_backup_that_goes() {
    let house = House::in_mode(Mode::Trusted).await;
    let args =
        r#"{"node": "pve1", "storage": "nas", "prune_backups": "keep-last=1", "dry_run": false}"#;
    let preview = house.preview("prune_storage_backups", args).await.unwrap();
    assert!(
        preview.text.contains("vzdump-lxc-200-2026_11_01") && preview.text.contains("308"),
        "{}",
        preview.text
    );
    assert!(!preview.text.contains("2026_11_08"), "{}", preview.text);
}

#[tokio::test]
async fn a_disk_in_use_is_not_overwritten() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in [
        (
            "create_lvm",
            r#"{"node": "pve3", "name": "x1", "device": "/dev/sda"}"#,
        ),
        (
            "create_lvmthin",
            r#"{"node": "pve3", "name": "x1", "device": "/dev/sda"}"#,
        ),
        (
            "create_directory_storage",
            r#"{"node": "pve3", "name": "x1", "device": "/dev/sda"}"#,
        ),
        (
            "create_zfs_pool",
            r#"{"node": "pve3", "name": "x1", "raidlevel": "mirror", "devices": "/dev/sdb,/dev/sda"}"#,
        ),
        ("initialize_gpt", r#"{"node": "pve3", "disk": "/dev/sda"}"#),
    ] {
        let fault = house.call(tool, args).await.unwrap_err().to_string();
        assert!(
            fault.contains("/dev/sda of node pve3 is in use (LVM)")
                && fault.contains("unused: /dev/sdb"),
            "{tool}: {fault}"
        );
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn who_agrees_sees_which_disk_it_is() {
    let house = House::furnished(Furnish::default()).await;
    let args = r#"{"node": "pve3", "name": "fast", "device": "/dev/sdb"}"#;
    let preview = house.preview("create_lvm", args).await.unwrap();
    for part in ["/dev/sdb", "CT1000MX500SSD1", "2203E5FE0302", "931.5 GiB"] {
        assert!(preview.text.contains(part), "{part}: {}", preview.text);
    }
}
