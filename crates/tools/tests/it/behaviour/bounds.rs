//! Callers who may change certain guests and nothing else, and what may be asked on a person's behalf.

use tools::caller::{Bounds, Caller, Vmids};
use tools::engine::Call;
use tools::fault::Fault;
use tools::policy::Mode;
use tools::tool::Rendered;

use crate::house::{House, Nobody, call, done, object};

fn vmids(range: &str) -> Bounds {
    Bounds {
        vmids: vec![Vmids::try_from(range.to_owned()).unwrap()],
        ..Bounds::default()
    }
}

async fn bounded(house: &House, bounds: Bounds, tool: &str, args: &str) -> Result<Rendered, Fault> {
    let caller = Caller {
        name: "bounded".to_owned(),
        bounds,
    };
    let call = Call::new(tool, object(args), caller);
    done(house.engine.call(call, &Nobody).await)
}

#[tokio::test]
async fn a_caller_for_some_guests_changes_these() {
    let house = House::in_mode(Mode::Trusted).await;
    let start = |vmid: u32| format!(r#"{{"vmid": {vmid}}}"#);
    let answer = bounded(&house, vmids("105"), "start_proxmox_vm", &start(105)).await;
    assert_eq!(answer.unwrap().data["status"], "applied");
    let fault = bounded(&house, vmids("105"), "stop_proxmox_vm", &start(110)).await;
    let fault = fault.unwrap_err();
    assert!(fault.message.contains("none of those"), "{fault}");
    assert!(house.runs(110));
    let in_pool = Bounds {
        pools: vec!["prod".to_owned()],
        ..Bounds::default()
    };
    let fault = bounded(&house, in_pool.clone(), "stop_proxmox_vm", &start(110)).await;
    assert!(fault.unwrap_err().message.contains("none of those"));
    let answer = bounded(&house, in_pool, "stop_proxmox_vm", &start(100)).await;
    assert_eq!(answer.unwrap().data["status"], "applied");
}

/// A job is the cluster's, though it is about guests that this caller may change; a node is nobody's guest.
#[tokio::test]
async fn a_caller_for_some_guests_changes_nothing_else() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in [
        (
            "write_proxmox_api",
            r#"{"method": "POST", "path": "/cluster/backup", "params": {"vmid": "105", "storage": "backup", "schedule": "daily"}}"#,
        ),
        (
            "write_proxmox_api",
            r#"{"method": "POST", "path": "/nodes/pve1/status", "params": {"command": "reboot"}}"#,
        ),
        ("create_pool", r#"{"poolid": "mine"}"#),
    ] {
        let fault = bounded(&house, vmids("100-999"), tool, args).await;
        let fault = fault.unwrap_err();
        assert!(
            fault.message.contains("this is about more"),
            "{tool} {args}: {fault}"
        );
    }
    assert_eq!(house.writes(), [""; 0]);
}

/// Whoever hangs up while something is read loses nothing; what changes something goes on to its end.
#[tokio::test]
async fn only_a_call_that_reads_may_be_dropped() {
    let house = House::new().await;
    for (tool, args, reads) in [
        ("get_proxmox_vm_status", r#"{"vmid": 100}"#, true),
        ("stop_proxmox_vm", r#"{"vmid": 100}"#, false),
        (
            "call_proxmox_tool",
            r#"{"tool": "get_proxmox_vm_status", "arguments": {"vmid": 100}}"#,
            true,
        ),
        (
            "call_proxmox_tool",
            r#"{"tool": "stop_proxmox_vm", "arguments": {"vmid": 100}}"#,
            false,
        ),
        ("no_such_tool", "{}", false),
    ] {
        assert_eq!(
            house.engine.only_reads(&call(tool, args)),
            reads,
            "{tool} {args}"
        );
    }
}

#[tokio::test]
async fn a_person_looks_by_tools_that_read() {
    let house = House::in_mode(Mode::Trusted).await;
    let look = |tool: &'static str, args: &str| {
        let call = call(tool, args);
        let engine = house.engine.clone();
        async move { engine.look(call, &Nobody).await }
    };
    let seen = look("get_proxmox_vm_status", r#"{"vmid": 100}"#)
        .await
        .unwrap();
    assert_eq!(seen.data["vmid"], 100);
    for (tool, args) in [
        ("stop_proxmox_vm", r#"{"vmid": 100}"#),
        (
            "call_proxmox_tool",
            r#"{"tool": "get_proxmox_vm_status", "arguments": {"vmid": 100}}"#,
        ),
        ("no_such_tool", "{}"),
    ] {
        let fault = look(tool, args).await.unwrap_err();
        assert!(
            fault.message.contains("no tool that only looks"),
            "{tool}: {fault}"
        );
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_caller_reaches_the_clusters_that_are_named() {
    let house = House::in_mode(Mode::Trusted).await;
    let elsewhere = Bounds {
        clusters: vec!["elsewhere".to_owned()],
        ..Bounds::default()
    };
    let args = r#"{"vmid": 105}"#;
    let fault = bounded(&house, elsewhere, "start_proxmox_vm", args).await;
    assert!(fault.is_err(), "{fault:?}");
    assert_eq!(house.writes(), [""; 0]);
}
