//! Visual Studio Code: `mcp.json` of the person's profile, with comments. Its servers stand under `servers`, each with its
//! type.

use std::path::PathBuf;

use serde_json::json;

use super::Format;
use crate::config::{Places, System};

pub(super) const FORMAT: Format = Format {
    word: "vscode",
    title: "Visual Studio Code",
    file: |places| dir(places).join("mcp.json"),
    is_here: |places| dir(places).is_dir(),
    servers: "servers",
    entry: |server| json!({ "type": "stdio", "command": server.program(), "args": server.arguments }),
};

fn dir(places: &Places) -> PathBuf {
    let of_system = match places.system {
        System::Linux => &places.config,
        System::Mac | System::Windows => &places.applications,
    };
    of_system.join("Code/User")
}
