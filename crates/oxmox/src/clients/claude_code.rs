//! Claude Code: `~/.claude.json`, which holds the servers that a person has in every project. Plain JSON, and much else
//! that is the program's own, so that editing in place matters.

use std::path::PathBuf;

use serde_json::json;

use super::Format;
use crate::config::Places;

pub(super) const FORMAT: Format = Format {
    word: "claude-code",
    title: "Claude Code",
    file,
    is_here: |places| file(places).exists() || places.home.join(".claude").is_dir(),
    servers: "mcpServers",
    entry: |server| json!({ "type": "stdio", "command": server.program(), "args": server.arguments, "env": {} }),
};

fn file(places: &Places) -> PathBuf {
    let dir = places.claude.as_ref().unwrap_or(&places.home);
    dir.join(".claude.json")
}
