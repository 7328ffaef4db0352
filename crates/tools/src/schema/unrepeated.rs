//! JSON in which no name stands twice: of two values the last would hold, and nobody would be told.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use crate::tool::Object;

/// A JSON object from text. The error tells the place and a name that stands twice, and nothing of the values.
pub fn object(text: &str) -> Result<Object, String> {
    let place =
        |error: &serde_json::Error| format!("line {}, column {}", error.line(), error.column());
    // Who sent what is no JSON at all is not told of names.
    serde_json::from_str::<Object>(text)
        .map_err(|error| format!("no JSON object ({})", place(&error)))?;
    match serde_json::from_str::<Unrepeated>(text) {
        Ok(Unrepeated(Value::Object(object))) => Ok(object),
        Ok(_) => Err("no JSON object".to_owned()),
        Err(error) => {
            let said = error.to_string();
            let what = said.split(" at line ").next().unwrap_or_default();
            Err(format!("{what} ({})", place(&error)))
        }
    }
}

/// Whether this is JSON in which a name stands twice in one object. A byte order mark before it does not count.
pub fn repeats_a_name(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    serde_json::from_slice::<Unrepeated>(text).is_err()
        && serde_json::from_slice::<Value>(text).is_ok()
}

/// A value in which no name stands twice.
struct Unrepeated(Value);

impl<'de> Deserialize<'de> for Unrepeated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading).map(Self)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Unrepeated(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Object::new();
        while let Some(name) = fields.next_key::<String>()? {
            if all.contains_key(&name) {
                let name = crate::words::clip(&name, 64);
                return Err(A::Error::custom(format!("`{name}` stands there twice")));
            }
            let Unrepeated(value) = fields.next_value()?;
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_are_found_at_every_depth() {
        for repeats in [
            r#"{"approve": false, "approve": true}"#,
            r#"[{"a": {"b": 1, "b": 1}}]"#,
            "\u{feff}{\"a\": 1, \"a\": 2}\n",
            r#"{"a": 1, "\u0061": 2}"#,
        ] {
            assert!(repeats_a_name(repeats.as_bytes()), "{repeats}");
        }
        for other in [r#"{"a": 1, "b": {"a": 2}}"#, "{", "", r#"{"a": 1, "a": }"#] {
            assert!(!repeats_a_name(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_name_that_stands_twice_is_told() {
        let text = r#"{"vmid": 105, "set": {"cores": 2, "x": [1.5, -1, null, true]}}"#;
        assert_eq!(
            object(text).unwrap(),
            serde_json::from_str::<Object>(text).unwrap()
        );
        for (text, what) in [
            (
                r#"{"vmid": 105, "vmid": 100}"#,
                "`vmid` stands there twice (line 1, column 20)",
            ),
            (
                r#"{"set": [{"a": 1, "a": 1}]}"#,
                "`a` stands there twice (line 1, column 21)",
            ),
            (r#"{"vmid": 1"#, "no JSON object (line 1, column 10)"),
            ("[1]", "no JSON object (line 1, column 0)"),
        ] {
            assert_eq!(object(text).unwrap_err(), what);
        }
    }
}
