//! What setup writes for clients, and what the client that is started by it finds.

use serde_json::{Value, json};
use sim::worlds::{ROOT_PASSWORD, ROOT_TOKEN, homelab};

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

/// It is a person's own act, and what it enters can only look.
#[tokio::test]
async fn read_only_binds_the_server_and_not_setup() {
    let place = Place::new().await;
    let words = [WORDS, &["--mode=read-only"]].concat();
    let ran = place.setup(&words).await.exits(0);
    ran.says("note: the mode read-only binds whoever acts through oxmox");
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

/// What another server is told stands beside ours, and is nobody's business here.
#[tokio::test]
async fn the_secrets_of_other_servers_are_never_told() {
    const CANARY: &str = "canary-of-another-server";
    let place = Place::new().await;
    let other = format!("\"other\": {{ \"env\": {{ \"K\": \"{CANARY}\" }} }}");
    for (file, key) in [
        (".config/Claude/claude_desktop_config.json", "mcpServers"),
        (".claude.json", "mcpServers"),
        (".cursor/mcp.json", "mcpServers"),
        (".config/Code/User/mcp.json", "servers"),
        (".config/zed/settings.json", "context_servers"),
    ] {
        let text = format!("{{\n  \"{key}\": {{\n    {other}\n  }},\n  \"x\": \"{CANARY}\"\n}}\n");
        place.write(file, &text);
    }
    let clients = "--client=claude-desktop,claude-code,cursor,vscode,zed";
    let words = [
        &[
            "--level=read",
            "--name=home",
            "--secret-store=file",
            "--yes",
        ],
        &[clients][..],
    ]
    .concat();
    let shown = place.setup(&[&words[..], &["--dry-run"]].concat()).await;
    let shown = shown.exits(0).prints("enter oxmox in Zed");
    let done = place.setup(&words).await.exits(0);
    let journal = place.text("state/setup/home.json");
    assert!(
        journal.contains("zed") && !journal.contains(CANARY),
        "{journal}"
    );
    let undone = place
        .undo()
        .await
        .exits(0)
        .says(".config/zed/settings.json");
    for ran in [shown, done, undone] {
        assert!(
            !ran.stdout.contains(CANARY) && !ran.stderr.contains(CANARY),
            "{ran:#?}"
        );
    }
    assert!(
        place.text(".cursor/mcp.json").contains(CANARY),
        "it is still there"
    );
}

/// What is written down holds wherever oxmox is started later.
#[tokio::test]
async fn a_configuration_that_was_named_from_where_somebody_stood() {
    let place = Place::new().await;
    let home = place.home("").canonicalize().unwrap();
    let setup = || {
        let mut words: Vec<String> = ["--config", "./mine/x.toml"].map(str::to_owned).into();
        words.extend(place.address());
        words.extend(["--user=root@pam", "--password-stdin"].map(str::to_owned));
        words.extend(WORDS.iter().map(|word| (*word).to_owned()));
        words
    };
    place.run_in("", setup(), ROOT_PASSWORD).await.exits(0);
    let args = arguments(&place);
    let config = std::path::Path::new(args[1].as_str().unwrap());
    assert!(config.is_absolute(), "{args}");
    assert_eq!(config.canonicalize().unwrap(), home.join("mine/x.toml"));
    // As the client starts it, from somewhere else.
    let as_client = |more: &[&str]| -> Vec<String> {
        let args = args.as_array().unwrap().iter();
        let args = args.map(|word| word.as_str().unwrap().to_owned());
        let more = more.iter().map(|word| (*word).to_owned());
        args.chain(more).collect()
    };
    let listing = as_client(&["call", "list_proxmox_resources"]);
    place
        .run_in("elsewhere", listing.clone(), "")
        .await
        .exits(0);
    // A second run names what the first one made.
    let again = place.run_in("", setup(), ROOT_PASSWORD).await.exits(0);
    again.says("nothing to do");
    place.write(
        "mine/x.toml",
        &place
            .text("mine/x.toml")
            .replace(&format!("{}/", home.join("mine").display()), ""),
    );
    let relative = place.text("mine/x.toml");
    assert!(
        relative.contains("token_secret_file = \"secrets/home\""),
        "{relative}"
    );
    place.run_in("", setup(), ROOT_PASSWORD).await.exits(0);
    place.run_in("elsewhere", listing, "").await.exits(0);
}

/// What it says to type is typed as it stands, from somewhere else.
#[tokio::test]
async fn a_command_that_is_shown_finds_the_same_files() {
    let place = Place::new().await;
    let mut words: Vec<String> = ["--config=mine/x.toml", "--state-dir=mine/state"]
        .map(str::to_owned)
        .into();
    words.extend(place.address());
    words.extend(["--user=root@pam", "--password-stdin"].map(str::to_owned));
    words.extend(WORDS.iter().map(|word| (*word).to_owned()));
    let ran = place.run_in("", words, ROOT_PASSWORD).await.exits(0);
    let shown = ran.stderr.split("; `oxmox ").nth(1);
    let shown = shown.and_then(|rest| rest.split_once("` takes all of this back"));
    let (shown, _) = shown.unwrap_or_else(|| panic!("{ran:#?}"));
    let typed = shown.split(' ').chain(["--yes", "--password-stdin"]);
    let typed = typed.map(str::to_owned).collect();
    place
        .run_in("elsewhere", typed, ROOT_PASSWORD)
        .await
        .exits(0);
    assert_eq!(place.ours(), [""; 0]);
    assert!(!place.home("mine/x.toml").exists());
}

#[tokio::test]
async fn a_cluster_that_was_added_from_where_somebody_stood() {
    let place = Place::new().await;
    let (user, name, secret) = ROOT_TOKEN;
    let (token, pinned) = (
        format!("{user}!{name}"),
        format!("{}={}", place.sim.addr(), place.sim.fingerprint()),
    );
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let add = [
        "--config",
        "mine/x.toml",
        "cluster",
        "add",
        "lab",
        "--host",
        &pinned,
        "--token",
        &token,
        "--secret-store",
        "file",
    ];
    place.run_in("", words(&add), secret).await.exits(0);
    let config = place.home("mine/x.toml");
    let test = [
        "--config",
        config.to_str().unwrap(),
        "secret",
        "test",
        "lab",
    ];
    place.run_in("elsewhere", words(&test), "").await.exits(0);
    let test = ["--config", "mine/x.toml", "secret", "test", "lab"];
    place.run_in("", words(&test), "").await.exits(0);
}
