//! Containers under the names of other servers: the same care, in the words that those callers know.

use tools::policy::{Mode, Policy};

use crate::house::{Furnish, House};

/// A demo world whose nodes have CRIU.
async fn with_criu() -> House {
    let mut furnish = Furnish {
        policy: Policy {
            mode: Mode::Trusted,
            ..Policy::default()
        },
        ..Furnish::default()
    };
    for node in furnish.world.nodes.values_mut() {
        node.criu = true;
    }
    House::furnished(furnish).await
}

fn is_running(house: &House, vmid: u32) -> bool {
    house.sim.world(|world| world.guests[&vmid].is_running())
}

#[tokio::test]
async fn a_container_is_suspended_and_resumed() {
    let house = with_criu().await;
    let answer = house.call("suspend_container", r#"{"vmid": 206}"#).await;
    let answer = answer.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(answer.text.contains("resume_container"), "{}", answer.text);
    assert!(!is_running(&house, 206));
    let answer = house.call("resume_container", r#"{"vmid": 206}"#).await;
    let answer = answer.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(is_running(&house, 206));
}

#[tokio::test]
async fn without_criu_nothing_changes_and_pve_says_why() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = house.call("suspend_container", r#"{"vmid": 206}"#).await;
    let said = fault.unwrap_err().to_string();
    assert!(said.contains("lxc-checkpoint"), "{said}");
    assert!(said.contains("container 206 (mqtt) is running"), "{said}");
    assert!(is_running(&house, 206));
}

#[tokio::test]
async fn what_cannot_be_suspended_is_refused_beforehand() {
    let house = with_criu().await;
    house.sim.world(|world| {
        let managed = world.ha_resources["vm:102"].clone();
        let container = sim::world::Section {
            kind: "ct".to_owned(),
            ..managed
        };
        world.ha_resources.insert("ct:206".to_owned(), container);
    });
    for (tool, args, because) in [
        ("suspend_container", r#"{"vmid": 203}"#, "is not running"),
        (
            "suspend_container",
            r#"{"vmid": 206}"#,
            "HA starts and stops",
        ),
        ("resume_container", r#"{"vmid": 204}"#, "is running"),
        ("resume_container", r#"{"vmid": 290}"#, "is a template"),
        ("suspend_container", r#"{"vmid": 100}"#, "not a container"),
    ] {
        let said = house.call(tool, args).await.unwrap_err().to_string();
        assert!(said.contains(because), "{tool} {args}: {said}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn what_ours_refuses_is_told_with_the_callers_names() {
    let house = House::new().await;
    for (tool, args, says) in [
        (
            "clone_container",
            r#"{"vmid": 203, "newid": 200}"#,
            "leave newid out",
        ),
        (
            "clone_container",
            r#"{"vmid": 202, "newid": 400}"#,
            "send snapname",
        ),
        ("delete_container", r#"{"vmid": 204}"#, "send force: true"),
        (
            "create_container",
            r#"{"hostname": "x", "ostemplate": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst", "mp0": "local-lvm:vm-101-disk-1,mp=/db"}"#,
            "argument `mp0`: it is a new disk",
        ),
        ("start_container", r#"{"vmid": 105}"#, "not a container"),
        ("list_containers", r#"{"node": "nope"}"#, "the nodes are"),
        (
            "get_container_pending",
            r#"{"vmid": 105}"#,
            "not a container",
        ),
    ] {
        let said = house.preview(tool, args).await;
        let said = said.map_or_else(|fault| fault.to_string(), |answer| answer.text);
        assert!(said.contains(says), "{tool} {args}: {said}");
        assert!(!said.contains("vm_type"), "{tool} {args}: {said}");
    }
}

#[tokio::test]
async fn what_a_new_container_cannot_have_is_told_beforehand() {
    let house = House::new().await;
    let common = r#""hostname": "x", "node": "pve1", "ostemplate": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst""#;
    for (more, says) in [
        (
            r#""features": "nesting=1,keyctl=1""#,
            "features other than nesting",
        ),
        (r#""mp0": "nas:8,mp=/data""#, "no storage nas on pve1"),
        (
            r#""mp0": "tank:8""#,
            "not said where the data disk is mounted",
        ),
        (r#""rootfs": "nas:8""#, "nas"),
    ] {
        let args = format!("{{{common}, {more}}}");
        let said = house.preview("create_container", &args).await;
        let said = said.map_or_else(|fault| fault.to_string(), |answer| answer.text);
        assert!(said.contains(says), "{more}: {said}");
    }
}

#[tokio::test]
async fn a_protected_container_keeps_its_disks_and_its_life() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(208, "protection", "1");
    for (tool, args) in [
        ("convert_container_to_template", r#"{"vmid": 208}"#),
        (
            "move_container_volume",
            r#"{"vmid": 208, "volume": "mp0", "storage": "tank", "delete_original": true}"#,
        ),
        (
            "move_container_volume",
            r#"{"vmid": 208, "volume": "mp0", "target_vmid": 205, "target_volume": "mp1"}"#,
        ),
        ("delete_container", r#"{"vmid": 208}"#),
    ] {
        let said = house.agreed(tool, args).await.unwrap_err().to_string();
        assert!(said.contains("is protected ("), "{tool}: {said}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_moved_disk_is_on_the_other_storage_and_the_original_stays_or_goes() {
    for (delete, stays) in [(false, true), (true, false)] {
        let house = House::in_mode(Mode::Trusted).await;
        let args = format!(
            r#"{{"vmid": 208, "volume": "mp0", "storage": "tank", "delete_original": {delete}}}"#
        );
        let answer = house.agreed("move_container_volume", &args).await.unwrap();
        assert_eq!(answer.data["status"], "applied", "{}", answer.text);
        let now = house.config(208, "mp0").unwrap();
        assert!(now.starts_with("tank:"), "{now}");
        let original = house.config(208, "unused0");
        assert_eq!(original.is_some(), stays, "{original:?}");
    }
}

#[tokio::test]
async fn what_pve_does_not_move_is_refused_beforehand() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.world(|world| {
        let saved = world.guests[&208].config.clone();
        let mut snapshot = world.guests[&202].snapshots[0].clone();
        snapshot.config = saved;
        let guest = world.guests.get_mut(&208).unwrap();
        guest.snapshots.push(snapshot);
    });
    for (args, because) in [
        (
            r#"{"vmid": 208, "volume": "mp0", "storage": "tank", "delete_original": true}"#,
            "part of the snapshots before-forgejo-12",
        ),
        (
            r#"{"vmid": 208, "volume": "mp0", "target_vmid": 205}"#,
            "part of the snapshots before-forgejo-12",
        ),
        (
            r#"{"vmid": 200, "volume": "rootfs", "storage": "tank"}"#,
            "is running",
        ),
        (
            r#"{"vmid": 203, "volume": "rootfs", "storage": "tank"}"#,
            "no storage tank that takes disks of containers on pve3",
        ),
        (
            r#"{"vmid": 208, "volume": "rootfs", "target_vmid": 205}"#,
            "a root disk stays",
        ),
        (
            r#"{"vmid": 208, "volume": "mp0", "target_vmid": 203}"#,
            "bring them to one node",
        ),
        (
            r#"{"vmid": 208, "volume": "mp7", "storage": "tank"}"#,
            "its disks are mp0 and rootfs",
        ),
        (
            r#"{"vmid": 208, "volume": "mp0", "storage": "nas"}"#,
            "those that do are local-lvm and tank",
        ),
        (r#"{"vmid": 208, "volume": "mp0"}"#, "send storage"),
        (
            r#"{"vmid": 208, "volume": "mp0", "target_vmid": 200, "delete_original": true}"#,
            "delete_original goes with storage only",
        ),
    ] {
        let said = house.agreed("move_container_volume", args).await;
        let said = said.unwrap_err().to_string();
        assert!(said.contains(because), "{args}: {said}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

/// What was misread is told by the caller's own argument, not by the arguments of another tool.
#[tokio::test]
async fn a_data_disk_that_is_none_is_told_by_its_own_argument() {
    let house = House::new().await;
    let args = r#"{"node": "pve1", "hostname": "x", "ostemplate": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst", "mp0": "/etc,mp=/host"}"#;
    let fault = house.call("create_container", args).await.unwrap_err();
    assert!(fault.message.contains("argument `mp0`"), "{fault}");
    let hint = fault.hint.unwrap();
    assert!(hint.starts_with("send mp0: "), "{hint}");
    assert!(!hint.contains("rootfs_size"), "{hint}");
}
