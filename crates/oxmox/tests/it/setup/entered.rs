//! What setup writes for clients, and what the client that is started by it finds.

use serde_json::{Value, json};
use sim::worlds::homelab;

use super::Place;
use crate::cli::Machine;

const WORDS: &[&str] = &[
    "--level=read",
    "--name=home",
    "--secret-store=file",
    "--client=cursor",
    "--yes",
];

fn arguments(place: &Place) -> Value {
    let entry: Value = serde_json::from_str(&place.text(".cursor/mcp.json")).unwrap();
    entry["mcpServers"]["oxmox"]["args"].clone()
}

#[tokio::test]
async fn a_client_starts_oxmox_as_it_was_set_up() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("mine.toml");
    let config = config.to_str().unwrap();
    let place = Place::with(homelab(), Machine::new().with("OXMOX_CONFIG", config)).await;
    let words = [WORDS, &["--mode=read-only", "--toolsets=core"]].concat();
    place.setup(&words).await.exits(0);
    let state = place.machine.state_dir();
    let expected = json!([
        "--config",
        config,
        "--state-dir",
        state,
        "--mode",
        "read-only",
        "--toolsets",
        "core"
    ]);
    assert_eq!(arguments(&place), expected);
}

#[tokio::test]
async fn the_tools_of_a_higher_level_are_there_at_once() {
    let place = Place::new().await;
    place.setup(WORDS).await.exits(0);
    let listed = async || place.run(&["tools"]).await.exits(0).stdout;
    assert!(!listed().await.contains("start_proxmox_vm"));
    let operate = [&["--level=operate"], &WORDS[1..]].concat();
    place.setup(&operate).await.exits(0);
    assert!(listed().await.contains("start_proxmox_vm"));
}
