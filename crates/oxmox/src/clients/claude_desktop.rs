//! Claude Desktop: `claude_desktop_config.json`, plain JSON.

use std::path::PathBuf;

use serde_json::json;

use super::Format;
use crate::config::{Places, System};

pub(super) const FORMAT: Format = Format {
    word: "claude-desktop",
    title: "Claude Desktop",
    file: |places| dir(places).join("claude_desktop_config.json"),
    is_here: |places| dir(places).is_dir(),
    servers: "mcpServers",
    entry: |server| json!({ "command": server.program(), "args": server.arguments }),
};

fn dir(places: &Places) -> PathBuf {
    match places.system {
        System::Linux => places.config.join("Claude"),
        System::Mac | System::Windows => places.applications.join("Claude"),
    }
}
