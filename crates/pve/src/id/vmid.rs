//! The numbers of guests.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use super::{IdError, clip};
use crate::lenient;

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
                IdError::new(format!(
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
            Err(_) => Err(IdError::new(format!(
                "{:?} is not a vmid: a guest id is a number from {} to {}",
                clip(digits),
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
        // Without bounds: nearly every tool would list them, and who is out of them is told.
        json_schema!({ "type": "integer" })
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
}
