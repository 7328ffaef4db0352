//! JSON with comments and trailing commas, edited in place: what is not ours keeps its words, its order and its comments. An
//! object in one line is put on several where something is added to it.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

/// A text with this entry among its servers. Says what is in the way if there is no room for it.
pub(super) fn with(text: &str, key: &str, name: &str, entry: &Value) -> Result<String, String> {
    let root = parsed(text)?;
    let top = root.object_value_or_create();
    let top = top.ok_or("it holds no object")?;
    top.ensure_multiline();
    let servers = top.object_value_or_create(key);
    let servers = servers.ok_or_else(|| format!("\"{key}\" in it is no object"))?;
    match servers.get(name) {
        Some(known) if known.to_serde_value_of() == Some(entry.clone()) => {
            return Ok(text.to_owned());
        }
        Some(known) => known.set_value(input(entry)),
        None => {
            servers.ensure_multiline();
            servers.append(name, input(entry));
        }
    }
    let mut after = root.to_string();
    if text.trim().is_empty() && !after.ends_with('\n') {
        after.push('\n');
    }
    Ok(after)
}

/// A text without this entry. The key that held it stays: others may be about to use it.
pub(super) fn without(text: &str, key: &str, name: &str) -> Result<String, String> {
    let root = parsed(text)?;
    let entry = servers(&root, key).and_then(|servers| servers.get(name));
    let Some(entry) = entry else {
        return Ok(text.to_owned());
    };
    entry.remove();
    Ok(root.to_string())
}

/// What is left of a text that held this entry and nothing else.
pub(super) fn bare(key: &str, name: &str) -> Result<String, String> {
    without(&with("", key, name, &Value::Null)?, key, name)
}

/// An entry, if it is there.
pub(super) fn entry(text: &str, key: &str, name: &str) -> Option<Value> {
    let root = parsed(text).ok()?;
    servers(&root, key)?.get(name)?.to_serde_value_of()
}

fn servers(root: &CstRootNode, key: &str) -> Option<CstObject> {
    root.object_value()?.object_value(key)
}

/// What clients read: JSON with comments and trailing commas, and nothing looser.
fn parsed(text: &str) -> Result<CstRootNode, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_loose_object_property_names: false,
        allow_single_quoted_strings: false,
        ..ParseOptions::default()
    };
    CstRootNode::parse(text, &options).map_err(|error| error.to_string())
}

trait PropertyValue {
    fn to_serde_value_of(&self) -> Option<Value>;
}

impl PropertyValue for jsonc_parser::cst::CstObjectProp {
    fn to_serde_value_of(&self) -> Option<Value> {
        self.value()?.to_serde_value()
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(fields.collect())
        }
    }
}
