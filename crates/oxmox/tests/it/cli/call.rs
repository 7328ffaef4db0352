//! `oxmox call`: answers, changes, previews, refusals, and the exit code of each.

use super::Machine;

#[test]
fn a_read_prints_its_answer_and_nothing_else() {
    let ran = Machine::new()
        .demo(&["call", "get_proxmox_vm_status", "--vmid", "105"])
        .exits(0)
        .prints("VM 105 (staging)");
    assert_eq!(ran.stderr, "");
}

#[test]
fn the_structured_answer_is_json() {
    let answer = Machine::new()
        .demo(&["call", "get_proxmox_vm_status", "--vmid=105", "--json"])
        .exits(0)
        .json();
    assert_eq!(answer["vmid"], 105);
}

#[test]
fn our_flags_stand_where_people_put_them() {
    let machine = Machine::new();
    for words in [
        [
            "--demo",
            "call",
            "--json",
            "get_proxmox_node_status",
            "--node",
            "pve1",
        ],
        [
            "call",
            "--demo",
            "--json",
            "get_proxmox_node_status",
            "--node",
            "pve1",
        ],
        [
            "call",
            "get_proxmox_node_status",
            "--node",
            "pve1",
            "--json",
            "--demo",
        ],
    ] {
        assert_eq!(
            machine.run(&words).exits(0).json()["node"],
            "pve1",
            "{words:?}"
        );
    }
}

#[test]
fn arguments_come_as_one_object_too() {
    let machine = Machine::new();
    let tool = "get_proxmox_vm_status";
    machine
        .demo(&["call", tool, "--args", r#"{"vmid": 105}"#])
        .exits(0)
        .prints("VM 105");
    machine
        .fed(&["--demo", "call", tool, "--args", "-"], r#"{"vmid": 105}"#)
        .exits(0)
        .prints("VM 105");
}

#[test]
fn what_cannot_be_understood_is_exit_2_and_names_the_near_thing() {
    let machine = Machine::new();
    machine
        .demo(&["call", "get_proxmox_vm_statuss"])
        .exits(2)
        .says("did you mean get_proxmox_vm_status?");
    machine
        .demo(&["call", "get_proxmox_vm_status", "--vmidd", "1"])
        .exits(2)
        .says("there is no argument `vmidd`\nhint: did you mean `vmid`?");
    machine
        .demo(&["call", "get_proxmox_vm_status"])
        .exits(2)
        .says("vmid");
    machine
        .demo(&["call", "get_proxmox_vm_status", "--vmid", "many"])
        .exits(2)
        .says("argument `vmid`");
    machine
        .demo(&["call", "get_proxmox_vm_status", "--args", "vmid=canary"])
        .exits(2)
        .says("no JSON object");
    machine.demo(&["call"]).exits(2).says("TOOL");
}

#[test]
fn a_refusal_of_the_world_is_exit_1_with_a_hint() {
    Machine::new()
        .demo(&["call", "get_proxmox_vm_status", "--vmid", "4999"])
        .exits(1)
        .says("error: no guest has the vmid 4999")
        .says("hint: ");
}

#[test]
fn without_a_cluster_a_call_says_what_to_configure() {
    Machine::new()
        .run(&["call", "get_proxmox_vm_status", "--vmid", "105"])
        .exits(1)
        .says("no cluster is configured")
        .says("PROXMOX_HOST");
}

#[test]
fn a_change_is_applied_and_told() {
    let machine = Machine::new();
    machine
        .demo(&["call", "start_proxmox_vm", "--vmid", "105"])
        .exits(0)
        .prints("applied: Start VM 105");
    machine.demo(&["audit"]).exits(0).prints("Start VM 105");
}

#[test]
fn a_preview_changes_nothing_and_leaves_no_trace() {
    let machine = Machine::new();
    machine
        .demo(&["call", "start_proxmox_vm", "--vmid", "105", "--preview"])
        .exits(0)
        .prints("would: Start VM 105")
        .prints("nothing was changed");
    machine
        .demo(&["audit"])
        .exits(0)
        .says("nothing was recorded yet");
}

#[test]
fn a_change_that_needs_a_yes_does_not_run_without_one() {
    let machine = Machine::new();
    let words = ["call", "send_vm_key", "--vmid", "100", "--key", "enter"];
    let unasked = machine
        .demo(&words)
        .exits(4)
        .prints("needs confirmation")
        .says("oxmox --demo approve");
    assert!(!unasked.stderr.contains("--yes"), "{unasked:#?}");
    machine
        .demo(&[&words[..], &["--yes"]].concat())
        .exits(0)
        .says("needs confirmation: Press")
        .prints("applied: Press");
}

#[test]
fn a_protected_guest_is_not_deleted_even_with_yes() {
    Machine::new()
        .demo(&[
            "call",
            "delete_proxmox_vm",
            "--vmid",
            "101",
            "--stop",
            "--yes",
        ])
        .exits(1)
        .says("is protected");
}

#[test]
fn read_only_mode_has_no_changes() {
    let machine = Machine::new();
    let change = ["call", "start_proxmox_vm", "--vmid", "105"];
    machine
        .demo(&[&change[..], &["--mode", "read-only"]].concat())
        .exits(1)
        .says("switched off");
    machine
        .demo(&[
            "--mode",
            "read-only",
            "call",
            "get_proxmox_vm_status",
            "--vmid",
            "105",
        ])
        .exits(0);
}

#[test]
fn the_only_cluster_may_be_named() {
    let machine = Machine::new();
    let words = [
        "call",
        "get_proxmox_vm_status",
        "--vmid",
        "105",
        "--cluster",
    ];
    machine.demo(&[&words[..], &["demo"]].concat()).exits(0);
    machine
        .demo(&[&words[..], &["other"]].concat())
        .exits(2)
        .says("cluster");
}

#[test]
fn help_shows_what_the_tool_says_of_itself() {
    Machine::new()
        .run(&["call", "clone_proxmox_vm", "--help"])
        .exits(0)
        .prints("Clones a VM or container")
        .prints("--new-vmid <N>")
        .prints("oxmox call clone_proxmox_vm --vmid 900");
}

#[test]
fn the_terminals_of_the_demo_can_be_tried() {
    Machine::new()
        .demo(&[
            "--toolsets",
            "core,console",
            "call",
            "read_vm_terminal",
            "--vmid",
            "200",
        ])
        .exits(0)
        .prints("terminal of 200 (dns)");
}

#[test]
fn an_unknown_tool_is_told_with_the_command_that_lists_them() {
    let ran = Machine::new().demo(&["call", "zzzzqqqq"]);
    let said = ran.stderr.clone();
    assert!(
        said.contains("oxmox tools") && !said.contains("tools/list"),
        "{said}"
    );
}

#[test]
fn what_is_given_twice_must_be_the_same() {
    let machine = Machine::new();
    let status = |args: &str| {
        machine.demo(&[
            "call",
            "get_proxmox_vm_status",
            "--args",
            args,
            "--vmid",
            "100",
        ])
    };
    let said = status(r#"{"vmid": 105}"#).exits(2).stderr;
    assert!(
        said.contains("--vmid and `vmid` in --args are not the same"),
        "{said}"
    );
    status(r#"{"vmid": 100}"#).exits(0);
    let said = machine
        .demo(&[
            "call",
            "get_proxmox_vm_status",
            "--args",
            r#"{"vmid": 105, "vmid": 100}"#,
        ])
        .exits(2)
        .stderr;
    assert!(said.contains("`vmid` stands there twice"), "{said}");
}

/// A terminal shows no pictures, and a file of somebody's is not overwritten.
#[test]
fn a_screen_is_kept_where_it_is_wanted() {
    let machine = Machine::new();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("screen.png");
    let look = ["call", "capture_vm_screen", "--vmid", "100"];
    machine.demo(&look).exits(0).says("--picture FILE");
    let keep = [&look[..], &["--picture", file.to_str().unwrap()]].concat();
    machine.demo(&keep).exits(0);
    let png = std::fs::read(&file).unwrap();
    assert!(png.starts_with(b"\x89PNG"), "{} bytes", png.len());
    machine
        .demo(&keep)
        .exits(1)
        .says("name a file that is not there yet");
    assert_eq!(std::fs::read(&file).unwrap(), png);
    // Nothing is done when it cannot be kept, and nothing is left where there is none.
    let press = ["call", "send_vm_key", "--vmid=100", "--key=ret", "--yes"];
    let nowhere = dir.path().join("no/where.png");
    let ran = machine.demo(&[&press[..], &["--picture", nowhere.to_str().unwrap()]].concat());
    let ran = ran.exits(1).says("no picture can be kept");
    assert!(!ran.stdout.contains("applied"), "{ran:?}");
    let none = dir.path().join("none.png");
    let ran = machine.demo(&[&press[..], &["--picture", none.to_str().unwrap()]].concat());
    ran.exits(0).prints("applied").says("it shows no picture");
    assert!(!none.exists());
}
