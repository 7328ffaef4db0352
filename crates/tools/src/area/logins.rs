//! Who gets into a guest by a key: told key by key and in full, since a yes to a number of keys is a yes to anybody's.

use crate::plan::{Effect, Impact};

/// The keys of a text that has one a line.
pub(super) fn keys(lines: &str) -> impl Iterator<Item = &str> {
    lines.lines().map(str::trim).filter(|key| !key.is_empty())
}

/// What a key does.
pub(super) fn impact(key: &str) -> Impact {
    Impact::new(Effect::Created, "login by key", key)
}
