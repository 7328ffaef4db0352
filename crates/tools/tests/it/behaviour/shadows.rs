//! What one rule allows is not a way around another, and what a call leaves unsaid counts as much as what it says.

use serde_json::{Value, json};
use tools::fault::Kind;
use tools::policy::{Mode, Rule, Verdict};

use crate::house::{House, Nobody, call, done};
use crate::ruled::{policy, rule, tag, tool, vmid, with_rules};

/// As the documentation has it: one range to do as one likes with, and nothing else.
fn sandbox() -> Vec<Rule> {
    vec![
        vmid("5000-5999", Verdict::Allow),
        vmid("106", Verdict::Allow),
        rule(Verdict::Deny),
    ]
}

fn raw(method: &str, path: &str, params: &Value) -> (&'static str, Value) {
    let args = json!({"method": method, "path": path, "params": params});
    ("write_proxmox_api", args)
}

fn node_of(house: &House, vmid: u32) -> String {
    house.sim.world(|world| world.guests[&vmid].node.clone())
}

async fn denied(house: &House, calls: &[(&str, Value)]) {
    for (tool, args) in calls {
        match house.call(tool, &args.to_string()).await {
            Err(fault) => {
                let by_rule = fault.message.contains("a rule in the configuration");
                assert!(by_rule, "{tool} {args}: {fault}");
            }
            Ok(answer) => panic!("{tool} {args}: {}", answer.text),
        }
    }
    let mut writes = house.writes();
    writes.retain(|write| write != "POST /access/ticket");
    assert_eq!(writes, [""; 0]);
}

#[tokio::test]
async fn what_is_allowed_shadows_nothing_that_is_denied() {
    let rules = vec![
        tool("start_proxmox_vm", Verdict::Allow),
        tool("startall_node", Verdict::Deny),
        tool("vm_agent_exec", Verdict::Allow),
        tool("run_proxmox_vm_command", Verdict::Deny),
        tool("migrate_proxmox_vm", Verdict::Allow),
        tool("bulk_migrate_guests", Verdict::Deny),
    ];
    let house = with_rules(Mode::Trusted, rules).await;
    let at = node_of(&house, 106);
    let exec = format!("/nodes/{at}/qemu/106/agent/exec");
    denied(
        &house,
        &[
            raw("POST", "/nodes/pve1/startall", &json!({"force": 1})),
            raw("POST", &exec, &json!({"command": ["id"]})),
            raw(
                "POST",
                "/nodes/pve1/migrateall",
                &json!({"target": "pve3", "maxworkers": 1}),
            ),
        ],
    )
    .await;
    let started = house.call("start_proxmox_vm", r#"{"vmid": 105}"#).await;
    assert_eq!(started.unwrap().data["status"], "applied");
}

#[tokio::test]
async fn a_rule_for_all_tools_does_not_undo_one_for_this_tool() {
    let rules = vec![tool("vm_agent_exec", Verdict::Allow), rule(Verdict::Deny)];
    let house = with_rules(Mode::Ask, rules).await;
    let args = json!({"vmid": 106, "command": "id"}).to_string();
    let shown = house.preview("vm_agent_exec", &args).await.unwrap();
    assert!(!shown.text.contains("would be refused"), "{}", shown.text);
}

#[tokio::test]
async fn no_guest_is_made_with_the_tag_that_allows_it() {
    let vm = json!({"vmid": 997, "name": "x", "tags": "lab", "memory": 512, "scsi0": "local-lvm:1", "net0": "virtio,bridge=vmbr0"});
    for mode in [Mode::Ask, Mode::Trusted] {
        let house = with_rules(mode, vec![tag("lab", Verdict::Allow)]).await;
        let created =
            json!({"node": "pve1", "vmid": 997, "name": "x", "disk_size": 1, "tags": "lab"});
        for (tool, args) in [
            raw("POST", "/nodes/pve1/qemu", &vm),
            ("create_proxmox_vm", created),
        ] {
            let asked = house.call(tool, &args.to_string()).await.unwrap();
            assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
            assert_eq!(asked.data["risk"], "grant", "{}", asked.text);
            assert!(asked.text.contains("tag lab"), "{}", asked.text);
        }
        assert_eq!(house.writes(), [""; 0]);
    }
}

#[tokio::test]
async fn a_tag_that_denies_denies_also_what_is_made_with_it() {
    let house = with_rules(Mode::Trusted, vec![tag("prod", Verdict::Deny)]).await;
    let vm = json!({"vmid": 997, "name": "x", "tags": "prod", "memory": 512, "scsi0": "local-lvm:1", "net0": "virtio,bridge=vmbr0"});
    denied(&house, &[raw("POST", "/nodes/pve1/qemu", &vm)]).await;
}

/// Who may do as they like with a guest may not do so with the machine below it.
#[tokio::test]
async fn a_guest_of_ones_own_is_no_way_to_its_node() {
    let mut house = House::new().await;
    let engine = house.with_password(
        "root@pam",
        sim::worlds::ROOT_PASSWORD,
        policy(Mode::Ask, sandbox()),
    );
    house.engine = engine;
    let template = "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst";
    let container = |more: Value| {
        let mut params = json!({"vmid": 5001, "hostname": "own", "ostemplate": template, "rootfs": "local-lvm:4", "net0": "name=eth0,bridge=vmbr0,ip=dhcp", "unprivileged": 1});
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        raw("POST", "/nodes/pve1/lxc", &params)
    };
    denied(
        &house,
        &[
            container(json!({"unprivileged": 0})),
            raw(
                "PUT",
                "/nodes/pve3/qemu/106/config",
                &json!({"scsi5": "/dev/sda"}),
            ),
            (
                "update_proxmox_vm",
                json!({"vmid": 106, "set": {"args": "-S"}}),
            ),
        ],
    )
    .await;
    let (tool, own) = container(json!({"memory": 512}));
    let made = house.call(tool, &own.to_string()).await.unwrap();
    assert_eq!(made.data["status"], "applied", "{}", made.text);
}

#[tokio::test]
async fn a_backup_of_all_others_is_about_all_others() {
    let job = |more: Value| {
        let mut job = json!({"storage": "nas", "schedule": "02:30", "mode": "stop"});
        for (name, value) in more.as_object().unwrap() {
            job[name] = value.clone();
        }
        raw("POST", "/cluster/backup", &job)
    };
    let house = with_rules(Mode::Trusted, vec![tag("prod", Verdict::Deny)]).await;
    denied(&house, &[job(json!({"exclude": "999"}))]).await;
    // Who is left out is not in it.
    let house = with_rules(Mode::Trusted, vec![vmid("100", Verdict::Deny)]).await;
    let (tool, args) = job(json!({"all": 1, "exclude": "100"}));
    let made = house.call(tool, &args.to_string()).await.unwrap();
    assert_eq!(made.data["status"], "applied", "{}", made.text);
}

#[tokio::test]
async fn guests_that_do_not_run_are_moved_with_the_others() {
    let house = with_rules(Mode::Trusted, vec![vmid("105", Verdict::Deny)]).await;
    assert!(!house.runs(105));
    let at = node_of(&house, 105);
    let target = ["pve1", "pve3"].into_iter().find(|it| *it != at).unwrap();
    let calls = [
        raw(
            "POST",
            &format!("/nodes/{at}/migrateall"),
            &json!({"target": target, "maxworkers": 1}),
        ),
        raw(
            "POST",
            "/cluster/bulk-action/guest/migrate",
            &json!({"target": target}),
        ),
    ];
    denied(&house, &calls).await;
    let house = House::new().await;
    for (tool, args) in &calls {
        let shown = house.preview(tool, &args.to_string()).await.unwrap().text;
        assert!(shown.contains("105"), "{args}: {shown}");
    }
}

#[tokio::test]
async fn ha_and_the_agent_start_and_stop_as_the_tools_do() {
    let house = with_rules(
        Mode::Trusted,
        vec![
            tool("start_proxmox_vm", Verdict::Deny),
            tool("stop_proxmox_vm", Verdict::Deny),
            tool("vm_agent_fstrim", Verdict::Deny),
            tool("vm_agent_fsfreeze_freeze", Verdict::Deny),
        ],
    )
    .await;
    let agent = format!("/nodes/{}/qemu/106/agent", node_of(&house, 106));
    let mut calls = vec![
        ("create_ha_resource", json!({"sid": "vm:105"})),
        raw("POST", "/cluster/ha/resources", &json!({"sid": "vm:105"})),
    ];
    for what in ["shutdown", "suspend-ram", "suspend-disk", "suspend-hybrid"] {
        calls.push(raw("POST", &format!("{agent}/{what}"), &json!({})));
        calls.push(raw("POST", &agent, &json!({"command": what})));
    }
    for what in ["fstrim", "fsfreeze-freeze"] {
        calls.push(raw("POST", &agent, &json!({"command": what})));
    }
    denied(&house, &calls).await;
}

#[tokio::test]
async fn a_file_may_be_read_where_everything_may_be_done() {
    let house = with_rules(Mode::Ask, sandbox()).await;
    let args = r#"{"vmid": 106, "file": "/etc/hostname"}"#;
    let read = house.call("vm_agent_file_read", args).await.unwrap();
    assert_eq!(read.data["status"], "applied", "{}", read.text);
    let other = json!({"vmid": 100, "file": "/etc/hostname"}).to_string();
    let fault = house.call("vm_agent_file_read", &other).await.unwrap_err();
    assert!(fault.message.contains("a rule in the conf"), "{fault}");
}

#[tokio::test]
async fn a_job_that_cannot_be_read_is_not_changed() {
    let house = House::new().await;
    house.sim.world(|world| {
        world.add_token("narrow@pve!t", "secret");
        world.grant("narrow@pve", "/", &["Sys.Modify", "VM.Audit"]);
    });
    let token = ("narrow@pve".to_owned(), "t".to_owned(), "secret".to_owned());
    let rules = vec![tag("prod", Verdict::Deny)];
    let engine = house.with_token(&token, policy(Mode::Trusted, rules));
    let job = "/cluster/backup/backup-prod";
    for (tool, args) in [
        raw("DELETE", job, &json!({})),
        raw("PUT", job, &json!({"enabled": 0})),
    ] {
        let fault = done(engine.call(call(tool, &args.to_string()), &Nobody).await).unwrap_err();
        assert_eq!(fault.kind, Kind::Forbidden, "{fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}
