//! The roles that the privilege sweep of `crates/tools` is run with are those that setup makes.

use std::collections::{BTreeMap, BTreeSet};

use super::Place;
use crate::cli::Machine;

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tools/tests/it/sweep/made_roles.json"
);

/// Makes it, and reads it back from the cluster.
async fn made(version: &str, toolsets: &str, level: &str) -> (String, BTreeSet<String>) {
    let mut world = sim::worlds::homelab();
    world.version = version.to_owned();
    let place = Place::with(world, Machine::new()).await;
    let words = ["--toolsets", toolsets, "--level", level, "--name=home"];
    let more = ["--secret-store=file", "--yes"];
    place.setup(&[&words[..], &more].concat()).await.exits(0);
    let name = format!("oxmox-{level}");
    place.sim.world(|world| {
        let given = world.access.acl.iter();
        let given: Vec<_> = given.filter(|rule| rule.role == name).collect();
        assert!(given.iter().all(|rule| rule.path == "/") && given.len() == 2);
        let role = &world.access.roles[&name];
        (name, role.privs.iter().cloned().collect())
    })
}

#[tokio::test]
async fn the_sweep_has_the_roles_that_setup_makes() {
    let mut roles = BTreeMap::new();
    for version in ["8.4.1", "9.1.8"] {
        for toolsets in ["core", "all"] {
            let mut levels = BTreeMap::new();
            for level in ["read", "operate", "full"] {
                levels.extend([made(version, toolsets, level).await]);
            }
            let sets: &mut BTreeMap<_, _> = roles.entry(version).or_default();
            sets.insert(toolsets, levels);
        }
    }
    let text = serde_json::to_string_pretty(&roles).unwrap() + "\n";
    if std::env::var_os("INSTA_UPDATE").is_some_and(|how| how == "always") {
        std::fs::write(FILE, &text).unwrap();
    }
    let known = std::fs::read_to_string(FILE).unwrap_or_default();
    assert_eq!(
        known, text,
        "run it with INSTA_UPDATE=always, and the sweep of crates/tools after it"
    );
}
