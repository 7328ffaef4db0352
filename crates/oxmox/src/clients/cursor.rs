//! Cursor: `~/.cursor/mcp.json` on every system.

use serde_json::json;

use super::Format;

pub(super) const FORMAT: Format = Format {
    word: "cursor",
    title: "Cursor",
    file: |places| places.home.join(".cursor/mcp.json"),
    is_here: |places| places.home.join(".cursor").is_dir(),
    servers: "mcpServers",
    entry: |server| json!({ "command": server.program(), "args": server.arguments }),
};
