//! docs/migrating.md, held against the tools that there are, and against what the tests know of the other servers' tools.

use std::collections::BTreeSet;

use super::names::{code, is_name, tools};
use super::read;

/// The rows of the tables that lead from their tools to ours: their name, ours, what differs.
fn rows(document: &str) -> Vec<[String; 3]> {
    let tables = document
        .split("\n\n")
        .filter(|part| part.starts_with("| their tool |"));
    let rows = tables.flat_map(|table| table.lines().skip(2));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(|cell| cell.trim().to_owned()).collect();
        let [_, theirs, ours, differs, _] = cells.as_slice() else {
            panic!("a row has three cells: {row}")
        };
        [theirs.trim_matches('`'), ours, differs].map(ToOwned::to_owned)
    })
    .collect()
}

#[test]
fn every_tool_that_is_led_to_exists() {
    let document = read("docs/migrating.md");
    let tools = tools();
    let mut led = BTreeSet::new();
    for [theirs, ours, _] in rows(&document) {
        led.insert(theirs.clone());
        for name in code(&ours).iter().filter(|name| is_name(name)) {
            assert!(tools.contains(name.as_str()), "{theirs} leads to {name}");
        }
    }
    let same = document
        .split("\n\n")
        .filter(|part| part.starts_with("The same by name"));
    for name in same.flat_map(code) {
        assert!(tools.contains(name.as_str()), "{name}");
        assert!(led.insert(name.clone()), "{name} is there twice");
    }
    // Those of the one server, and eleven of the other, `send_vm_key` of them in both.
    assert_eq!(led.len(), 285 + 11);
}

/// The tests of the tools know where an argument of theirs means something else here: that must be told.
#[test]
fn every_known_difference_is_told() {
    let source = read("crates/tools/tests/it/sweep/seeds/arguments.rs");
    let (_, list) = source.split_once("const DIFFERENT").unwrap();
    let (list, _) = list.split_once("];").unwrap();
    let words: Vec<_> = list.split('"').skip(1).step_by(2).collect();
    let document = read("docs/migrating.md");
    let rows = rows(&document);
    assert!(words.len() > 90);
    for entry in words.chunks(3) {
        let [tool, argument, _] = entry else {
            panic!("{entry:?}")
        };
        let told = (rows.iter()).any(|[theirs, _, differs]| {
            theirs == tool && differs.contains(&format!("`{argument}`"))
        });
        assert!(told, "{tool}: {argument}");
    }
}
