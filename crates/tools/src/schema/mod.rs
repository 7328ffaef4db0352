//! JSON Schemas as every client can read them. `arguments` holds what is sent against them, and `blanks` takes out what says
//! nothing.
//!
//! Several clients break on `$ref`, on nullable types and on `format: uint32`. Schemas are cleaned
//! here, once, and the result is kept in a snapshot per tool.

mod arguments;
mod blanks;
mod unrepeated;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::tool::Object;

pub use arguments::{coerce, complete, known, nearest, one, parse, sends, takes, unlisted};
pub use blanks::drop_blanks;
pub use unrepeated::{object, repeats_a_name};

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
}
