//! JSON with comments and trailing commas, edited in place: what is not ours keeps its words, its order and its comments, its
//! line ends and the mark that it begins with. An object in one line is put on several where something is added to it.

use jsonc_parser::ast;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

/// What some editors put before a text to say that it is UTF-8.
const MARK: char = '\u{feff}';

/// A text with this entry among its servers. Says what is in the way if there is no room for it.
pub(super) fn with(text: &str, key: &str, name: &str, entry: &Value) -> Result<String, String> {
    let root = parsed(text, key, name)?;
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
    if is_blank(text) && !after.ends_with('\n') {
        after.push('\n');
    }
    Ok(marked_as(text, after))
}

/// A text without this entry. The key that held it stays: others may be about to use it.
pub(super) fn without(text: &str, key: &str, name: &str) -> Result<String, String> {
    let root = parsed(text, key, name)?;
    let entry = servers(&root, key).and_then(|servers| servers.get(name));
    let Some(entry) = entry else {
        return Ok(text.to_owned());
    };
    entry.remove();
    Ok(marked_as(text, root.to_string()))
}

/// Whether this is all that is left of a text that held one entry and nothing else.
pub(super) fn is_bare(text: &str, key: &str) -> bool {
    let letters = unmarked(text).chars();
    let letters: String = letters
        .filter(|letter| !letter.is_ascii_whitespace())
        .collect();
    letters == format!("{{\"{key}\":{{}}}}")
}

/// Whether there is nothing in it.
pub(super) fn is_blank(text: &str) -> bool {
    unmarked(text).trim().is_empty()
}

/// An entry, if it is there.
pub(super) fn entry(text: &str, key: &str, name: &str) -> Option<Value> {
    let root = parsed(text, key, name).ok()?;
    servers(&root, key)?.get(name)?.to_serde_value_of()
}

fn unmarked(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// A text with the mark of another.
fn marked_as(other: &str, text: String) -> String {
    if other.starts_with(MARK) {
        format!("{MARK}{text}")
    } else {
        text
    }
}

fn servers(root: &CstRootNode, key: &str) -> Option<CstObject> {
    root.object_value()?.object_value(key)
}

/// What clients read: JSON with comments and trailing commas, and nothing looser. What counts of two entries of one name each
/// client decides for itself, so that neither can be changed for all of them.
fn parsed(text: &str, key: &str, name: &str) -> Result<CstRootNode, String> {
    let text = unmarked(text);
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_loose_object_property_names: false,
        allow_single_quoted_strings: false,
        ..ParseOptions::default()
    };
    let placed = parse_to_ast(text, &CollectOptions::default(), &options);
    let placed = placed.map_err(|error| error.to_string())?;
    if let Some(ast::Value::Object(top)) = &placed.value
        && let Some(ast::Value::Object(servers)) = only(top, key, text)?
    {
        only(servers, name, text)?;
    }
    CstRootNode::parse(text, &options).map_err(|error| error.to_string())
}

/// The value of this key, which may be there once.
fn only<'a>(
    object: &'a ast::Object<'a>,
    key: &str,
    text: &str,
) -> Result<Option<&'a ast::Value<'a>>, String> {
    let mut named = object.properties.iter();
    let mut named = named
        .by_ref()
        .filter(|property| property.name.as_str() == key);
    let (first, second) = (named.next(), named.next());
    if let (Some(first), Some(second)) = (first, second) {
        let line = |property: &ast::ObjectProp<'_>| {
            let above = text.get(..property.range.start).unwrap_or_default();
            above.matches('\n').count() + 1
        };
        return Err(format!(
            "\"{key}\" stands in it twice, in line {} and in line {}",
            line(first),
            line(second)
        ));
    }
    Ok(first.map(|property| &property.value))
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
