//! The identifiers of PVE, each checked once.
//!
//! A value of one of these types is well-formed; whether the thing exists is PVE's to say. Lenience towards callers
//! (a number sent as text) lives here and nowhere else.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::lenient;

/// Why a text or number is not an identifier: what was wrong and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IdError(String);

impl IdError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// The number of a guest, unique in its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Vmid(u32);

impl Vmid {
    /// The smallest guest id that PVE accepts.
    pub const MIN: u32 = 100;
    /// The largest guest id that PVE accepts.
    pub const MAX: u32 = 999_999_999;

    /// Takes a number in PVE's range.
    pub fn new(number: u64) -> Result<Self, IdError> {
        u32::try_from(number)
            .ok()
            .filter(|n| (Self::MIN..=Self::MAX).contains(n))
            .map(Self)
            .ok_or_else(|| {
                IdError(format!(
                    "vmid {number} is out of range: a guest id is {} to {}",
                    Self::MIN,
                    Self::MAX
                ))
            })
    }

    /// The plain number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Vmid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Vmid {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let digits = text.trim();
        match digits.parse::<u64>() {
            Ok(number) => Self::new(number),
            Err(_) => Err(IdError(format!(
                "{digits:?} is not a vmid: a guest id is a number from {} to {}",
                Self::MIN,
                Self::MAX
            ))),
        }
    }
}

impl TryFrom<u64> for Vmid {
    type Error = IdError;

    fn try_from(number: u64) -> Result<Self, IdError> {
        Self::new(number)
    }
}

impl<'de> Deserialize<'de> for Vmid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = lenient::text(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Vmid {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Vmid".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": Self::MIN, "maximum": Self::MAX })
    }
}

/// Declares a checked name: its type, what to call it in errors, its rule as a function and as a pattern for schemas.
macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $noun:literal, $check:path, $rule:literal, $pattern:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Checks the name; surrounding blanks are dropped.
            pub fn new(text: impl AsRef<str>) -> Result<Self, IdError> {
                let text = text.as_ref().trim();
                if $check(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError(format!(concat!("{:?} is not a ", $noun, ": ", $rule), text)))
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

/// The two kinds of guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuestKind {
    /// A virtual machine.
    Qemu,
    /// A container.
    Lxc,
}

impl GuestKind {
    /// PVE's word, as it stands in paths and in `type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Qemu => "qemu",
            Self::Lxc => "lxc",
        }
    }

    /// The word for people.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Qemu => "VM",
            Self::Lxc => "container",
        }
    }
}

impl fmt::Display for GuestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for GuestKind {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        match text {
            "qemu" => Ok(Self::Qemu),
            "lxc" => Ok(Self::Lxc),
            other => Err(IdError(format!(
                "{other:?} is not a guest kind: it is \"qemu\" (a VM) or \"lxc\" (a container)"
            ))),
        }
    }
}

impl JsonSchema for GuestKind {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "GuestKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ["qemu", "lxc"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vmid_is_taken_as_number_or_text() {
        assert_eq!(serde_json::from_str::<Vmid>("105").unwrap().get(), 105);
        assert_eq!(
            serde_json::from_str::<Vmid>("\" 105 \"").unwrap().get(),
            105
        );
        assert_eq!(
            serde_json::to_string(&Vmid::new(105).unwrap()).unwrap(),
            "105"
        );
    }

    #[test]
    fn a_bad_vmid_says_what_is_allowed() {
        let text = Vmid::new(99).unwrap_err().to_string();
        assert_eq!(
            text,
            "vmid 99 is out of range: a guest id is 100 to 999999999"
        );
        let text = serde_json::from_str::<Vmid>("\"web\"")
            .unwrap_err()
            .to_string();
        assert!(text.starts_with("\"web\" is not a vmid"), "{text}");
        assert!(serde_json::from_str::<Vmid>("1.5").is_err());
        assert!(serde_json::from_str::<Vmid>("-1").is_err());
        assert!(serde_json::from_str::<Vmid>("1000000000").is_err());
    }

    #[test]
    fn names_follow_the_rules_of_pve() {
        for good in ["pve1", "a", "node-7", "1a"] {
            assert!(NodeName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "a.b", "a/b", "..", "pvé"] {
            assert!(NodeName::new(bad).is_err(), "{bad}");
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

    #[test]
    fn schemas_are_plain() {
        let schema = schemars::schema_for!(Vmid);
        assert_eq!(schema.get("minimum").unwrap(), 100);
        assert!(Vmid::inline_schema() && SnapName::inline_schema() && GuestKind::inline_schema());
    }
}
