//! JSON Schemas as every client can read them, and arguments checked against the types behind them.
//!
//! Several clients break on `$ref`, on nullable types and on `format: uint32`. Schemas are cleaned
//! here, once, and the result is kept in a snapshot per tool.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::tool::Object;

/// The cleaned schema of what a type takes.
pub fn input<T: JsonSchema>() -> Object {
    cleaned::<T>(SchemaSettings::draft2020_12())
}

/// The cleaned schema of what a type gives: a field that may be left out is not required.
///
/// It names the fields and their types, and no more. It is listed with every tool and paid for in every conversation,
/// while the answer itself comes with text that explains it; the words about the fields stay in the code.
pub fn output<T: JsonSchema>() -> Object {
    let mut schema = Value::Object(cleaned::<T>(SchemaSettings::draft2020_12().for_serialize()));
    shorten(&mut schema, true);
    match schema {
        Value::Object(schema) => schema,
        _ => Object::new(),
    }
}

/// Leaves names and types; of rows and other objects within it, the names. What must be there, and which words a field
/// can have, is said for the outermost object only.
fn shorten(schema: &mut Value, outermost: bool) {
    let Value::Object(object) = schema else {
        return;
    };
    for noise in ["description", "minimum", "maximum", "additionalProperties"] {
        object.remove(noise);
    }
    if !outermost {
        object.remove("required");
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for property in properties.values_mut() {
            if outermost {
                shorten(property, false);
            } else {
                *property = json!({});
            }
        }
    }
    if let Some(items) = object.get_mut("items") {
        shorten(items, false);
    }
}

fn cleaned<T: JsonSchema>(mut settings: SchemaSettings) -> Object {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    clean(&mut schema);
    let Value::Object(mut schema) = schema else {
        return Object::new();
    };
    // A struct without fields has no `properties`, which some clients take for "anything".
    schema.entry("properties").or_insert_with(|| json!({}));
    schema
}

/// Takes out what clients trip over, at every depth.
fn clean(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            // A pattern costs a model more than it tells; the types behind the schema check it and say what is allowed.
            for noise in ["$schema", "title", "format", "pattern"] {
                // A property may well be *called* title; then its value is a schema, not a string.
                if object.get(noise).is_some_and(Value::is_string) {
                    object.remove(noise);
                }
            }
            // Anything else is what goes without saying.
            if object.get("additionalProperties") == Some(&json!(true)) {
                object.remove("additionalProperties");
            }
            drop_null(object);
            merge_constants(object);
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = unwrap_lines(text);
            }
            object.values_mut().for_each(clean);
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        _ => {}
    }
}

/// `Option<T>` means "may be left out" here, never "may be null".
fn drop_null(object: &mut Object) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            object["type"] = only.clone();
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    // "Left out" is no, none or nothing unless another default is told.
    if let Some(default) = object.get("default")
        && (default.is_null()
            || default == &json!(false)
            || default == &json!([])
            || default == &json!({}))
    {
        object.remove("default");
    }
    let Some(Value::Array(choices)) = object.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| choice != &json!({"type": "null"}));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
}

/// An enum with documented variants arrives as a `oneOf` of constants; an `enum` says the same.
fn merge_constants(object: &mut Object) {
    let Some(Value::Array(choices)) = object.get("oneOf") else {
        return;
    };
    let mut values = Vec::new();
    for choice in choices {
        match (choice.get("const"), choice.get("enum")) {
            (Some(value), _) => values.push(value.clone()),
            (None, Some(Value::Array(several))) => values.extend(several.iter().cloned()),
            _ => return,
        }
    }
    object.remove("oneOf");
    object.insert("type".to_owned(), json!("string"));
    object.insert("enum".to_owned(), Value::Array(values));
}

/// Doc comments are wrapped for the eye; a model pays for every line break. Blank lines stay.
fn unwrap_lines(text: &str) -> String {
    text.split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Arguments that are [`known`] into a tool. The error names the argument and says what the tool takes.
pub fn parse<T: DeserializeOwned + JsonSchema>(args: Object) -> Result<T, Fault> {
    // A null is how several clients send "left out".
    let args: Object = args
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect();
    serde_path_to_error::deserialize(Value::Object(args)).map_err(|error| {
        let path = error.path().to_string();
        let what = without_quote(&error.inner().to_string());
        let message = if path == "." {
            what
        } else {
            format!("argument `{path}`: {what}")
        };
        Fault::bad_input(message).hint(takes(&input::<T>()))
    })
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
        if let Value::String(text) = value {
            let meant = match property["type"].as_str() {
                Some("integer") => text.trim().parse::<i64>().ok().map(Value::from),
                Some("boolean") => text.trim().parse::<bool>().ok().map(Value::from),
                _ => None,
            };
            if let Some(meant) = meant {
                *value = meant;
            }
        }
        shaped(name, value, property)?;
        let Some(number) = value.as_i64() else {
            continue;
        };
        let least = property["minimum"].as_i64().unwrap_or(i64::MIN);
        let most = property["maximum"].as_i64().unwrap_or(i64::MAX);
        if !(least..=most).contains(&number) {
            let bounds = match (least, most) {
                (i64::MIN, most) => format!("at most {most}"),
                (least, i64::MAX) => format!("at least {least}"),
                (least, most) => format!("{least} to {most}"),
            };
            return Err(
                Fault::bad_input(format!("argument `{name}`: {number} is out of range"))
                    .hint(format!("send {bounds}; {}", takes(schema))),
            );
        }
    }
    Ok(())
}

/// A list or an object where one belongs. What was sent instead is not repeated: it may hold a password.
fn shaped(name: &str, value: &Value, property: &Value) -> Result<(), Fault> {
    let (belongs, example) = match (property["type"].as_str(), value) {
        // Some lists take a text too; their own types say so.
        (_, Value::Null)
        | (Some("array"), Value::Array(_) | Value::String(_))
        | (Some("object"), Value::Object(_)) => return Ok(()),
        (Some("array"), _) if property["items"]["type"] == "integer" => ("a list", "[100, 101]"),
        (Some("array"), _) => ("a list", r#"["…", "…"]"#),
        (Some("object"), _) => ("an object", r#"{"…": …}"#),
        _ => return Ok(()),
    };
    let sent = match value {
        Value::String(_) => "a text",
        Value::Number(_) => "a number",
        Value::Bool(_) => "true or false",
        Value::Array(_) => "a list",
        _ => "an object",
    };
    let about = property["description"].as_str().unwrap_or_default();
    Err(Fault::bad_input(format!(
        "argument `{name}`: {sent} was sent where {belongs} belongs"
    ))
    .hint(format!("send {name}: {example}. {about}")))
}

/// What serde says of a value, without a text that it quotes.
fn without_quote(what: &str) -> String {
    let quoted = what
        .strip_prefix("invalid type: string ")
        .and_then(|rest| rest.rfind(", expected ").map(|at| &rest[at..]));
    match quoted {
        Some(expected) => format!("a text was sent{expected}"),
        None => what.to_owned(),
    }
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
fn takes(schema: &Object) -> String {
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
    use super::*;
    use serde::Deserialize;

    /// Does a thing
    /// to a guest.
    #[derive(Debug, Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema and its parsing are looked at")]
    struct Sample {
        /// Which one.
        vmid: pve::Vmid,
        /// How.
        how: Option<How>,
        /// How long.
        wait: Option<u32>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum How {
        /// Gently.
        Soft,
        /// At once.
        Hard,
    }

    fn object(value: &Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_schema_is_plain() {
        let schema = Value::Object(input::<Sample>());
        assert_eq!(schema["description"], "Does a thing to a guest.");
        assert_eq!(schema["properties"]["how"]["enum"], json!(["soft", "hard"]));
        assert_eq!(schema["properties"]["wait"]["type"], "integer");
        let text = schema.to_string();
        for noise in ["$ref", "null", "anyOf", "oneOf", "uint32", "title"] {
            assert!(!text.contains(noise), "{noise} in {text}");
        }
    }

    #[test]
    fn an_unknown_argument_names_the_near_one() {
        let fault = known(&object(&json!({"vmidd": 105})), &input::<Sample>()).unwrap_err();
        assert_eq!(fault.message, "there is no argument `vmidd`");
        assert!(fault.hint.unwrap().starts_with("did you mean `vmid`?"));
    }

    #[test]
    fn a_wrong_value_names_its_argument() {
        let fault = parse::<Sample>(object(&json!({"vmid": 105, "wait": "long"}))).unwrap_err();
        assert!(
            fault.message.starts_with("argument `wait`: "),
            "{}",
            fault.message
        );
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
