//! Disks that move.

use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn a_moved_disk_leaves_its_original_behind() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 105, "disk": "scsi0", "storage": "tank"}"#;
    let answer = house.call("move_vm_disk", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(house.config(105, "scsi0").unwrap().starts_with("tank:"));
    let kept = house.config(105, "unused0");
    assert_eq!(kept.as_deref(), Some("local-lvm:vm-105-disk-0"));
}

#[tokio::test]
async fn destroying_the_original_is_for_a_person_to_allow() {
    let house = House::new().await;
    let args = r#"{"vmid": 106, "disk": "scsi0", "storage": "nas", "delete_original": true}"#;
    let answer = house.call("move_vm_disk", args).await.unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
    assert_eq!(answer.data["risk"], "destroy");
    assert!(
        answer
            .text
            .contains("destroyed: disk local-lvm:vm-106-disk-0"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn an_original_that_others_need_is_not_destroyed() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 100, "disk": "scsi0", "storage": "tank", "delete_original": true}"#;
    let fault = house.call("move_vm_disk", args).await.unwrap_err();
    assert!(
        fault.message.contains("before-upgrade and weekly"),
        "{fault}"
    );
    house.set(103, "scsi1", "nas:102/vm-102-disk-0.qcow2,size=64G");
    let args = r#"{"vmid": 102, "disk": "scsi0", "storage": "local-lvm", "delete_original": true}"#;
    let fault = house.call("move_vm_disk", args).await.unwrap_err();
    assert!(fault.message.contains("VM 103"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn what_cannot_be_moved_there_is_answered_with_what_can() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, says) in [
        (
            r#"{"vmid": 105, "disk": "scsi7", "storage": "tank"}"#,
            "its disks are scsi0",
        ),
        (
            r#"{"vmid": 111, "disk": "ide2", "storage": "tank"}"#,
            "its disks are scsi0",
        ),
        (
            r#"{"vmid": 105, "disk": "scsi0", "storage": "local"}"#,
            "those that do are local-lvm",
        ),
        (
            r#"{"vmid": 106, "disk": "scsi0", "storage": "tank"}"#,
            "no storage tank that takes disks of VMs on pve3",
        ),
        (
            r#"{"vmid": 105, "disk": "scsi0", "storage": "local-lvm"}"#,
            "is on local-lvm already",
        ),
        (r#"{"vmid": 105, "disk": "scsi0"}"#, "send one of storage"),
        (
            r#"{"vmid": 105, "disk": "scsi0", "storage": "tank", "target_vmid": 100}"#,
            "send one of storage",
        ),
        (
            r#"{"vmid": 105, "disk": "scsi0", "storage": "tank", "target_disk": "scsi1"}"#,
            "leave it out",
        ),
        (
            r#"{"vmid": 105, "disk": "scsi0", "target_vmid": 100, "delete_original": true}"#,
            "leave them out",
        ),
        (
            r#"{"vmid": 105, "disk": "scsi0", "target_vmid": 105}"#,
            "already",
        ),
        (
            r#"{"vmid": 105, "disk": "scsi0", "target_vmid": 100}"#,
            "has a scsi0 already",
        ),
        (
            r#"{"vmid": 105, "disk": "scsi0", "target_vmid": 100, "target_disk": "net3"}"#,
            "is no disk of a VM",
        ),
        (
            r#"{"vmid": 105, "disk": "scsi0", "target_vmid": 103}"#,
            "on one node only",
        ),
        (
            r#"{"vmid": 109, "disk": "scsi0", "target_vmid": 105, "target_disk": "scsi1"}"#,
            "is protected (",
        ),
        (
            r#"{"vmid": 100, "disk": "scsi0", "target_vmid": 105, "target_disk": "scsi1"}"#,
            "is running and uses scsi0",
        ),
        (
            r#"{"vmid": 105, "disk": "scsi0", "target_vmid": 900, "target_disk": "scsi1"}"#,
            "is a template",
        ),
    ] {
        let fault = house.call("move_vm_disk", args).await.unwrap_err();
        assert!(fault.to_string().contains(says), "{args}: {fault}");
    }
    house.set(100, "tpmstate0", "local-lvm:vm-100-disk-1,size=4M");
    let args = r#"{"vmid": 100, "disk": "tpmstate0", "storage": "nas"}"#;
    let fault = house.call("move_vm_disk", args).await.unwrap_err();
    assert!(fault.message.contains("only while it is off"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_disk_that_was_given_away_is_given_back() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 105, "disk": "scsi0", "target_vmid": 100, "target_disk": "scsi1"}"#;
    let answer = house.call("move_vm_disk", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(house.config(105, "scsi0"), None);
    let there = house.config(100, "scsi1").unwrap();
    assert!(there.starts_with("local-lvm:vm-100-disk-"), "{there}");
    // A VM that runs does not let go of it.
    let back = answer.data["undo"]["arguments"].to_string();
    let fault = house.call("move_vm_disk", &back).await.unwrap_err();
    assert!(fault.message.contains("is running"), "{fault}");
    house.call("stop_vm", r#"{"vmid": 100}"#).await.unwrap();
    let answer = house.call("move_vm_disk", &back).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(house.config(105, "scsi0").is_some());
}

#[tokio::test]
async fn another_format_goes_back_to_the_old_one() {
    let house = House::in_mode(Mode::Trusted).await;
    let tool = "move_vm_disk";
    let same = r#"{"vmid": 102, "disk": "scsi0", "storage": "nas", "format": "qcow2"}"#;
    let fault = house.call(tool, same).await.unwrap_err();
    let already = "is on nas already, as qcow2";
    assert!(fault.message.contains(already), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
    let args = r#"{"vmid": 102, "disk": "scsi0", "storage": "nas", "format": "raw"}"#;
    let answer = house.call(tool, args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(house.config(102, "scsi0").unwrap().contains(".raw,"));
    let undo = &answer.data["undo"];
    assert_eq!(undo["tool"], tool);
    let back = house.call(tool, &undo["arguments"].to_string()).await;
    assert_eq!(back.unwrap().data["status"], "applied");
    assert!(house.config(102, "scsi0").unwrap().contains(".qcow2,"));
}
