//! The tools of the guest agent, on the demo's build server.

use serde_json::json;
use tools::policy::{Mode, Policy};

use crate::house::{Furnish, House};

/// A call of a tool of this toolset for the build server.
async fn call(house: &House, tool: &str, args: serde_json::Value) -> tools::tool::Rendered {
    let mut args = args;
    args["vmid"] = json!(106);
    let answer = house.call(tool, &args.to_string()).await;
    answer.unwrap_or_else(|fault| panic!("{tool} {args}: {fault}"))
}

#[tokio::test]
async fn a_program_is_started_and_its_end_is_told_once() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = json!({"command": "echo grün; exit 2", "input_data": "x"});
    let started = call(&house, "vm_agent_exec", args).await;
    assert_eq!(started.data["status"], "applied");
    let pid = &started.data["steps"][0]["result"]["pid"];
    let ended = call(&house, "vm_agent_exec_status", json!({ "pid": pid })).await;
    assert_eq!(ended.data["state"], "ended");
    assert_eq!(ended.data["exit_code"], 2);
    assert_eq!(ended.data["stdout"], "grün\n");
    assert!(ended.text.contains("exit code 2"), "{}", ended.text);
    let again = call(&house, "vm_agent_exec_status", json!({ "pid": pid })).await;
    assert_eq!(again.data["state"], "gone");
    assert!(again.text.contains("was told before"), "{}", again.text);
}

#[tokio::test]
async fn a_file_is_written_and_read_as_it_was_meant() {
    let house = House::in_mode(Mode::Trusted).await;
    let text = "größer → \u{1f600}\n";
    let file = json!({"file": "/root/gruß", "content": text});
    call(&house, "vm_agent_file_write", file).await;
    let bytes = house.sim.world(|world| {
        let files = &world.guests[&106].agent.files;
        files.values().next_back().cloned()
    });
    assert_eq!(bytes.unwrap(), text.as_bytes());
    let read = call(&house, "vm_agent_file_read", json!({"file": "/root/gruß"})).await;
    let result = &read.data["steps"][0]["result"];
    assert_eq!(result["content"], text);
    assert_eq!(result["bytes"], text.len());
    assert_eq!(result["truncated"], false);
    let long = json!({"file": "/root/long", "content": "0123456789".repeat(6_000)});
    call(&house, "vm_agent_file_write", long).await;
    let args = json!({"file": "/root/long", "count": 100});
    let part = call(&house, "vm_agent_file_read", args).await;
    assert_eq!(part.data["steps"][0]["result"]["truncated"], true);
    assert!(part.text.contains("not shown in full"), "{}", part.text);
    assert!(part.text.len() < 400, "{}", part.text);
}

/// Nothing changes by reading: it need not be looked into before it is read again.
#[tokio::test]
async fn a_file_whose_content_was_lost_may_be_read_again() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = json!({"file": "/etc/hostname"});
    call(&house, "vm_agent_file_read", args.clone()).await;
    let lost = sim::Fault::drop_after().on("GET", "/nodes/*/agent/file-read");
    house.sim.fault(lost);
    let answer = call(&house, "vm_agent_file_read", args).await;
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    let said = "the same call may be made again";
    assert!(answer.text.contains(said), "{}", answer.text);
}

#[tokio::test]
async fn what_cannot_be_read_or_written_is_said() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args, said) in [
        (
            "vm_agent_file_read",
            json!({"vmid": 106, "file": "/nope"}),
            "No such file",
        ),
        (
            "vm_agent_file_write",
            json!({"vmid": 106, "file": "/nodir/x", "content": "a"}),
            "No such file",
        ),
        (
            "vm_agent_file_write",
            json!({"vmid": 106, "file": "/x", "content": "ä".repeat(20_000)}),
            "PVE writes 61440",
        ),
        (
            "vm_agent_set_password",
            json!({"vmid": 106, "username": "build", "password": "abc"}),
            "too short",
        ),
        (
            "vm_agent_set_password",
            json!({"vmid": 106, "username": "nobody", "password": "long enough"}),
            "not changed",
        ),
        (
            "vm_agent_get_info",
            json!({"vmid": 200}),
            "only VMs have a guest agent",
        ),
        (
            "vm_agent_get_info",
            json!({"vmid": 105}),
            "No QEMU guest agent configured",
        ),
        ("vm_agent_fstrim", json!({"vmid": 105}), "is not running"),
    ] {
        let fault = house.call(tool, &args.to_string()).await.unwrap_err();
        assert!(fault.to_string().contains(said), "{tool}: {fault}");
    }
    let silent = house.call("vm_agent_get_info", r#"{"vmid": 105}"#).await;
    let hint = silent.unwrap_err().hint.unwrap();
    assert!(hint.contains(r#"set {"agent": "1"}"#), "{hint}");
}

#[tokio::test]
async fn a_password_is_set_and_seen_nowhere() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 106, "username": "build", "password": "pässword-canary"}"#;
    let preview = house.preview("vm_agent_set_password", args).await.unwrap();
    let set = house.call("vm_agent_set_password", args).await.unwrap();
    assert_eq!(set.data["status"], "applied");
    let trail = house
        .engine
        .store()
        .await
        .unwrap()
        .audit_trail(100)
        .await
        .unwrap();
    for text in [preview.text, set.text, format!("{trail:?}")] {
        assert!(!text.contains("canary"), "{text}");
    }
}

#[tokio::test]
async fn frozen_file_systems_are_told_and_thawed() {
    let house = House::in_mode(Mode::Trusted).await;
    let preview = house.preview("vm_agent_fsfreeze_freeze", r#"{"vmid": 106}"#);
    let preview = preview.await.unwrap();
    assert!(preview.text.contains("stalls until"), "{}", preview.text);
    let frozen = call(&house, "vm_agent_fsfreeze_freeze", json!({})).await;
    assert_eq!(frozen.data["undo"]["tool"], "vm_agent_fsfreeze_thaw");
    let status = json!({"info_type": "fsfreeze-status"});
    let told = call(&house, "vm_agent_get_info", status.clone()).await;
    assert_eq!(told.data["result"], "frozen");
    let trim = house.call("vm_agent_fstrim", r#"{"vmid": 106}"#).await;
    let trim = trim.unwrap_err().to_string();
    assert!(trim.contains("vm_agent_fsfreeze_thaw"), "{trim}");
    call(&house, "vm_agent_fsfreeze_thaw", json!({})).await;
    let told = call(&house, "vm_agent_get_info", status).await;
    assert_eq!(told.data["result"], "thawed");
    call(&house, "vm_agent_fstrim", json!({})).await;
}

#[tokio::test]
async fn everything_that_can_be_asked_is_answered() {
    let house = House::in_mode(Mode::ReadOnly).await;
    for asked in [
        "get-osinfo",
        "network-get-interfaces",
        "get-fsinfo",
        "get-host-name",
        "get-users",
        "get-time",
        "get-timezone",
        "get-vcpus",
        "get-memory-blocks",
        "get-memory-block-info",
        "fsfreeze-status",
        "ping",
        "info",
    ] {
        let told = call(&house, "vm_agent_get_info", json!({ "info_type": asked })).await;
        assert!(!told.data["result"].is_null(), "{asked}: {}", told.text);
    }
    assert_eq!(house.writes(), [""; 0]);
}

/// One privilege does all of it in PVE 8.
#[tokio::test]
async fn an_older_pve_asks_for_another_privilege() {
    let calls = [
        (
            "run_proxmox_vm_command",
            r#"{"vmid": 106, "command": "id"}"#,
        ),
        ("vm_agent_fstrim", r#"{"vmid": 106}"#),
        (
            "vm_agent_file_write",
            r#"{"vmid": 106, "file": "/root/x", "content": "y"}"#,
        ),
    ];
    for (tool, args) in calls {
        for (held, applies) in [("VM.Monitor", true), ("VM.Console", false)] {
            let mut furnish = Furnish::default();
            furnish.world.version = "8.4.1".to_owned();
            furnish.world.add_token("narrow@pve!t", "s");
            let held = ["VM.Audit", held];
            furnish.world.grant("narrow@pve", "/vms/106", &held);
            furnish.token = ("narrow@pve".to_owned(), "t".to_owned(), "s".to_owned());
            furnish.policy = Policy {
                mode: Mode::Trusted,
                ..Policy::default()
            };
            let house = House::furnished(furnish).await;
            match house.call(tool, args).await {
                Ok(answer) => assert!(applies && answer.data["status"] == "applied", "{tool}"),
                Err(fault) => {
                    let said = fault.to_string();
                    assert!(!applies, "{tool}: {said}");
                    assert!(said.contains("VM.Monitor on /vms/106"), "{tool}: {said}");
                }
            }
        }
    }
}
