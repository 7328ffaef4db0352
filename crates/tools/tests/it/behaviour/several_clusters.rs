//! Several clusters of which one hangs: lists say who is missing and why, and nobody waits for long.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tools::context::{Cluster, Defaults};
use tools::engine::Engine;
use tools::policy::{Mode, Policy};

use crate::house::{House, Made, Nobody, call, done};

/// The house's cluster, and one beside it that takes connections and never says a word.
fn with_silent(house: &House) -> (TcpListener, Arc<Engine>) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut settings = house.settings();
    settings.hosts = vec![silent.local_addr().unwrap().to_string().parse().unwrap()];
    // The connection alone would be waited for much longer.
    let patience = Duration::from_millis(50);
    let clusters: Vec<(_, Made)> = vec![
        (
            house.settings(),
            Box::new(|pve| Cluster::new("homelab", pve)),
        ),
        (
            settings,
            Box::new(move |pve| Cluster::new("branch", pve).patient(patience)),
        ),
    ];
    (silent, house.on(clusters, Policy::default()))
}

/// The house's cluster alone.
fn alone(house: &House, defaults: Defaults, policy: Policy) -> Arc<Engine> {
    let cluster = move |pve| Cluster::new("homelab", pve).preferring(defaults.clone());
    house.on(vec![(house.settings(), Box::new(cluster))], policy)
}

#[tokio::test]
async fn a_list_goes_on_without_the_one_that_hangs() {
    let house = House::new().await;
    let (_silent, engine) = with_silent(&house);
    let list = call("list_proxmox_resources", "{}");
    let answer = done(engine.call(list, &Nobody).await).unwrap();
    assert!(answer.data["total"].as_u64().unwrap() > 0);
    let notes = answer.data["notes"].to_string();
    assert!(
        notes.contains("cluster branch is left out") && notes.contains("did not come within 50ms"),
        "{notes}"
    );
    let digest = done(engine.call(call("get_proxmox_digest", "{}"), &Nobody).await).unwrap();
    assert!(digest.text.contains("cluster branch"), "{}", digest.text);
}

#[tokio::test]
async fn a_change_names_the_one_that_hangs_and_how_to_go_on() {
    let house = House::new().await;
    let (_silent, engine) = with_silent(&house);
    let start = |args: &str| engine.call(call("start_proxmox_vm", args), &Nobody);
    let fault = done(start(r#"{"vmid": 105}"#).await).unwrap_err();
    assert!(
        fault.message.contains("cluster branch: no answer from"),
        "{fault}"
    );
    assert!(
        fault.to_string().contains("say which cluster it is for"),
        "{fault}"
    );
    done(start(r#"{"vmid": 105, "cluster": "homelab"}"#).await).unwrap();
}

#[tokio::test]
async fn a_cluster_can_be_read_only_beside_another_that_is_not() {
    let house = House::new().await;
    let policy = |modes: &[(&str, Mode)]| Policy {
        modes: modes
            .iter()
            .map(|(name, mode)| ((*name).to_owned(), *mode))
            .collect(),
        ..Policy::default()
    };
    let engine = |modes: &[(&str, Mode)]| alone(&house, Defaults::default(), policy(modes));
    let plan = || call("start_proxmox_vm", r#"{"vmid": 105}"#);
    let looks = engine(&[("homelab", Mode::ReadOnly)]);
    // No cluster is left that they could change.
    assert!(
        looks
            .registry()
            .tools()
            .all(|tool| tool.spec().name != "start_proxmox_vm")
    );
    let both = engine(&[("homelab", Mode::ReadOnly), ("branch", Mode::Ask)]);
    let fault = done(both.call(plan(), &Nobody).await).unwrap_err();
    assert!(
        fault.message.contains("homelab is configured as read-only"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
    let trusting = engine(&[("homelab", Mode::Trusted)]);
    done(trusting.call(plan(), &Nobody).await).unwrap();
}

#[tokio::test]
async fn new_guests_go_where_the_configuration_says() {
    let house = House::new().await;
    let defaults = Defaults {
        node: Some("pve2".parse().unwrap()),
        storage: Some("nas".parse().unwrap()),
    };
    let engine = alone(&house, defaults, Policy::default());
    let preview = |arguments: serde_json::Value| {
        let args = json!({"tool": "create_proxmox_vm", "arguments": arguments}).to_string();
        engine.call(call("preview_proxmox_change", &args), &Nobody)
    };
    let answer = done(preview(json!({"name": "fresh"})).await).unwrap();
    assert!(
        answer
            .text
            .contains("on pve2, which the configuration names"),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("nas:"), "{}", answer.text);
    let named = json!({"name": "fresh", "node": "pve1", "storage": "local-lvm"});
    let answer = done(preview(named).await).unwrap();
    assert!(
        answer.text.contains("local-lvm:") && !answer.text.contains("pve2"),
        "{}",
        answer.text
    );
}
