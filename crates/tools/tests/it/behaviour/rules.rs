//! Rules hold for what is done, whichever tool does it and however it says whom it is about.

use serde_json::json;
use tools::policy::{Mode, Rule, Verdict};
use tools::tool::Rendered;

use crate::house::House;
use crate::ruled::{rule, tag, tool, vmid, with_rules};

fn raw(method: &str, path: &str, params: impl Into<serde_json::Value>) -> (&'static str, String) {
    let args = json!({"method": method, "path": path, "params": params.into()});
    ("write_proxmox_api", args.to_string())
}

/// All of these are denied by a rule, and nothing is sent.
async fn denies(house: &House, calls: &[(&str, String)]) {
    for (tool, args) in calls {
        let fault = match house.call(tool, args).await {
            Err(fault) => fault,
            Ok(answer) => panic!("{tool} {args}: {}", answer.text),
        };
        let denied = fault.message.contains("a rule in the configuration");
        assert!(denied, "{tool} {args}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

async fn call(house: &House, tool: &str, args: serde_json::Value) -> Rendered {
    let answer = house.call(tool, &args.to_string()).await;
    answer.unwrap_or_else(|fault| panic!("{tool} {args}: {fault}"))
}

/// Who may choose the tags chooses the rules.
#[tokio::test]
async fn a_tag_that_a_rule_goes_by_is_a_persons_to_give() {
    for mode in [Mode::Ask, Mode::Trusted] {
        let house = with_rules(mode, vec![tag("lab", Verdict::Allow)]).await;
        for tags in ["lab", "web;LAB"] {
            let args = json!({"vmid": 104, "set": {"tags": tags}});
            let asked = call(&house, "update_proxmox_vm", args).await;
            assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
            assert_eq!(asked.data["risk"], "grant", "{}", asked.text);
            assert!(asked.data.get("confirm").is_none(), "{}", asked.text);
            assert!(asked.text.contains("tag lab"), "{}", asked.text);
        }
        let (alias, args) = ("update_vm_config", json!({"vmid": 104, "tags": "lab"}));
        if house
            .engine
            .registry()
            .tools()
            .any(|it| it.spec().name == alias)
        {
            let asked = house.call(alias, &args.to_string()).await;
            let asked = asked.map(|it| it.data["status"].clone());
            assert!(
                !matches!(asked, Ok(status) if status == "applied"),
                "{mode:?}"
            );
        }
        assert_eq!(house.writes(), [""; 0], "{mode:?}");
        // Any other tag is but a tag.
        let other = call(
            &house,
            "update_proxmox_vm",
            json!({"vmid": 104, "set": {"tags": "web"}}),
        )
        .await;
        assert_eq!(other.data["status"], "applied", "{}", other.text);
    }
}

#[tokio::test]
async fn a_tag_that_a_rule_goes_by_is_a_persons_to_take() {
    let careful = Rule {
        risk: Some(tools::spec::Risk::Disrupt),
        ..tag("prod", Verdict::Deny)
    };
    let house = with_rules(Mode::Trusted, vec![careful]).await;
    for args in [
        json!({"vmid": 100, "delete": ["tags"]}),
        json!({"vmid": 100, "set": {"tags": "web"}}),
    ] {
        let asked = call(&house, "update_proxmox_vm", args).await;
        assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn rights_are_about_the_guests_below_their_path() {
    let house = with_rules(Mode::Trusted, vec![tag("prod", Verdict::Deny)]).await;
    let rights = |path: &str| json!({"path": path, "roles": "Administrator", "users": "alice@pve"});
    let mut calls = Vec::new();
    for path in ["/vms/100", "/pool/prod", "/vms", "/"] {
        calls.push(("update_acl", rights(path).to_string()));
        calls.push(raw("PUT", "/access/acl", rights(path)));
    }
    denies(&house, &calls).await;
    let other = call(&house, "update_acl", rights("/vms/105")).await;
    assert_eq!(other.data["status"], "applied", "{}", other.text);
}

/// An agent that may do as it likes with its own guests may still not hand them to others, if nothing says so.
#[tokio::test]
async fn rights_on_a_guest_are_more_than_the_guest() {
    let house = with_rules(
        Mode::Ask,
        vec![vmid("105", Verdict::Allow), rule(Verdict::Deny)],
    )
    .await;
    let rights = json!({"path": "/vms/105", "roles": "Administrator", "users": "alice@pve"});
    denies(&house, &[("update_acl", rights.to_string())]).await;
}

#[tokio::test]
async fn a_backup_job_is_about_the_guests_that_it_saves() {
    let house = with_rules(Mode::Trusted, vec![tag("prod", Verdict::Deny)]).await;
    let job = |more: serde_json::Value| {
        let mut job = json!({"storage": "nas", "schedule": "02:30", "mode": "stop"});
        for (name, value) in more.as_object().unwrap() {
            job[name] = value.clone();
        }
        job
    };
    let calls = [
        (
            "create_backup_job",
            job(json!({"all_guests": true})).to_string(),
        ),
        ("create_backup_job", job(json!({"vmid": "100"})).to_string()),
        raw("POST", "/cluster/backup", job(json!({"all": 1}))),
        raw("POST", "/cluster/backup", job(json!({"pool": "prod"}))),
        raw(
            "POST",
            "/cluster/backup",
            job(json!({"all": 1, "mode": "stop"})),
        ),
        // What a job has been about so far counts, too.
        (
            "update_backup_job",
            json!({"id": "backup-prod", "enabled": false}).to_string(),
        ),
        (
            "delete_backup_job",
            json!({"id": "backup-prod"}).to_string(),
        ),
    ];
    denies(&house, &calls).await;
    let other = call(&house, "create_backup_job", job(json!({"vmid": "105"}))).await;
    assert_eq!(other.data["status"], "applied", "{}", other.text);
}

/// A job on one node is about the guests that are there.
#[tokio::test]
async fn a_backup_job_of_a_node_is_about_its_guests() {
    let house = with_rules(Mode::Trusted, vec![vmid("201", Verdict::Deny)]).await;
    let job = |node: &str| {
        let job =
            json!({"storage": "nas", "schedule": "02:30", "mode": "stop", "all": 1, "node": node});
        raw("POST", "/cluster/backup", job)
    };
    denies(&house, &[job("pve2")]).await;
    let (tool, args) = job("pve1");
    let args: serde_json::Value = serde_json::from_str(&args).unwrap();
    let other = call(&house, tool, args).await;
    assert_eq!(other.data["status"], "applied", "{}", other.text);
}

#[tokio::test]
async fn a_rule_about_a_node_holds_for_what_moves_there() {
    let closed = Rule {
        node: Some("pve1".to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = with_rules(Mode::Trusted, vec![closed]).await;
    let calls = [
        (
            "migrate_proxmox_vm",
            json!({"vmid": 111, "target": "pve1"}).to_string(),
        ),
        (
            "bulk_migrate_guests",
            json!({"vms": "111", "target": "pve1"}).to_string(),
        ),
    ];
    denies(&house, &calls).await;
    let node = house.sim.world(|world| world.guests[&111].node.clone());
    let other = ["pve2", "pve3"].into_iter().find(|it| *it != node).unwrap();
    let moved = json!({"vmid": 111, "target": other});
    let preview = house
        .preview("migrate_proxmox_vm", &moved.to_string())
        .await;
    let preview = preview.unwrap().text;
    assert!(
        !preview.contains("a rule in the configuration"),
        "{preview}"
    );
}

/// A guest in the range that an agent may use can still be moved by it.
#[tokio::test]
async fn a_guest_that_may_be_moved_may_go_anywhere() {
    let house = with_rules(
        Mode::Ask,
        vec![vmid("111", Verdict::Allow), rule(Verdict::Deny)],
    )
    .await;
    let preview = house.preview("migrate_proxmox_vm", r#"{"vmid": 111, "target": "pve1"}"#);
    let preview = preview.await.unwrap().text;
    assert!(
        !preview.contains("a rule in the configuration"),
        "{preview}"
    );
}

#[tokio::test]
async fn a_rule_about_a_tool_holds_for_whatever_does_the_same() {
    let rules = [
        "stop_proxmox_vm",
        "start_proxmox_vm",
        "create_pool",
        "vm_agent_exec",
    ];
    let rules = rules.map(|name| tool(name, Verdict::Deny)).to_vec();
    let house = with_rules(Mode::Trusted, rules).await;
    let node = |vmid: u32| house.sim.world(|world| world.guests[&vmid].node.clone());
    let runs = node(106);
    let calls = [
        (
            "stopall_node",
            json!({"node": runs, "vms": "106"}).to_string(),
        ),
        (
            "startall_node",
            json!({"node": node(105), "force": true, "vms": "105"}).to_string(),
        ),
        raw(
            "POST",
            &format!("/nodes/{runs}/qemu/106/status/stop"),
            json!({}),
        ),
        raw(
            "POST",
            &format!("/nodes/{}/qemu/105/status/start", node(105)),
            json!({}),
        ),
        raw(
            "POST",
            &format!("/nodes/{runs}/stopall"),
            json!({"vms": "106"}),
        ),
        raw("POST", "/pools", json!({"poolid": "more"})),
        (
            "run_proxmox_vm_command",
            json!({"vmid": 106, "command": ["id"]}).to_string(),
        ),
        (
            "delete_proxmox_vm",
            json!({"vmid": 106, "stop": true}).to_string(),
        ),
    ];
    denies(&house, &calls).await;
}

/// What a tool may do is not allowed to one that does more.
#[tokio::test]
async fn a_rule_that_allows_is_for_its_tool_alone() {
    let rules = vec![tool("stop_proxmox_vm", Verdict::Allow)];
    let house = with_rules(Mode::Ask, rules).await;
    let deleted = json!({"vmid": 106, "stop": true});
    let asked = call(&house, "delete_proxmox_vm", deleted).await;
    assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
    let stopped = call(&house, "stop_proxmox_vm", json!({"vmid": 106})).await;
    assert_eq!(stopped.data["status"], "applied", "{}", stopped.text);
}

#[tokio::test]
async fn a_file_inside_a_guest_is_read_when_a_person_agrees() {
    let house = House::new().await;
    let args = r#"{"vmid": 106, "file": "/etc/hostname"}"#;
    let reads = || {
        let requests = house.sim.requests();
        requests
            .iter()
            .any(|it| it.path.ends_with("/agent/file-read"))
    };
    let asked = house.call("vm_agent_file_read", args).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
    assert_eq!(asked.data["risk"], "grant");
    assert!(!reads());
    let read = house.agreed("vm_agent_file_read", args).await.unwrap();
    assert_eq!(read.data["status"], "applied", "{}", read.text);
    assert!(read.data["steps"][0]["result"]["content"].is_string());
    assert!(reads());
    let house = House::in_mode(Mode::ReadOnly).await;
    let refused = house.agreed("vm_agent_file_read", args).await.unwrap_err();
    assert!(refused.to_string().contains("read-only"), "{refused}");
}

#[tokio::test]
async fn a_question_says_what_is_sent() {
    let house = House::new().await;
    for ((tool, args), told) in [
        (
            raw(
                "PUT",
                "/access/acl",
                json!({"path": "/", "roles": "Administrator", "users": "alice@pve"}),
            ),
            "roles=Administrator",
        ),
        (
            raw("POST", "/nodes/pve1/status", json!({"command": "shutdown"})),
            "command=shutdown",
        ),
        (
            (
                "create_role",
                json!({"roleid": "x", "privs": "VM.Audit,Sys.Modify"}).to_string(),
            ),
            "VM.Audit,Sys.Modify",
        ),
        (
            (
                "vm_agent_file_write",
                json!({"vmid": 106, "file": "/etc/motd", "content": "one\ntwo users=root"}).to_string(),
            ),
            r#"content="one\ntwo users=root""#,
        ),
        (
            (
                "vm_agent_exec",
                json!({"vmid": 106, "command": format!("echo hello{}; echo TAIL", " ".repeat(1000))})
                    .to_string(),
            ),
            r#"command="echo hello [1000 blanks] ; echo TAIL""#,
        ),
        (
            (
                "run_proxmox_vm_command",
                json!({"vmid": 106, "command": format!("true {}; echo TAIL", "x".repeat(5000))})
                    .to_string(),
            ),
            "x; echo TAIL\"",
        ),
    ] {
        let asked = house.call(tool, &args).await.unwrap();
        assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
        assert!(asked.text.contains(told), "{told}: {}", asked.text);
        let sends = asked.data["sends"][0].as_str().unwrap();
        assert!(sends.contains(told), "{told}: {sends}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

/// So much that nobody reads it is told by its length and checksum; a command never is.
#[tokio::test]
async fn a_long_file_is_told_by_its_checksum() {
    let house = House::new().await;
    let content = "0123456789".repeat(5_000);
    let args = json!({"vmid": 106, "file": "/root/long", "content": content});
    let asked = call(&house, "vm_agent_file_write", args).await;
    assert!(
        asked.text.contains("50000 characters, sha256 "),
        "{}",
        asked.text
    );
    assert!(asked.text.len() < 5_000, "{}", asked.text);
}
