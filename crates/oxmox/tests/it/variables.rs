//! The variables that homelab_mcp and proxmox-mcp document, each honoured, explained or refused by the binary.

use std::time::Duration;

use futures_util::future::BoxFuture;
use oxmox::config::{Config, Environment, Overrides};
use oxmox::session::Session;
use serde_json::Value;
use sim::worlds::{ROOT_TOKEN, homelab};
use sim::{Fault, Sim};
use tools::engine::{Asked, Call, Progress, Question, Talk};
use tools::policy::Mode;
use tools::spec::{Risk, Toolset};

use crate::cli::{Machine, Ran};

/// A machine that reaches a simulator by variables.
async fn machine() -> (Sim, Machine) {
    let sim = Sim::start(homelab()).await.unwrap();
    let (user, name, secret) = ROOT_TOKEN;
    let machine = Machine::new()
        .with("PROXMOX_HOST", &sim.addr().to_string())
        .with("PROXMOX_FINGERPRINT", sim.fingerprint())
        .with("PROXMOX_USER", user)
        .with("PROXMOX_TOKEN_NAME", name)
        .with("PROXMOX_TOKEN_VALUE", secret);
    (sim, machine)
}

fn is_write(request: &sim::Logged) -> bool {
    request.method != "GET"
}

fn warnings(ran: &Ran) -> usize {
    ran.stderr
        .lines()
        .filter(|line| line.starts_with("warning"))
        .count()
}

const STATUS: [&str; 4] = ["call", "get_proxmox_vm_status", "--vmid", "105"];
const START: [&str; 6] = [
    "--mode",
    "trusted",
    "call",
    "start_proxmox_vm",
    "--vmid",
    "105",
];

#[tokio::test(flavor = "multi_thread")]
async fn read_only_wins_over_flags_and_the_file() {
    for value in ["1", "true", "yes", "TRUE"] {
        let (sim, machine) = machine().await;
        let config = machine.home_dir().join("config.toml");
        std::fs::write(&config, "mode = \"trusted\"\n").unwrap();
        let machine = machine
            .with("OXMOX_CONFIG", config.to_str().unwrap())
            .with("PROXMOX_READ_ONLY", value);
        machine.run(&START).exits(1).says("read-only");
        machine.run(&STATUS).exits(0);
        assert!(!sim.requests().iter().any(is_write), "{value}");
    }
    let (sim, other) = machine().await;
    let other = other.with("PROXMOX_READ_ONLY", "perhaps");
    other.run(&START).exits(2).says("PROXMOX_READ_ONLY takes 1");
    assert!(sim.requests().is_empty());
    let (sim, other) = machine().await;
    let other = other.with("PROXMOX_READ_ONLY", "0");
    other.run(&START).exits(0);
    assert!(sim.requests().iter().any(is_write));
}

/// A person who agrees to everything.
struct Agrees;

impl Talk for Agrees {
    fn progress(&self, _: Progress) {}

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Asked> {
        let by = "anna".to_owned();
        Box::pin(async { Asked::Yes { by, lease: true } })
    }
}

#[tokio::test]
async fn every_change_is_refused_where_the_variable_says_read_only() {
    let sim = Sim::start(homelab()).await.unwrap();
    let (user, name, secret) = ROOT_TOKEN;
    let home = tempfile::tempdir().unwrap();
    let environment = Environment::from([
        ("HOME", home.path().to_str().unwrap()),
        ("PROXMOX_HOST", &sim.addr().to_string()),
        ("PROXMOX_FINGERPRINT", sim.fingerprint()),
        ("PROXMOX_USER", user),
        ("PROXMOX_TOKEN_NAME", name),
        ("PROXMOX_TOKEN_VALUE", secret),
        ("PROXMOX_READ_ONLY", "true"),
    ]);
    let overrides = Overrides {
        mode: Some(Mode::Trusted),
        toolsets: Some(
            Toolset::ALL
                .iter()
                .map(|set| set.word().to_owned())
                .collect(),
        ),
        ..Overrides::default()
    };
    let mut config = Config::load(&overrides, &environment).unwrap();
    let session = Session::configured(&mut config, &environment).unwrap();
    let mut changes = 0;
    for tool in tools::registry::all().filter(|tool| tool.spec().risk > Risk::Read) {
        let name = tool.spec().name;
        if tool.relays() {
            continue;
        }
        for example in tool.spec().examples {
            let arguments: Value = serde_json::from_str(example.args).unwrap();
            let call = Call::new(name, arguments.as_object().cloned().unwrap(), "test");
            let fault = session.engine.call(call, &Agrees).await.unwrap_err();
            let fault = fault.to_string();
            let is_refused = fault.contains("read-only") || fault.contains("switched off");
            assert!(is_refused, "{name}: {fault}");
            changes += 1;
        }
    }
    assert!(changes > 100, "{changes}");
    assert!(!sim.requests().iter().any(is_write));
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_api_is_refused_and_not_listed_where_it_is_disabled() {
    let (sim, machine) = machine().await;
    let list = ["tools", "--toolsets", "all"];
    machine.run(&list).exits(0).prints("read_proxmox_api");
    let machine = machine.with("PROXMOX_DISABLE_RAW_API", "yes");
    let listed = machine.run(&list).exits(0);
    for (tool, words) in [
        ("read_proxmox_api", &["--path", "/version"][..]),
        (
            "write_proxmox_api",
            &["--method", "POST", "--path", "/pools"],
        ),
    ] {
        assert!(!listed.stdout.contains(tool), "{tool} is listed");
        let call = [&["call", tool], words].concat();
        machine
            .run(&call)
            .exits(1)
            .says("PROXMOX_DISABLE_RAW_API is set");
    }
    assert!(!sim.requests().iter().any(is_write));
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_routing_is_the_toolset_lean_and_top_k_the_number_of_tools_found() {
    let (_sim, machine) = machine().await;
    let machine = machine.with("TOOL_ROUTING", "1").with("ROUTER_TOP_K", "2");
    let listed = machine.run(&["tools"]).exits(0);
    let listed = listed.prints("call_proxmox_tool");
    assert!(!listed.stdout.contains("clone_proxmox_vm"), "{listed:?}");
    // A flag says more.
    let core = machine.run(&["tools", "--toolsets", "core"]).exits(0);
    core.prints("clone_proxmox_vm");
    let search = [
        "call",
        "search_proxmox_tools",
        "--query",
        "snapshot",
        "--json",
    ];
    let found = machine.run(&search).exits(0).json();
    assert_eq!(found["tools"].as_array().unwrap().len(), 2, "{found}");
    let wrong = Machine::new().with("ROUTER_TOP_K", "many");
    wrong.run(&["tools"]).exits(2).says("ROUTER_TOP_K takes");
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_without_effect_give_one_warning() {
    for (name, value, says) in [
        (
            "FASTEMBED_CACHE_DIR",
            "/tmp/x",
            "FASTEMBED_CACHE_DIR has no effect",
        ),
        (
            "PROXMOX_VERIFY_SSL",
            "0",
            "never turns the check of certificates off",
        ),
        (
            "PROXMOX_SURPRISE",
            "1",
            "oxmox does not read PROXMOX_SURPRISE",
        ),
        (
            "PROXMOX_CA_CERT",
            "ca.pem",
            "PROXMOX_CA_FILE names a CA certificate",
        ),
    ] {
        let (_sim, machine) = machine().await;
        assert_eq!(warnings(&machine.run(&STATUS).exits(0)), 0);
        let ran = machine.with(name, value).run(&STATUS).exits(0).says(says);
        assert_eq!(warnings(&ran), 1, "{ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_checked_whatever_verify_ssl_says() {
    let sim = Sim::start(homelab()).await.unwrap();
    let (user, name, secret) = ROOT_TOKEN;
    let machine = Machine::new()
        .with("PROXMOX_HOST", &sim.addr().to_string())
        .with("PROXMOX_API_TOKEN", &format!("{user}!{name}={secret}"))
        .with("PROXMOX_VERIFY_SSL", "0");
    machine.run(&STATUS).exits(1).says("certificate");
    assert!(sim.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn token_may_come_in_one_variable() {
    let sim = Sim::start(homelab()).await.unwrap();
    let (user, name, secret) = ROOT_TOKEN;
    let machine = || {
        Machine::new()
            .with("PROXMOX_HOST", &sim.addr().to_string())
            .with("PROXMOX_FINGERPRINT", sim.fingerprint())
    };
    let whole = format!("{user}!{name}={secret}");
    let ran = machine().with("PROXMOX_API_TOKEN", &whole).run(&STATUS);
    assert_eq!(warnings(&ran.exits(0)), 0);
    for wrong in [
        secret.to_owned(),
        format!("{user}!{name}"),
        format!("{name}={secret}"),
    ] {
        let ran = machine().with("PROXMOX_API_TOKEN", &wrong).run(&STATUS);
        assert_ne!(ran.code, 0);
        assert!(!ran.stderr.contains(secret), "{ran:?}");
    }
    let both = machine()
        .with("PROXMOX_API_TOKEN", &whole)
        .with("PROXMOX_TOKEN_NAME", name);
    both.run(&STATUS).exits(2).says("are both set");
}

#[tokio::test(flavor = "multi_thread")]
async fn timeout_of_a_request_is_honoured() {
    let (sim, machine) = machine().await;
    sim.fault(Fault::delay(Duration::from_hours(1)));
    let machine = machine.with("PROXMOX_TIMEOUT", "1");
    machine.run(&STATUS).exits(1).says("1s");
    let wrong = machine.with("PROXMOX_TIMEOUT", "soon");
    wrong
        .run(&STATUS)
        .exits(2)
        .says("PROXMOX_TIMEOUT takes seconds");
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_of_another_http_server_stop_a_server() {
    for (name, value) in [
        ("MCP_HTTP_ENABLED", "true"),
        ("MCP_HTTP_HOST", "0.0.0.0"),
        ("MCP_HTTP_PORT", "8080"),
        ("MCP_API_KEY", "hunter2"),
        ("MCP_AUTH_ENABLED", "1"),
    ] {
        let (sim, machine) = machine().await;
        let machine = machine.with(name, value);
        for serve in [&["serve"][..], &[], &["serve", "--http", "127.0.0.1:0"]] {
            let ran = machine.run(serve).exits(2);
            let ran = ran.says(&format!("oxmox does not read {name}"));
            let ran = ran.says("`oxmox serve --http 127.0.0.1:8765`");
            let ran = ran.says("`oxmox token add NAME`");
            assert!(!ran.stderr.contains("hunter2"), "{ran:?}");
        }
        assert!(sim.requests().is_empty());
        // What corrects it works.
        machine.run(&["token", "add", "ci"]).exits(0);
    }
    let (_sim, machine) = machine().await;
    let machine = machine
        .with("MCP_HTTP_ENABLED", "false")
        .with("MCP_AUTH_ENABLED", "0");
    machine.run(&["serve"]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_that_belong_to_other_programs_are_not_read() {
    let (_sim, mut machine) = machine().await;
    for (name, value) in [
        ("DATABASE_TYPE", "postgresql"),
        ("SQLITE_PATH", "/nowhere/x.db"),
        ("POSTGRES_HOST", "db.invalid"),
        ("POSTGRES_PORT", "x"),
        ("POSTGRES_DB", "x"),
        ("POSTGRES_USER", "x"),
        ("POSTGRES_PASSWORD", "x"),
        ("ENABLE_POSTGRESQL", "true"),
        ("SSH_TIMEOUT", "x"),
        ("SSH_RETRIES", "x"),
        ("DISCOVERY_BATCH_SIZE", "x"),
        ("DISCOVERY_TIMEOUT", "x"),
        ("MCP_DEBUG", "x"),
        ("MCP_LOG_LEVEL", "x"),
        ("ENABLE_RESOURCE_POOLS", "x"),
    ] {
        machine = machine.with(name, value);
    }
    assert_eq!(warnings(&machine.run(&STATUS).exits(0)), 0);
    machine.run(&["serve"]).exits(0);
}
