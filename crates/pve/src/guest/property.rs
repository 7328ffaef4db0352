//! Property strings, PVE's way to write several values in one: `virtio=BC:24:11:00:00:01,bridge=vmbr0`.

use std::fmt;

/// A parsed property string. Unknown keys are kept, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PropertyString {
    /// The value without a key: the volume of a disk, for one.
    pub default: Option<String>,
    /// The others, in order.
    pub pairs: Vec<(String, String)>,
}

impl PropertyString {
    /// Reads any text; there is no wrong one, since old configurations hold all sorts.
    pub fn parse(text: &str) -> Self {
        let mut parsed = Self::default();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            match part.split_once('=') {
                Some((key, value)) if !key.is_empty() => {
                    parsed.pairs.push((key.to_owned(), value.to_owned()));
                }
                _ if parsed.default.is_none() => parsed.default = Some(part.to_owned()),
                _ => {}
            }
        }
        parsed
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, value)| value.as_str())
    }

    /// The value without a key, or the one under the key that it stands for.
    pub fn default_or(&self, key: &str) -> Option<&str> {
        self.default.as_deref().or_else(|| self.get(key))
    }

    /// True if a key is set to a value that PVE takes for true.
    pub fn is_on(&self, key: &str) -> bool {
        matches!(self.get(key), Some("1" | "on" | "yes" | "true"))
    }
}

impl fmt::Display for PropertyString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self
            .pairs
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        let parts: Vec<String> = self.default.iter().cloned().chain(pairs).collect();
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn defaults_and_keys_are_told_apart() {
        let disk = PropertyString::parse("local:100/vm-100-disk-0.qcow2,size=2G,ssd=1");
        assert_eq!(
            disk.default_or("file"),
            Some("local:100/vm-100-disk-0.qcow2")
        );
        assert_eq!(disk.get("size"), Some("2G"));
        assert!(disk.is_on("ssd") && !disk.is_on("iothread"));
        let disk = PropertyString::parse("file=none,media=cdrom");
        assert_eq!(disk.default_or("file"), Some("none"));
        assert_eq!(PropertyString::parse(" ").default, None);
    }

    proptest! {
        #[test]
        fn a_written_one_reads_back(
            default in proptest::option::of("[a-z:/0-9.-]{1,12}"),
            pairs in proptest::collection::vec(("[a-z]{1,6}", "[a-zA-Z0-9:=./-]{0,12}"), 0..5),
        ) {
            let written = PropertyString { default, pairs };
            prop_assert_eq!(PropertyString::parse(&written.to_string()), written);
        }

        #[test]
        fn parsing_never_panics(text in any::<String>()) {
            let _ = PropertyString::parse(&text);
        }
    }
}
