//! The documents that people go by, held against what oxmox takes, does and writes.

mod clients;
mod guide;
mod migrating;
mod names;
mod transcript;

use std::path::{Path, PathBuf};

use oxmox::config::{Config, Environment, File, Overrides};
use oxmox::generate;
use tools::fault::Fault;

use crate::cli::Machine;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

/// The blocks of one language in a document.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    let blocks = document.split(begin.as_str()).skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

fn examples(document: &str) -> Vec<String> {
    blocks(document, "toml")
}

/// With whole fingerprints where a text has only their beginnings.
fn whole(example: &str) -> String {
    ["AA:", "BB:"]
        .iter()
        .fold(example.to_owned(), |text, pair| {
            let whole = format!("{}{}", pair.repeat(31), &pair[..2]);
            text.replace(&format!("\"{pair}…\""), &format!("\"{whole}\""))
        })
}

/// What an example leads to.
fn load(example: &str) -> Result<Config, Fault> {
    let text = whole(example);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    std::fs::write(&file, text).unwrap();
    let overrides = Overrides {
        file: Some(file),
        ..Overrides::default()
    };
    Config::load(&overrides, &Environment::from([("HOME", "/home/ox")]))
}

#[test]
fn the_readmes_configuration_is_taken_as_it_stands() {
    let examples = examples(&read("README.md"));
    let [example] = examples.as_slice() else {
        panic!("one example is expected: {examples:?}")
    };
    let config = load(example).unwrap();
    let [home] = config.clusters.as_slice() else {
        panic!("{config:#?}")
    };
    assert_eq!(home.hosts.len(), 2);
    assert!(home.hosts.iter().all(|host| host.pin.is_some()));
}

#[test]
fn every_example_of_the_reference_is_taken_as_it_stands() {
    let examples = examples(&read("docs/configuration.md"));
    assert!(examples.len() > 3);
    for example in examples {
        load(&example).unwrap_or_else(|fault| panic!("{fault}\n{example}"));
    }
}

/// The commands in a document's indented lines, without what they say about themselves.
fn commands(document: &str) -> Vec<Vec<&str>> {
    let lines = document
        .lines()
        .filter_map(|line| line.strip_prefix("    oxmox "));
    lines
        .map(|line| line.split(" #").next().unwrap().split_whitespace())
        .map(Iterator::collect)
        .collect()
}

#[test]
fn the_readmes_commands_work_as_they_stand() {
    let readme = read("README.md");
    let machine = Machine::new();
    let commands = commands(&readme);
    assert!(commands.len() > 6);
    for words in commands {
        if words == ["demo"] {
            continue; // It serves until somebody ends it.
        }
        let ran = machine.demo(&words);
        match words.as_slice() {
            ["approve", id] => drop(ran.exits(1).says(&format!("there is no plan {id}"))),
            // It has tests of its own, with a cluster.
            ["setup", ..] => drop(ran.exits(2).says("the demo needs no setup")),
            _ => assert_eq!(ran.code, 0, "{words:?}: {ran:#?}"),
        }
    }
}

/// The first screen of the README is all that many readers see.
#[test]
fn the_readme_begins_with_the_commands_that_set_everything_up() {
    let readme = read("README.md");
    let first_screen: Vec<_> = readme.lines().take(25).collect();
    for command in ["cargo run --release -- demo", "cargo test --workspace"] {
        let is_command = |line: &&str| line.starts_with(&format!("    {command}"));
        assert!(first_screen.iter().any(is_command), "{command}");
    }
}

/// `cargo run` at the root of the workspace needs one default binary among all members.
#[test]
fn cargo_run_at_the_root_runs_oxmox() {
    let with_binaries = ["oxmox", "pve", "sim", "tools"].into_iter().filter(|name| {
        let sources = repository().join(format!("crates/{name}/src"));
        let manifest = read(&format!("crates/{name}/Cargo.toml"));
        sources.join("main.rs").exists()
            || sources.join("bin").exists()
            || manifest.contains("[[bin]]")
    });
    assert_eq!(with_binaries.collect::<Vec<_>>(), ["oxmox"]);
    assert!(read("crates/oxmox/Cargo.toml").contains("default-run = \"oxmox\""));
}

/// Without `--locked` cargo builds with dependencies that nobody has tested.
#[test]
fn every_install_command_is_locked() {
    let mut found = 0;
    for document in ["README.md", "docs/guide.md", "docs/packages.md"] {
        let text = read(document);
        for line in text.lines().filter(|line| line.contains("cargo install")) {
            found += 1;
            let command = "cargo install --locked --path crates/oxmox";
            assert!(line.contains(command), "{document}: {line}");
        }
    }
    assert!(found > 0);
}

/// The keys that may stand where this text has an unknown one: serde lists them in its error.
fn keys_beside(unknown: &str) -> Vec<String> {
    let fault = File::parse(unknown).unwrap_err();
    let (_, expected) = fault.message.split_once("expected ").unwrap();
    let words = expected.split('`').skip(1).step_by(2);
    words.map(ToOwned::to_owned).collect()
}

#[test]
fn the_reference_has_every_key_with_words_and_an_example() {
    for (unknown, known, section) in [
        ("unknown = 1", "four_eyes", ""),
        (
            "[clusters.lab]\nunknown = 1",
            "token_secret_env",
            "[clusters.NAME]",
        ),
        ("[[rules]]\nunknown = 1", "verdict", "[[rules]]"),
        ("[http]\nunknown = 1", "tls_cert", "[http]"),
        ("[limits]\nunknown = 1", "burst", "[limits]"),
        ("[oauth]\nunknown = 1", "jwks_url", "[oauth]"),
    ] {
        let sections = generate::config::sections();
        let section = (sections.iter()).find(|one| one.header == section).unwrap();
        assert!(
            section.says.ends_with('.'),
            "{} has no doc comment",
            section.header
        );
        let keys = keys_beside(unknown);
        assert!(keys.iter().any(|key| key == known), "{keys:?}");
        for name in keys {
            // Known only so that they can be refused, and tables that have a section of their own.
            let is_refused = [
                "password",
                "token_secret",
                "store_password",
                "allow_model_confirm",
            ]
            .contains(&name.as_str());
            let is_table = sections
                .iter()
                .any(|one| one.header.trim_matches(['[', ']']).split('.').next() == Some(&name));
            if is_refused || is_table {
                continue;
            }
            let key = (section.keys.iter())
                .find(|key| key.name == name)
                .expect(&name);
            assert!(
                key.says.ends_with('.'),
                "{name} has no doc comment: {}",
                key.says
            );
            let example = key
                .example
                .as_ref()
                .unwrap_or_else(|| panic!("{name} has no example"));
            // What is required beside it is there, too.
            let beside = if section.header == "[oauth]" && name != "issuer" {
                "issuer = \"https://id.example.com\"\n"
            } else {
                ""
            };
            let text = format!("{}\n{beside}{name} = {example}", section.header);
            File::parse(&whole(&text)).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
        }
    }
}

/// The words in quotes in this source that are spelled like a variable.
fn variables(source: &str) -> Vec<&str> {
    let is_variable =
        |word: &&str| word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    source.split('"').filter(is_variable).collect()
}

#[test]
fn the_reference_names_every_variable() {
    let reference = read("docs/CONFIG.md");
    let sources = ["environment.rs", "mod.rs", "paths.rs", "store.rs"]
        .map(|file| read(&format!("crates/oxmox/src/config/{file}")));
    let read: Vec<_> = sources.iter().flat_map(|text| variables(text)).collect();
    for known in ["PROXMOX_HOST", "OXMOX_CONFIG", "XDG_STATE_HOME"] {
        assert!(read.contains(&known), "{read:?}");
    }
    for variable in read {
        assert!(reference.contains(&format!("`{variable}`")), "{variable}");
    }
}
