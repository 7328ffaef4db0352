//! From a tool of ours to a document.

use pve::Method as Verb;

use super::document::{Document, Field};

/// Words in every tool's name, which tell none of them from the others.
const COMMON: [&str; 2] = ["proxmox", "pve"];

/// A document for a tool: its name, its description, its arguments and what is said of each.
pub fn tool<'a>(
    name: &str,
    description: &'a str,
    arguments: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Document<'a> {
    let words: Vec<&str> = name
        .split('_')
        .filter(|word| !COMMON.contains(word))
        .collect();
    // What comes after the first sentence speaks of other tools too.
    let (does, besides) = description.split_once("\n\n").unwrap_or((description, ""));
    let mut document = Document::default()
        .verb(verb(&words))
        .one(words.first() != Some(&"list"))
        .with(Field::Subject, words.join(" "))
        .with(Field::Description, does)
        .with(Field::Parameters, besides);
    for (argument, text) in arguments {
        document = document
            .with(Field::Parameters, argument)
            .with(Field::ParameterText, text);
    }
    document
}

/// What PVE would call the thing that a tool of this name does.
fn verb(words: &[&str]) -> Verb {
    let named = |word: &&str| {
        Some(match *word {
            "list" | "get" | "search" | "read" | "preview" | "capture" | "check" => Verb::Get,
            "delete" | "remove" | "revoke" => Verb::Delete,
            "update" | "set" => Verb::Put,
            _ => return None,
        })
    };
    words.iter().find_map(named).unwrap_or(Verb::Post)
}
