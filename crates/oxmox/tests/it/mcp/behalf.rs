//! Callers who act by their own token of PVE.

use oxmox::http::{Live, PveTokens, Settings};
use serde_json::{Value, json};
use sim::worlds::homelab;
use tools::engine::State;

use super::http::{Served, serve_as};
use super::{World, engine, settings};
use crate::raw::Response;

const HEADER: &str = "X-PVE-API-Token";
const ALICE: &str = "alice@pve!own=canary-of-alice";

/// A homelab in which alice may start guests and look at them, and mallory nothing.
async fn world() -> World {
    let mut world = homelab();
    world.add_token("alice@pve!own", "canary-of-alice");
    world.add_token("mallory@pve!own", "canary-of-mallory");
    let may = ["VM.Audit", "VM.PowerMgmt", "Sys.Audit"];
    world.grant("alice@pve", "/", &may);
    let sim = sim::Sim::start(world).await.unwrap();
    let engine = engine(&sim, State::Memory);
    World { sim, engine }
}

async fn served(world: &World, pve_tokens: PveTokens) -> Served {
    let told = Settings {
        pve_tokens,
        ..Settings::default()
    };
    let clusters = vec![("homelab".to_owned(), settings(&world.sim))];
    let live = Live::new(&told).unwrap().for_clusters(clusters);
    serve_as(world, live).await
}

async fn call(served: &Served, tool: &str, tokens: &[&str]) -> Response {
    let params = json!({"name": tool, "arguments": {"vmid": 105}});
    let headers: Vec<_> = tokens.iter().map(|token| (HEADER, *token)).collect();
    served.ask("tools/call", params, &headers).await
}

fn result(answer: &Response) -> Value {
    answer.message()["result"].clone()
}

#[tokio::test]
async fn what_is_done_is_done_by_the_rights_of_the_caller_and_in_their_name() {
    let world = world().await;
    let served = served(&world, PveTokens::Allowed).await;
    let nothing = call(
        &served,
        "start_proxmox_vm",
        &["mallory@pve!own=canary-of-mallory"],
    )
    .await;
    assert_eq!(result(&nothing)["isError"], true, "{}", nothing.body);
    assert!(world.writes().is_empty());
    let started = call(&served, "start_proxmox_vm", &[ALICE]).await;
    let told = result(&started);
    assert_eq!(told["structuredContent"]["status"], "applied", "{told}");
    assert!(told.to_string().contains(":alice@pve!own:"), "{told}");
    // The cluster may be named, and the server's own rights are there for who brings nothing.
    let named = format!("homelab:{ALICE}");
    for tokens in [vec![named.as_str()], vec![]] {
        let seen = call(&served, "get_proxmox_vm_status", &tokens).await;
        assert_ne!(result(&seen)["isError"], true, "{}", seen.body);
    }
    let metrics = served.get("/metrics", &[]).await.body;
    assert!(metrics.contains("tool=\"start_proxmox_vm\""), "{metrics}");
}

#[tokio::test]
async fn the_secret_is_told_to_nobody() {
    let world = world().await;
    let served = served(&world, PveTokens::Allowed).await;
    let wrong = [
        "alice@pve!own=canary-wrong",
        "alice@pve=canary-wrong",
        "canary-wrong",
        "elsewhere:alice@pve!own=canary-wrong",
        "alice@pve!own=",
        "=canary-wrong",
    ];
    for token in wrong {
        let answer = call(&served, "start_proxmox_vm", &[token]).await;
        assert!(
            answer.status == 400 || result(&answer)["isError"] == true,
            "{token}"
        );
        assert!(!answer.body.contains("canary"), "{}", answer.body);
    }
    call(&served, "start_proxmox_vm", &[ALICE]).await;
    let audit = world.engine.store().await.unwrap().audit_trail(100).await;
    let kept = format!("{audit:?}");
    assert!(kept.contains("start_proxmox_vm") && !kept.contains("canary"));
}

#[tokio::test]
async fn it_is_off_unless_a_person_switches_it_on() {
    let world = world().await;
    let off = served(&world, PveTokens::default()).await;
    assert_eq!(call(&off, "start_proxmox_vm", &[ALICE]).await.status, 400);
    let required = served(&world, PveTokens::Required).await;
    assert_eq!(call(&required, "start_proxmox_vm", &[]).await.status, 403);
    assert!(world.writes().is_empty());
    let started = call(&required, "start_proxmox_vm", &[ALICE]).await;
    assert_eq!(started.status, 200);
}

/// One of them would read, and the other write.
#[tokio::test]
async fn two_tokens_for_one_cluster_are_refused() {
    let world = world().await;
    let served = served(&world, PveTokens::Allowed).await;
    let mallory = "homelab:mallory@pve!own=canary-of-mallory";
    let refused = call(&served, "start_proxmox_vm", &[ALICE, mallory]).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    let why = "two tokens for the cluster homelab; send one for each cluster";
    assert!(refused.body.contains(why), "{}", refused.body);
    assert!(!refused.body.contains("canary"), "{}", refused.body);
    assert!(world.writes().is_empty());
}
