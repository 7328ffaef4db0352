//! docs/clients.md, held against what `oxmox setup` writes, and against the places that it writes to.

use std::path::PathBuf;

use oxmox::clients::{Client, Server};
use oxmox::config::{Environment, System};
use serde_json::Value;

use super::{blocks, read};

/// The part of a document below a heading.
fn below<'a>(document: &'a str, heading: &str) -> &'a str {
    let (_, rest) = document
        .split_once(&format!("\n## {heading}\n"))
        .expect(heading);
    rest.split("\n## ").next().unwrap()
}

#[test]
fn every_entry_is_what_setup_writes() {
    let document = read("docs/clients.md");
    let server = Server {
        program: PathBuf::from("/usr/local/bin/oxmox"),
        arguments: Vec::new(),
    };
    for client in Client::ALL {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("client.json");
        let written = client.entered(&file, &server).unwrap();
        written.write().unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        let part = below(&document, client.title());
        let first = blocks(part, "json")
            .into_iter()
            .next()
            .unwrap_or_else(|| panic!("{} is not there", client.title()));
        assert_eq!(first.trim_end(), written.trim_end(), "{}", client.title());
        assert!(part.contains(&format!("--client {}", client.word())));
    }
}

#[test]
fn every_entry_for_http_can_be_read_and_names_token_and_address() {
    let document = read("docs/clients.md");
    for client in Client::ALL {
        let part = below(&document, client.title());
        for block in blocks(part, "json").into_iter().skip(1) {
            let entry: Value = serde_json::from_str(&block).unwrap();
            let text = entry.to_string();
            assert!(
                text.contains("https://oxmox.example.com:8765/mcp"),
                "{text}"
            );
            assert!(text.contains("Bearer "), "{text}");
            let found = client.entry_in(&block).expect("where the client looks");
            assert!(found["url"].is_string(), "{found}");
        }
    }
}

#[test]
fn every_file_is_where_it_is_looked_for() {
    let document = read("docs/clients.md");
    for client in Client::ALL {
        let row = document
            .lines()
            .find(|line| line.starts_with(&format!("| {} |", client.title())))
            .unwrap_or_else(|| panic!("{} is not there", client.title()));
        for (system, home, shown) in [
            (System::Linux, "/home/anna", "~"),
            (System::Mac, "/home/anna", "~"),
            (System::Windows, "/home/anna", "%USERPROFILE%"),
        ] {
            let places = Environment::from([("HOME", home)]).places(system).unwrap();
            let file = client.file(&places).to_str().unwrap().replace(home, shown);
            let file = match system {
                System::Windows => file
                    .replace("%USERPROFILE%/AppData/Roaming", "%APPDATA%")
                    .replace('/', "\\"),
                System::Linux | System::Mac => file,
            };
            assert!(row.contains(&format!("`{file}`")), "{file} is not in {row}");
        }
    }
}
