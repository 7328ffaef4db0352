//! Reading values whose JSON type PVE does not keep to: numbers as text, text as numbers, booleans as 0, 1 or "1".
//!
//! For use in `#[serde(deserialize_with = "…")]`. An optional value that cannot be read counts as absent, so that one
//! odd field never hides the rest of an answer.

mod scalar;

use std::borrow::Cow;
use std::str::FromStr;

use compact_str::CompactString;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::Value;

use scalar::Scalar;

/// A text, or a number or boolean as text.
pub fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    word(deserializer).map(Cow::into_owned)
}

/// As [`text`], without a copy where there need be none.
pub(crate) fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    Scalar::deserialize(deserializer)?
        .text()
        .ok_or_else(|| D::Error::custom("expected a text or a number"))
}

/// A text, a number as text, or nothing; null and absent are nothing.
pub fn opt_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Scalar::deserialize(deserializer)?
        .text()
        .map(Cow::into_owned))
}

/// The same for short texts, of which there are many: up to 24 bytes are kept in place.
pub(crate) fn opt_name<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<CompactString>, D::Error> {
    Ok(Scalar::deserialize(deserializer)?
        .text()
        .map(CompactString::from))
}

/// A whole number of at least zero, also as text.
pub fn opt_u64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Scalar::deserialize(deserializer)?.whole())
}

/// A number, also as text.
pub fn opt_f64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(Scalar::deserialize(deserializer)?.number())
}

/// A flag as PVE writes it; anything that is not clearly true is false.
pub fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Scalar::deserialize(deserializer)?.flag().unwrap_or(false))
}

/// A flag that may be absent.
pub fn opt_flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    Ok(Scalar::deserialize(deserializer)?.flag())
}

/// A number or name with rules of its own, which counts as absent when it breaks them.
pub fn opt_parsed<'de, D: Deserializer<'de>, T: FromStr>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let text = Scalar::deserialize(deserializer)?.text();
    Ok(text.and_then(|text| text.parse().ok()))
}

/// A value that counts as absent when it cannot be read.
pub fn opt<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

/// The readable items of a list; null is an empty list, and one bad item does not fail the others.
pub fn list<T: DeserializeOwned>(data: Value) -> Result<Vec<T>, String> {
    match data {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items
            .into_iter()
            .filter_map(|item| serde_json::from_value(item).ok())
            .collect()),
        _ => Err("expected a list".to_owned()),
    }
}

/// The value as text, if it is a text, a number or a boolean (as 0 or 1, the way PVE writes it).
pub fn as_text(value: &Value) -> Option<String> {
    Scalar::from(value).text().map(Cow::into_owned)
}

/// The value as a whole number of at least zero.
pub fn as_u64(value: &Value) -> Option<u64> {
    Scalar::from(value).whole()
}

/// The value as a finite number.
pub fn as_f64(value: &Value) -> Option<f64> {
    Scalar::from(value).number()
}

/// The value as a flag: true, 1, "1", "yes", "on", "true" and their opposites.
pub fn as_bool(value: &Value) -> Option<bool> {
    Scalar::from(value).flag()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_arrive_in_any_dress() {
        assert_eq!(as_u64(&json!(5)), Some(5));
        assert_eq!(as_u64(&json!("5")), Some(5));
        assert_eq!(as_u64(&json!(5.9)), Some(5));
        assert_eq!(as_u64(&json!("x")), None);
        assert_eq!(as_u64(&json!(-1)), None);
        assert_eq!(as_f64(&json!("0.80")), Some(0.8));
        assert_eq!(as_f64(&json!("nan")), None);
    }

    #[test]
    fn flags_arrive_in_any_dress() {
        for yes in [json!(1), json!("1"), json!(true)] {
            assert_eq!(as_bool(&yes), Some(true));
        }
        for no in [json!(0), json!("0"), json!(false), json!("")] {
            assert_eq!(as_bool(&no), Some(false));
        }
        assert_eq!(as_bool(&json!("2x")), None);
    }

    #[test]
    fn one_bad_item_does_not_fail_a_list() {
        let items: Vec<u64> = list(json!([1, "x", 3])).unwrap();
        assert_eq!(items, [1, 3]);
        assert!(list::<u64>(json!(null)).unwrap().is_empty());
        assert!(list::<u64>(json!({})).is_err());
    }
}
