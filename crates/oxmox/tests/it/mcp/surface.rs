//! What a client sees before it calls anything: lists, resources, prompts, completions.

use serde_json::{Value, json};
use sim::Fault;

use super::wire::{BOTH, Era, Person, Wire};
use super::world;

const CLUSTER: &str = "proxmox://cluster/homelab";

#[tokio::test]
async fn both_eras_list_the_same_tools() {
    let world = world().await;
    let expected = oxmox::mcp::tools_json(world.engine.registry(), &tools::rights::Unlisted::new())
        ["tools"]
        .clone();
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let listed = wire.result("tools/list", json!({})).await;
        assert_eq!(listed["tools"], expected);
    }
    // Listing asks nobody.
    assert!(world.sim.requests().is_empty());
}

#[tokio::test]
async fn only_2026_clients_are_told_how_long_a_list_keeps() {
    let world = world().await;
    let lists = [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
    ];
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        for method in lists {
            let listed = wire.result(method, json!({})).await;
            assert_eq!(listed.get("ttlMs").is_some(), era == Era::Y2026, "{method}");
            assert_eq!(
                listed.get("cacheScope").is_some(),
                era == Era::Y2026,
                "{method}"
            );
        }
        let read = wire.result("resources/read", json!({"uri": CLUSTER})).await;
        assert_eq!(read.get("ttlMs").is_some(), era == Era::Y2026);
    }
}

#[tokio::test]
async fn a_2026_client_finds_everything_in_one_message() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let found = wire.result("server/discover", json!({})).await;
    assert!(
        found["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28"))
    );
    assert!(found["instructions"].as_str().unwrap().contains("Proxmox"));
    assert!(found["ttlMs"].as_u64().unwrap() > 0);
    for able in ["tools", "resources", "prompts", "completions"] {
        assert!(found["capabilities"].get(able).is_some(), "{able}");
    }
}

#[tokio::test]
async fn old_habits_of_2025_clients_are_borne() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2025, Person::Absent).await;
    wire.result("ping", json!({})).await;
    wire.result("logging/setLevel", json!({"level": "info"}))
        .await;
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let answer = wire
        .request("logging/setLevel", json!({"level": "info"}))
        .await;
    assert_eq!(answer["error"]["code"], -32601);
}

async fn summary(wire: &mut Wire) -> Value {
    let read = wire.result("resources/read", json!({"uri": CLUSTER})).await;
    let contents = &read["contents"][0];
    assert_eq!(contents["uri"], CLUSTER);
    assert_eq!(contents["mimeType"], "application/json");
    serde_json::from_str(contents["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_cluster_is_a_resource() {
    let world = world().await;
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let listed = wire.result("resources/list", json!({})).await;
        assert_eq!(listed["resources"][0]["uri"], CLUSTER);
        let templates = wire.result("resources/templates/list", json!({})).await;
        let template = &templates["resourceTemplates"][0]["uriTemplate"];
        assert_eq!(template, "proxmox://cluster/{cluster}");
        let summary = summary(&mut wire).await;
        assert_eq!(summary["quorate"], true);
        assert_eq!(summary["nodes"]["pve1"], "online");
        assert!(summary["vms"]["running"].as_u64().unwrap() > 0);
        assert!(summary["containers"]["running"].as_u64().unwrap() > 0);
        assert!(summary.get("problems").is_none(), "{summary}");
    }
}

#[tokio::test]
async fn a_lost_node_shows_in_the_summary() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let before = summary(&mut wire).await;
    world.sim.set_online("pve3", false);
    let after = summary(&mut wire).await;
    assert_eq!(after["nodes"]["pve3"], "offline");
    let running = |summary: &Value| summary["vms"]["running"].as_u64().unwrap();
    assert!(running(&after) < running(&before));
    assert!(after["vms"]["unknown"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn what_cannot_be_read_is_said_and_the_rest_is_there() {
    let world = world().await;
    world
        .sim
        .fault(Fault::refuse(500, "no way").on("GET", "/cluster/status"));
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let summary = summary(&mut wire).await;
    assert!(summary.get("quorate").is_none());
    assert!(summary["vms"]["running"].as_u64().unwrap() > 0);
    assert_eq!(summary["nodes"]["pve1"], "online");
    let problem = summary["problems"][0].as_str().unwrap();
    assert!(problem.contains("no way"), "{problem}");
}

#[tokio::test]
async fn what_is_no_resource_is_not_found() {
    let world = world().await;
    for (era, code) in [(Era::Y2025, -32002), (Era::Y2026, -32602)] {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        for uri in [
            "proxmox://cluster/other",
            "proxmox://",
            "file:///etc/passwd",
        ] {
            let answer = wire.request("resources/read", json!({"uri": uri})).await;
            assert_eq!(answer["error"]["code"], code, "{answer}");
            assert_eq!(answer["error"]["data"]["uri"], uri);
        }
    }
}

#[tokio::test]
async fn the_health_check_is_a_prompt() {
    let world = world().await;
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let listed = wire.result("prompts/list", json!({})).await;
        assert_eq!(listed["prompts"][0]["name"], "health_check");
        let of_node = json!({"name": "health_check", "arguments": {"node": "pve2"}});
        let prompt = wire.result("prompts/get", of_node).await;
        let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("node:pve2"), "{text}");
        let unknown = wire.request("prompts/get", json!({"name": "x"})).await;
        assert_eq!(unknown["error"]["code"], -32602);
    }
}

async fn completed(wire: &mut Wire, reference: Value, name: &str, typed: &str) -> Value {
    let params = json!({"ref": reference, "argument": {"name": name, "value": typed}});
    let result = wire.result("completion/complete", params).await;
    result["completion"]["values"].clone()
}

#[tokio::test]
async fn names_are_completed_as_far_as_they_are_known() {
    let world = world().await;
    let prompt = json!({"type": "ref/prompt", "name": "health_check"});
    let drill = json!({"type": "ref/prompt", "name": "restore_drill"});
    let at = |path: &str| json!({"type": "ref/resource", "uri": format!("proxmox://cluster/{{cluster}}{path}")});
    let other = json!({"type": "ref/prompt", "name": "x"});
    let hundred: Vec<String> = (100..110).map(|vmid| vmid.to_string()).collect();
    let cases = [
        (&prompt, "node", "", json!(["pve1", "pve2", "pve3"])),
        (&prompt, "node", "pve2", json!(["pve2"])),
        (&prompt, "node", "x", json!([])),
        (&prompt, "other", "", json!([])),
        (&prompt, "tag", "prod", json!(["prod"])),
        (&drill, "vmid", "10", json!(hundred)),
        (&drill, "storage", "local", json!(["local", "local-lvm"])),
        // Of which guest is not known yet.
        (&drill, "snapshot", "", json!([])),
        (&at(""), "cluster", "home", json!(["homelab"])),
        (&at(""), "other", "", json!([])),
        (&at("/node/{node}"), "node", "pve3", json!(["pve3"])),
        (&at("/guest/{vmid}"), "vmid", "105", json!(["105"])),
        (&at("/guest/{vmid}"), "node", "", json!([])),
        (&other, "node", "", json!([])),
    ];
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        for (reference, name, typed, expected) in &cases {
            let values = completed(&mut wire, (*reference).clone(), name, typed).await;
            assert_eq!(values, *expected, "{reference} {name} {typed}");
        }
    }
    world
        .sim
        .fault(Fault::refuse(500, "no").on("GET", "/cluster/resources"));
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    assert_eq!(completed(&mut wire, prompt, "node", "").await, json!([]));
}

#[tokio::test]
async fn what_was_chosen_before_narrows_what_is_completed() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let mut params = json!({
        "ref": {"type": "ref/prompt", "name": "restore_drill"},
        "argument": {"name": "snapshot", "value": ""},
        "context": {"arguments": {"vmid": "100"}},
    });
    let result = wire.result("completion/complete", params.clone()).await;
    let values = result["completion"]["values"].as_array().unwrap();
    assert!(
        !values.is_empty() && !values.contains(&json!("current")),
        "{values:?}"
    );
    params["ref"] =
        json!({"type": "ref/resource", "uri": "proxmox://cluster/{cluster}/task/{upid}"});
    params["argument"] = json!({"name": "upid", "value": "UPID:"});
    params["context"] = json!({"arguments": {"cluster": "homelab"}});
    let result = wire.result("completion/complete", params.clone()).await;
    assert!(
        !result["completion"]["values"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    params["context"] = json!({"arguments": {"cluster": "another"}});
    let result = wire.result("completion/complete", params).await;
    assert_eq!(result["completion"]["values"], json!([]));
}

#[tokio::test]
async fn all_prompts_are_listed_and_filled_in() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let listed = wire.result("prompts/list", json!({})).await;
    let arguments = json!({"node": "pve1", "vmid": "105", "snapshot": "s1", "storage": "nas"});
    let listed = listed["prompts"].as_array().unwrap();
    assert_eq!(listed.len(), 5);
    for prompt in listed {
        let params = json!({"name": prompt["name"], "arguments": arguments});
        let filled = wire.result("prompts/get", params).await;
        let text = filled["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("pve1") || text.contains("105"), "{text}");
    }
    // Asking for them asks nobody else.
    assert!(world.sim.requests().is_empty());
}
