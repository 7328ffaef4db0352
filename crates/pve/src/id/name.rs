//! The names of nodes, storages, pools and snapshots.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use compact_str::CompactString;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use super::IdError;
use crate::lenient;

/// Declares a checked name: its type, what to call it in errors, its rule as a function and as a pattern for schemas.
macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $noun:literal, $check:path, $rule:literal, $pattern:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(CompactString);

        impl $name {
            /// Checks the name; surrounding blanks are dropped.
            pub fn new(text: impl AsRef<str>) -> Result<Self, IdError> {
                let text = text.as_ref().trim();
                if $check(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(IdError::new(format!(concat!("{:?} is not a ", $noun, ": ", $rule), super::clip(text))))
                }
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(lenient::text(deserializer)?).map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    };
}

name_type!(
    /// The name of a cluster node.
    NodeName,
    "node name",
    is_node_name,
    "letters, digits and inner hyphens, at most 63 characters",
    "^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$"
);

name_type!(
    /// The name of a VM or the hostname of a container.
    DnsName,
    "DNS name",
    is_dns_name,
    "letters, digits and inner hyphens, in parts separated by dots, at most 255 characters",
    "^[A-Za-z0-9-]+([.][A-Za-z0-9-]+)*$"
);

name_type!(
    /// The name of a storage.
    StorageId,
    "storage name",
    is_storage_id,
    "a letter, then letters, digits, '-', '_' or '.', ending in a letter or digit, at least 2 characters",
    "^[A-Za-z][A-Za-z0-9._-]*[A-Za-z0-9]$"
);

name_type!(
    /// The name of a resource pool, at most three levels separated by '/'.
    PoolId,
    "pool name",
    is_pool_id,
    "letters, digits, '-', '_' and '.', at most three levels separated by '/'",
    "^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,2}$"
);

name_type!(
    /// The name of a snapshot.
    SnapName,
    "snapshot name",
    is_snap_name,
    "a letter, then letters, digits, '-' or '_', 2 to 40 characters",
    "^[A-Za-z][A-Za-z0-9_-]{1,39}$"
);

fn is_node_name(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_storage_id(text: &str) -> bool {
    text.len() >= 2
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(is_word)
}

fn is_dns_name(text: &str) -> bool {
    let is_label = |label: &str| {
        label.starts_with(|c: char| c.is_ascii_alphanumeric())
            && label.ends_with(|c: char| c.is_ascii_alphanumeric())
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    text.len() <= 255 && text.split('.').all(is_label)
}

fn is_pool_id(text: &str) -> bool {
    let levels: Vec<&str> = text.split('/').collect();
    // "." and ".." would change the meaning of a path that holds the name.
    levels.len() <= 3
        && levels.iter().all(|level| {
            !level.is_empty() && !matches!(*level, "." | "..") && level.bytes().all(is_word)
        })
}

fn is_snap_name(text: &str) -> bool {
    (2..=40).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| is_word(b) && b != b'.')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules_of_pve() {
        for good in ["pve1", "a", "node-7", "1a"] {
            assert!(NodeName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "a.b", "a/b", "..", "pvé"] {
            assert!(NodeName::new(bad).is_err(), "{bad}");
        }
        for good in ["web", "web-1.lan", "9"] {
            assert!(DnsName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "a_b", "a..b", "-a", "a.", "a b"] {
            assert!(DnsName::new(bad).is_err(), "{bad}");
        }
        assert!(StorageId::new("local-lvm").is_ok());
        assert!(StorageId::new("x").is_err());
        assert!(StorageId::new("9x").is_err());
        assert!(PoolId::new("a/b/c").is_ok());
        for bad in ["a/b/c/d", "a//b", "..", "a/..", ""] {
            assert!(PoolId::new(bad).is_err(), "{bad}");
        }
        assert!(SnapName::new("before_upgrade-1").is_ok());
        for bad in ["s", "1s", "a.b", "a b"] {
            assert!(SnapName::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_made_of_digits_may_arrive_as_a_number() {
        assert_eq!(serde_json::from_str::<NodeName>("17").unwrap(), "17");
    }
}
