//! Disks that are attached, detached, destroyed and grown.

use serde_json::json;
use tools::policy::Mode;

use super::{UPDATE, apply, preview, refused, set_now};
use crate::house::House;

/// A disk that was detached and then deleted is gone, with its size shown before.
#[tokio::test]
async fn a_detached_disk_stays_and_a_deleted_one_goes() {
    let house = House::in_mode(Mode::Trusted).await;
    let shown = preview(&house, &json!({"vmid": 105, "delete": ["scsi0"]})).await;
    assert!(
        shown
            .text
            .contains("local-lvm:vm-105-disk-0 stays as an unused disk"),
        "{}",
        shown.text
    );
    apply(&house, &json!({"vmid": 105, "delete": ["scsi0"]})).await;
    assert_eq!(
        set_now(&house, 105, "unused0").as_deref(),
        Some("local-lvm:vm-105-disk-0")
    );
    let gone = preview(&house, &json!({"vmid": 105, "delete": ["unused0"]})).await;
    assert_eq!(gone.data["risk"], "destroy");
    let disk = &gone.data["affects"][1];
    assert_eq!(disk["effect"], "destroyed");
    assert_eq!(disk["bytes"], 16_u64 << 30, "{}", gone.text);
    apply(&house, &json!({"vmid": 105, "delete": ["unused0"]})).await;
    let left = house.sim.world(|world| {
        let volumes = world.volumes.iter();
        volumes
            .filter(|volume| volume.volid.contains("vm-105-"))
            .count()
    });
    assert_eq!(left, 0);
}

#[tokio::test]
async fn another_guests_disk_brings_its_owner_into_the_plan() {
    let house = House::new().await;
    let args = json!({"vmid": 105, "set": {"scsi1": "tank:vm-103-disk-0"}});
    let shown = preview(&house, &args).await;
    assert!(shown.text.contains("of VM 103 (files)"), "{}", shown.text);
    // What the token cannot read counts as protected.
    let fault = house
        .call_with(
            ("/vms/105", &["VM.Audit", "VM.Config.Disk"]),
            UPDATE,
            &args.to_string(),
        )
        .await
        .unwrap_err();
    assert!(fault.message.contains("counts as protected"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_disk_is_not_attached_twice() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = refused(
        &house,
        json!({"vmid": 105, "set": {"scsi1": "local-lvm:vm-105-disk-0"}}),
    )
    .await;
    assert!(
        fault.message.contains("is attached as scsi0 already"),
        "{fault}"
    );
    apply(
        &house,
        &json!({"vmid": 105, "set": {"virtio0": "local-lvm:vm-105-disk-0"}, "delete": ["scsi0"]}),
    )
    .await;
    assert!(set_now(&house, 105, "virtio0").is_some() && set_now(&house, 105, "scsi0").is_none());
    assert_eq!(set_now(&house, 105, "unused0"), None);
}

#[tokio::test]
async fn a_disk_grows_and_never_shrinks() {
    let house = House::in_mode(Mode::Trusted).await;
    let shown = preview(&house, &json!({"vmid": 105, "grow": {"scsi0": "+8G"}})).await;
    assert!(
        shown.text.contains("scsi0: 16.0 GiB -> 24.0 GiB"),
        "{}",
        shown.text
    );
    assert!(shown.text.contains("free on local-lvm"), "{}", shown.text);
    apply(&house, &json!({"vmid": 105, "grow": {"scsi0": "+8G"}})).await;
    assert!(set_now(&house, 105, "scsi0").unwrap().contains("size=24G"));
    let writes = house.writes().len();
    let fault = refused(&house, json!({"vmid": 105, "grow": {"scsi0": "8G"}})).await;
    assert!(fault.message.contains("cannot shrink"), "{fault}");
    let fault = refused(&house, json!({"vmid": 105, "grow": {"scsi7": "8G"}})).await;
    assert_eq!(fault.hint.as_deref(), Some("its disks are scsi0"));
    let same = apply(&house, &json!({"vmid": 105, "grow": {"scsi0": "24G"}})).await;
    assert!(same.text.contains("nothing to do"), "{}", same.text);
    assert_eq!(house.writes().len(), writes, "nothing more was sent");
}

/// PVE finds out the size and the format of a volume by itself: what asks for others would change nothing.
#[tokio::test]
async fn a_value_makes_no_disk_larger() {
    let house = House::in_mode(Mode::Trusted).await;
    for (value, hint) in [
        (
            "local-lvm:vm-105-disk-0,size=64G",
            r#"grow: {"scsi0": "64G"}"#,
        ),
        ("local-lvm:vm-105-disk-0,format=qcow2", "leave format out"),
    ] {
        let fault = refused(&house, json!({"vmid": 105, "set": {"scsi0": value}})).await;
        assert!(fault.hint.as_deref().unwrap().contains(hint), "{fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
    let same = json!({"vmid": 105, "set": {"scsi0": "local-lvm:vm-105-disk-0,size=16G,format=raw,discard=on"}});
    apply(&house, &same).await;
    assert!(
        set_now(&house, 105, "scsi0")
            .unwrap()
            .contains("discard=on")
    );
}

/// An option of a disk that is attached already shares it with nobody new.
#[tokio::test]
async fn an_option_of_an_attached_disk_is_no_attachment() {
    let house = House::new().await;
    house.set(105, "scsi5", "local-lvm:vm-100-disk-0,size=32G");
    let args =
        json!({"vmid": 105, "set": {"scsi5": "local-lvm:vm-100-disk-0,size=32G,discard=on"}});
    let shown = preview(&house, &args).await;
    assert_ne!(shown.data["risk"], "destroy", "{}", shown.text);
    let requests = house.sim.requests();
    let asked = requests
        .iter()
        .any(|it| it.path.contains("/qemu/100/config"));
    assert!(!asked, "nobody else is asked");
}

/// Whether a guest that cannot be read uses a disk, too, is for a person to decide; unless it is known to be protected.
#[tokio::test]
async fn a_guest_that_cannot_be_read_is_not_taken_for_one_that_uses_nothing() {
    let house = House::new().await;
    house.set(105, "unused0", "local-lvm:vm-105-disk-9");
    let hidden =
        sim::Fault::refuse(403, "Permission check failed").on("GET", "/nodes/*/qemu/100/config");
    house.sim.fault(hidden);
    let args = json!({"vmid": 105, "set": {"scsi1": "local-lvm:vm-105-disk-9"}});
    let shown = preview(&house, &args).await;
    assert_eq!(shown.data["risk"], "destroy", "{}", shown.text);
    house.set(100, "tags", "Protected");
    let fault = refused(&house, args).await;
    assert!(
        fault.message.contains("VM 100 (web) is protected ("),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}
