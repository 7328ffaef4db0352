//! Sizes as PVE writes them in configurations, and as callers choose them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::IdError;
use crate::lenient;

const MEBIBYTE: u64 = 1 << 20;
const GIBIBYTE: u64 = 1 << 30;

/// The size of a disk that a caller chose: a number of gibibytes, or a text with a unit (`32`, `"32G"`, `"512M"`). Always
/// whole mebibytes, and more than none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u64);

impl Size {
    /// So many gibibytes.
    pub const fn gib(number: u32) -> Self {
        Self(number as u64 * GIBIBYTE)
    }

    /// In bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// In gibibytes, the unit of a new disk (`local-lvm:32`): whole, or with as many decimals as it takes.
    pub fn in_gib(self) -> String {
        let (whole, rest) = (self.0 / GIBIBYTE, self.0 % GIBIBYTE / MEBIBYTE);
        // A mebibyte is 1/1024 of a gibibyte, which has ten decimals.
        let text = format!("{whole}.{:010}", rest * (10_000_000_000 / 1024));
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// As PVE writes it: `32G`, `1536M`.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(GIBIBYTE) {
            write!(f, "{}G", self.0 / GIBIBYTE)
        } else {
            write!(f, "{}M", self.0 / MEBIBYTE)
        }
    }
}

impl FromStr for Size {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let compact = text.replace(' ', "").to_ascii_uppercase();
        // "32GB" and "32GiB" mean what PVE calls 32G.
        let number = compact.trim_end_matches('B').trim_end_matches('I');
        let with_unit = if number.ends_with(|c: char| c.is_ascii_digit()) {
            format!("{number}G")
        } else {
            number.to_owned()
        };
        parse_size(&with_unit)
            .filter(|bytes| *bytes > 0 && bytes.is_multiple_of(MEBIBYTE))
            .map(Self)
            .ok_or_else(|| {
                IdError::new(format!(
                    "{text:?} is not a size: it is a number of GiB such as 32, or \"32G\", \"512M\", \"1T\""
                ))
            })
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = lenient::text(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A number to those who read the schema; texts with a unit are taken too, but a schema of two types trips clients.
impl JsonSchema for Size {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1 })
    }
}

/// Reads `32G`, `528K`, `1.5T` or plain bytes, as a number of bytes; units are powers of 1024.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit = text.chars().next_back()?;
    let shift = match unit.to_ascii_uppercase() {
        'K' => 10,
        'M' => 20,
        'G' => 30,
        'T' => 40,
        _ if unit.is_ascii_digit() => 0,
        _ => return None,
    };
    let digits = if shift == 0 {
        text
    } else {
        &text[..text.len() - 1]
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let bytes = whole.checked_mul(1 << shift)?;
    bytes.checked_add(part_of(fraction, 1 << shift))
}

/// `0.fraction` of a unit, rounded down. Thirteen digits are finer than a byte of a tebibyte.
fn part_of(fraction: &str, unit: u64) -> u64 {
    let digits = &fraction[..fraction.len().min(13)];
    let value: u128 = digits.parse().unwrap_or(0);
    let scale = 10_u128.pow(u32::try_from(digits.len()).unwrap_or(13));
    u64::try_from(value * u128::from(unit) / scale).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_of_real_configurations_are_read() {
        for (text, bytes) in [
            ("32G", 32 << 30),
            ("528K", 528 << 10),
            ("4M", 4 << 20),
            ("1.5T", 3 << 39),
            ("2048", 2048),
            ("0.5K", 512),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_sizes() {
        for text in [
            "",
            "G",
            "-1G",
            "1.G",
            ".5G",
            "1e3",
            "1 G",
            "32GB",
            "99999999999T",
            "1ä",
        ] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }

    #[test]
    fn a_chosen_size_is_gibibytes_unless_it_says_otherwise() {
        for (json, written, in_gib) in [
            ("32", "32G", "32"),
            ("\"32\"", "32G", "32"),
            ("\"32 GiB\"", "32G", "32"),
            ("\"32gb\"", "32G", "32"),
            ("0.5", "512M", "0.5"),
            ("\"1537M\"", "1537M", "1.5009765625"),
            ("\"1.5T\"", "1536G", "1536"),
        ] {
            let size: Size = serde_json::from_str(json).unwrap();
            assert_eq!(
                (size.to_string().as_str(), size.in_gib().as_str()),
                (written, in_gib)
            );
            assert_eq!(
                serde_json::to_string(&size).unwrap(),
                format!("\"{written}\"")
            );
        }
        assert_eq!(Size::gib(8).bytes(), 8 << 30);
    }

    #[test]
    fn what_is_no_size_says_what_is() {
        for text in ["0", "-1", "big", "", "1K", "B", "99999999T"] {
            let error = text.parse::<Size>().unwrap_err();
            assert!(error.to_string().contains("\"32G\""), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_size_reads_back(mebibytes in 1_u64..1_000_000_000) {
            let size: Size = format!("{mebibytes}M").parse().unwrap();
            prop_assert_eq!(size.to_string().parse::<Size>().unwrap(), size);
            prop_assert_eq!(size.in_gib().parse::<Size>().unwrap(), size);
        }

        #[test]
        fn whole_sizes_are_exact(number in 0_u64..1_000_000, unit in 0_usize..5) {
            let text = format!("{number}{}", ["", "K", "M", "G", "T"][unit]);
            prop_assert_eq!(parse_size(&text), Some(number << (10 * unit)));
        }

        #[test]
        fn parsing_never_panics(text in any::<String>()) {
            let _ = parse_size(&text);
        }
    }
}
