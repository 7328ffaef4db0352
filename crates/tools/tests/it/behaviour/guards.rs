//! What is looked at once more between a yes and the first request.

use std::time::Duration;

use sim::Fault;
use tools::engine::{Answered, Asked, Reply};
use tools::policy::{Mode, Verdict};

use crate::house::{House, Meanwhile, Person, call};
use crate::ruled::{rule, with_rules};

const DELETE: (&str, &str) = ("delete_proxmox_vm", r#"{"vmid": 105}"#);

/// A house in which a person is asked about every change.
async fn asking() -> House {
    with_rules(Mode::Ask, vec![rule(Verdict::Ask)]).await
}

/// Whoever has the id of guest 105 now is another one.
fn replaced(house: &House) {
    house.set(105, "smbios1", "uuid=00000000-1111-2222-3333-444444444444");
    house.set(105, "vmgenid", "00000000-1111-2222-3333-555555555555");
}

/// PVE says that an id is taken by 400, and by nothing else.
#[tokio::test]
async fn an_id_that_cannot_be_asked_after_is_not_called_taken() {
    for (status, taken) in [(400, true), (500, false)] {
        let house = asking().await;
        let talk = Meanwhile(|| {
            let refused = Fault::refuse(status, "VM 300 already exists");
            house
                .sim
                .fault(refused.on("GET", "/cluster/nextid").times(1));
        });
        // One that oxmox chose is chosen anew where it is taken, and only there.
        if !taken {
            let fault = house
                .ask("clone_proxmox_vm", r#"{"vmid": 105}"#, &talk)
                .await;
            assert!(fault.is_err(), "{fault:?}");
            house.sim.clear_faults();
        }
        let args = r#"{"vmid": 105, "new_vmid": 300}"#;
        let fault = house
            .ask("clone_proxmox_vm", args, &talk)
            .await
            .unwrap_err();
        let said = fault.message.contains("has been taken meanwhile");
        assert_eq!(said, taken, "{status}: {fault}");
        assert_eq!(house.writes(), [""; 0]);
    }
}

/// The id that oxmox chose while it was free is another call's by now: another one is chosen, and shown.
#[tokio::test]
async fn an_id_that_another_call_is_just_using_is_chosen_anew() {
    let house = asking().await;
    let args = r#"{"vmid": 105}"#;
    let asked = house.call("clone_proxmox_vm", args).await.unwrap();
    house.approve(asked.data["plan"].as_str().unwrap()).await;
    let chosen = chosen_in(&asked.text);
    let path = "/nodes/pve1/qemu/105/clone";
    let late = Fault::delay(Duration::from_mins(10));
    house.sim.fault(late.on("POST", path).times(1));
    let same = format!(r#"{{"vmid": 105, "new_vmid": {chosen}}}"#);
    let person = Person::saying_yes();
    let other = house.ask("clone_proxmox_vm", &same, &person);
    let again = async {
        while !house.sim.arrivals().contains(&format!("POST {path}")) {
            tokio::task::yield_now().await;
        }
        house.call("clone_proxmox_vm", args).await.unwrap()
    };
    let again = tokio::select! {
        answer = other => panic!("{answer:?}"),
        answer = again => answer,
    };
    assert_eq!(again.data["status"], "needs_confirmation", "{}", again.text);
    assert!(
        again.text.contains("is not free any more"),
        "{}",
        again.text
    );
    assert_ne!(chosen_in(&again.text), chosen);
}

/// The id of a clone that is shown.
fn chosen_in(text: &str) -> String {
    let (_, rest) = text.split_once("newid=").expect(text);
    rest.chars().take_while(char::is_ascii_digit).collect()
}

/// What changed is told by its name, and by its guest only where there are several.
#[tokio::test]
async fn of_one_guest_only_the_setting_is_named() {
    let house = House::new().await;
    let talk = Meanwhile(|| house.set(105, "cores", "7"));
    let again = house.ask(DELETE.0, DELETE.1, &talk).await.unwrap();
    assert_eq!(again.data["status"], "needs_confirmation");
    assert!(again.text.contains("cores"), "{}", again.text);
    assert!(!again.text.contains("cores of"), "{}", again.text);
    assert_eq!(house.writes(), [""; 0]);
}

/// One step either is carried out or is not: PVE decides, in its own words.
#[tokio::test]
async fn the_privileges_of_a_single_step_are_for_pve_to_look_at() {
    let house = House::new().await;
    let may = ("/vms", &["VM.Audit"][..]);
    let fault = house.call_with(may, "start_proxmox_vm", r#"{"vmid": 105}"#);
    let fault = fault.await.unwrap_err();
    assert!(fault.message.contains("VM.PowerMgmt"), "{fault}");
    assert_eq!(house.writes(), ["POST /nodes/pve1/qemu/105/status/start"]);
}

#[tokio::test]
async fn a_guest_that_cannot_be_read_is_not_called_gone() {
    for (reason, gone) in [
        (
            "Configuration file 'nodes/pve1/qemu-server/105.conf' does not exist",
            true,
        ),
        ("got timeout", false),
    ] {
        let house = House::new().await;
        let talk = Meanwhile(|| {
            let refused = Fault::refuse(500, reason);
            house
                .sim
                .fault(refused.on("GET", "/nodes/*/qemu/105/config"));
        });
        let fault = house.ask(DELETE.0, DELETE.1, &talk).await.unwrap_err();
        let said = fault.message.contains("is not on node");
        assert_eq!(said, gone, "{reason}: {fault}");
        assert_eq!(house.writes(), [""; 0]);
    }
}

/// The yes was to another guest: a preview of the one that has the id now would invite a second yes.
#[tokio::test]
async fn a_yes_to_a_guest_that_was_replaced_is_void() {
    for looks_the_same in [true, false] {
        let house = House::new().await;
        let asked = house.call(DELETE.0, DELETE.1).await.unwrap();
        house.approve(asked.data["plan"].as_str().unwrap()).await;
        replaced(&house);
        if !looks_the_same {
            house.set(105, "scsi5", "local-lvm:vm-105-disk-9,size=1G");
        }
        let fault = house.call(DELETE.0, DELETE.1).await.unwrap_err();
        let said = "now belongs to another guest";
        assert!(fault.message.contains(said), "{fault}");
        assert_eq!(house.writes(), [""; 0]);
    }
}

/// Nobody has said yes yet: what is shown is what is there now, and there is nothing that it differs from.
#[tokio::test]
async fn a_question_that_nobody_answered_is_asked_anew() {
    let house = House::new().await;
    house.call(DELETE.0, DELETE.1).await.unwrap();
    house.set(105, "onboot", "1");
    house.set(105, "scsi5", "local-lvm:vm-105-disk-9,size=1G");
    let again = house.call(DELETE.0, DELETE.1).await.unwrap();
    assert_eq!(again.data["status"], "needs_confirmation");
    assert!(!again.text.contains("changed since"), "{}", again.text);
}

/// Stopping and resetting take the same arguments, and a yes to the one is none to the other.
#[tokio::test]
async fn a_yes_is_to_one_tool_by_one_caller() {
    let house = House::new().await;
    let args = r#"{"vmid": 110}"#;
    let later = Person::saying(Asked::Later);
    let asked = house.engine.call(call("stop_proxmox_vm", args), &later);
    let Reply::Ask(question) = asked.await.unwrap() else {
        panic!("no question");
    };
    let yes = || {
        Some(Answered {
            state: question.state.clone(),
            said: Asked::Yes {
                by: "person".to_owned(),
                lease: false,
            },
        })
    };
    let mut other_tool = call("reset_vm", args);
    other_tool.answer = yes();
    let mut other_caller = call("stop_proxmox_vm", args);
    other_caller.caller = "somebody else".into();
    other_caller.answer = yes();
    for call in [other_tool, other_caller] {
        let fault = house.engine.call(call, &later).await.unwrap_err();
        let said = "was given for another call";
        assert!(fault.message.contains(said), "{fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

/// After a step that failed it is read how things stand; what cannot be read is not called otherwise.
#[tokio::test]
async fn after_a_failure_it_is_told_how_things_stand() {
    let gone = "Configuration file 'nodes/pve1/qemu-server/105.conf' does not exist";
    for (trouble, said) in [
        (None, "read back: VM 105"),
        (Some(gone), "it is not so any more"),
        (Some("got timeout"), "cannot be read"),
    ] {
        let house = asking().await;
        house.sim.fault(Fault::fail_task(
            "qmigrate",
            "no route",
            "migration aborted",
        ));
        let talk = Meanwhile(|| {
            if let Some(reason) = trouble {
                let refused = Fault::refuse(500, reason);
                house
                    .sim
                    .fault(refused.on("GET", "/nodes/pve1/qemu/105/status/current"));
            }
        });
        let args = r#"{"vmid": 105, "target": "pve2"}"#;
        let fault = house
            .ask("migrate_proxmox_vm", args, &talk)
            .await
            .unwrap_err();
        assert!(fault.message.contains(said), "{trouble:?}: {fault}");
    }
}
