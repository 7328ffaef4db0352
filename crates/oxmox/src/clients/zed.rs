//! Zed: `settings.json`, the person's own, with comments. Its servers stand under `context_servers`; `source` is what older
//! versions ask for and newer ones let pass.

use std::path::PathBuf;

use serde_json::json;

use super::Format;
use crate::config::{Places, System};

pub(super) const FORMAT: Format = Format {
    word: "zed",
    title: "Zed",
    file: |places| dir(places).join("settings.json"),
    is_here: |places| dir(places).is_dir(),
    servers: "context_servers",
    entry: |server| json!({ "source": "custom", "command": server.program(), "args": server.arguments, "env": {} }),
};

fn dir(places: &Places) -> PathBuf {
    match places.system {
        System::Linux => places.config.join("zed"),
        System::Mac => places.home.join(".config/zed"),
        System::Windows => places.applications.join("Zed"),
    }
}
