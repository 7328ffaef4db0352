//! The values of parameters.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, Serializer};

use crate::guest::Size;
use crate::id::{DnsName, NodeName, PoolId, SnapName, StorageId, Vmid};

/// The value of a parameter.
///
/// In JSON a text, number or boolean stands for itself, and a hole is `{"hole": "name"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A boolean; PVE takes only 0 and 1.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A text.
    Text(String),
    /// A named gap, filled later with a secret or an earlier step's answer. A request with a hole is never sent.
    Hole(#[serde(with = "hole")] String),
    /// A hole that was filled. It prints, compares and serializes without its value, which only sending opens.
    #[serde(skip_deserializing)]
    Filled(Filled),
}

/// A hole with its value in it.
#[derive(Debug, Clone)]
pub struct Filled {
    hole: String,
    value: SecretString,
}

impl Filled {
    pub(super) fn new(hole: &str, value: &SecretString) -> Self {
        Self {
            hole: hole.to_owned(),
            value: value.clone(),
        }
    }

    /// The name of the hole.
    pub fn hole(&self) -> &str {
        &self.hole
    }
}

impl PartialEq for Filled {
    fn eq(&self, other: &Self) -> bool {
        self.hole == other.hole
    }
}

impl Eq for Filled {}

impl Serialize for Filled {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hole::serialize(&self.hole, serializer)
    }
}

impl Value {
    /// The value as PVE reads it; `None` for a hole.
    pub(super) fn wire_text(&self) -> Option<String> {
        match self {
            Self::Hole(_) => None,
            Self::Filled(filled) => Some(filled.value.expose_secret().to_owned()),
            plain => Some(plain.to_string()),
        }
    }
}

mod hole {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Named<T> {
        hole: T,
    }

    pub(super) fn serialize<S: Serializer>(name: &str, serializer: S) -> Result<S::Ok, S::Error> {
        Named { hole: name }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(de: D) -> Result<String, D::Error> {
        Named::deserialize(de).map(|named| named.hole)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(flag) => write!(f, "{}", u8::from(*flag)),
            Self::Int(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Hole(name) | Self::Filled(Filled { hole: name, .. }) => write!(f, "<{name}>"),
        }
    }
}

macro_rules! value_from {
    ($($from:ty => |$value:ident| $make:expr),+ $(,)?) => {
        $(impl From<$from> for Value {
            fn from($value: $from) -> Self {
                $make
            }
        })+
    };
}

value_from! {
    bool => |flag| Value::Bool(flag),
    i64 => |number| Value::Int(number),
    i32 => |number| Value::Int(number.into()),
    u32 => |number| Value::Int(number.into()),
    u16 => |number| Value::Int(number.into()),
    // PVE's numbers fit; one that does not is sent as its digits all the same.
    u64 => |number| i64::try_from(number).map_or_else(|_| Value::Text(number.to_string()), Value::Int),
    String => |text| Value::Text(text),
    &String => |text| Value::Text(text.clone()),
    &str => |text| Value::Text(text.to_owned()),
    Vmid => |vmid| Value::Int(vmid.get().into()),
    &Vmid => |vmid| Value::Int(vmid.get().into()),
    Size => |size| Value::Text(size.to_string()),
    DnsName => |name| Value::Text(name.as_str().to_owned()),
    &DnsName => |name| Value::Text(name.as_str().to_owned()),
    NodeName => |name| Value::Text(name.as_str().to_owned()),
    &NodeName => |name| Value::Text(name.as_str().to_owned()),
    StorageId => |name| Value::Text(name.as_str().to_owned()),
    &StorageId => |name| Value::Text(name.as_str().to_owned()),
    PoolId => |name| Value::Text(name.as_str().to_owned()),
    &PoolId => |name| Value::Text(name.as_str().to_owned()),
    SnapName => |name| Value::Text(name.as_str().to_owned()),
    &SnapName => |name| Value::Text(name.as_str().to_owned()),
}
