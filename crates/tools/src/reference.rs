//! PVE's own schemas, for the tests that hold what was reviewed by hand against them. They are reference data beside the
//! repository; without them those tests say so and check nothing.

use std::path::PathBuf;

use pve::apidoc::Schema;
use serde_json::Value;

/// Those of 8.4, 9.1 and 9.2, the newest last; none where they are not there.
pub(crate) fn schemas() -> Vec<Schema> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("OXMOX_REFERENCE").map_or(root, PathBuf::from);
    let read = |version: &str| {
        let file = root.join(format!("pve-api/apidoc-{version}.json"));
        let text = std::fs::read_to_string(file).ok()?;
        let methods: Vec<Value> = serde_json::from_str(&text).ok()?;
        Some(Schema::from_methods(&methods))
    };
    let all = ["8.4", "9.1", "9.2"].into_iter().map(read);
    all.collect::<Option<_>>().unwrap_or_else(|| {
        eprintln!("skipped: the schemas of PVE are not beside this repository");
        Vec::new()
    })
}
