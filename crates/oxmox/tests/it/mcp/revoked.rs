//! A revoked token ends its sessions and the calls that wait, and a call that was still arriving is not made.

use std::time::Duration;

use oxmox::http::{Live, Pace};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tools::caller::Bounds;
use tools::engine::{Call, Reply, Silent, State};

use super::http::{Served, serve_as, session};
use super::tokens::token;
use super::{World, slow_world, world};
use crate::raw;

/// No test waits this long.
const NEVER: Duration = Duration::from_hours(1);
const SOON: Duration = Duration::from_millis(5);

async fn served(world: &World, look_again: Duration) -> Served {
    let pace = Pace {
        look_again,
        ..Pace::default()
    };
    serve_as(world, Live::default().at_pace(pace)).await
}

async fn revoke(world: &World, name: &str) {
    let store = world.engine.store().await.unwrap();
    assert!(store.remove_token(name).await.unwrap());
}

/// A task that does not end, started by a caller whose call does not wait for it.
async fn task(world: &World) -> String {
    let arguments = tools::context::arguments([("vmid", 105.into()), ("wait", 0.into())]);
    let call = Call::new("start_proxmox_vm", arguments, "somebody");
    let Reply::Running(_, plan) = world.engine.call(call, &Silent).await.unwrap() else {
        panic!("it has ended")
    };
    loop {
        let handle = world.engine.handle(&plan).await.unwrap();
        if let Some(task) = &handle.outcome.steps[0].task {
            return task.clone();
        }
        tokio::task::yield_now().await;
    }
}

/// A call that waits for it.
fn waiting_call(task: &str) -> Value {
    json!({"name": "get_proxmox_task", "arguments": {"upid": task, "wait": 600}})
}

/// Until the call has asked for the task.
async fn asked(world: &World) {
    let is_asked = |request: &sim::Logged| request.path.contains("/tasks/UPID");
    while !world.sim.requests().iter().any(is_asked) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn waiting_call_of_a_revoked_token_ends() {
    let world = slow_world(State::Memory).await;
    let token = token(&world, "gone", Bounds::default()).await;
    let task = task(&world).await;
    world.sim.clear_requests();
    let served = served(&world, SOON).await;
    let headers = [("Authorization", token.as_str())];
    let call = served.ask("tools/call", waiting_call(&task), &headers);
    let (answer, ()) = tokio::join!(call, async {
        asked(&world).await;
        revoke(&world, "gone").await;
    });
    assert_eq!(answer.status, 401, "{}", answer.body);
}

#[tokio::test]
async fn session_of_a_revoked_token_ends_with_its_waiting_call() {
    let world = slow_world(State::Memory).await;
    let old = token(&world, "ci", Bounds::default()).await;
    let task = task(&world).await;
    world.sim.clear_requests();
    let served = served(&world, SOON).await;
    let id = session(&served, &[("Authorization", &old)]).await;
    let version = ("MCP-Protocol-Version", "2025-11-25");
    let headers = [("Authorization", &*old), ("Mcp-Session-Id", &*id), version];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(served.post(&ready, &headers).await.status, 202);
    let params = waiting_call(&task);
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let (answer, ()) = tokio::join!(served.post(&call, &headers), async {
        asked(&world).await;
        revoke(&world, "ci").await;
    });
    assert!(!answer.body.contains("UPID"), "{}", answer.body);
    // Another token of the same name has no part in it.
    let new = token(&world, "ci", Bounds::default()).await;
    let headers = [("Authorization", &*new), ("Mcp-Session-Id", &*id), version];
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    assert_eq!(served.post(&list, &headers).await.status, 404);
}

#[tokio::test]
async fn call_that_arrives_after_its_token_was_revoked_is_refused() {
    for look_again in [SOON, NEVER] {
        let world = world().await;
        let token = token(&world, "gone", Bounds::default()).await;
        let served = served(&world, look_again).await;
        let start = json!({"name": "start_proxmox_vm", "arguments": {"vmid": 105}});
        let request = raw::stateless(
            &served.address.to_string(),
            ("tools/call", start),
            (&json!({}), &json!({})),
            &[("Authorization", &token), ("Expect", "100-continue")],
        );
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        let head = format!("{head}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        // The server asks for the body once it has seen who calls.
        let mut said = [0; 12];
        stream.read_exact(&mut said).await.unwrap();
        assert_eq!(&said, b"HTTP/1.1 100");
        revoke(&world, "gone").await;
        // The server may have closed the connection.
        let _ = stream.write_all(body.as_bytes()).await;
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        assert!(answer.contains("HTTP/1.1 401"), "{answer}");
        assert_eq!(world.writes(), [""; 0]);
    }
}
