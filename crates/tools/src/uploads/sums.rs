//! Checksums of files that were read already: a large file is read once, not by the preview, the call and the confirmation
//! each. A file whose stamp is the same is the same; if it is not, PVE finds out, which verifies the checksum.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many are kept.
const MOST: usize = 64;

/// The stamp that a file had when it was read, and its checksum, by path.
#[derive(Debug, Default)]
pub(super) struct Sums(Mutex<BTreeMap<PathBuf, (String, String)>>);

impl Sums {
    /// The checksum of the file at this path, if it was read with the same stamp.
    pub(super) fn of(&self, path: &Path, stamp: &str) -> Option<String> {
        let known = self.known();
        let (of, sum) = known.get(path)?;
        (of == stamp).then(|| sum.clone())
    }

    /// Keeps one.
    pub(super) fn keep(&self, path: &Path, stamp: &str, sum: &str) {
        let mut known = self.known();
        if known.len() >= MOST && !known.contains_key(path) {
            known.pop_first();
        }
        known.insert(path.to_owned(), (stamp.to_owned(), sum.to_owned()));
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<PathBuf, (String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
