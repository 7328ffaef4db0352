//! Reference data beside the repository: the schemas of real PVE versions, and what another server sends.

use std::path::PathBuf;

use serde_json::Value;

/// The methods of one version.
pub(crate) fn schema(version: &str) -> Option<Vec<Value>> {
    read(&format!("pve-api/apidoc-{version}.json"))
}

/// A list of the reference data. Without it a test says so and checks nothing.
pub(crate) fn read(file: &str) -> Option<Vec<Value>> {
    let root = std::env::var_os("OXMOX_REFERENCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let Ok(text) = std::fs::read_to_string(root.join(file)) else {
        eprintln!("skipped: the reference data is not beside this repository");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}
