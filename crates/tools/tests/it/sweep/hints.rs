//! What stands in the way is told with what to send instead, and that can be sent: no other name of a tool speaks of an
//! argument that it does not take, unless it says which tool does.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use tools::policy::Mode;
use tools::registry;
use tools::tool::{Ran, Tool};

use crate::house::{House, object};

/// The names of a tool's arguments.
fn arguments(tool: &dyn Tool) -> BTreeSet<String> {
    let input = tool.input();
    let properties = input["properties"].as_object().unwrap();
    properties.keys().cloned().collect()
}

/// The words that a hint tells to send or to leave out.
fn spoken_of(hint: &str) -> BTreeSet<String> {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = BTreeSet::new();
    for verb in ["send ", "leave "] {
        for (at, _) in hint.match_indices(verb) {
            let list = &hint[at + verb.len()..];
            let list = list.split([':', ';']).next().unwrap_or_default();
            let words = list.split(|c| !is_of_word(c));
            found.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
    }
    for (at, _) in hint.match_indices(": ") {
        let word = hint[..at].rsplit(|c| !is_of_word(c)).next();
        found.extend(word.map(str::to_owned));
    }
    found
}

/// One guest of each kind that what stands in the way depends on.
fn guests(house: &House) -> Vec<u32> {
    let mut seen = BTreeSet::new();
    house.sim.world(|world| {
        let mut found = Vec::new();
        for guest in world.guests.values() {
            let has = |key: &str| guest.config.get(key).is_some();
            let marks = ["template", "lock", "hostpci0", "protection"].map(has);
            let is_vm = guest.config.get("rootfs").is_none();
            if seen.insert((is_vm, guest.is_running(), guest.snapshots.is_empty(), marks)) {
                found.push(guest.vmid);
            }
        }
        found
    })
}

/// The example, for each of these guests, with every switch on and off, and without each argument that may be left out.
fn variants(tool: &dyn Tool, example: &str, vmids: &[u32]) -> Vec<Map<String, Value>> {
    let input = Value::Object(tool.input());
    let example = object(example);
    let mut calls = vec![example.clone()];
    for (name, property) in input["properties"].as_object().unwrap() {
        if property["type"] == "boolean" {
            for on in [true, false] {
                let mut call = example.clone();
                call.insert(name.clone(), json!(on));
                calls.push(call);
            }
        }
        let required = input["required"].as_array();
        if example.contains_key(name) && required.is_none_or(|it| !it.contains(&json!(name))) {
            let mut call = example.clone();
            call.remove(name);
            calls.push(call);
        }
    }
    if !example.contains_key("vmid") || example.contains_key("node") {
        return calls;
    }
    let on = |call: &Map<String, Value>, vmid: &u32| {
        let mut call = call.clone();
        call.insert("vmid".to_owned(), json!(vmid));
        call
    };
    calls
        .iter()
        .flat_map(|call| vmids.iter().map(|vmid| on(call, vmid)))
        .collect()
}

#[tokio::test]
async fn another_name_speaks_of_its_own_arguments() {
    let house = House::in_mode(Mode::Trusted).await;
    // Nothing changes while plans are only made, so that every variant meets the same world.
    house.set(105, "lock", "backup");
    let vmids = guests(&house);
    let cx = house.context();
    let (mut wrong, mut heard) = (BTreeSet::new(), 0);
    let aliases = registry::all().filter_map(|tool| Some((tool, tool.alias_of()?)));
    for (tool, of) in aliases.filter(|(tool, _)| tool.spec().risk > tools::spec::Risk::Read) {
        let (own, ours) = (arguments(tool), arguments(of));
        let examples = tool.spec().examples.iter();
        for args in examples.flat_map(|example| variants(tool, example.args, &vmids)) {
            let hints: Vec<_> = match tool.run(args.clone(), &cx).await {
                Ok(Ran::Plan(plan)) => plan.blockers.into_iter().map(|it| it.instead).collect(),
                Ok(Ran::Answer(_)) => Vec::new(),
                Err(fault) => fault.hint.into_iter().collect(),
            };
            heard += hints.len();
            for hint in hints {
                let (said, said_of) = hint
                    .split_once(&format!(" of {}", of.spec().name))
                    .map_or((hint.as_str(), false), |(said, _)| (said, true));
                let foreign = spoken_of(said)
                    .into_iter()
                    .find(|word| ours.contains(word) && !own.contains(word));
                if let (Some(word), false) = (foreign, said_of) {
                    wrong.insert(format!("{}: {word} in \"{hint}\"", tool.spec().name));
                }
            }
        }
    }
    eprintln!("{heard} hints were heard");
    assert!(heard > 100, "too few to tell: {heard}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
