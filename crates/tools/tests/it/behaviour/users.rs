//! Other guests that use a disk: they are found, in bounds, and stand in the way of its loss.

use tools::policy::Mode;

use crate::house::House;

/// PVE would remove it by its name, whoever uses it, and leaves what is named after somebody else.
#[tokio::test]
async fn a_disk_that_another_guest_uses_stands_in_the_way() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(100, "scsi5", "local-lvm:vm-105-disk-0,size=16G");
    house.set(105, "scsi5", "local-lvm:vm-100-disk-0,size=32G");
    let args = r#"{"vmid": 105}"#;
    let fault = house.call("delete_proxmox_vm", args).await.unwrap_err();
    assert_eq!(
        fault.message, "VM 100 (web) uses local-lvm:vm-105-disk-0 as scsi5",
        "{fault}"
    );
    assert!(fault.to_string().contains("detach scsi5 of 100"), "{fault}");
    let shown = house.call("delete_proxmox_vm_preview", args).await.unwrap();
    let disks = shown.data["would_affect"].as_array().unwrap().iter();
    let disks: Vec<_> = disks
        .filter(|item| item["kind"] == "disk")
        .map(|item| {
            (
                item["effect"].as_str().unwrap(),
                item["id"].as_str().unwrap(),
            )
        })
        .collect();
    assert!(disks.contains(&("destroyed", "local-lvm:vm-105-disk-0")));
    assert!(disks.contains(&("kept", "local-lvm:vm-100-disk-0")));
    assert_eq!(house.writes(), [""; 0]);
}

/// Guests of other nodes cannot use what only this one has, and are not asked.
#[tokio::test]
async fn only_guests_that_reach_the_disks_are_looked_at() {
    let house = House::new().await;
    house.sim.world(|world| {
        let mut far = world.guests[&105].clone();
        far.vmid = 666;
        far.node = "pve2".to_owned();
        world.guests.insert(666, far);
    });
    let hidden =
        sim::Fault::refuse(403, "Permission check failed").on("GET", "/nodes/*/qemu/666/config");
    house.sim.fault(hidden);
    let args = r#"{"vmid": 105}"#;
    let shown = house.preview("delete_proxmox_vm", args).await.unwrap();
    assert!(!shown.text.contains("666"), "{}", shown.text);
    // What could be, and cannot be read, is said.
    house.sim.world(|world| {
        world.guests.get_mut(&666).unwrap().node = "pve1".to_owned();
    });
    let shown = house.preview("delete_proxmox_vm", args).await.unwrap();
    let words = "could not be checked: whether VM 666 (staging) uses these disks, too";
    assert!(shown.text.contains(words), "{}", shown.text);
}

/// What notes say of a disk is no use of it.
#[tokio::test]
async fn only_what_holds_a_disk_uses_it() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(100, "description", "local-lvm:vm-105-disk-0");
    let answer = house.call("delete_proxmox_vm", r#"{"vmid": 105}"#).await;
    assert_eq!(answer.unwrap().data["status"], "applied");
}

/// The way out is to detach the disk; that a person takes a protection off is none.
#[tokio::test]
async fn a_protected_user_of_a_disk_is_named_with_what_it_uses() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(101, "scsi5", "local-lvm:vm-105-disk-0,size=16G");
    let delete = async |args| house.call("delete_proxmox_vm", args).await.unwrap_err();
    let fault = delete(r#"{"vmid": 105}"#).await;
    let uses = "and uses local-lvm:vm-105-disk-0 as scsi5";
    assert!(fault.message.contains(uses), "{fault}");
    assert!(fault.message.contains("is protected ("), "{fault}");
    let hint = fault.hint.unwrap();
    assert_eq!(hint, "detach scsi5 of 101 first with update_proxmox_vm");
    let hint = delete(r#"{"vmid": 101, "stop": true}"#).await.hint.unwrap();
    assert!(hint.contains("for a person to decide"), "{hint}");
}

/// However many guests a cluster has, a plan takes no longer than a few seconds; what was not looked at is said.
#[tokio::test]
async fn a_plan_reads_so_many_guests_and_no_more() {
    let house = House::new().await;
    house.sim.world(|world| {
        for vmid in 10_000..11_100 {
            let mut one = world.guests[&100].clone();
            one.vmid = vmid;
            world.guests.insert(vmid, one);
        }
    });
    house.sim.clear_requests();
    let shown = house.preview("delete_proxmox_vm", r#"{"vmid": 105}"#).await;
    let text = shown.unwrap().text;
    assert!(text.contains("more use these disks, too"), "{text}");
    let requests = house.sim.requests();
    let configs = requests.iter().filter(|it| it.path.ends_with("/config"));
    assert!((1000..1010).contains(&configs.count()));
}
