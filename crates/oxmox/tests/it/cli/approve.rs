//! A person's word from another process, through the state directory that both share.

use tools::plan::Plan;
use tools::store::{Store, StoredPlan};

use super::{Machine, Ran};

const PRESS: [&str; 7] = [
    "call",
    "send_vm_key",
    "--vmid",
    "100",
    "--key",
    "enter",
    "--json",
];

/// Makes the call that needs a yes, and gives the plan's id.
fn asked(machine: &Machine) -> String {
    let outcome = machine.demo(&PRESS).exits(4).json();
    assert_eq!(outcome["status"], "needs_confirmation");
    outcome["plan"].as_str().unwrap().to_owned()
}

fn status(ran: &Ran) -> String {
    ran.json()["status"].as_str().unwrap().to_owned()
}

#[test]
fn an_approved_plan_is_applied_once() {
    let machine = Machine::new();
    let id = asked(&machine);
    machine
        .demo(&["approve"])
        .exits(0)
        .prints(&id)
        .prints("grant")
        .says("oxmox --demo approve ID");
    let unasked = machine
        .demo(&["approve", &id])
        .exits(4)
        .says("would: Press")
        .says("a person has to run this at a terminal");
    assert!(!unasked.stderr.contains("--yes"), "{unasked:#?}");
    machine
        .demo(&["approve", &id, "--yes"])
        .exits(0)
        .says("approved: Press");
    assert_eq!(status(&machine.demo(&PRESS).exits(0)), "applied");
    machine
        .demo(&["approve", &id, "--yes"])
        .exits(1)
        .says("was used already");
    // One yes, one press: the next call asks anew.
    assert_ne!(asked(&machine), id);
}

#[test]
fn a_rejected_plan_does_not_run() {
    let machine = Machine::new();
    let id = asked(&machine);
    machine
        .demo(&["reject", &id, "--yes"])
        .exits(0)
        .says("rejected: Press");
    machine
        .demo(&["approve", &id, "--yes"])
        .exits(1)
        .says("was rejected");
    assert_ne!(asked(&machine), id);
}

#[test]
fn a_decision_is_in_the_trail_though_nobody_comes_back() {
    for (command, word) in [("approve", "approved"), ("reject", "rejected")] {
        let machine = Machine::new();
        let id = asked(&machine);
        machine.demo(&[command, &id, "--yes"]).exits(0);
        let table = machine.demo(&["audit"]).exits(0).stdout;
        let rows: Vec<_> = table.lines().skip(1).collect();
        assert_eq!(rows.len(), 2, "{table}");
        assert!(rows[0].contains("needs confirmation"), "{table}");
        assert!(
            rows[1].contains(word) && rows[1].contains("Press"),
            "{table}"
        );
        let lines = machine.demo(&["audit", "export"]).exits(0).stdout;
        let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        assert_eq!(last["kind"], "decided", "{last:#}");
        assert_eq!(last["decision"], word);
        assert_eq!(last["plan"], id.as_str());
        assert!(last["digest"].is_string() && last["decided_by"].is_string());
        machine
            .demo(&["audit", "verify"])
            .exits(0)
            .prints("whole: 3");
    }
}

/// A plan that types a secret, left waiting by a server that holds the text.
async fn with_secret(machine: &Machine) -> String {
    let id = asked(machine);
    let store = Store::open(&machine.state_dir().join("demo")).unwrap();
    let stored = store.plan(&id).await.unwrap().unwrap();
    let mut plan = serde_json::to_value(&stored.plan).unwrap();
    let at = plan["targets"][0]["at"].clone();
    plan["summary"] = "Type a secret (7 characters) on VM 100 (web)".into();
    plan["steps"][0]["action"] = serde_json::json!({"keys": {
        "at": at,
        "typed": {"text": {"text": {"hole": "secret, 7 characters"}, "layout": "us"}},
        "hold": 10,
        "pause": 20,
    }});
    let plan: Plan = serde_json::from_value(plan).unwrap();
    let typed = StoredPlan {
        id: "typed".to_owned(),
        arguments: "others".to_owned(),
        digest: plan.digest(),
        plan,
        ..stored
    };
    let now = typed.expires - 60;
    store.keep_plan(&typed, now).await.unwrap();
    typed.id
}

#[tokio::test]
async fn secret_text_cannot_be_approved_where_it_cannot_be_shown() {
    let machine = Machine::new();
    let id = with_secret(&machine).await;
    let listed = machine.demo(&["approve"]).exits(0);
    assert!(
        listed.stdout.contains("a secret (7 characters)"),
        "{listed:#?}"
    );
    for arguments in [vec!["approve", &id], vec!["approve", &id, "--yes"]] {
        machine
            .demo(&arguments)
            .exits(1)
            .says("<secret, 7 characters>")
            .says("nobody approves a text unseen")
            .says("at the page of the oxmox process");
    }
    machine
        .demo(&["reject", &id, "--yes"])
        .exits(0)
        .says("rejected: Type a secret");
}

#[test]
fn secret_text_that_nobody_can_be_shown_does_not_wait() {
    let machine = Machine::new();
    let call = [
        "call",
        "type_vm_text",
        "--vmid",
        "100",
        "--secret",
        "hunter2",
    ];
    let ran = machine.demo(&call).exits(1).says("must see a secret");
    assert!(!ran.stderr.contains("hunter2"), "{ran:#?}");
    machine
        .demo(&["approve"])
        .exits(0)
        .says("nothing waits for a person");
}

#[test]
fn a_plan_of_the_demo_is_told_from_a_real_one() {
    let machine = Machine::new();
    let id = asked(&machine);
    machine
        .run(&["approve", &id, "--yes"])
        .exits(1)
        .says(&format!("oxmox --demo approve {id}"));
    machine
        .run(&["approve", "zzzzzzzz", "--yes"])
        .exits(1)
        .says("there is no plan zzzzzzzz");
}

#[test]
fn with_nothing_waiting_it_says_so_and_makes_no_state() {
    let machine = Machine::new();
    machine
        .run(&["approve"])
        .exits(0)
        .says("nothing waits for a person");
    assert!(!machine.state_dir().exists());
}

#[cfg(unix)]
#[test]
fn a_freeze_makes_a_state_directory_that_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let machine = Machine::new();
    machine.run(&["freeze"]).exits(0).says("frozen");
    let mode = std::fs::metadata(machine.state_dir())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_freeze_stops_changes_until_the_thaw() {
    let machine = Machine::new();
    let start = ["call", "start_proxmox_vm", "--vmid", "105"];
    machine
        .demo(&["freeze"])
        .exits(0)
        .says("frozen")
        .says("oxmox --demo thaw");
    machine.demo(&start).exits(1).says("oxmox is frozen");
    machine.demo(&["thaw"]).exits(0).says("thawed");
    machine.demo(&["thaw"]).exits(0).says("was not frozen");
    machine.demo(&start).exits(0).prints("applied");
}
