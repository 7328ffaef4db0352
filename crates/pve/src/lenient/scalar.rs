//! One value that is no list and no object, read straight from the text: a list of ten thousand guests has a quarter of a
//! million of them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

/// What stood there.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar<'a> {
    /// Null, a list or an object.
    Nothing,
    Flag(bool),
    Number(Number),
    Text(Cow<'a, str>),
}

impl<'a> Scalar<'a> {
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Nothing => None,
            Self::Flag(flag) => Some(Cow::Borrowed(if flag { "1" } else { "0" })),
            Self::Number(number) => Some(Cow::Owned(number.to_string())),
            Self::Text(text) => Some(text),
        }
    }

    pub(super) fn whole(&self) -> Option<u64> {
        match self {
            Self::Nothing => None,
            Self::Flag(flag) => Some(u64::from(*flag)),
            Self::Number(number) => number.as_u64().or_else(|| number.as_f64().and_then(cut)),
            Self::Text(text) => {
                let text = text.trim();
                text.parse()
                    .ok()
                    .or_else(|| text.parse::<f64>().ok().and_then(cut))
            }
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Nothing | Self::Flag(_) => None,
            Self::Number(number) => number.as_f64(),
            Self::Text(text) => text.trim().parse().ok(),
        }
        .filter(|number: &f64| number.is_finite())
    }

    pub(super) fn flag(&self) -> Option<bool> {
        let text = match self {
            Self::Nothing => return None,
            Self::Flag(flag) => return Some(*flag),
            Self::Number(number) => return number.as_f64().map(|number| number != 0.0),
            Self::Text(text) => text.trim(),
        };
        let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        if is_one_of(&["1", "true", "yes", "on"]) {
            Some(true)
        } else {
            is_one_of(&["0", "false", "no", "off", ""]).then_some(false)
        }
    }
}

impl<'a> From<&'a Value> for Scalar<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null | Value::Array(_) | Value::Object(_) => Self::Nothing,
            Value::Bool(flag) => Self::Flag(*flag),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::Text(Cow::Borrowed(text)),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

/// Takes whatever stands there.
struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Nothing)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Flag(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Number(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Number::from_f64(number).map_or(Scalar::Nothing, Scalar::Number))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked first; the cut fraction is meant"
)]
fn cut(number: f64) -> Option<u64> {
    // 2^63 is exact as a float; PVE has no larger counter.
    (0.0..9_223_372_036_854_775_808.0)
        .contains(&number)
        .then_some(number as u64)
}
