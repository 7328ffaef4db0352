//! The smaller commands, and what is the same for all.

use tools::caller::{Bounds, Scope};

use super::Machine;

#[test]
fn tools_are_listed_with_nothing_configured() {
    let machine = Machine::new();
    machine
        .run(&["tools"])
        .exits(0)
        .prints("clone_proxmox_vm")
        .prints("destroy");
    let listed = machine.run(&["tools", "--json"]).exits(0).json();
    let names: Vec<_> = listed["tools"].as_array().unwrap().iter().collect();
    assert!(names.iter().any(|tool| tool["name"] == "send_vm_key"));
    assert!(names.iter().all(|tool| tool["inputSchema"].is_object()));
    let reading = machine
        .run(&["--mode", "read-only", "tools"])
        .exits(0)
        .stdout;
    assert!(!reading.contains("clone_proxmox_vm"));
    assert!(!machine.state_dir().exists(), "listing made a state");
}

#[test]
fn stdout_is_for_mcp_alone() {
    let machine = Machine::new();
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    for words in [&["-vv"][..], &["--demo", "serve", "-v"], &["--demo"]] {
        let ran = machine.fed(words, &format!("{initialize}\n")).exits(0);
        let lines: Vec<_> = ran.stdout.lines().collect();
        assert_eq!(lines.len(), 1, "{ran:#?}");
        let answer: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
        assert_eq!(answer["result"]["serverInfo"]["name"], "oxmox");
    }
}

#[test]
fn notifications_before_the_first_request_end_nothing() {
    let machine = Machine::new();
    let early = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let ran = machine
        .fed(&["--demo"], &format!("{early}\n{early}\n{initialize}\n"))
        .exits(0);
    assert_eq!(ran.json()["result"]["serverInfo"]["name"], "oxmox");
    machine.fed(&["--demo"], &format!("{early}\n")).exits(0);
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"canary":1}}"#;
    let ran = machine
        .fed(&["--demo"], &format!("{answer}\n"))
        .exits(1)
        .says("its first message is not a request");
    assert!(!ran.stderr.contains("canary"), "{ran:#?}");
}

#[test]
fn other_machines_are_not_served() {
    let machine = Machine::new();
    for words in [
        ["serve", "--http", "0.0.0.0:8080"],
        ["demo", "--http", "[::]:8080"],
        ["sim", "--listen", "0.0.0.0:0"],
    ] {
        machine
            .run(&words)
            .exits(2)
            .says("can be reached from other machines");
    }
}

#[test]
fn a_person_may_approve_what_destroys_unless_said_otherwise() {
    let machine = Machine::new();
    for (words, may) in [
        (&["program"][..], "operate"),
        (&["anna", "--person"], "full"),
        (&["bert", "--person", "--scope", "operate"], "operate"),
    ] {
        let may = Scope::parse(may).unwrap();
        let bounds = Bounds {
            scope: may,
            ..Bounds::default()
        };
        machine
            .run(&[&["token", "add"], words].concat())
            .exits(0)
            .says(&format!("{} may {bounds}", words[0]));
    }
}

#[test]
fn completions_know_the_tools_and_their_arguments() {
    let machine = Machine::new();
    for shell in ["bash", "zsh", "fish"] {
        machine
            .run(&["completions", shell])
            .exits(0)
            .prints("clone_proxmox_vm")
            .prints("new-vmid");
    }
}

#[test]
fn every_command_that_people_see_has_a_manual_page() {
    let machine = Machine::new();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("man1");
    machine.run(&["man", path.to_str().unwrap()]).exits(0);
    let page = |name: &str| std::fs::read_to_string(path.join(name));
    assert!(page("oxmox.1").unwrap().contains("\\-\\-toolsets"));
    assert!(page("oxmox-token-add.1").unwrap().contains("scope"));
    for unseen in ["oxmox-generate.1", "oxmox-man.1", "oxmox-help.1"] {
        assert!(page(unseen).is_err(), "{unseen} is for nobody");
    }
}

#[test]
fn generated_documents_are_checked() {
    let machine = Machine::new();
    let dir = tempfile::tempdir().unwrap();
    let words = ["generate", "--dir", dir.path().to_str().unwrap()];
    machine
        .run(&[&words[..], &["--check"]].concat())
        .exits(1)
        .says("is not current");
    machine.run(&words).exits(0);
    machine.run(&[&words[..], &["--check"]].concat()).exits(0);
    let file = dir.path().join("TOOLS.md");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("### delete_proxmox_vm\n\n**Delete a VM or container** · 🔴 destroy"));
    std::fs::write(&file, text + "more").unwrap();
    machine
        .run(&[&words[..], &["--check"]].concat())
        .exits(1)
        .says("`oxmox generate`");
}

#[test]
fn the_tour_ends_well() {
    Machine::new()
        .run(&["demo", "--tour"])
        .exits(0)
        .prints("applied: Clone VM 105")
        .prints("applied: Press")
        .prints("applied: Delete VM 300")
        .prints("no guest has the vmid 300");
}
