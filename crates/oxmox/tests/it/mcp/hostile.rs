//! What a model reads before it calls anything, in a world full of texts that want to be more than data.

#[expect(dead_code, reason = "the sweep over all tools uses more of them")]
#[path = "../../../../tools/tests/it/sweep/hostile/corpus.rs"]
mod corpus;
#[expect(dead_code, reason = "the sweep over all tools uses more of them")]
#[path = "../../../../tools/tests/it/sweep/hostile/marks.rs"]
mod marks;
#[path = "../../../../tools/tests/it/sweep/hostile/places.rs"]
mod places;

use serde_json::{Value, json};
use sim::{Fault, Retold};

use super::wire::{BOTH, Era, Person, Wire};
use super::{World, world};

/// A world in which guests and people wrote these texts wherever they can.
async fn annotated() -> World {
    let world = world().await;
    places::fill(&world.sim, &corpus::singly());
    world
}

/// One in which whatever has a name or a state has such a one. PVE takes none of them: only a server that is none tells them.
async fn renamed() -> World {
    let world = world().await;
    let fields = [
        "node", "storage", "name", "upid", "id", "tags", "pool", "status",
    ];
    world.sim.fault(Fault::retell(Retold {
        fields: fields.map(str::to_owned).to_vec(),
        texts: corpus::singly(),
    }));
    world
}

/// All that is told without a call: opening, lists, and prompts that are filled in.
async fn told(world: &World, era: Era) -> Vec<(String, Value)> {
    let mut wire = Wire::new(world, era, Person::Absent).await;
    let mut asked = vec![
        ("tools/list".to_owned(), json!({})),
        ("resources/list".to_owned(), json!({})),
        ("resources/templates/list".to_owned(), json!({})),
        ("prompts/list".to_owned(), json!({})),
    ];
    if era == Era::Y2026 {
        asked.push(("server/discover".to_owned(), json!({})));
    }
    let listed = wire.result("prompts/list", json!({})).await;
    let arguments = json!({"node": "pve1", "vmid": "105", "snapshot": "s1", "storage": "nas"});
    for prompt in listed["prompts"].as_array().unwrap() {
        let params = json!({"name": prompt["name"], "arguments": arguments});
        asked.push(("prompts/get".to_owned(), params));
    }
    let mut told = Vec::new();
    for (method, params) in asked {
        let result = wire.result(&method, params.clone()).await;
        told.push((format!("{method} {params}"), result));
    }
    told
}

#[tokio::test]
async fn nothing_of_what_others_wrote_is_told_before_a_call() {
    let (plain, annotated, renamed) = (world().await, annotated().await, renamed().await);
    for era in BOTH {
        let expected = told(&plain, era).await;
        assert!(expected.len() >= 9, "{}", expected.len());
        for world in [&annotated, &renamed] {
            assert_eq!(told(world, era).await, expected);
        }
    }
}

/// A filled in prompt takes names, and none of the texts passes for one.
#[tokio::test]
async fn no_text_is_filled_into_a_prompt() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let mut refused = 0;
    for text in corpus::singly() {
        for (prompt, argument) in [
            ("health_check", "node"),
            ("health_check", "tag"),
            ("slow_guest", "vmid"),
            ("restore_drill", "storage"),
            ("restore_drill", "snapshot"),
        ] {
            let mut arguments = json!({"vmid": "105"});
            arguments[argument] = json!(text);
            let params = json!({"name": prompt, "arguments": arguments});
            let answer = wire.request("prompts/get", params).await;
            let said = answer["error"]["message"].as_str().unwrap_or_default();
            assert_eq!(
                said,
                format!("{argument}: this is no {argument}"),
                "{text:?}"
            );
            refused += 1;
        }
    }
    assert_eq!(refused, 5 * corpus::CORPUS.len());
}

/// What may be offered for each argument, with what was chosen before.
const COMPLETED: &[(&str, &str)] = &[
    ("health_check", "node"),
    ("health_check", "tag"),
    ("restore_drill", "vmid"),
    ("restore_drill", "storage"),
    ("restore_drill", "snapshot"),
    ("proxmox://cluster/{cluster}", "cluster"),
    ("proxmox://cluster/{cluster}/node/{node}", "node"),
    ("proxmox://cluster/{cluster}/guest/{vmid}", "vmid"),
    ("proxmox://cluster/{cluster}/task/{upid}", "upid"),
];

async fn offered(wire: &mut Wire, (of, argument): (&str, &str)) -> Vec<String> {
    let reference = if of.contains(':') {
        json!({"type": "ref/resource", "uri": of})
    } else {
        json!({"type": "ref/prompt", "name": of})
    };
    let params = json!({
        "ref": reference, "argument": {"name": argument, "value": ""},
        "context": {"arguments": {"vmid": "100"}},
    });
    let result = wire.result("completion/complete", params).await;
    let values = result["completion"]["values"].as_array().unwrap();
    let values = values
        .iter()
        .map(|value| value.as_str().unwrap().to_owned());
    values.collect()
}

/// What PVE lets names and ids of tasks consist of. A tag may still be any word, and no more than a word.
fn is_name(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_+.:@!".contains(c))
}

#[tokio::test]
async fn only_names_are_offered_as_completions() {
    for (world, fewest) in [
        (world().await, COMPLETED.len()),
        // Tags are texts of the corpus there; words of these may pass.
        (annotated().await, COMPLETED.len() - 1),
        // Guests keep their numbers, and the cluster the name that its configuration gives it.
        (renamed().await, 3),
    ] {
        let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
        let mut some = 0;
        for argument in COMPLETED {
            let offered = offered(&mut wire, *argument).await;
            some += usize::from(!offered.is_empty());
            for name in &offered {
                assert!(is_name(name), "{argument:?}: {name:?}");
            }
        }
        assert!(some >= fewest, "{some} of {fewest} are completed");
    }
}

/// What is at an address, in which no text is anything but a value.
async fn read(wire: &mut Wire, path: &str) -> Value {
    let uri = format!("proxmox://cluster/homelab{path}");
    let read = wire.result("resources/read", json!({"uri": uri})).await;
    let text = read["contents"][0]["text"].as_str().unwrap();
    let data: Value = serde_json::from_str(text).unwrap();
    let wrong = marks::of_data(&data);
    assert!(wrong.is_empty(), "{uri}: {wrong:?}");
    data
}

/// A client may hand resources to its model before the first call.
#[tokio::test]
async fn resources_tell_texts_as_data() {
    let world = annotated().await;
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let guests: Vec<u32> = world
        .sim
        .world(|world| world.guests.keys().copied().collect());
    let mut paths: Vec<String> = guests.iter().map(|vmid| format!("/guest/{vmid}")).collect();
    paths.extend(["", "/node/pve1", "/node/pve2", "/node/pve3"].map(str::to_owned));
    let mut texts = std::collections::BTreeSet::new();
    for path in &paths {
        let data = read(&mut wire, path).await;
        texts.extend(marks::told(&data));
    }
    eprintln!("{} resources tell {} texts", paths.len(), texts.len());
    assert!(texts.len() > 20, "{texts:?}");
    // Where names are none, there is nothing but counts.
    let world = renamed().await;
    let mut wire = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let summary = read(&mut wire, "").await;
    assert!(summary.get("problems").is_none(), "{summary}");
    assert_eq!(summary["nodes"], json!({}));
    assert!(summary["vms"]["unknown"].as_u64().unwrap() > 5, "{summary}");
}
