//! Sessions of 2025 clients are their callers' alone.

use std::time::Duration;

use serde_json::json;
use tools::caller::{Bounds, Scope};
use tools::engine::State;

use super::http::{serve, session};
use super::tokens::token;
use super::{slow_world, world};
use crate::raw;

#[tokio::test]
async fn who_knows_the_id_of_a_session_has_no_part_in_it() {
    let world = world().await;
    let owner = token(&world, "owner", Bounds::default()).await;
    let reader = Bounds {
        scope: Scope::Read,
        ..Bounds::default()
    };
    let other = token(&world, "other", reader).await;
    let served = serve(&world).await;
    let session = session(&served, &[("Authorization", &owner)]).await;
    let host = served.address.to_string();
    let as_caller = |token| {
        [
            ("Authorization", token),
            ("Mcp-Session-Id", session.as_str()),
            ("MCP-Protocol-Version", "2025-11-25"),
        ]
    };
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    // A yes in the place of the person whom the other client asks.
    let yes = json!({"jsonrpc": "2.0", "id": 0, "result": {"action": "accept", "content": {"approve": true}}});
    for message in [&ready, &list, &yes] {
        let answer = served.post(message, &as_caller(&other)).await;
        assert_eq!(answer.status, 404, "{message}");
    }
    let mut listening = vec![("Accept", "text/event-stream")];
    listening.extend(as_caller(&other));
    assert_eq!(served.get("/mcp", &listening).await.status, 404);
    let end = raw::request("DELETE /mcp", &host, &as_caller(&other), None);
    assert_eq!(served.send(&end).await.status, 404);

    // It is there all the same.
    assert_eq!(served.post(&ready, &as_caller(&owner)).await.status, 202);
    assert_eq!(served.post(&list, &as_caller(&owner)).await.status, 200);
    let end = raw::request("DELETE /mcp", &host, &as_caller(&owner), None);
    assert!(served.send(&end).await.status < 300);
    assert_eq!(served.post(&list, &as_caller(&owner)).await.status, 404);
}

/// Programs that come after it and leave without a word.
#[tokio::test]
async fn a_call_that_waits_keeps_its_session_however_many_are_begun() {
    let world = slow_world(State::Memory).await;
    let served = serve(&world).await;
    let first = session(&served, &[]).await;
    let headers = [
        ("Mcp-Session-Id", first.as_str()),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(served.post(&ready, &headers).await.status, 202);
    let call = json!({"name": "start_proxmox_vm", "arguments": {"vmid": 105, "wait": 60}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call});
    let waits = served.post(&call, &headers);
    let others = async {
        while world.writes().is_empty() {
            tokio::task::yield_now().await;
        }
        for _ in 0..64 {
            session(&served, &[]).await;
        }
        world.sim.advance(Duration::from_secs(30));
    };
    let (answer, ()) = tokio::join!(waits, others);
    let answer = answer.message();
    let status = &answer["result"]["structuredContent"]["status"];
    assert_eq!(status, "applied", "{answer}");
}

/// Otherwise it would be nobody's: not counted, not closed when its caller is shut out.
#[tokio::test]
async fn an_end_that_is_refused_ends_nothing() {
    let world = world().await;
    let served = serve(&world).await;
    let session = session(&served, &[]).await;
    let host = served.address.to_string();
    let end = |version| {
        let headers = [
            ("Mcp-Session-Id", session.as_str()),
            ("MCP-Protocol-Version", version),
        ];
        raw::request("DELETE /mcp", &host, &headers, None)
    };
    for (version, status) in [("x", 400), ("2026-07-28", 405)] {
        assert_eq!(served.send(&end(version)).await.status, status, "{version}");
    }
    // Whoever is entered nowhere would get a 404.
    assert!(served.send(&end("2025-11-25")).await.status < 300);
    assert_eq!(served.send(&end("2025-11-25")).await.status, 404);
}
