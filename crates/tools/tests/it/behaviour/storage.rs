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

#[tokio::test]
async fn a_look_at_what_would_be_pruned_sends_nothing_and_says_so() {
    let house = House::new().await;
    let args = r#"{"node": "pve1", "storage": "nas", "vmid": 200, "prune_backups": "keep-last=1"}"#;
    let told = house.call("prune_storage_backups", args).await.unwrap();
    assert!(told.text.starts_with("nothing was sent: "), "{}", told.text);
    assert!(told.text.contains("would go"), "{}", told.text);
    assert!(
        told.text.contains("next: nothing was sent"),
        "{}",
        told.text
    );
    assert_eq!(house.writes(), [""; 0]);
    assert_eq!(house.audit().await, (1, vec!["nothing_sent".to_owned()]));
}

#[tokio::test]
async fn what_a_change_of_a_storage_does_goes_by_its_settings() {
    let house = House::new().await;
    for (settings, risk) in [
        (r#""content": "images,backup""#, "disrupt"),
        (r#""disable": false"#, "change"),
        (r#""disable": true"#, "disrupt"),
        (r#""nodes": "pve1""#, "disrupt"),
        (r#""prune_backups": "keep-last=1""#, "destroy"),
        (
            r#""disable": true, "prune_backups": "keep-last=1""#,
            "destroy",
        ),
    ] {
        let args = format!(r#"{{"storage": "nas", {settings}}}"#);
        let shown = house.preview("update_storage", &args).await.unwrap();
        assert_eq!(shown.data["risk"], risk, "{settings}");
    }
}

#[tokio::test]
async fn a_storage_comes_back_with_its_retention_and_what_does_not_is_told() {
    let house = House::new().await;
    house.sim.world(|world| {
        let props = &mut world.storages.get_mut("vault").unwrap().props;
        props.insert("prune-backups".to_owned(), "keep-last=3".to_owned());
        props.insert("namespace".to_owned(), "home".to_owned());
    });
    let shown = house
        .preview("delete_storage", r#"{"storage": "vault"}"#)
        .await
        .unwrap();
    assert!(
        shown.text.contains("does not bring back namespace"),
        "{}",
        shown.text
    );
    let undo = &shown.data["undo"]["arguments"];
    assert_eq!(undo["prune_backups"], "keep-last=3", "{}", shown.text);
}

#[tokio::test]
async fn a_file_is_downloaded_under_the_name_that_pve_keeps() {
    let house = House::in_mode(Mode::Trusted).await;
    for name in ["Windows 11.iso", "iso/x.iso", "ü.iso"] {
        let args = json!({"node": "pve1", "storage": "nas", "url": "https://x/y.iso", "content": "iso", "filename": name});
        let fault = house
            .call("download_url_to_storage", &args.to_string())
            .await;
        let fault = fault.unwrap_err().to_string();
        assert!(fault.contains("letters, digits"), "{fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn guests_that_lose_a_storage_are_told_and_keep_what_protects_them() {
    let house = House::new().await;
    let disable = r#"{"storage": "local-lvm", "disable": true}"#;
    let shown = house.preview("update_storage", disable).await.unwrap();
    assert!(
        shown.text.contains("cannot be started without it"),
        "{}",
        shown.text
    );
    assert!(shown.text.contains("VM 100 (web)"), "{}", shown.text);
    // What stays on their node is lost to nobody.
    let kept = r#"{"storage": "local-lvm", "nodes": "pve1,pve2,pve3"}"#;
    let shown = house.preview("update_storage", kept).await.unwrap();
    assert!(!shown.text.contains("cannot be started"), "{}", shown.text);
    let fault = house
        .agreed("delete_storage", r#"{"storage": "local-lvm"}"#)
        .await;
    let fault = fault.unwrap_err();
    assert!(fault.message.contains("is protected ("), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}
