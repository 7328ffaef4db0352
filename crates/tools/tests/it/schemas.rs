//! The schemas of real PVE versions: reference data beside the repository.

use std::path::PathBuf;

use serde_json::Value;

/// The methods of one version. Without the reference data a test says so and checks nothing.
pub(crate) fn schema(version: &str) -> Option<Vec<Value>> {
    let root = std::env::var_os("OXMOX_REFERENCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let file = root.join(format!("pve-api/apidoc-{version}.json"));
    let Ok(text) = std::fs::read_to_string(file) else {
        eprintln!("skipped: the schemas of PVE are not beside this repository");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}
