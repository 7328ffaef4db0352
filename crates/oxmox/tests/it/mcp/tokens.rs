//! Callers that are known by a token: who gets in, and how far.

use oxmox::http::{Error, is_open};
use oxmox::token;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tools::caller::{Bounds, Scope, Vmids};

use super::http::{Served, serve};
use super::{World, world};

/// A token for `name`, as a header.
pub(super) async fn token(world: &World, name: &str, bounds: Bounds) -> String {
    let (token, stored) = token::issue(name, bounds, false, (0, None)).unwrap();
    let store = world.engine.store().await.unwrap();
    assert!(store.keep_token(&stored).await.unwrap());
    format!("Bearer {}", token.expose_secret())
}

fn scope(scope: Scope) -> Bounds {
    Bounds {
        scope,
        ..Bounds::default()
    }
}

async fn call(served: &Served, token: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let headers = [("Authorization", token)];
    let answer = served.ask("tools/call", params, &headers).await;
    answer.message()["result"].clone()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn as_soon_as_somebody_has_a_token_nobody_gets_in_without() {
    let world = world().await;
    let right = token(&world, "ci", Bounds::default()).await;
    let served = serve(&world).await;
    let list = |headers: Vec<(&'static str, String)>| {
        let served = &served;
        async move {
            let headers: Vec<_> = headers.iter().map(|(k, v)| (*k, v.as_str())).collect();
            served.ask("tools/list", json!({}), &headers).await
        }
    };
    let without = list(vec![]).await;
    assert_eq!(without.status, 401);
    assert_eq!(without.header("www-authenticate"), Some("Bearer"));
    assert!(without.body.contains("oxmox token add"), "{}", without.body);
    for wrong in [
        "Bearer x",
        "Bearer oxmox_aaaaaaaa_bbbb",
        "Basic eDp5",
        &format!("{right}x"),
    ] {
        let answer = list(vec![("Authorization", wrong.to_owned())]).await;
        assert_eq!(answer.status, 401, "{wrong}");
        assert!(!answer.body.contains(wrong));
    }
    let with = list(vec![("Authorization", right.clone())]).await;
    assert_eq!(with.status, 200, "{}", with.body);

    world
        .engine
        .store()
        .await
        .unwrap()
        .remove_token("ci")
        .await
        .unwrap();
    assert_eq!(list(vec![("Authorization", right)]).await.status, 401);
}

#[tokio::test]
async fn the_first_token_closes_the_door_at_once() {
    let world = world().await;
    let served = serve(&world).await;
    assert_eq!(served.ask("tools/list", json!({}), &[]).await.status, 200);
    token(&world, "ci", Bounds::default()).await;
    assert_eq!(served.ask("tools/list", json!({}), &[]).await.status, 401);
}

#[tokio::test]
async fn other_machines_are_let_in_with_tokens_only() {
    let world = world().await;
    let everywhere = "0.0.0.0:8080".parse().unwrap();
    let here = "127.0.0.1:8080".parse().unwrap();
    assert!(is_open(&world.engine, here).await.unwrap());
    let refused = is_open(&world.engine, everywhere).await;
    assert!(matches!(refused, Err(Error::NotLoopback(_))));
    token(&world, "ci", Bounds::default()).await;
    assert!(!is_open(&world.engine, everywhere).await.unwrap());
    assert!(!is_open(&world.engine, here).await.unwrap());
}

#[tokio::test]
async fn whoever_may_read_sees_and_calls_nothing_else() {
    let world = world().await;
    let reader = token(&world, "reader", scope(Scope::Read)).await;
    let served = serve(&world).await;
    let headers = [("Authorization", reader.as_str())];
    let listed = served
        .ask("tools/list", json!({}), &headers)
        .await
        .message();
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.len() > 5);
    for tool in tools {
        assert_eq!(
            tool["annotations"]["readOnlyHint"], true,
            "{}",
            tool["name"]
        );
    }
    let refused = call(&served, &reader, "start_proxmox_vm", json!({"vmid": 105})).await;
    assert_eq!(refused["isError"], true);
    let why = text(&refused);
    assert!(why.contains("the scope of this caller is read"), "{why}");
    assert!(!why.contains("mode") && !why.contains("toolset"), "{why}");
    let seen = call(
        &served,
        &reader,
        "get_proxmox_vm_status",
        json!({"vmid": 105}),
    )
    .await;
    assert_ne!(seen["isError"], true, "{seen}");
    assert!(world.writes().is_empty());
}

#[tokio::test]
async fn whoever_may_operate_destroys_nothing_and_changes_the_guests_that_are_theirs() {
    let world = world().await;
    let bounds = Bounds {
        vmids: vec![Vmids::try_from("105-106".to_owned()).unwrap()],
        ..scope(Scope::Operate)
    };
    let operator = token(&world, "operator", bounds).await;
    let served = serve(&world).await;
    let refusals = [
        ("delete_proxmox_vm", json!({"vmid": 105}), "scope"),
        (
            "start_proxmox_vm",
            json!({"vmid": 104}),
            "guest 104 is none of those",
        ),
        (
            "write_proxmox_api",
            json!({"method": "POST", "path": "/pools", "params": {"poolid": "x"}}),
            "this caller",
        ),
        // Whoever has a copy of a disk or a backup has what is in it.
        (
            "update_proxmox_vm",
            json!({"vmid": 105, "set": {"scsi5": "local-lvm:0,import-from=local-lvm:vm-110-disk-0"}}),
            "guest 110 is none of those",
        ),
        (
            "write_proxmox_api",
            json!({"method": "PUT", "path": "/nodes/pve1/storage/nas/content/nas:backup%2Fvzdump-lxc-200-2026_11_08-03_04_40.tar.zst",
                   "params": {"notes": "mine"}}),
            "guest 200 is none of those",
        ),
    ];
    for (tool, arguments, says) in refusals {
        let refused = call(&served, &operator, tool, arguments).await;
        assert_eq!(refused["isError"], true, "{tool}");
        assert!(text(&refused).contains(says), "{tool}: {refused}");
    }
    assert!(world.writes().is_empty());
    let started = call(&served, &operator, "start_proxmox_vm", json!({"vmid": 105})).await;
    assert_eq!(
        started["structuredContent"]["status"], "applied",
        "{started}"
    );
}

/// What was shown to one caller is nothing to another.
#[tokio::test]
async fn a_plan_belongs_to_the_caller_who_asked_for_it() {
    let world = world().await;
    let one = token(&world, "one", Bounds::default()).await;
    let other = token(&world, "other", Bounds::default()).await;
    let served = serve(&world).await;
    let stop = json!({"name": "stop_proxmox_vm", "arguments": {"vmid": 110, "action": "stop"}});
    let headers = [("Authorization", one.as_str())];
    let asked = served
        .ask("tools/call", stop.clone(), &headers)
        .await
        .message();
    let mut answered = stop;
    answered["requestState"] = asked["result"]["requestState"].clone();
    answered["inputResponses"] =
        json!({"confirm": {"action": "accept", "content": {"approve": true}}});
    let headers = [("Authorization", other.as_str())];
    let refused = served.ask("tools/call", answered, &headers).await.message();
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(world.writes().is_empty());

    let begun = call(
        &served,
        &one,
        "start_proxmox_vm",
        json!({"vmid": 105, "wait": 0}),
    )
    .await;
    let plan = &begun["structuredContent"]["plan"];
    assert!(plan.is_string(), "{begun}");
    let mine = call(&served, &one, "get_proxmox_task", json!({"upid": plan})).await;
    assert_ne!(mine["isError"], true, "{mine}");
    let theirs = call(&served, &other, "get_proxmox_task", json!({"upid": plan})).await;
    assert_eq!(theirs["isError"], true, "{theirs}");
    let audit = world.engine.store().await.unwrap().audit_trail(100).await;
    assert!(
        format!("{audit:?}").contains("caller: \"one\""),
        "{audit:?}"
    );
}
