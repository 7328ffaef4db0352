//! Steps that fail, answers that get lost, ids that are taken meanwhile, secrets.

use serde_json::json;
use sim::Fault;
use tools::policy::Mode;
use tools::tool::Ran;

use super::{config, preview, vm};
use crate::house::{House, Person, object};

#[tokio::test]
async fn a_start_that_fails_leaves_the_guest_and_says_how_to_remove_it() {
    for (tool, task, args) in [
        (
            "create_proxmox_vm",
            "qmstart",
            json!({"name": "a", "vmid": 320, "start": true}),
        ),
        (
            "create_proxmox_lxc",
            "vzstart",
            json!({"hostname": "a", "vmid": 320, "start": true}),
        ),
    ] {
        let house = House::in_mode(Mode::Trusted).await;
        house
            .sim
            .fault(Fault::fail_task(task, "no such bridge", "start failed"));
        let fault = house.call(tool, &args.to_string()).await.unwrap_err();
        for part in [
            "no such bridge",
            "done before: Create",
            "delete_proxmox_vm",
            "\"vmid\":320",
        ] {
            assert!(
                fault.to_string().contains(part),
                "{tool}: {part} in {fault}"
            );
        }
        assert!(config(&house, 320, "memory").is_some(), "it is there");
    }
}

#[tokio::test]
async fn settings_that_are_refused_after_the_clone_say_what_was_done() {
    let house = House::in_mode(Mode::Trusted).await;
    let refuse = Fault::refuse(500, "no room for that");
    house.sim.fault(refuse.on("POST", "/nodes/*/qemu/*/config"));
    let args = json!({"name": "a", "vmid": 320, "template": 900, "cores": 4, "disk_size": 40, "start": true});
    let fault = vm(&house, &args).await.unwrap_err().to_string();
    for part in [
        "no room for that",
        "done before: Clone VM 900 (debian-13) to 320 (a)",
        "not sent: Grow scsi0",
        "Start VM 320 (a)",
        "delete_proxmox_vm",
    ] {
        assert!(fault.contains(part), "{part} in {fault}");
    }
    assert_eq!(house.writes(), ["POST /nodes/pve1/qemu/900/clone"]);
}

#[tokio::test]
async fn a_lost_answer_is_found_again_and_sent_once() {
    for (tool, path, args) in [
        ("create_proxmox_vm", "/nodes/*/qemu", json!({"name": "a"})),
        (
            "create_proxmox_lxc",
            "/nodes/*/lxc",
            json!({"hostname": "a"}),
        ),
    ] {
        let house = House::in_mode(Mode::Trusted).await;
        house
            .sim
            .fault(Fault::drop_after().on("POST", path).times(1));
        let answer = house.call(tool, &args.to_string()).await.unwrap();
        assert_eq!(answer.data["status"], "applied", "{}", answer.text);
        assert_eq!(house.writes().len(), 1);
        house.sim.fault(Fault::drop_before().on("POST", path));
        let answer = house.call(tool, &args.to_string()).await.unwrap();
        assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    }
}

/// An id that was free when it was looked up and is taken when it is needed: nothing is overwritten.
#[tokio::test]
async fn an_id_that_is_taken_meanwhile_is_not_used() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .sim
        .fault(Fault::answer("GET", "/cluster/nextid", "105").times(1));
    let fault = vm(&house, &json!({"name": "a"})).await.unwrap_err();
    assert!(
        fault.message.contains("the vmid 105 is not free any more"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn secrets_are_sent_and_shown_nowhere() {
    let canary = "canary-c3a7e";
    let cases = [
        (
            "create_proxmox_vm",
            json!({"name": "a", "vmid": 320, "cipassword": canary}),
        ),
        (
            "create_proxmox_vm",
            json!({"name": "b", "vmid": 321, "template": 900, "cipassword": canary}),
        ),
        (
            "create_proxmox_lxc",
            json!({"hostname": "c", "vmid": 322, "password": canary}),
        ),
    ];
    let house = House::in_mode(Mode::Trusted).await;
    let mut seen = Vec::new();
    for (name, args) in &cases {
        let tool = tools::registry::find_change(name).unwrap();
        let Ok(Ran::Plan(plan)) = tool.run(object(&args.to_string()), &house.context()).await
        else {
            panic!("{name} {args} gave no plan");
        };
        seen.push(format!("{plan:?}{}", serde_json::to_string(&plan).unwrap()));
        let text = preview(&house, name, args).await;
        assert!(text.contains("password=<"), "the hole is shown: {text}");
        seen.push(text);
        let person = Person::saying_yes();
        let answer = house.ask(name, &args.to_string(), &person).await.unwrap();
        seen.push(format!("{answer:?}{:?}", person.progress.lock().unwrap()));
    }
    let store = house.engine.store().await.unwrap();
    seen.push(format!("{:?}", store.audit_trail(1000).await.unwrap()));
    // What is no secret by its form is not quoted either.
    let wrong = json!({"name": "d", "cipassword": [canary]});
    seen.push(vm(&house, &wrong).await.unwrap_err().to_string());
    let private = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{canary}");
    let wrong = json!({"name": "d", "sshkeys": private});
    seen.push(vm(&house, &wrong).await.unwrap_err().to_string());
    seen.push(format!("{:?}", store.audit_trail(1000).await.unwrap()));
    for text in seen {
        assert!(!text.contains(canary), "{text}");
    }
    let arrived = config(&house, 320, "cipassword").unwrap();
    assert_eq!(arrived, canary, "PVE keeps it as it was given");
}

/// PVE says that a setting was written, and it was not.
#[tokio::test]
async fn each_setting_of_a_clone_is_read_back() {
    for (key, value) in [
        ("tags", "web"),
        ("vlan", "20"),
        ("bridge", "vmbr0"),
        ("cipassword", "x"),
    ] {
        let house = House::in_mode(Mode::Trusted).await;
        let first = json!({"name": "a", "vmid": 320, "template": 901});
        let made = vm(&house, &first).await.unwrap();
        let ended = made.data["steps"][0]["task"].clone();
        house
            .sim
            .fault(Fault::answer("POST", "/nodes/*/qemu/*/config", ended));
        house.sim.fault(Fault::answer(
            "GET",
            "/nodes/*/qemu/321/config",
            json!({"name": "b"}),
        ));
        let args = json!({"name": "b", "vmid": 321, "template": 901, key: value});
        let fault = vm(&house, &args).await.unwrap_err();
        let words = "it is not so that VM 321 (b) is set up";
        assert!(fault.message.contains(words), "{key}: {fault}");
    }
}
