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
