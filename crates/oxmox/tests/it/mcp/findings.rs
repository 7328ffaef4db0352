//! The Findings part of the page: what the server answers, and what the page's script reads of it.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::Duration;

use serde_json::{Value, json};
use tools::caller::Bounds;
use tools::context::Cluster;
use tools::engine::{Engine, State};
use tools::policy::Policy;

use super::browser::{Browser, served};
use super::{World, settings, setup, world};

const PATH: &str = "/api/look/list_proxmox_findings";

/// The page with a person signed in who may see everything.
async fn owner(world: &World) -> Browser {
    let page = served(world, false).await;
    page.person(world, "owner", Bounds::default()).await
}

/// The gaps that the page is told of, as one text.
async fn unchecked(person: &Browser) -> String {
    let answer = person.post(PATH, json!({"limit": 20})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let gaps = answer.body["data"]["unchecked"].as_array();
    let gaps = gaps.unwrap_or_else(|| panic!("{}", answer.body));
    let text = |gap: &Value| gap.as_str().unwrap().to_owned();
    gaps.iter().map(text).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn checks_of_an_offline_node_are_listed_as_unchecked() {
    let world = world().await;
    let owner = owner(&world).await;
    assert_eq!(unchecked(&owner).await, "");
    world.sim.set_online("pve2", false);
    let gaps = unchecked(&owner).await;
    for code in ["update_pending", "certificate_expiring"] {
        let is_told = |line: &str| line.starts_with(code) && line.ends_with("offline: pve2");
        assert!(gaps.lines().any(is_told), "{code}: {gaps}");
    }
}

#[tokio::test]
async fn all_checks_of_a_silent_cluster_are_listed_as_unchecked() {
    let world = world().await;
    world.sim.set_online("pve2", false);
    // It accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = settings(&world.sim);
    let mut there = here.clone();
    there.hosts = vec![silent.local_addr().unwrap().to_string().parse().unwrap()];
    let (alpha, beta) = (pve::connect(here).unwrap(), pve::connect(there).unwrap());
    let patience = Duration::from_millis(50);
    let clusters = vec![
        (Cluster::new("alpha", alpha.0), alpha.1),
        (Cluster::new("beta", beta.0).patient(patience), beta.1),
    ];
    let engine = Engine::new(clusters, setup(State::Memory, Policy::default()));
    let World { sim, .. } = world;
    let gaps = unchecked(&owner(&World { sim, engine }).await).await;
    let of_beta = |line: &str| line.starts_with("all checks: ") && line.contains("cluster beta");
    assert!(gaps.lines().any(of_beta), "{gaps}");
    assert!(gaps.contains("offline: pve2 (cluster alpha)"), "{gaps}");
}

/// A field that the script reads and the tool does not answer shows nothing, and nobody notices.
#[tokio::test]
async fn the_script_reads_the_fields_that_the_tool_answers() {
    let world = world().await;
    let page = served(&world, false).await;
    let script = page.get("/page/findings.js").await;
    let script = script.body.as_str().unwrap();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fields = script.split("data.").skip(1);
    let read: BTreeSet<_> = fields
        .map(|rest| rest.split(|c| !is_letter(c)).next().unwrap())
        .collect();
    assert_eq!(read, BTreeSet::from(["codes", "unchecked"]));
    let registry = world.engine.registry();
    let tool = registry.find("list_proxmox_findings").unwrap();
    let output = &registry.describe(tool).output;
    let required = output["required"].as_array().unwrap();
    for field in read {
        assert!(required.iter().any(|it| it == field), "{field}: {output:?}");
    }
}
