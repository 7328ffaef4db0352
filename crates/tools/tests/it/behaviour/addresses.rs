//! Addresses with a password in them: sent as they are, shown without it, whatever repeats them.

use serde_json::{Value, json};
use sim::Fault;
use tools::policy::{Mode, Policy};
use tools::tool::Object;

use crate::house::{Furnish, House, Nobody, Person, call, done, object};

const PASSWORD: &str = "HUNTER2PW";
const ADDRESS: &str = "https://joe:HUNTER2PW@host.example/z.iso";

fn download() -> String {
    json!({"node": "pve1", "storage": "nas", "content": "iso", "filename": "z.iso", "url": ADDRESS})
        .to_string()
}

/// All that is kept in a state directory, as bytes.
fn kept_in(dir: &std::path::Path) -> Vec<u8> {
    let files = std::fs::read_dir(dir).unwrap().flatten();
    let files = files.filter(|file| file.path().is_file());
    files
        .flat_map(|file| std::fs::read(file.path()).unwrap())
        .collect()
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}

#[tokio::test]
async fn a_download_shows_the_address_and_keeps_its_password() {
    let house = House::in_mode(Mode::Trusted).await;
    let dir = tempfile::tempdir().unwrap();
    let policy = Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    };
    let engine = house.kept_in(dir.path(), policy);
    let tool = "download_url_to_storage";
    let preview = house.preview(tool, &download()).await.unwrap();
    assert!(!preview.text.contains(PASSWORD), "{}", preview.text);
    let shown = "https://joe:<redacted>@host.example/z.iso";
    assert!(preview.text.contains(shown), "{}", preview.text);
    let person = Person::saying_yes();
    let answer = done(engine.call(call(tool, &download()), &person).await).unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let told = format!(
        "{} {:?} {:?}",
        answer.text,
        answer.data,
        person.progress.lock().unwrap()
    );
    assert!(!told.contains(PASSWORD), "{told}");
    let kept = kept_in(dir.path());
    assert!(has(&kept, tool) && !has(&kept, PASSWORD));
    let requests = house.sim.requests();
    let sent = requests
        .iter()
        .find(|it| it.path.ends_with("/download-url"));
    assert!(
        format!("{:?}", sent.unwrap()).contains(PASSWORD),
        "{sent:?}"
    );
}

/// PVE repeats what it could not reach in words of its own.
#[tokio::test]
async fn an_error_that_repeats_the_password_is_told_without_it() {
    for (tool, args) in [
        ("download_url_to_storage", download()),
        (
            "write_proxmox_api",
            json!({"method": "GET", "path": "/nodes/pve1/query-url-metadata", "params": {"url": ADDRESS}}).to_string(),
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let house = House::in_mode(Mode::Trusted).await;
        let policy = Policy {
            mode: Mode::Trusted,
            ..Policy::default()
        };
        let engine = house.kept_in(dir.path(), policy);
        let reason = format!("Can't connect to joe:{PASSWORD}@host.example (Name or service not known)");
        house.sim.fault(Fault::refuse(500, &reason).on("GET", "*/query-url-metadata"));
        house.sim.fault(Fault::refuse(500, &reason).on("POST", "*/download-url"));
        let fault = done(engine.call(call(tool, &args), &Nobody).await).unwrap_err();
        let said = format!("{fault} {fault:?}");
        assert!(said.contains("Can't connect to joe:<redacted>@host.example"), "{said}");
        assert!(!said.contains(PASSWORD), "{said}");
        assert!(!has(&kept_in(dir.path()), PASSWORD), "{tool}");
    }
}

/// Over all tools: an argument that is an address is shown without its password by whatever comes of the call.
#[tokio::test]
async fn no_tool_shows_the_password_of_an_address() {
    let house = House::furnished(Furnish::default()).await;
    let mut seen = Vec::new();
    for tool in house.engine.registry().tools() {
        let properties = tool.input()["properties"].clone();
        let is_address = |name: &str| ["url", "proxy"].iter().any(|word| name.contains(word));
        let names = properties.as_object().into_iter().flatten();
        for (name, _) in names.filter(|(name, it)| is_address(name) && it["type"] == "string") {
            let Some(example) = tool.spec().examples.first() else {
                continue;
            };
            let mut arguments: Object = object(example.args);
            arguments.insert(name.clone(), Value::from(ADDRESS));
            let arguments = Value::Object(arguments).to_string();
            let tool = tool.spec().name;
            let told = match house.preview(tool, &arguments).await {
                Ok(answer) => format!("{} {:?}", answer.text, answer.data),
                Err(fault) => fault.to_string(),
            };
            assert!(!told.contains(PASSWORD), "{tool}: {told}");
            seen.push(tool);
        }
    }
    assert!(seen.contains(&"download_url_to_storage"), "{seen:?}");
    assert!(seen.contains(&"update_cluster_options"), "{seen:?}");
}
