//! Lets a door have what is kept in `fuzz/corpus`: included by the tests of every crate that has doors.

use std::path::Path;

/// Opens the door for each file of a target's corpus.
pub(crate) fn replay(target: &str, door: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let files: Vec<_> = std::fs::read_dir(&corpus).unwrap().collect();
    assert!(!files.is_empty(), "{} is empty", corpus.display());
    for file in files {
        let path = file.unwrap().path();
        // A failing test shows which one it was.
        eprintln!("{}", path.display());
        door(&std::fs::read(path).unwrap());
    }
}
