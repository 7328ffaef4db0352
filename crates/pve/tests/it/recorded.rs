//! The types against answers recorded from a real PVE, where that reference is present.

use std::path::PathBuf;

use pve::{GuestConfig, GuestKind, Identity, Request, Resource, Upid, connect};
use serde_json::Value;

use super::server::{Act, Server, raw, token_settings};

/// The recorded exchanges, or nothing with a word about it.
fn exchanges() -> Vec<Value> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("OXMOX_REFERENCE").map_or(root, PathBuf::from);
    let path = root.join("pve-real/exchanges.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: no recorded exchanges at {}", path.display());
        return Vec::new();
    };
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn text<'a>(exchange: &'a Value, key: &str) -> &'a str {
    exchange[key].as_str().unwrap_or_default()
}

fn good_reads(end_of_path: &str) -> Vec<(String, Value)> {
    exchanges()
        .into_iter()
        .filter(|e| e["status"] == 200 && text(e, "method") == "GET")
        .filter(|e| e["prefix"].is_null() && text(e, "path").ends_with(end_of_path))
        .map(|e| (text(&e, "path").to_owned(), e["body"]["data"].clone()))
        .collect()
}

#[test]
fn every_upid_is_read_and_round_trips() {
    let upids = exchanges().into_iter().filter_map(|e| {
        let upid = e["body"]["data"].as_str()?.to_owned();
        (upid.starts_with("UPID:") && e["truncated"].is_null()).then_some(upid)
    });
    for text in upids {
        let upid: Upid = text.parse().unwrap();
        assert_eq!(upid.to_string(), text);
    }
}

#[test]
fn every_resource_is_read() {
    for (_, data) in good_reads("/cluster/resources") {
        let Value::Array(items) = data else { continue };
        for item in items {
            let resource: Resource = serde_json::from_value(item.clone()).unwrap();
            assert_eq!(resource.id.as_deref(), item["id"].as_str());
            assert_eq!(
                resource.maxmem.is_some(),
                !item["maxmem"].is_null(),
                "{item}"
            );
            if resource.kind.guest_kind().is_some() {
                assert!(pve::Guest::from_resource(&resource).is_some(), "{item}");
            }
        }
    }
}

#[test]
fn every_configuration_has_an_identity() {
    for (path, data) in good_reads("/config") {
        let kind = match path.split('/').nth(3) {
            Some("qemu") if path.split('/').count() == 6 => GuestKind::Qemu,
            Some("lxc") if path.split('/').count() == 6 => GuestKind::Lxc,
            _ => continue,
        };
        let config: GuestConfig = serde_json::from_value(data).unwrap();
        let identity = Identity::of(kind, &config);
        match &identity {
            Identity::Vm { uuid, ctime, .. } => {
                assert!(uuid.is_some() && ctime.is_some(), "{path}");
            }
            Identity::Container { rootfs, .. } => assert!(rootfs.is_some(), "{path}"),
        }
        assert!(config.digest().is_some(), "{path}");
        let again: Identity =
            serde_json::from_value(serde_json::to_value(&identity).unwrap()).unwrap();
        assert_eq!(identity.difference(&again), None);
    }
}

/// Replays each recorded error and looks for PVE's words in what the caller gets.
#[tokio::test]
async fn every_refusal_reaches_the_caller_in_pves_words() {
    let is_refusal = |e: &Value| {
        let status = e["status"].as_u64().unwrap_or_default();
        let is_other = e["body"].is_object() || e["body"] == "";
        (400..595).contains(&status) && status != 401 && e["prefix"].is_null() && is_other
    };
    let refusals: Vec<Value> = exchanges().into_iter().filter(is_refusal).collect();
    let script = refusals.clone();
    let server = Server::start(move |seen| {
        let e = &script[seen.number];
        let body = if e["body"].is_object() {
            e["body"].to_string()
        } else {
            String::new()
        };
        let status = u16::try_from(e["status"].as_u64().unwrap()).unwrap();
        Act::Answer(raw(status, text(e, "reason").as_bytes(), body.as_bytes()))
    })
    .await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    for e in &refusals {
        let error = reader.get::<Value>(Request::get("/x")).await.unwrap_err();
        assert_eq!(
            error.status().map(u64::from),
            e["status"].as_u64(),
            "{}",
            e["id"]
        );
        let said = flat(&error.pve_text().unwrap_or_default());
        assert!(
            said.contains(&flat(text(e, "reason"))),
            "{}: {said}",
            e["id"]
        );
        for (parameter, problem) in e["body"]["errors"].as_object().into_iter().flatten() {
            let problem = flat(problem.as_str().unwrap());
            assert!(
                said.contains(&format!("{parameter}: {problem}")),
                "{}: {said}",
                e["id"]
            );
        }
        let names_privilege = text(e, "reason").starts_with("Permission check failed (/");
        assert_eq!(
            error.missing_privilege().is_some(),
            names_privilege,
            "{}: {said}",
            e["id"]
        );
    }
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
