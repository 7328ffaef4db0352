//! A raw write is the plan of the tool whose endpoint it is sent to, or waits for a person; whichever toolsets are on.

use serde_json::{Value, json};
use tools::fault::{Fault, Kind};
use tools::policy::{Mode, Policy, Rule, Verdict};
use tools::spec::Toolset;
use tools::tool::Rendered;

use crate::house::House;

const TOOL: &str = "write_proxmox_api";

/// Houses with the toolset core alone and with all of them.
async fn houses(policy: &Policy) -> [House; 2] {
    let core = House::offering(&[Toolset::Core], policy.clone()).await;
    [core, House::offering(Toolset::ALL, policy.clone()).await]
}

fn raw(method: &str, path: &str, params: &Value) -> String {
    json!({"method": method, "path": path, "params": params}).to_string()
}

async fn preview(house: &House, args: &str) -> Rendered {
    let shown = house.preview(TOOL, args).await;
    shown.unwrap_or_else(|fault| panic!("{args}: {fault}"))
}

/// The calls that a hint spells out: "send TOOL {…}".
fn calls_in(fault: &Fault) -> Vec<(String, String)> {
    let hint = fault.hint.clone().unwrap_or_default();
    let mut calls = Vec::new();
    for (at, _) in hint.match_indices("send ") {
        let Some((tool, rest)) = hint[at + "send ".len()..].split_once(' ') else {
            continue;
        };
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Ok(Value::Object(arguments))) = values.next() {
            calls.push((tool.to_owned(), Value::Object(arguments).to_string()));
        }
    }
    assert!(!calls.is_empty(), "no call in: {fault}");
    calls
}

#[tokio::test]
async fn an_endpoint_of_a_declared_tool_is_that_tools_plan() {
    for house in houses(&Policy::default()).await {
        let args = raw(
            "POST",
            "/pools",
            &json!({"poolid": "fresh", "comment": "new"}),
        );
        let made = house.agreed(TOOL, &args).await.unwrap();
        assert_eq!(made.data["status"], "applied", "{}", made.text);
        assert_eq!(made.data["summary"], "Create pool fresh", "{}", made.text);
        assert!(house.sim.world(|world| world.pools.contains_key("fresh")));
        // What PVE takes for true, and lists in its own form.
        let args = raw(
            "PUT",
            "/cluster/backup/backup-prod",
            &json!({"enabled": "1", "vmid": "100;101"}),
        );
        let shown = preview(&house, &args).await;
        assert!(shown.text.contains("vmid=100,101"), "{}", shown.text);
        // As the tool refuses it.
        let again = house
            .agreed(TOOL, &raw("POST", "/pools", &json!({"poolid": "fresh"})))
            .await;
        assert_eq!(again.unwrap_err().kind, Kind::Conflict);
    }
}

#[tokio::test]
async fn a_secret_reaches_the_declared_tool_and_is_shown_nowhere() {
    for house in houses(&Policy::default()).await {
        let params = json!({"userid": "eve@pve", "password": "canary-77"});
        let args = raw("POST", "/access/users", &params);
        let shown = preview(&house, &args).await;
        let done = house.agreed(TOOL, &args).await.unwrap();
        assert_eq!(done.data["status"], "applied", "{}", done.text);
        let sent = house.sim.requests();
        let made = sent
            .iter()
            .find(|it| it.method == "POST" && it.path == "/access/users");
        assert_eq!(made.unwrap().params.text("password"), Some("canary-77"));
        let trail = format!("{:?}", house.trail().await);
        for text in [shown.text, done.text, trail] {
            assert!(!text.contains("canary-77"), "{text}");
        }
    }
}

#[tokio::test]
async fn an_endpoint_of_a_coded_tool_is_that_tools_plan() {
    for house in houses(&Policy::default()).await {
        for (args, tool, arguments) in [
            (
                raw(
                    "POST",
                    "/nodes/pve1/qemu/100/status/shutdown",
                    &json!({"timeout": 30, "forceStop": "1"}),
                ),
                "stop_proxmox_vm",
                json!({"vmid": 100, "action": "shutdown", "timeout": 30, "force": true}),
            ),
            (
                raw(
                    "PUT",
                    "/nodes/pve1/qemu/105/config",
                    &json!({"memory": 4096, "delete": "onboot description"}),
                ),
                "update_proxmox_vm",
                json!({"vmid": 105, "set": {"memory": 4096}, "delete": ["onboot", "description"]}),
            ),
            (
                raw(
                    "PUT",
                    "/nodes/pve1/qemu/105/resize",
                    &json!({"disk": "scsi0", "size": "+8G"}),
                ),
                "update_proxmox_vm",
                json!({"vmid": 105, "grow": {"scsi0": "+8G"}}),
            ),
            (
                raw(
                    "POST",
                    "/nodes/pve1/qemu/105/clone",
                    &json!({"newid": 995, "name": "copy", "full": 1}),
                ),
                "clone_proxmox_vm",
                json!({"vmid": 105, "new_vmid": 995, "name": "copy", "full": true}),
            ),
            (
                raw("DELETE", "/nodes/pve1/qemu/105", &json!({"purge": 1})),
                "delete_proxmox_vm",
                json!({"vmid": 105, "purge": true}),
            ),
            (
                raw(
                    "POST",
                    "/nodes/pve1/vzdump",
                    &json!({"vmid": "105", "storage": "nas", "mode": "stop"}),
                ),
                "backup_proxmox_vm",
                json!({"vmid": 105, "storage": "nas", "mode": "stop"}),
            ),
            (
                raw(
                    "POST",
                    "/nodes/pve1/qemu",
                    &json!({"vmid": 996, "archive": "vault:backup/vm/100/2026-11-14T01:00:05Z", "storage": "tank"}),
                ),
                "rollback_proxmox_vm",
                json!({"vmid": 100, "backup": "vault:backup/vm/100/2026-11-14T01:00:05Z", "new_vmid": 996, "storage": "tank"}),
            ),
        ] {
            let by_tool = house.preview(tool, &arguments.to_string()).await;
            let by_tool = by_tool.unwrap_or_else(|fault| panic!("{tool} {arguments}: {fault}"));
            let by_api = preview(&house, &args).await;
            for field in ["summary", "risk", "steps", "affects"] {
                assert_eq!(by_api.data[field], by_tool.data[field], "{args}: {field}");
            }
        }
        // A change runs, as by the tool.
        let start = raw("POST", "/nodes/pve1/qemu/105/status/start", &json!({}));
        let started = house.call(TOOL, &start).await.unwrap();
        assert_eq!(started.data["status"], "applied", "{}", started.text);
        assert!(house.runs(105));
    }
}

/// A rule about the tool holds for the raw write.
#[tokio::test]
async fn rules_know_a_mapped_write_by_both_names() {
    for (tool, verdict, status) in [
        ("stop_proxmox_vm", Verdict::Allow, Some("applied")),
        (TOOL, Verdict::Allow, Some("applied")),
        ("stop_proxmox_vm", Verdict::Deny, None),
    ] {
        let rule = Rule {
            tool: Some(tool.to_owned()),
            verdict: Some(verdict),
            ..Rule::default()
        };
        let policy = Policy {
            rules: vec![rule],
            ..Policy::default()
        };
        for house in houses(&policy).await {
            let args = raw("POST", "/nodes/pve1/qemu/100/status/stop", &json!({}));
            let answer = house.call(TOOL, &args).await;
            let became = answer.ok().map(|it| it.data["status"].clone());
            assert_eq!(became, status.map(Value::from), "{tool}");
        }
    }
}

#[tokio::test]
async fn what_has_no_argument_is_refused_with_the_call_to_send() {
    for house in houses(&Policy::default()).await {
        for (args, named) in [
            (
                raw(
                    "POST",
                    "/nodes/pve1/qemu/105/clone",
                    &json!({"newid": 995, "bwlimit": 10}),
                ),
                "bwlimit",
            ),
            (
                raw(
                    "DELETE",
                    "/nodes/pve1/qemu/105",
                    &json!({"destroy-unreferenced-disks": 1}),
                ),
                "destroy-unreferenced-disks",
            ),
            (
                raw(
                    "POST",
                    "/nodes/pve1/qemu/105/move_disk",
                    &json!({"disk": "scsi0", "storage": "tank", "bwlimit": 10}),
                ),
                "bwlimit",
            ),
            (
                raw(
                    "POST",
                    "/nodes/pve1/qemu",
                    &json!({"vmid": 996, "memory": 1024, "scsi0": "local-lvm:1", "net0": "virtio,bridge=vmbr0", "numa": 1}),
                ),
                "numa",
            ),
            (
                raw(
                    "POST",
                    "/nodes/pve1/qemu",
                    &json!({"vmid": 996, "memory": 1024}),
                ),
                "scsi0",
            ),
        ] {
            let fault = house.agreed(TOOL, &args).await.unwrap_err();
            assert_eq!(fault.kind, Kind::Refused, "{args}: {fault}");
            assert!(fault.message.contains(named), "{args}: {fault}");
            let (tool, arguments) = &calls_in(&fault)[0];
            assert!(house.engine.registry().can_call(tool), "{tool}: {fault}");
            let shown = house.preview(tool, arguments).await;
            shown.unwrap_or_else(|wrong| panic!("{tool} {arguments}: {wrong}"));
        }
        assert_eq!(house.writes(), [""; 0]);
    }
}

/// Both calls of the hint, one after the other, bring about what the refused request asked for.
#[tokio::test]
async fn what_a_creation_leaves_out_is_set_afterwards() {
    for house in houses(&Policy::default()).await {
        let args = raw(
            "POST",
            "/nodes/pve1/qemu",
            &json!({"vmid": 996, "name": "new", "scsi0": "local-lvm:1", "net0": "virtio,bridge=vmbr0", "cpuunits": 200}),
        );
        let fault = house.agreed(TOOL, &args).await.unwrap_err();
        let calls = calls_in(&fault);
        assert_eq!(calls.len(), 2, "{fault}");
        for (tool, arguments) in calls {
            let done = house.agreed(&tool, &arguments).await.unwrap();
            assert_eq!(done.data["status"], "applied", "{}", done.text);
        }
        assert_eq!(house.config(996, "name").as_deref(), Some("new"));
        assert_eq!(house.config(996, "cpuunits").as_deref(), Some("200"));
    }
}

#[tokio::test]
async fn a_refusal_repeats_no_secret() {
    for house in houses(&Policy::default()).await {
        let args = raw(
            "POST",
            "/nodes/pve1/qemu",
            &json!({"vmid": 996, "name": "new", "scsi0": "local-lvm:1", "net0": "virtio,bridge=vmbr0", "numa": 1, "cipassword": "canary-78"}),
        );
        let fault = house.agreed(TOOL, &args).await.unwrap_err();
        assert_eq!(fault.kind, Kind::Refused, "{fault}");
        assert!(!format!("{fault:?}").contains("canary-78"), "{fault}");
    }
}

/// A request that no tool plans, and that the risk table calls a change.
fn no_tools_write() -> String {
    raw(
        "PUT",
        "/nodes/pve1/config",
        &json!({"description": "rack 2"}),
    )
}

#[tokio::test]
async fn a_request_that_no_tool_plans_waits_for_a_person() {
    for house in houses(&Policy::default()).await {
        let asked = house.call(TOOL, &no_tools_write()).await.unwrap();
        assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
        assert_eq!(asked.data["risk"], "change", "{}", asked.text);
        // A model gets no value to confirm it with.
        assert!(asked.data.get("confirm").is_none(), "{}", asked.text);
        assert_eq!(house.writes(), [""; 0]);
        let done = house.agreed(TOOL, &no_tools_write()).await.unwrap();
        assert_eq!(done.data["status"], "applied", "{}", done.text);
        assert_eq!(house.writes(), ["PUT /nodes/pve1/config"]);
    }
}

/// A parameter that the declared tool does not take makes it one of these.
#[tokio::test]
async fn a_parameter_beyond_a_declared_tool_waits_for_a_person() {
    for house in houses(&Policy::default()).await {
        let known = raw("PUT", "/cluster/options", &json!({"keyboard": "de"}));
        let done = house.call(TOOL, &known).await.unwrap();
        assert_eq!(done.data["status"], "applied", "{}", done.text);
        let beyond = raw(
            "PUT",
            "/cluster/options",
            &json!({"keyboard": "fr", "bwlimit": "clone=1000"}),
        );
        let asked = house.call(TOOL, &beyond).await.unwrap();
        assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
        assert!(asked.data.get("confirm").is_none(), "{}", asked.text);
    }
}

#[tokio::test]
async fn a_rule_or_the_mode_trusted_lets_a_raw_request_through() {
    let allow = Rule {
        tool: Some(TOOL.to_owned()),
        verdict: Some(Verdict::Allow),
        ..Rule::default()
    };
    let allowed = Policy {
        rules: vec![allow],
        ..Policy::default()
    };
    let trusted = Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    };
    for policy in [allowed, trusted] {
        for house in houses(&policy).await {
            let done = house.call(TOOL, &no_tools_write()).await.unwrap();
            assert_eq!(done.data["status"], "applied", "{}", done.text);
        }
    }
}

#[tokio::test]
async fn an_undo_is_written_for_the_caller() {
    let [core, all] = houses(&Policy::default()).await;
    let args = raw("POST", "/pools", &json!({"poolid": "fresh"}));
    let made = all.agreed(TOOL, &args).await.unwrap();
    assert_eq!(made.data["undo"]["tool"], "delete_pool", "{}", made.text);
    let made = core.agreed(TOOL, &args).await.unwrap();
    assert_eq!(made.data["undo"]["tool"], TOOL, "{}", made.text);
    let undo = made.data["undo"]["arguments"].to_string();
    let gone = core.agreed(TOOL, &undo).await.unwrap();
    assert_eq!(gone.data["status"], "applied", "{}", gone.text);
    assert!(!core.sim.world(|world| world.pools.contains_key("fresh")));
}

/// What is added to a protected guest cannot be deleted again, and no undo says so.
#[tokio::test]
async fn no_undo_deletes_something_of_a_protected_guest() {
    let house = House::new().await;
    let call = async |vmid: u32| {
        let args = json!({"vmid": vmid, "name": "before"}).to_string();
        let shown = house.preview("snapshot_proxmox_vm", &args).await.unwrap();
        (shown.data.get("undo").cloned(), shown.text)
    };
    let (undo, text) = call(105).await;
    assert_eq!(
        undo.unwrap()["tool"],
        "delete_proxmox_vm_snapshot",
        "{text}"
    );
    for protected in [101, 109] {
        let (undo, text) = call(protected).await;
        assert!(undo.is_none(), "{text}");
        assert!(text.contains("cannot be undone"), "{text}");
    }
}
