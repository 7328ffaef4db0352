//! Cloning: the seed's call unchanged, and what PVE refuses said beforehand.

use tools::policy::{Mode, Policy, Rule, Verdict};

use crate::house::{Furnish, House};

const NEW_CONTAINER: &str =
    r#"{"hostname": "side", "ostemplate": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst"}"#;

#[tokio::test]
async fn the_seeds_call_works_unchanged() {
    let house = House::new().await;
    let args = r#"{"node": "pve1", "vmid": 105, "new_vmid": 300, "name": "copy", "full": true, "vm_type": "qemu"}"#;
    let answer = house.call("clone_proxmox_vm", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied");
    // Blanks are what some agents send for what they leave out; the one cluster may be named.
    for more in [r#""node": "", "cluster": """#, r#""cluster": "homelab""#] {
        let args = format!(r#"{{"vmid": 105, {more}}}"#);
        house.preview("clone_proxmox_vm", &args).await.unwrap();
    }
    assert_eq!(answer.data["undo"]["tool"], "delete_proxmox_vm");
    assert_eq!(house.writes(), ["POST /nodes/pve1/qemu/105/clone"]);
    let clone = house
        .call("get_proxmox_vm_status", r#"{"vmid": 300}"#)
        .await
        .unwrap();
    assert_eq!(clone.data["name"], "copy");
    assert_eq!(clone.data["status"], "stopped");
}

#[tokio::test]
async fn without_a_new_id_the_next_free_one_is_taken() {
    let house = House::new().await;
    let answer = house
        .call("clone_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    let vmid = answer.data["undo"]["arguments"]["vmid"].as_u64().unwrap();
    house
        .call("get_proxmox_vm_status", &format!(r#"{{"vmid": {vmid}}}"#))
        .await
        .unwrap();
}

/// PVE reserves no id: what one call has chosen, another must not choose.
#[tokio::test]
async fn calls_side_by_side_choose_different_ids() {
    let house = House::new().await;
    let clone = || house.call("clone_proxmox_vm", r#"{"vmid": 105}"#);
    let create = house.call("create_proxmox_lxc", NEW_CONTAINER);
    let (a, b, c, d) = tokio::join!(clone(), clone(), clone(), create);
    let mut ids: Vec<_> = [a, b, c, d]
        .map(|answer| {
            let answer = answer.unwrap();
            assert_eq!(answer.data["status"], "applied", "{}", answer.text);
            answer.data["undo"]["arguments"]["vmid"].as_u64().unwrap()
        })
        .into();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4, "{ids:?}");
    // An id that the caller chose is chosen for good.
    let same = || house.call("clone_proxmox_vm", r#"{"vmid": 105, "new_vmid": 400}"#);
    let (a, b) = tokio::join!(same(), same());
    let refused: Vec<_> = [a, b].into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 1);
    let why = refused[0].to_string();
    assert!(
        why.contains("another call is just making the vmid 400"),
        "{why}"
    );
    // What was held is let go.
    let preview = house
        .preview("clone_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    let next = ids[3] + 1;
    assert!(
        preview.text.contains(&format!("newid={next}")),
        "{}",
        preview.text
    );
}

#[tokio::test]
async fn an_id_that_is_taken_at_the_last_moment_is_told_with_what_to_do() {
    let house = House::new().await;
    let taken = sim::Fault::refuse(500, "unable to create VM 112: config file already exists");
    house.sim.fault(taken.on("POST", "*/clone"));
    for (args, what) in [
        (
            r#"{"vmid": 105}"#,
            "make the same call again, which takes the next free id",
        ),
        (
            r#"{"vmid": 105, "new_vmid": 300}"#,
            "make the call with another id",
        ),
    ] {
        let fault = house.call("clone_proxmox_vm", args).await.unwrap_err();
        assert!(fault.hint.as_deref().unwrap().contains(what), "{fault}");
    }
}

#[tokio::test]
async fn full_false_really_makes_a_linked_clone() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call(
            "clone_proxmox_vm",
            r#"{"vmid": 900, "new_vmid": 301, "full": false}"#,
        )
        .await
        .unwrap();
    let clone = house
        .call("get_proxmox_vm_status", r#"{"vmid": 301}"#)
        .await
        .unwrap();
    let volume = clone.data["disks"][0]["volume"].as_str().unwrap();
    assert!(volume.contains("base-900-disk-0"), "{volume}");
}

#[tokio::test]
async fn a_linked_clone_of_what_is_no_template_is_refused_as_pve_refuses_it() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = house
        .call(
            "clone_proxmox_vm",
            r#"{"vmid": 105, "new_vmid": 300, "full": false}"#,
        )
        .await
        .unwrap_err();
    assert!(fault.message.contains("needs a template"), "{fault}");
    assert_eq!(fault.hint.as_deref(), Some("send full: true"));
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_taken_id_is_refused_whatever_has_it() {
    let house = House::in_mode(Mode::Trusted).await;
    for taken in [100, 200] {
        let args = format!(r#"{{"vmid": 105, "new_vmid": {taken}}}"#);
        let fault = house.call("clone_proxmox_vm", &args).await.unwrap_err();
        assert_eq!(fault.message, format!("the vmid {taken} is taken"));
        assert!(fault.hint.unwrap().contains("is free"));
    }
    assert_eq!(house.writes(), [""; 0]);
}

/// PVE answers differently if the id is taken between our look and its own: at once for a VM's id, in the task for a
/// container's. Both reach the caller.
#[tokio::test]
async fn an_id_taken_at_the_last_moment_fails_with_pves_words() {
    for (thief, words) in [(100, "already exists"), (200, "File exists")] {
        let house = House::in_mode(Mode::Trusted).await;
        // The id looks free to nextid, and is taken when the clone begins.
        house.sim.world(|world| {
            let mut guest = world.guests[&thief].clone();
            guest.vmid = 555;
            world.guests.insert(555, guest);
        });
        house
            .sim
            .fault(sim::Fault::answer("GET", "/cluster/nextid", "555"));
        let fault = house
            .call("clone_proxmox_vm", r#"{"vmid": 105, "new_vmid": 555}"#)
            .await
            .unwrap_err();
        assert!(fault.message.contains(words), "{fault}");
    }
}

#[tokio::test]
async fn a_running_container_needs_a_snapshot() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = house
        .call("clone_proxmox_vm", r#"{"vmid": 200, "new_vmid": 300}"#)
        .await
        .unwrap_err();
    assert!(
        fault
            .message
            .contains("running container is cloned from a snapshot only"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_locked_guest_is_named_before_anything_is_sent() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = house
        .call("clone_proxmox_vm", r#"{"vmid": 107, "new_vmid": 300}"#)
        .await
        .unwrap_err();
    assert!(fault.message.contains("is locked (backup)"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_clone_that_is_told_to_start_runs() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = house
        .call(
            "clone_proxmox_vm",
            r#"{"vmid": 105, "new_vmid": 300, "start": true}"#,
        )
        .await
        .unwrap();
    assert_eq!(answer.data["steps"].as_array().unwrap().len(), 2);
    let clone = house
        .call("get_proxmox_vm_status", r#"{"vmid": 300}"#)
        .await
        .unwrap();
    assert_eq!(clone.data["status"], "running");
}

/// The first step is done, the second fails: both are said.
#[tokio::test]
async fn a_second_step_that_fails_says_what_was_done() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(sim::Fault::fail_task(
        "qmstart",
        "kvm: out of memory",
        "start failed: QEMU exited with code 1",
    ));
    let fault = house
        .call(
            "clone_proxmox_vm",
            r#"{"vmid": 105, "new_vmid": 300, "start": true}"#,
        )
        .await
        .unwrap_err();
    assert!(
        fault
            .message
            .contains("start failed: QEMU exited with code 1"),
        "{fault}"
    );
    assert!(fault.message.contains("kvm: out of memory"), "{fault}");
    assert!(
        fault
            .message
            .contains("done before: Clone VM 105 (staging) to 300"),
        "{fault}"
    );
    let hint = fault.hint.unwrap();
    assert!(
        hint.contains(r#"delete_proxmox_vm {"vmid":300,"stop":true}"#)
            || hint.contains(r#"delete_proxmox_vm {"stop":true,"vmid":300}"#),
        "{hint}"
    );
}

/// PVE cannot reserve an id. One that we chose and lost is chosen again, and shown again.
#[tokio::test]
async fn a_next_id_that_is_taken_meanwhile_gives_a_new_plan() {
    let ask = Rule {
        verdict: Some(Verdict::Ask),
        ..Rule::default()
    };
    let house = House::furnished(Furnish {
        policy: Policy {
            rules: vec![ask],
            ..Policy::default()
        },
        ..Furnish::default()
    })
    .await;
    let args = r#"{"vmid": 105}"#;
    let shown = house.call("clone_proxmox_vm", args).await.unwrap();
    house.approve(shown.data["plan"].as_str().unwrap()).await;
    let other = r#"{"vmid": 108}"#;
    let taker = house.agreed("clone_proxmox_vm", other).await.unwrap();
    assert_eq!(taker.data["status"], "applied", "{}", taker.text);
    let again = house.call("clone_proxmox_vm", args).await.unwrap();
    assert_eq!(again.data["status"], "needs_confirmation");
    assert_ne!(again.data["plan"], shown.data["plan"]);
    assert!(
        again.text.contains("is not free any more"),
        "{}",
        again.text
    );
    assert_eq!(house.writes().len(), 1, "only the other clone was sent");
}

/// PVE would say so in words that name no other choice, some of them when the copy has begun.
#[tokio::test]
async fn what_is_not_there_is_said_with_what_is() {
    let house = House::new().await;
    for (more, says, instead) in [
        (
            r#""storage": "local-zfs""#,
            "no storage local-zfs",
            "local-lvm",
        ),
        (
            r#""target": "pve9""#,
            "there is no node pve9",
            "pve1, pve2 and pve3",
        ),
        (r#""pool": "foo""#, "there is no pool foo", "lab"),
        (r#""snapshot": "foo""#, "has no snapshot foo", "snapshot"),
        (r#""name": "my copy""#, "name", "letters"),
        (r#""target": "pve2""#, "not shared", "migrate_proxmox_vm"),
    ] {
        let args = format!(r#"{{"vmid": 105, {more}}}"#);
        let fault = house.call("clone_proxmox_vm", &args).await.unwrap_err();
        let said = fault.to_string();
        assert!(
            said.contains(says) && said.contains(instead),
            "{more}: {said}"
        );
    }
    assert_eq!(house.writes(), [""; 0]);
}
