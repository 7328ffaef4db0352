//! What rules are about: tools, guests, nodes, risks.

use tools::policy::{Mode, Rule, Verdict};
use tools::spec::Risk;

use crate::ruled::{self, pool, risk, rule, tag, vmid, with_rules};

#[tokio::test]
async fn a_rule_denies_by_pool_even_in_trusted_mode() {
    let deny = pool("prod", Verdict::Deny);
    let house = with_rules(Mode::Trusted, vec![deny]).await;
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
    let deny = ruled::tool("start_proxmox_vm", Verdict::Deny);
    let house = with_rules(Mode::Trusted, vec![deny]).await;
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
    let deny = |tool: &str| ruled::tool(tool, Verdict::Deny);
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
    let ask = ruled::tool("start_proxmox_vm", Verdict::Ask);
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
        risk: Some(Risk::Disrupt),
        ..vmid("100-105", Verdict::Allow)
    };
    let ask = tag("lab", Verdict::Ask);
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

/// A preview says what would become of the change, rules and freeze included.
#[tokio::test]
async fn a_preview_knows_the_rules() {
    let deny = risk(Risk::Destroy, Verdict::Deny);
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
    let rules = vec![
        vmid("1000-1999", Verdict::Deny),
        pool("prod", Verdict::Deny),
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
    let deny = risk(Risk::Destroy, Verdict::Deny);
    // A rule on the other half neither hides the one that denies nor allows more than it says.
    for first in [Verdict::Allow, Verdict::Ask] {
        let rules = vec![risk(Risk::Grant, first), deny.clone()];
        let house = with_rules(Mode::Trusted, rules).await;
        let fault = house.call(BOTH.0, BOTH.1).await.unwrap_err();
        assert!(fault.message.contains("denies this"), "{fault}");
    }
    let allow = risk(Risk::Grant, Verdict::Allow);
    let house = with_rules(Mode::Ask, vec![allow.clone()]).await;
    let asked = house.call(BOTH.0, BOTH.1).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation");
    let grants = r#"{"vmid": 111, "set": {"ciuser": "x"}}"#;
    let granted = house.call(BOTH.0, grants).await.unwrap();
    assert_eq!(granted.data["status"], "applied", "{}", granted.text);
}

/// Each guest by its own first rule, and the strictest of them counts.
#[tokio::test]
async fn a_rule_about_one_guest_does_not_hide_one_about_another() {
    let deny = vmid("110", Verdict::Deny);
    for first in [Verdict::Allow, Verdict::Ask] {
        let house = with_rules(Mode::Trusted, vec![vmid("100", first), deny.clone()]).await;
        let fault = house
            .call("stop_proxmox_vm", r#"{"vmids": [100, 110]}"#)
            .await
            .unwrap_err();
        assert!(fault.message.contains("denies this"), "{fault}");
    }
    // What is allowed for a guest stays allowed for it, whatever a later rule says of it.
    let rules = vec![vmid("110", Verdict::Allow), deny];
    let house = with_rules(Mode::Ask, rules).await;
    let answer = house.call("stop_proxmox_vm", r#"{"vmid": 110}"#).await;
    assert_eq!(answer.unwrap().data["status"], "applied");
}

/// A copy of a guest's disk is a thing done to that guest.
#[tokio::test]
async fn a_rule_looks_at_the_guest_whose_disk_is_copied() {
    const COPY: &str =
        r#"{"vmid": 105, "set": {"scsi1": "local-lvm:0,import-from=local-lvm:vm-101-disk-1"}}"#;
    let deny = vmid("101", Verdict::Deny);
    let house = with_rules(Mode::Trusted, vec![deny]).await;
    let fault = house.call("update_proxmox_vm", COPY).await.unwrap_err();
    assert!(fault.message.contains("denies this"), "{fault}");
    // It loses nothing by it, so that neither its protection counts nor a rule on what destroys.
    let keep = Rule {
        vmid: Some("101".to_owned()),
        ..risk(Risk::Destroy, Verdict::Deny)
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
        ..rule(Verdict::Deny)
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
    let allow = vmid("100-999", Verdict::Allow);
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

/// A cluster of another name is another's matter.
#[tokio::test]
async fn a_rule_about_a_cluster_is_about_no_other() {
    for (cluster, denied) in [("homelab", true), ("elsewhere", false)] {
        let deny = Rule {
            cluster: Some(cluster.to_owned()),
            ..rule(Verdict::Deny)
        };
        let house = with_rules(Mode::Trusted, vec![deny]).await;
        let answer = house.call("start_proxmox_vm", r#"{"vmid": 105}"#).await;
        assert_eq!(answer.is_err(), denied, "{cluster}");
        assert_eq!(house.runs(105), !denied, "{cluster}");
    }
}

#[test]
fn a_rule_that_says_nothing_or_names_no_guest_is_found_out() {
    let fault = |rule: Rule| rule.fault().unwrap_or_default();
    assert_eq!(fault(rule(Verdict::Ask)), "");
    assert_eq!(fault(vmid("105", Verdict::Deny)), "");
    assert_eq!(fault(vmid("100-105", Verdict::Deny)), "");
    assert!(fault(Rule::default()).contains("needs a verdict"));
    for range in ["web", "105-100", "100-", ""] {
        let fault = fault(vmid(range, Verdict::Deny));
        assert!(fault.contains("is neither an id"), "{range}: {fault}");
    }
}
