//! Arguments held against a schema: what is not there, not of its type or out of its bounds is named, with what to send
//! instead, in words that owe nothing to Rust.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::fault::Fault;
use crate::tool::Object;

/// Arguments that are [`known`] into a tool. The error names the argument and says what the tool takes.
pub fn parse<T: DeserializeOwned + JsonSchema>(args: Object) -> Result<T, Fault> {
    // A null is how several clients send "left out".
    let args: Object = args
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect();
    serde_path_to_error::deserialize(Value::Object(args)).map_err(|error| {
        let schema = super::input::<T>();
        let path = error.path().to_string();
        let what = error.inner().to_string();
        if path == "." {
            return Fault::bad_input(what).hint(takes(&schema));
        }
        let name = path.split(['.', '[']).next().unwrap_or_default();
        let hint = || takes(&schema);
        misread(&path, &what, name, &schema["properties"][name], hint)
    })
}

/// One argument, of which `property` is the schema. A null counts as left out.
pub fn one<T: DeserializeOwned>(
    name: &str,
    value: Option<Value>,
    property: &Value,
) -> Result<Option<T>, Fault> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => serde_json::from_value(value).map(Some).map_err(|error| {
            let hint = || sends(name, property);
            misread(name, &error.to_string(), name, property, hint)
        }),
    }
}

/// One that the tool does not list and some callers send: a blank counts as left out.
pub fn unlisted<T: DeserializeOwned>(args: &mut Object, name: &str) -> Result<Option<T>, Fault> {
    let is_blank = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
    let value = args.remove(name).filter(|value| !is_blank(value));
    one(name, value, &Value::Null)
}

/// The fault for a value that could not be read. A type with rules of its own says what they are, and gets the `hint`;
/// otherwise the schema tells what belongs there.
fn misread(
    path: &str,
    what: &str,
    name: &str,
    property: &Value,
    hint: impl FnOnce() -> String,
) -> Fault {
    if name == "vmid" && what.contains("is not a vmid") {
        let hint =
            "list_proxmox_resources with name:TEXT in its filter tells the number of a guest";
        return Fault::bad_input(format!("argument `{path}`: {what}")).hint(hint);
    }
    match type_error(what) {
        Some(words) => {
            Fault::bad_input(format!("argument `{path}`: {words}")).hint(sends(name, property))
        }
        None => Fault::bad_input(format!("argument `{path}`: {what}")).hint(hint()),
    }
}

/// Every argument is one that the schema has; otherwise the near ones are named.
pub fn known(args: &Object, schema: &Object) -> Result<(), Fault> {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Ok(());
    };
    for name in args.keys() {
        if properties.contains_key(name) {
            continue;
        }
        let near = nearest(name, properties.keys().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`? {}", takes(schema)),
            None => takes(schema),
        };
        return Err(Fault::bad_input(format!(
            "there is no argument `{}`",
            crate::words::clip(name, 64)
        ))
        .hint(hint));
    }
    Ok(())
}

/// Numbers and truths that came as text become what they are, and every number is within its bounds: models write "105"
/// for 105 and mean the same.
pub fn coerce(args: &mut Object, schema: &Object) -> Result<(), Fault> {
    for (name, value) in args {
        let property = &schema["properties"][name];
        if let Some(meant) = meant(value, property) {
            *value = meant;
        }
        if property["type"] == "integer" && value.is_boolean() {
            // Types that read numbers from text would take it for 1 or 0.
            let message = format!("argument `{name}`: {value} was sent where a number belongs");
            return Err(Fault::bad_input(message).hint(sends(name, property)));
        }
        let number = value.as_i64().map(i128::from);
        let number = number.or_else(|| value.as_u64().map(i128::from));
        let is_outside = match number {
            Some(number) => !bounds(property).contains(&number),
            None => value.is_f64() && value.as_f64() < property["minimum"].as_f64(),
        };
        if is_outside {
            let message = format!("argument `{name}`: {value} is out of range");
            return Err(Fault::bad_input(message).hint(sends(name, property)));
        }
    }
    Ok(())
}

/// Everything that must be there is, and everything is of its type and among its words. For arguments that are read by no
/// type of their own.
pub fn complete(args: &Object, schema: &Object) -> Result<(), Fault> {
    for name in schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let name = name.as_str().unwrap_or_default();
        if !args.contains_key(name) {
            return Err(Fault::bad_input(format!("missing field `{name}`")).hint(takes(schema)));
        }
    }
    for (name, value) in args {
        let property = &schema["properties"][name];
        let fits = match property["type"].as_str() {
            Some("string") => value.is_string(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            Some("boolean") => value.is_boolean(),
            _ => true,
        };
        if !fits {
            let message = format!("argument `{name}` is not of its type");
            return Err(Fault::bad_input(message).hint(sends(name, property)));
        }
        let words = property["enum"].as_array();
        if let (Some(words), Some(word)) = (words, value.as_str())
            && !words.iter().any(|known| known == word)
        {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            let message = format!(
                "argument `{name}` cannot be \"{}\"",
                crate::words::clip(word, 40)
            );
            return Err(Fault::bad_input(message).hint(format!("send one of {}", words.join(", "))));
        }
    }
    Ok(())
}

/// What was meant by a value that is not of its type.
pub(super) fn meant(value: &Value, property: &Value) -> Option<Value> {
    match (property["type"].as_str()?, value) {
        ("integer", Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        // 4096.0, as languages write it that know one kind of number.
        ("integer" | "number", Value::Number(number)) if number.is_f64() => number
            .to_string()
            .strip_suffix(".0")?
            .parse::<i64>()
            .ok()
            .map(Value::from),
        ("boolean", Value::String(text)) => text.trim().parse::<bool>().ok().map(Value::from),
        // As PVE itself writes it.
        ("boolean", Value::Number(number)) => match number.as_u64()? {
            0 => Some(Value::Bool(false)),
            1 => Some(Value::Bool(true)),
            _ => None,
        },
        // Some models write what belongs inside as text.
        ("object", Value::String(text)) => {
            let inner = super::object(text).ok()?;
            Some(Value::Object(inner))
        }
        _ => None,
    }
}

pub(super) fn bounds(property: &Value) -> RangeInclusive<i128> {
    let bound = |name: &str| property[name].as_i64().map(i128::from);
    bound("minimum").unwrap_or(i128::MIN)..=bound("maximum").unwrap_or(i128::MAX)
}

/// What to send for an argument, and what it is about: "send wait: a whole number, 0 to 600. Seconds to wait."
pub fn sends(name: &str, property: &Value) -> String {
    let items = &property["items"]["type"];
    let belongs = match property["type"].as_str() {
        Some("integer") => {
            let bounds = bounds(property);
            match (*bounds.start(), *bounds.end()) {
                (i128::MIN, i128::MAX) => "a whole number".to_owned(),
                (i128::MIN, most) => format!("a whole number, at most {most}"),
                (least, i128::MAX) => format!("a whole number, at least {least}"),
                (least, most) => format!("a whole number, {least} to {most}"),
            }
        }
        Some("number") => match bounds(property).start() {
            &i128::MIN => "a number".to_owned(),
            least => format!("a number, at least {least}"),
        },
        Some("boolean") => "true or false".to_owned(),
        Some("array") if items == "integer" => "a list, [100, 101]".to_owned(),
        Some("array") => r#"a list, ["…", "…"]"#.to_owned(),
        Some("object") => r#"an object, {"…": …}"#.to_owned(),
        _ => match property["enum"].as_array() {
            Some(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                format!("one of {}", words.join(", "))
            }
            None => "a text".to_owned(),
        },
    };
    let about = property["description"].as_str().unwrap_or_default();
    format!("send {name}: {belongs}. {about}")
        .trim_end()
        .to_owned()
}

/// What serde says of a value of the wrong type or size, in other words: without the names of Rust's types, and without
/// what was sent unless it is a number among numbers; it may be a password.
fn type_error(what: &str) -> Option<String> {
    if let Some(rest) = what.strip_prefix("unknown variant ") {
        let (sent, expected) = rest.rsplit_once(", expected ")?;
        return Some(format!("{sent} was sent where {expected} belongs"));
    }
    let rest = what
        .strip_prefix("invalid type: ")
        .or_else(|| what.strip_prefix("invalid value: "))?;
    let (sent, expected) = rest.rsplit_once(", expected ")?;
    let (belongs, is_number) = match expected {
        "u8" => ("a whole number of 0 to 255", true),
        "u16" => ("a whole number of 0 to 65535", true),
        "u32" => ("a whole number of 0 to 4294967295", true),
        "u64" | "usize" => ("a whole number of at least 0", true),
        "i8" | "i16" | "i32" | "i64" | "isize" => ("a whole number", true),
        "f32" | "f64" => ("a number", true),
        "a boolean" => ("true or false", false),
        "a string" | "a borrowed string" | "string or map" => ("a text", false),
        "a sequence" => ("a list", false),
        "a map" => ("an object", false),
        other if other.starts_with("struct ") => ("an object", false),
        other => (other, false),
    };
    let (kind, value) = sent.split_once(" `").unwrap_or((sent, ""));
    let sent = match kind {
        "integer" | "floating point" if is_number => value.trim_end_matches('`'),
        "integer" | "floating point" => "a number",
        "boolean" => value.trim_end_matches('`'),
        "sequence" => "a list",
        "map" => "an object",
        "null" | "unit value" => "null",
        _ => "a text",
    };
    Some(format!("{sent} was sent where {belongs} belongs"))
}

/// The candidate that was probably meant.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Comparing takes time with the square of the length; nobody mistypes a name this long.
    if word.len() > 64 {
        return None;
    }
    candidates
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// "it takes vmid, node (optional), …"
pub fn takes(schema: &Object) -> String {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return String::new();
    };
    if properties.is_empty() {
        return "it takes no arguments".to_owned();
    }
    let required = |name: &String| {
        schema
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|names| names.iter().any(|n| n == name))
    };
    let list: Vec<_> = properties
        .keys()
        .map(|name| {
            if required(name) {
                name.clone()
            } else {
                format!("{name} (optional)")
            }
        })
        .collect();
    format!("it takes {}", list.join(", "))
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::super::input;
    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema and its parsing are looked at")]
    struct Sample {
        /// Which one.
        vmid: pve::Vmid,
        /// How gently.
        how: Option<String>,
        /// How long.
        wait: Option<u32>,
        /// Which others.
        more: Option<Vec<u16>>,
    }

    fn object(value: &Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn an_unknown_argument_names_the_near_one() {
        let fault = known(&object(&json!({"vmidd": 105})), &input::<Sample>()).unwrap_err();
        assert_eq!(fault.message, "there is no argument `vmidd`");
        assert!(fault.hint.unwrap().starts_with("did you mean `vmid`?"));
    }

    #[test]
    fn a_wrong_value_is_said_in_words() {
        for (args, message, hint) in [
            (
                json!({"vmid": 105, "wait": "long"}),
                "argument `wait`: a text was sent where a whole number of 0 to 4294967295 belongs",
                "send wait: a whole number, at least 0. How long.",
            ),
            (
                json!({"vmid": 105, "wait": 2.5}),
                "argument `wait`: 2.5 was sent where a whole number of 0 to 4294967295 belongs",
                "send wait: a whole number, at least 0. How long.",
            ),
            (
                json!({"vmid": 105, "how": 4711}),
                "argument `how`: a number was sent where a text belongs",
                "send how: a text. How gently.",
            ),
            (
                json!({"vmid": 105, "more": [100, "x"]}),
                "argument `more[1]`: a text was sent where a whole number of 0 to 65535 belongs",
                "send more: a list, [100, 101]. Which others.",
            ),
        ] {
            let fault = parse::<Sample>(object(&args)).unwrap_err();
            assert_eq!(fault.message, message);
            assert_eq!(fault.hint.as_deref(), Some(hint));
        }
    }

    #[test]
    fn a_whole_number_may_be_written_otherwise() {
        let mut args = object(&json!({"vmid": "105", "wait": 30.0}));
        coerce(&mut args, &input::<Sample>()).unwrap();
        assert_eq!(args, object(&json!({"vmid": 105, "wait": 30})));
        for wrong in [json!(true), json!(-1)] {
            let mut args = object(&json!({"wait": wrong}));
            let fault = coerce(&mut args, &input::<Sample>()).unwrap_err();
            assert!(fault.message.starts_with("argument `wait`: "), "{fault}");
        }
    }

    #[test]
    fn a_null_counts_as_left_out() {
        assert!(
            parse::<Sample>(object(&json!({"vmid": 105, "how": null})))
                .unwrap()
                .how
                .is_none()
        );
    }
}
