//! The reference data: recordings and API schemas of a real PVE. They are not part of the repository; tests that need
//! them are skipped where they are absent.

use std::path::PathBuf;

/// The text of a reference file, from `OXMOX_REFERENCE` or beside the repository.
pub(crate) fn read(file: &str) -> Option<String> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("OXMOX_REFERENCE").map_or(beside, PathBuf::from);
    let text = std::fs::read_to_string(root.join(file)).ok();
    if text.is_none() {
        eprintln!("skipped: no {file} (set OXMOX_REFERENCE)");
    }
    text
}
