//! The door of the reader of property strings; see [`crate::fuzzing`].

use super::{PropertyString, parse_size};

/// A value of a guest's configuration: what is written again reads as the same, and every value is found by its key.
pub fn properties(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read = PropertyString::parse(&text);
    assert_eq!(PropertyString::parse(&read.to_string()), read);
    for (key, _) in &read.pairs {
        let first = read.pairs.iter().find(|(other, _)| other == key);
        assert_eq!(read.get(key), first.map(|(_, value)| value.as_str()));
    }
    let _ = read.default.as_deref().map(parse_size);
    for (_, value) in &read.pairs {
        let _ = parse_size(value);
    }
}
