//! Finding and calling tools that are not listed.

use tools::policy::{Mode, Policy};
use tools::registry::Registry;
use tools::spec::{Risk, Toolset};
use tools::store::AuditEntry;

use crate::house::{House, Nobody, call, done};

#[test]
fn three_tools_are_listed_whatever_the_mode() {
    for (mode, risk) in [(Mode::Ask, Risk::Grant), (Mode::ReadOnly, Risk::Read)] {
        let registry = Registry::new(&[Toolset::Lean], mode.most(), Vec::new());
        let mut names: Vec<_> = registry.tools().map(|tool| tool.spec().name).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "call_proxmox_tool",
                "preview_proxmox_change",
                "search_proxmox_tools"
            ]
        );
        let relay = registry.find("call_proxmox_tool").unwrap();
        assert_eq!(registry.describe(relay).risk, risk);
        assert!(registry.find("start_proxmox_vm").is_err());
        assert!(registry.can_call("get_proxmox_vm_status"));
        assert_eq!(registry.can_call("start_proxmox_vm"), mode == Mode::Ask);
    }
}

#[tokio::test]
async fn what_is_called_is_what_is_recorded() {
    let house = House::new().await;
    let call = r#"{"tool": "start_proxmox_vm", "arguments": {"vmid": 105}}"#;
    let answer = house.call("call_proxmox_tool", call).await.unwrap();
    assert_eq!(answer.data["status"], "applied");
    assert!(house.runs(105));
    let trail = house
        .engine
        .store()
        .await
        .unwrap()
        .audit_trail(10)
        .await
        .unwrap();
    let tools: Vec<_> = trail
        .iter()
        .filter_map(|link| match &link.entry {
            AuditEntry::Opened { tool, .. } => Some(tool.as_str()),
            AuditEntry::Closed { .. } | AuditEntry::Decided { .. } => None,
        })
        .collect();
    assert_eq!(tools, ["start_proxmox_vm"]);
}

#[tokio::test]
async fn arguments_may_come_as_text() {
    let house = House::new().await;
    let call = r#"{"tool": "get_proxmox_vm_status", "arguments": "{\"vmid\": 105}"}"#;
    let answer = house.call("call_proxmox_tool", call).await.unwrap();
    assert!(answer.text.contains("staging"), "{}", answer.text);
}

#[tokio::test]
async fn a_destroy_still_needs_a_person() {
    let house = House::new().await;
    let call = r#"{"tool": "delete_proxmox_vm", "arguments": {"vmid": 105}}"#;
    let answer = house.call("call_proxmox_tool", call).await.unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
    assert!(answer.data.get("confirm").is_none(), "{}", answer.text);
    assert!(house.writes().is_empty());
    let answer = house.agreed("call_proxmox_tool", call).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
}

#[tokio::test]
async fn an_interruption_is_confirmed_through_it() {
    let house = House::new().await;
    let call = r#"{"tool": "stop_proxmox_vm", "arguments": {"vmid": 100}}"#;
    let asked = house.call("call_proxmox_tool", call).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation");
    let confirm = asked.data["confirm"].as_str().unwrap();
    let call = format!(
        r#"{{"tool": "stop_proxmox_vm", "arguments": {{"vmid": 100, "confirm": "{confirm}"}}}}"#
    );
    let answer = house.call("call_proxmox_tool", &call).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(!house.runs(100));
}

#[tokio::test]
async fn read_only_holds_behind_it() {
    let house = House::in_mode(Mode::ReadOnly).await;
    let fault = house
        .call(
            "call_proxmox_tool",
            r#"{"tool": "start_proxmox_vm", "arguments": {"vmid": 105}}"#,
        )
        .await
        .unwrap_err();
    assert!(fault.message.contains("read-only"), "{fault}");
    house
        .call(
            "call_proxmox_tool",
            r#"{"tool": "get_proxmox_vm_status", "arguments": {"vmid": 105}}"#,
        )
        .await
        .unwrap();
    assert!(house.writes().is_empty());
}

#[tokio::test]
async fn wrong_calls_say_what_to_send() {
    let house = House::new().await;
    for (call, says) in [
        (
            r#"{"tool": "start_proxmox_v"}"#,
            "did you mean start_proxmox_vm?",
        ),
        (
            r#"{"tool": "call_proxmox_tool", "arguments": {"tool": "list_pools"}}"#,
            "there is no tool call_proxmox_tool",
        ),
        (r#"{"arguments": {}}"#, "`tool`"),
        (
            r#"{"tool": "list_pools", "cluster": "a", "arguments": {"cluster": "b"}}"#,
            "two clusters",
        ),
        (r#"{"tool": "start_proxmox_vm"}"#, "vmid"),
        (
            r#"{"tool": "start_proxmox_vm", "args": {"vmid": 105}}"#,
            "arguments",
        ),
    ] {
        let fault = house.call("call_proxmox_tool", call).await.unwrap_err();
        assert!(fault.to_string().contains(says), "{call}: {fault}");
    }
    assert!(house.writes().is_empty());
}

#[tokio::test]
async fn a_preview_looks_at_the_tool_itself() {
    let house = House::new().await;
    let args = r#"{"tool": "call_proxmox_tool", "arguments": {"tool": "capture_vm_screen", "arguments": {"vmid": 100}}}"#;
    let fault = house
        .call("preview_proxmox_change", args)
        .await
        .unwrap_err();
    assert!(fault.message.contains("changes anything"), "{fault}");
}

#[tokio::test]
async fn tools_are_found_by_what_they_do() {
    let house = House::new().await;
    for (query, best) in [
        ("take a snapshot of a VM", "snapshot_proxmox_vm"),
        ("make a user", "create_user"),
        (
            "list the firewall rules of the cluster",
            "list_cluster_firewall_rules",
        ),
        ("clone_proxmox_vm", "clone_proxmox_vm"),
    ] {
        let args = format!(r#"{{"query": "{query}"}}"#);
        let answer = house.call("search_proxmox_tools", &args).await.unwrap();
        let tools = answer.data["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
        assert!(
            names[..names.len().min(3)].contains(&&best.into()),
            "{query}: {names:?}"
        );
        assert!(answer.text.len() < 6_000);
        assert!(answer.data["arguments"]["properties"].is_object());
    }
    let fault = house
        .call("search_proxmox_tools", r#"{"query": "qzxv"}"#)
        .await
        .unwrap_err();
    assert!(fault.to_string().contains("search_proxmox_api"), "{fault}");
}

#[tokio::test]
async fn a_tool_that_the_token_cannot_use_is_found_with_what_is_missing() {
    let house = House::new().await;
    let query = r#"{"query": "take a snapshot of a VM"}"#;
    let all = house.call("search_proxmox_tools", query).await.unwrap();
    assert!(!all.text.contains("cannot be used"), "{}", all.text);
    house.sim.world(|world| {
        world.add_token("looks@pve!t", "looks-secret");
        world.grant("looks@pve", "/", &["VM.Audit", "Sys.Audit"]);
    });
    let token = ["looks@pve", "t", "looks-secret"].map(str::to_owned).into();
    let engine = house.with_token(&token, Policy::default());
    assert!(engine.learn_rights().await.is_empty());
    let answer = done(
        engine
            .call(call("search_proxmox_tools", query), &Nobody)
            .await,
    )
    .unwrap();
    let tools = answer.data["tools"].as_array().unwrap();
    let lacks = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name);
        tool.unwrap_or_else(|| panic!("{name} is not among {tools:?}"))["lacks"].clone()
    };
    assert_eq!(lacks("snapshot_proxmox_vm"), "VM.Snapshot on /vms/VMID");
    assert!(
        answer
            .text
            .contains("[cannot be used: no token has VM.Snapshot on /vms/VMID"),
        "{}",
        answer.text
    );
    let named = r#"{"query": "list_proxmox_resources"}"#;
    let answer = done(
        engine
            .call(call("search_proxmox_tools", named), &Nobody)
            .await,
    )
    .unwrap();
    assert!(answer.data["tools"][0].get("lacks").is_none());
}
