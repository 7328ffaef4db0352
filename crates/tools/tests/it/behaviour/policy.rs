//! Rules and the freeze.

use tools::policy::{Mode, Policy, Rule, Verdict};
use tools::spec::Risk;

use crate::house::{Furnish, House};

async fn with_rules(mode: Mode, rules: Vec<Rule>) -> House {
    House::furnished(Furnish {
        policy: Policy {
            mode,
            rules,
            ..Policy::default()
        },
        ..Furnish::default()
    })
    .await
}

#[tokio::test]
async fn a_rule_denies_by_pool_even_in_trusted_mode() {
    let rule = Rule {
        pool: Some("prod".to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = with_rules(Mode::Trusted, vec![rule]).await;
    let fault = house
        .call("stop_proxmox_vm", r#"{"vmid": 100}"#)
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("a rule in the configuration"),
        "{fault}"
    );
    house
        .call("stop_proxmox_vm", r#"{"vmid": 110}"#)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_rule_holds_for_the_other_names_of_a_tool() {
    let rule = Rule {
        tool: Some("start_proxmox_vm".to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = with_rules(Mode::Trusted, vec![rule]).await;
    for (tool, args) in [
        ("start_proxmox_vm", r#"{"vmid": 105}"#),
        ("manage_proxmox_vm", r#"{"vmid": 105, "action": "start"}"#),
        ("bulk_start_guests", r#"{"vms": "105"}"#),
        (
            "call_proxmox_tool",
            r#"{"tool": "bulk_start_guests", "arguments": {"vms": "105"}}"#,
        ),
    ] {
        let fault = house.call(tool, args).await.unwrap_err();
        let denied = fault.message.contains("a rule in the configuration");
        assert!(denied, "{tool}: {fault}");
    }
    assert!(house.writes().is_empty());
}

#[tokio::test]
async fn a_rule_holds_for_what_is_planned_by_another_tool() {
    let deny = |tool: &str| Rule {
        tool: Some(tool.to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let rules = vec![deny("stop_proxmox_vm"), deny("migrate_proxmox_vm")];
    let house = with_rules(Mode::Trusted, rules).await;
    for (tool, args) in [
        ("suspend_vm", r#"{"vmid": 100}"#),
        ("bulk_migrate_guests", r#"{"target": "pve3", "vms": "105"}"#),
    ] {
        let fault = house.call(tool, args).await.unwrap_err();
        let denied = fault.message.contains("a rule in the configuration");
        assert!(denied, "{tool}: {fault}");
    }
    assert!(house.writes().is_empty());
}

#[tokio::test]
async fn what_a_rule_asks_about_is_confirmed_by_the_value_in_the_answer() {
    let ask = Rule {
        tool: Some("start_proxmox_vm".to_owned()),
        verdict: Some(Verdict::Ask),
        ..Rule::default()
    };
    let house = with_rules(Mode::Ask, vec![ask]).await;
    let asked = house.call("start_vm", r#"{"vmid": 105}"#).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation");
    let confirm = asked.data["confirm"].as_str().unwrap();
    let args = format!(r#"{{"vmid": 105, "confirm": "{confirm}"}}"#);
    let answer = house.call("start_vm", &args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(house.runs(105));
}

#[tokio::test]
async fn a_rule_allows_a_range_and_asks_for_the_rest() {
    let allow = Rule {
        vmid: Some("100-105".to_owned()),
        risk: Some(Risk::Disrupt),
        verdict: Some(Verdict::Allow),
        ..Rule::default()
    };
    let ask = Rule {
        tag: Some("lab".to_owned()),
        verdict: Some(Verdict::Ask),
        ..Rule::default()
    };
    let house = with_rules(Mode::Ask, vec![allow, ask]).await;
    assert_eq!(
        house
            .call("stop_proxmox_vm", r#"{"vmid": 100}"#)
            .await
            .unwrap()
            .data["status"],
        "applied"
    );
    assert_eq!(
        house
            .call("stop_proxmox_vm", r#"{"vmid": 110}"#)
            .await
            .unwrap()
            .data["status"],
        "needs_confirmation"
    );
    assert_eq!(
        house
            .call("delete_proxmox_vm", r#"{"vmid": 105}"#)
            .await
            .unwrap()
            .data["status"],
        "needs_confirmation"
    );
}

#[tokio::test]
async fn a_freeze_stops_everything_and_a_thaw_lets_it_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("frozen");
    let policy = Policy {
        mode: Mode::Trusted,
        freeze: Some(file.clone()),
        ..Policy::default()
    };
    let house = House::furnished(Furnish {
        policy,
        ..Furnish::default()
    })
    .await;
    std::fs::write(&file, "").unwrap();
    let fault = house
        .call("start_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap_err();
    assert!(fault.message.contains("frozen"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
    std::fs::remove_file(&file).unwrap();
    house
        .call("start_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
}

/// A preview says what would become of the change, rules and freeze included.
#[tokio::test]
async fn a_preview_knows_the_rules() {
    let deny = Rule {
        risk: Some(Risk::Destroy),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = with_rules(Mode::Trusted, vec![deny]).await;
    let answer = house
        .call("delete_proxmox_vm_preview", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["blocked"], true);
    assert!(
        answer.text.contains("a rule in the configuration"),
        "{}",
        answer.text
    );
}

/// A range or pool that is closed stays closed for guests that do not exist yet.
#[tokio::test]
async fn a_rule_looks_at_the_guest_that_a_plan_makes() {
    let closed = |rule: Rule| Rule {
        verdict: Some(Verdict::Deny),
        ..rule
    };
    let rules = vec![
        closed(Rule {
            vmid: Some("1000-1999".to_owned()),
            ..Rule::default()
        }),
        closed(Rule {
            pool: Some("prod".to_owned()),
            ..Rule::default()
        }),
    ];
    let house = with_rules(Mode::Trusted, rules).await;
    for args in [
        r#"{"vmid": 105, "new_vmid": 1500}"#,
        r#"{"vmid": 105, "new_vmid": 300, "pool": "prod"}"#,
    ] {
        let fault = house.call("clone_proxmox_vm", args).await.unwrap_err();
        assert!(fault.message.contains("denies this"), "{args}: {fault}");
    }
    house
        .call("clone_proxmox_vm", r#"{"vmid": 105, "new_vmid": 300}"#)
        .await
        .unwrap();
}

/// Detaching a disk stays a destruction when the same call also hands out power.
#[tokio::test]
async fn a_rule_sees_what_a_plan_does_beside_its_gravest() {
    const BOTH: (&str, &str) = (
        "update_proxmox_vm",
        r#"{"vmid": 111, "delete": ["scsi0"], "set": {"ciuser": "x"}}"#,
    );
    let rule = |risk, verdict| Rule {
        risk: Some(risk),
        verdict: Some(verdict),
        ..Rule::default()
    };
    let deny = rule(Risk::Destroy, Verdict::Deny);
    // A rule on the other half neither hides the one that denies nor allows more than it says.
    for first in [Verdict::Allow, Verdict::Ask] {
        let rules = vec![rule(Risk::Grant, first), deny.clone()];
        let house = with_rules(Mode::Trusted, rules).await;
        let fault = house.call(BOTH.0, BOTH.1).await.unwrap_err();
        assert!(fault.message.contains("denies this"), "{fault}");
    }
    let allow = rule(Risk::Grant, Verdict::Allow);
    let house = with_rules(Mode::Ask, vec![allow.clone()]).await;
    let asked = house.call(BOTH.0, BOTH.1).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation");
    let grants = r#"{"vmid": 111, "set": {"ciuser": "x"}}"#;
    let granted = house.call(BOTH.0, grants).await.unwrap();
    assert_eq!(granted.data["status"], "applied", "{}", granted.text);
}

/// An agent that calls again while a person looks at the question does not take it from them: how much is free and what
/// time it is are no reason for another one.
#[tokio::test]
async fn words_that_move_leave_an_open_question_alone() {
    let ask = Rule {
        verdict: Some(Verdict::Ask),
        ..Rule::default()
    };
    for (tool, args) in [
        (
            "update_proxmox_vm",
            r#"{"vmid": 105, "grow": {"scsi0": "+1G"}}"#,
        ),
        ("snapshot_proxmox_vm", r#"{"vmid": 105}"#),
        ("migrate_proxmox_vm", r#"{"vmid": 105}"#),
    ] {
        let house = with_rules(Mode::Ask, vec![ask.clone()]).await;
        let shown = house.call(tool, args).await.unwrap();
        house.later(61);
        house.sim.world(|world| {
            for storage in world.storages.values_mut() {
                storage.capacity *= 2;
            }
            for node in world.nodes.values_mut() {
                node.memory *= 2;
            }
        });
        let again = house.call(tool, args).await.unwrap();
        assert_eq!(again.data["plan"], shown.data["plan"], "{}", again.text);
        house.approve(shown.data["plan"].as_str().unwrap()).await;
        let applied = house.call(tool, args).await.unwrap();
        assert_eq!(applied.data["status"], "applied", "{}", applied.text);
        // What is applied is what was shown.
        assert_eq!(applied.data["summary"], shown.data["summary"]);
    }
}

/// What would be sent, or to what, has moved: that is another question.
#[tokio::test]
async fn a_guest_that_has_changed_is_asked_about_anew() {
    let ask = Rule {
        verdict: Some(Verdict::Ask),
        ..Rule::default()
    };
    let house = with_rules(Mode::Ask, vec![ask]).await;
    let (tool, args) = ("snapshot_proxmox_vm", r#"{"vmid": 105}"#);
    let shown = house.call(tool, args).await.unwrap();
    house.set(105, "cores", "7");
    let again = house.call(tool, args).await.unwrap();
    assert_ne!(again.data["plan"], shown.data["plan"], "{}", again.text);
}

/// Each guest by its own first rule, and the strictest of them counts.
#[tokio::test]
async fn a_rule_about_one_guest_does_not_hide_one_about_another() {
    let rule = |vmid: &str, verdict| Rule {
        vmid: Some(vmid.to_owned()),
        verdict: Some(verdict),
        ..Rule::default()
    };
    let deny = rule("110", Verdict::Deny);
    for first in [Verdict::Allow, Verdict::Ask] {
        let house = with_rules(Mode::Trusted, vec![rule("100", first), deny.clone()]).await;
        let fault = house
            .call("stop_proxmox_vm", r#"{"vmids": [100, 110]}"#)
            .await
            .unwrap_err();
        assert!(fault.message.contains("denies this"), "{fault}");
    }
    // What is allowed for a guest stays allowed for it, whatever a later rule says of it.
    let rules = vec![rule("110", Verdict::Allow), deny];
    let house = with_rules(Mode::Ask, rules).await;
    let answer = house.call("stop_proxmox_vm", r#"{"vmid": 110}"#).await;
    assert_eq!(answer.unwrap().data["status"], "applied");
}

/// A copy of a guest's disk is a thing done to that guest.
#[tokio::test]
async fn a_rule_looks_at_the_guest_whose_disk_is_copied() {
    const COPY: &str =
        r#"{"vmid": 105, "set": {"scsi1": "local-lvm:0,import-from=local-lvm:vm-101-disk-1"}}"#;
    let deny = Rule {
        vmid: Some("101".to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = with_rules(Mode::Trusted, vec![deny]).await;
    let fault = house.call("update_proxmox_vm", COPY).await.unwrap_err();
    assert!(fault.message.contains("denies this"), "{fault}");
    // It loses nothing by it, so that neither its protection counts nor a rule on what destroys.
    let keep = Rule {
        vmid: Some("101".to_owned()),
        risk: Some(Risk::Destroy),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = with_rules(Mode::Trusted, vec![keep]).await;
    let replaced = COPY.replace("scsi1", "scsi0");
    let shown = house.preview("update_proxmox_vm", &replaced).await.unwrap();
    assert_eq!(shown.data["blockers"], serde_json::json!([]));
    assert!(
        shown.text.contains("of VM 101 (db); only read"),
        "{}",
        shown.text
    );
    house.agreed("update_proxmox_vm", &replaced).await.unwrap();
}

#[tokio::test]
async fn a_rule_about_a_node_holds_for_what_is_done_to_the_node_itself() {
    let deny = Rule {
        node: Some("pve1".to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = with_rules(Mode::Trusted, vec![deny]).await;
    let on = |node: &str| {
        [
            (
                "manage_node_service",
                format!(r#"{{"node": "{node}", "service": "pvestatd", "action": "restart"}}"#),
            ),
            (
                "write_proxmox_api",
                format!(
                    r#"{{"method": "PUT", "path": "/nodes/{node}/config", "params": {{"description": "x"}}}}"#
                ),
            ),
        ]
    };
    for (tool, args) in on("pve1") {
        let fault = house.call(tool, &args).await.unwrap_err();
        assert!(
            fault.message.contains("a rule in the configuration"),
            "{tool}: {fault}"
        );
    }
    assert_eq!(house.writes(), [""; 0]);
    for (tool, args) in on("pve2") {
        house.call(tool, &args).await.unwrap();
    }
}

#[tokio::test]
async fn a_rule_that_allows_guests_allows_nothing_to_their_node() {
    let allow = Rule {
        vmid: Some("100-999".to_owned()),
        verdict: Some(Verdict::Allow),
        ..Rule::default()
    };
    let house = with_rules(Mode::Ask, vec![allow]).await;
    let reboot =
        r#"{"method": "POST", "path": "/nodes/pve1/status", "params": {"command": "reboot"}}"#;
    let asked = house.call("write_proxmox_api", reboot).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
    let stop = house
        .call("stop_proxmox_vm", r#"{"vmid": 100}"#)
        .await
        .unwrap();
    assert_eq!(stop.data["status"], "applied", "{}", stop.text);
}
