//! Secrets that are typed: wherever a call goes, and however it ends, they are in nothing that is said or kept.

use std::path::Path;

use tools::policy::{Mode, Policy};

use crate::house::{House, Nobody, Person, call};

const CANARY: &str = "Kanarienvogel7";

/// Every way to type a secret.
fn calls() -> [(&'static str, String); 4] {
    [
        (
            "type_vm_text",
            format!(r#"{{"vmid": 100, "secret": "{CANARY}", "look": true}}"#),
        ),
        (
            "send_vm_terminal_line",
            format!(r#"{{"vmid": 200, "secret": "{CANARY}"}}"#),
        ),
        (
            "send_vm_terminal_line",
            format!(r#"{{"vmid": 106, "secret": "{CANARY}", "ctrl_c": true, "timeout": 1}}"#),
        ),
        (
            "vm_agent_set_password",
            format!(r#"{{"vmid": 106, "username": "root", "password": "{CANARY}"}}"#),
        ),
    ]
}

/// Ways to send it wrongly.
fn mistakes() -> [(&'static str, String); 8] {
    [
        (
            "type_vm_text",
            format!(r#"{{"vmid": 100, "secret": "{CANARY}", "enter": true}}"#),
        ),
        (
            "type_vm_text",
            format!(r#"{{"vmid": 100, "secret": "{CANARY}\n"}}"#),
        ),
        (
            "send_vm_terminal_line",
            format!(r#"{{"vmid": 200, "secret": "{CANARY}", "wait_for": "x"}}"#),
        ),
        (
            "type_vm_text",
            format!(r#"{{"vmid": 100, "secret": "{CANARY}ü"}}"#),
        ),
        (
            "type_vm_text",
            format!(r#"{{"vmid": 100, "secret": ["{CANARY}"]}}"#),
        ),
        (
            "type_vm_text",
            format!(r#"{{"vmid": 100, "password": "{CANARY}"}}"#),
        ),
        (
            "send_vm_terminal_line",
            format!(r#"{{"vmid": 200, "secret": "{CANARY}\n"}}"#),
        ),
        (
            "send_vm_terminal_line",
            format!(r#"{{"vmid": 203, "secret": "{CANARY}"}}"#),
        ),
    ]
}

/// Whether the secret is in a file below this directory, in whatever form of text.
fn is_kept(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_kept(&path);
        }
        let bytes = std::fs::read(&path).unwrap();
        let canary = CANARY.as_bytes();
        bytes.windows(canary.len()).any(|part| part == canary)
    })
}

#[tokio::test]
async fn they_are_in_nothing_that_is_said_or_kept() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new().await;
    let mut said = Vec::new();
    for mode in [Mode::Ask, Mode::Trusted, Mode::ReadOnly] {
        let policy = Policy {
            mode,
            ..Policy::default()
        };
        let engine = house.kept_in(dir.path(), policy);
        for (tool, args) in calls().iter().chain(&mistakes()) {
            let mut preview = call(tool, args);
            preview.preview = true;
            said.push(format!("{:?}", engine.call(preview, &Nobody).await));
            // Nobody to ask, somebody who declines, somebody who agrees.
            said.push(format!(
                "{:?}",
                engine.call(call(tool, args), &Nobody).await
            ));
            for person in [Person::saying_no(), Person::saying_yes()] {
                said.push(format!(
                    "{:?}",
                    engine.call(call(tool, args), &person).await
                ));
                said.push(format!("{:?}", person.asked.lock().unwrap()));
                said.push(format!("{:?}", person.progress.lock().unwrap()));
            }
        }
        said.push(format!("{:?}", engine.clusters()));
        let store = engine.store().await.unwrap();
        said.push(format!("{:?}", store.audit_trail(1000).await.unwrap()));
        said.push(format!("{:?}", store.waiting_plans(0).await.unwrap()));
    }
    let applied = said
        .iter()
        .filter(|text| text.contains("applied: "))
        .count();
    assert!(applied >= 4, "only {applied} were applied");
    for text in said {
        assert!(!text.contains(CANARY), "{text}");
    }
    assert!(!is_kept(dir.path()));
}

#[tokio::test]
async fn a_connection_that_is_lost_gives_nothing_away() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new().await;
    let policy = Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    };
    let engine = house.kept_in(dir.path(), policy);
    for (tool, args) in calls() {
        for path in ["*/vncproxy", "*/termproxy", "*/set-user-password"] {
            for fault in [
                sim::Fault::drop_before(),
                sim::Fault::drop_after(),
                sim::Fault::refuse(500, "the sky is falling"),
            ] {
                house.sim.fault(fault.on("POST", path));
            }
        }
        let websocket = sim::Fault::drop_after().on("GET", "*/vncwebsocket");
        house.sim.fault(websocket);
        let answer = format!("{:?}", engine.call(call(tool, &args), &Nobody).await);
        assert!(!answer.contains(CANARY), "{answer}");
        house.sim.clear_faults();
    }
    assert!(!is_kept(dir.path()));
}
