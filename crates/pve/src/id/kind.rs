//! The kinds of guests.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::IdError;

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
            other => Err(IdError::new(format!(
                "{:?} is not a guest kind: it is \"qemu\" (a VM) or \"lxc\" (a container)",
                super::clip(other)
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
