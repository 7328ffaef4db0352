//! What the documents name is there: tools, tests, files and headings.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{read, repository};

/// Those that are written by hand.
const DOCUMENTS: [&str; 9] = [
    "README.md",
    "SECURITY.md",
    "docs/clients.md",
    "docs/configuration.md",
    "docs/guide.md",
    "docs/migrating.md",
    "docs/page.md",
    "docs/safety.md",
    "docs/service.md",
];

/// The words of a document that are set as code, without its blocks.
pub(crate) fn code(document: &str) -> Vec<String> {
    let prose: String = document.split("```").step_by(2).collect();
    let spans = prose.split('`').skip(1).step_by(2);
    spans.map(ToOwned::to_owned).collect()
}

pub(crate) fn is_name(word: &str) -> bool {
    word.contains('_')
        && word
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// How the names of tools begin, and of nothing else that is written in code here.
fn looks_like_a_tool(word: &str) -> bool {
    is_name(word)
        && (word.contains("_proxmox_")
            || word.starts_with("send_vm_")
            || word.starts_with("vm_agent_"))
}

pub(crate) fn tools() -> BTreeSet<&'static str> {
    tools::registry::all()
        .map(|tool| tool.spec().name)
        .collect()
}

#[test]
fn every_tool_that_is_named_exists() {
    let tools = tools();
    for document in DOCUMENTS {
        for word in code(&read(document)) {
            let name = word.split([' ', '(']).next().unwrap();
            assert!(
                !looks_like_a_tool(name) || tools.contains(name),
                "{document}: {name}"
            );
        }
    }
}

fn sources(dir: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|end| end == "rs") {
            all.push(path);
        }
    }
}

/// docs/safety.md says by which tests it is held to its word; one that is renamed must be renamed there.
#[test]
fn every_test_that_is_named_exists() {
    let mut files = Vec::new();
    sources(&repository().join("crates"), &mut files);
    let text: String = files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    let document = read("docs/safety.md");
    let mut named = 0;
    let told = document
        .split("\n\n")
        .filter(|part| part.starts_with("Tested by"));
    for name in told.flat_map(code) {
        named += 1;
        assert!(text.contains(&format!("fn {name}(")), "{name}");
    }
    assert!(named > 60, "{named}");
}

/// As it is linked to: small letters, without signs, with dashes for spaces.
fn anchor(heading: &str) -> String {
    let letters = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = letters
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_link_leads_somewhere() {
    for document in
        DOCUMENTS
            .into_iter()
            .chain(["docs/CONFIG.md", "docs/simulator.md", "ARCHITECTURE.md"])
    {
        let text = read(document);
        let prose: String = text.split("```").step_by(2).collect();
        let dir = Path::new(document).parent().unwrap();
        for link in prose
            .split("](")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap())
        {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                PathBuf::from(document)
            } else {
                dir.join(file)
            };
            assert!(repository().join(&target).exists(), "{document}: {link}");
            if !heading.is_empty() {
                let there = read(target.to_str().unwrap());
                let mut headings = there.lines().filter(|line| line.starts_with('#'));
                assert!(
                    headings.any(|line| anchor(line) == heading),
                    "{document}: {link}"
                );
            }
        }
    }
}

#[test]
fn the_readme_is_short() {
    assert!(read("README.md").lines().count() < 200);
}
