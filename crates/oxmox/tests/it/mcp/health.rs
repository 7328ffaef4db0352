//! How the process is, and what it has done.

use oxmox::http::{Limits, Live, PublicUrl, Settings};
use serde_json::{Value, json};
use sim::worlds::homelab;
use tools::caller::Bounds;
use tools::engine::State;

use super::http::{serve, serve_as};
use super::tokens::token;
use super::{World, engine, world};

#[tokio::test]
async fn it_lives_and_is_ready_to_whoever_asks() {
    let world = world().await;
    // Those who ask this have no token.
    token(&world, "ci", Bounds::default()).await;
    let served = serve(&world).await;
    let health = served.get("/healthz", &[]).await;
    assert_eq!((health.status, health.body.as_str()), (200, "ok\n"));
    let ready = served.get("/readyz", &[]).await;
    assert_eq!(ready.status, 200);
    let told: Value = serde_json::from_str(&ready.body).unwrap();
    let clusters = json!({"answering": 0, "silent": 0, "not_asked": 1});
    let ready = json!({"ready": true, "store": "answering", "clusters": clusters});
    assert_eq!(told, ready);
    assert!(
        world.sim.requests().is_empty(),
        "nothing is sent to find out"
    );
}

#[tokio::test]
async fn it_is_not_ready_when_its_store_is_gone_and_lives_all_the_same() {
    let sim = sim::Sim::start(homelab()).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(&sim, State::Dir(dir.path().to_owned()));
    let world = World { sim, engine };
    let served = serve(&world).await;
    assert_eq!(served.get("/readyz", &[]).await.status, 200);
    let database = rusqlite::Connection::open(dir.path().join("oxmox.db")).unwrap();
    database.execute_batch("DROP TABLE plans").unwrap();
    let ready = served.get("/readyz", &[]).await;
    assert_eq!(ready.status, 503);
    let told: Value = serde_json::from_str(&ready.body).unwrap();
    assert_eq!(
        (&told["ready"], &told["store"]),
        (&json!(false), &json!("silent"))
    );
    assert_eq!(served.get("/healthz", &[]).await.status, 200);
}

#[tokio::test]
async fn calls_errors_plans_and_requests_are_counted() {
    let world = world().await;
    let served = serve(&world).await;
    for (tool, arguments) in [
        ("get_proxmox_vm_status", json!({"vmid": 105})),
        ("get_proxmox_vm_status", json!({"vmid": 4711})),
        ("start_proxmox_vm", json!({"vmid": 105})),
        ("stop_proxmox_vm", json!({"vmid": 110, "action": "stop"})),
    ] {
        let call = json!({"name": tool, "arguments": arguments});
        served.ask("tools/call", call, &[]).await;
    }
    let metrics = served.get("/metrics", &[]).await;
    assert_eq!(metrics.status, 200);
    let kind = metrics.header("content-type").unwrap();
    assert!(kind.starts_with("text/plain; version=0.0.4"), "{kind}");
    for line in [
        concat!(
            "oxmox_build_info{version=\"",
            env!("CARGO_PKG_VERSION"),
            "\"} 1"
        ),
        "oxmox_tool_calls_total{tool=\"get_proxmox_vm_status\"} 2",
        "oxmox_tool_errors_total{tool=\"get_proxmox_vm_status\",kind=\"not_found\"} 1",
        "oxmox_tool_duration_seconds_bucket{tool=\"get_proxmox_vm_status\",le=\"+Inf\"} 2",
        "oxmox_tool_duration_seconds_count{tool=\"start_proxmox_vm\"} 1",
        "oxmox_plans_total{outcome=\"applied\"} 1",
        "oxmox_pve_requests_total{cluster=\"homelab\",method=\"POST\",status=\"200\"} 1",
        "oxmox_cluster_answering{cluster=\"homelab\"} 1",
        "oxmox_approvals_waiting 1",
    ] {
        let found = metrics.body.lines().any(|it| it == line);
        assert!(found, "{line}\n{}", metrics.body);
    }
}

#[tokio::test]
async fn metrics_are_for_this_machine_and_for_callers_who_are_known() {
    let world = world().await;
    let known = token(&world, "prometheus", Bounds::default()).await;
    let served = serve(&world).await;
    // A proxy on this machine asks for whoever asks it.
    let forwarded = ("X-Forwarded-For", "203.0.113.7");
    assert_eq!(served.get("/metrics", &[]).await.status, 200);
    assert_eq!(served.get("/metrics", &[forwarded]).await.status, 401);
    let headers = [forwarded, ("Authorization", known.as_str())];
    assert_eq!(served.get("/metrics", &headers).await.status, 200);
}

#[tokio::test]
async fn what_others_reach_tells_its_figures_to_nobody_unasked() {
    let world = world().await;
    let elsewhere = Bounds {
        clusters: vec!["elsewhere".to_owned()],
        ..Bounds::default()
    };
    let bounded = token(&world, "bounded", elsewhere).await;
    let known = token(&world, "prometheus", Bounds::default()).await;
    let settings = Settings {
        public_url: Some(PublicUrl::parse("https://ox.example").unwrap()),
        ..Settings::default()
    };
    let served = serve_as(&world, Live::new(&settings).unwrap()).await;
    // A proxy on this machine may say nothing of whom it asks for.
    assert_eq!(served.get("/metrics", &[]).await.status, 401);
    let call = json!({"name": "get_proxmox_vm_status", "arguments": {"vmid": 105}});
    let asks = [("Authorization", known.as_str())];
    served.ask("tools/call", call, &asks).await;
    let told = served.get("/metrics", &asks).await.body;
    assert!(told.contains("homelab"), "{told}");
    let asks = [("Authorization", bounded.as_str())];
    let told = served.get("/metrics", &asks).await.body;
    assert!(told.contains("oxmox_build_info"), "{told}");
    assert!(!told.contains("homelab"), "{told}");
}

#[tokio::test]
async fn a_flood_at_the_page_makes_nobody_unready() {
    let world = world().await;
    let settings = Settings {
        limits: Limits {
            burst: 2,
            requests_per_second: 1,
            ..Limits::default()
        },
        ..Settings::default()
    };
    let served = serve_as(&world, Live::new(&settings).unwrap()).await;
    while served.get("/", &[]).await.status == 200 {}
    assert_eq!(served.get("/", &[]).await.status, 429);
    for path in ["/healthz", "/readyz"] {
        assert_eq!(served.get(path, &[]).await.status, 200, "{path}");
    }
}
