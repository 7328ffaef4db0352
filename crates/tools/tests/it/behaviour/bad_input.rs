//! Bad input gets a clear error that says what to send, and nothing reaches PVE.

use tools::fault::Kind;
use tools::policy::Mode;

use crate::house::House;

/// tool, arguments, what the error says, what the hint says
const BAD: &[(&str, &str, &str, &str)] = &[
    (
        "clone_proxmox_wm",
        r"{}",
        "there is no tool clone_proxmox_wm",
        "clone_proxmox_vm",
    ),
    (
        "start_proxmox_vm",
        r#"{"vmidd": 105}"#,
        "there is no argument `vmidd`",
        "did you mean `vmid`?",
    ),
    (
        "start_proxmox_vm",
        r#"{"vmid": "many"}"#,
        "argument `vmid`",
        "tells the number of a guest",
    ),
    ("start_proxmox_vm", r#"{"vmid": 99}"#, "99", "it takes vmid"),
    (
        "create_proxmox_vm",
        r#"{"name": "a", "memory": 99999999999}"#,
        "argument `memory`: 99999999999 was sent where a whole number of 0 to 4294967295 belongs",
        "a whole number, at least 16. MiB.",
    ),
    (
        "start_proxmox_vm",
        r#"{"vmid": 105, "max": -1}"#,
        "argument `max`: -1",
        "send max: a whole number",
    ),
    (
        "list_proxmox_resources",
        r#"{"limit": 18446744073709551615}"#,
        "argument `limit`: 18446744073709551615 is out of range",
        "send limit: a whole number, 1 to 500",
    ),
    (
        "start_proxmox_vm",
        r#"{"vmid": 105, "wait": "long"}"#,
        "argument `wait`: a text was sent",
        "send wait: a whole number, 0 to 600. Seconds",
    ),
    (
        "start_proxmox_vm",
        r#"{"vmid": 105, "node": [4]}"#,
        "argument `node`: ",
        "leave node out",
    ),
    (
        "start_proxmox_vm",
        r#"{"vmid": 1000000000}"#,
        "1000000000",
        "it takes vmid",
    ),
    ("start_proxmox_vm", r"{}", "vmid", "send vmid for one guest"),
    (
        "start_proxmox_vm",
        r#"{"vmid": 105, "node": "../x"}"#,
        "argument `node`",
        "leave node out",
    ),
    (
        "start_proxmox_vm",
        r#"{"vmid": 105, "vm_type": "docker"}"#,
        "argument `vm_type`: `docker` was sent where `qemu` or `lxc` belongs",
        "send vm_type: \"qemu\" for a VM or \"lxc\" for a container",
    ),
    (
        "start_proxmox_vm",
        r#"{"vmid": 105, "wait": -1}"#,
        "argument `wait`: -1 is out of range",
        "0 to 600",
    ),
    (
        "send_vm_key",
        r#"{"vmid": 100, "key": "ctrl-alt-banana"}"#,
        "\"banana\" is no key",
        "ctrl",
    ),
    (
        "send_vm_key",
        r#"{"vmid": 100, "key": ""}"#,
        "no key was given",
        "ctrl-alt-delete",
    ),
    (
        "stop_proxmox_vm",
        r#"{"vmid": 100, "action": "kill"}"#,
        "argument `action`",
        "one of shutdown, stop",
    ),
    (
        "list_proxmox_resources",
        r#"{"filter": "colour:red"}"#,
        "there is no field \"colour\"",
        "the fields are",
    ),
    (
        "list_proxmox_resources",
        r#"{"cursor": "x"}"#,
        "cursor",
        "next_cursor",
    ),
    (
        "get_proxmox_task",
        r#"{"upid": "UPID:nonsense"}"#,
        "argument `upid`",
        "it takes upid",
    ),
    (
        "preview_proxmox_change",
        r#"{"tool": "list_proxmox_resources"}"#,
        "no tool that changes",
        "clone_proxmox_vm",
    ),
    (
        "stop_proxmox_vm",
        r#"{"vmid": 100, "timeout": 999999}"#,
        "argument `timeout`: 999999 is out of range",
        "1 to 3600",
    ),
    (
        "clone_proxmox_vm",
        r#"{"vmid": 105, "host": "10.0.0.9"}"#,
        "is no configured cluster",
        "homelab",
    ),
    (
        "get_proxmox_vm_status",
        r#"{"vmid": 105, "cluster": "office"}"#,
        "is no configured cluster",
        "homelab",
    ),
];

#[tokio::test]
async fn it_is_named_and_nothing_is_sent() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args, message, hint) in BAD {
        let fault = house.call(tool, args).await.unwrap_err();
        assert_eq!(fault.kind, Kind::BadInput, "{tool} {args}: {fault}");
        assert!(fault.message.contains(message), "{tool} {args}: {fault}");
        assert!(
            fault.hint.as_deref().unwrap_or_default().contains(hint),
            "{tool} {args}: {fault}"
        );
    }
    assert!(
        house.sim.requests().is_empty(),
        "{:?}",
        house.sim.requests()
    );
}

#[tokio::test]
async fn a_number_may_come_as_a_string() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("start_proxmox_vm", r#"{"vmid": "105", "wait": "30"}"#)
        .await
        .unwrap();
}

#[tokio::test]
async fn the_second_try_of_an_agent_that_reads_the_hint_works() {
    let house = House::in_mode(Mode::Trusted).await;
    let wrong_node = house
        .call("start_proxmox_vm", r#"{"vmid": 105, "node": "pve2"}"#)
        .await
        .unwrap_err();
    assert_eq!(
        wrong_node.message,
        "VM 105 (staging) is on node pve1, not on pve2"
    );
    assert_eq!(
        wrong_node.hint.unwrap(),
        r#"send node: "pve1", or leave node out"#
    );
    house
        .call("start_proxmox_vm", r#"{"vmid": 105, "node": "pve1"}"#)
        .await
        .unwrap();

    let wrong_kind = house
        .call("start_proxmox_vm", r#"{"vmid": 203, "vm_type": "qemu"}"#)
        .await
        .unwrap_err();
    assert_eq!(wrong_kind.message, "guest 203 is a container, not a VM");
    house
        .call("start_proxmox_vm", r#"{"vmid": 203, "vm_type": "lxc"}"#)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_unknown_guest_is_told_from_a_hidden_one() {
    let house = House::in_mode(Mode::Trusted).await;
    let unknown = house
        .call("get_proxmox_vm_status", r#"{"vmid": 4711}"#)
        .await
        .unwrap_err();
    assert_eq!(unknown.kind, Kind::NotFound);
    house
        .sim
        .world(|world| world.add_token("bob@pve!t", "secret"));
    let bob = house.with_token(
        &("bob@pve".to_owned(), "t".to_owned(), "secret".to_owned()),
        tools::policy::Policy::default(),
    );
    let call = crate::house::call("get_proxmox_vm_status", r#"{"vmid": 100}"#);
    let hidden = crate::house::done(bob.call(call, &crate::house::Nobody).await).unwrap_err();
    assert_eq!(hidden.kind, Kind::Forbidden);
    assert!(hidden.hint.unwrap().contains("VM.Audit on /vms/100"));
}

/// A password in the wrong place is still a password.
#[tokio::test]
async fn what_was_not_understood_is_not_repeated() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in [
        (
            "update_proxmox_vm",
            r#"{"vmid": 105, "set": "cipassword=hunter2"}"#,
        ),
        (
            "update_proxmox_vm",
            r#"{"vmid": 105, "set": {"cipasswort": "hunter2"}}"#,
        ),
        ("update_proxmox_vm", r#"{"vmid": 105, "delete": "hunter2"}"#),
        ("start_proxmox_vm", r#"{"vmids": "hunter2"}"#),
        (
            "create_proxmox_lxc",
            r#"{"hostname": "a", "memory": "hunter2"}"#,
        ),
    ] {
        let fault = house.call(tool, args).await.unwrap_err();
        assert!(!fault.to_string().contains("hunter2"), "{args}: {fault}");
    }
    let trail = house
        .engine
        .store()
        .await
        .unwrap()
        .audit_trail(1000)
        .await
        .unwrap();
    let written = format!(
        "{:?}",
        trail.iter().map(|link| &link.entry).collect::<Vec<_>>()
    );
    assert!(!written.contains("hunter2"), "{written}");
    assert!(written.contains("update_proxmox_vm"), "{written}");
}

/// `node` and `vm_type` are checked also by tools that do not list them.
#[tokio::test]
async fn what_is_said_of_a_guest_must_be_true_also_where_it_is_not_listed() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, wrong) in [
        (r#"{"vmid": 105, "node": "pve3"}"#, "is on node pve1"),
        (
            r#"{"vmid": 105, "vm_type": "lxc"}"#,
            "is a VM, not a container",
        ),
        (
            r#"{"vmids": [105, 203], "node": "pve1"}"#,
            "is on node pve3",
        ),
        (r#"{"vmid": 105, "node": "../x"}"#, "argument `node`"),
    ] {
        let fault = house.call("start_proxmox_vm", args).await.unwrap_err();
        assert!(fault.message.contains(wrong), "{args}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
    let right = r#"{"vmid": 105, "node": "pve1", "vm_type": "qemu"}"#;
    house.call("start_proxmox_vm", right).await.unwrap();
}

/// Tools that list them check them in the same way, and so does a preview.
#[tokio::test]
async fn a_wrong_node_or_vm_type_is_refused_with_the_right_one() {
    let house = House::in_mode(Mode::Trusted).await;
    let more = |tool: &str| match tool {
        "manage_proxmox_vm" => r#", "action": "stop""#,
        "send_vm_key" => r#", "key": "ret""#,
        _ => "",
    };
    for tool in [
        "clone_proxmox_vm",
        "delete_proxmox_vm",
        "delete_proxmox_vm_preview",
        "get_proxmox_vm_status",
        "manage_proxmox_vm",
        "send_vm_key",
    ] {
        for (wrong, message, hint) in [
            (
                r#""node": "pve3""#,
                "is on node pve1, not on pve3",
                r#"send node: "pve1", or leave node out"#,
            ),
            (
                r#""vm_type": "lxc""#,
                "guest 100 is a VM, not a container",
                r#"send vm_type: "qemu", or leave vm_type out"#,
            ),
            (
                r#""host": "10.0.0.9""#,
                "is no configured cluster",
                "configured: homelab",
            ),
        ] {
            let args = format!(r#"{{"vmid": 100, {wrong}{}}}"#, more(tool));
            let fault = house.call(tool, &args).await.unwrap_err();
            assert_eq!(fault.kind, Kind::BadInput, "{tool} {args}: {fault}");
            assert!(fault.message.contains(message), "{tool} {args}: {fault}");
            let said = fault.hint.clone().unwrap_or_default();
            assert!(said.contains(hint), "{tool} {args}: {fault}");
        }
    }
    assert_eq!(house.writes(), [""; 0]);
    let right = r#"{"vmid": 100, "node": "pve1", "vm_type": "qemu", "host": "homelab"}"#;
    house.call("get_proxmox_vm_status", right).await.unwrap();
}

/// Other servers' callers send -1 for "left out"; how long to wait is nobody's but ours.
#[tokio::test]
async fn nobody_waits_for_less_than_nothing() {
    let house = House::in_mode(Mode::Trusted).await;
    for tool in ["start_proxmox_vm", "start_vm"] {
        let fault = house.call(tool, r#"{"vmid": 105, "wait": -1}"#).await;
        let fault = fault.unwrap_err();
        assert!(fault.message.contains("`wait`"), "{tool}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn vmid_of_3_mb_is_neither_echoed_nor_kept() {
    let house = House::in_mode(Mode::Trusted).await;
    let long = "7".repeat(3_000_000);
    for arguments in [
        format!(r#"{{"vmid": "{long}"}}"#),
        format!(r#"{{"vmid": ["{long}"]}}"#),
        format!(r#"{{"vmid": 105, "{long}": 1}}"#),
        format!(r#"{{"vmid": 105, "node": "{long}"}}"#),
    ] {
        for tool in ["start_proxmox_vm", "get_proxmox_vm_status"] {
            let fault = house.call(tool, &arguments).await.unwrap_err();
            assert!(fault.to_string().len() < 2_000, "{tool}");
        }
    }
    let trail = house.trail().await;
    assert_eq!(trail.len(), 8, "opened and closed, for each of the changes");
    for link in trail {
        let entry = serde_json::to_string(&link.entry).unwrap();
        assert!(entry.len() < 2_000, "{}", entry.len());
    }
}
