//! What a parameter must be.

use serde_json::{Map, Value};

use crate::lenient::{as_bool, as_f64, as_text};

/// The deepest that schemas of values stand in each other; PVE's own go three deep.
const DEEPEST: usize = 6;

/// One parameter, or one key of a property string.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameter {
    /// Its name. A family of numbered ones ends in `[n]`: `net[n]` stands for `net0`, `net1` and so on.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its type.
    pub kind: Kind,
    /// Whether it may be left out.
    pub optional: bool,
    /// What PVE takes if it is left out.
    pub default: Option<String>,
    /// The only values it takes; empty for any.
    pub choices: Vec<String>,
    /// The least number.
    pub minimum: Option<f64>,
    /// The greatest number.
    pub maximum: Option<f64>,
    /// The least number of characters.
    pub shortest: Option<usize>,
    /// The greatest number of characters.
    pub longest: Option<usize>,
    /// A Perl regular expression, for reading only.
    pub pattern: Option<String>,
    /// How its text must look.
    pub format: Option<Format>,
    /// What each item of a list must be.
    pub items: Option<Box<Parameter>>,
    /// Another parameter that must come with it.
    pub requires: Option<String>,
    /// In a property string: a value without a key is this one's.
    pub is_default_key: bool,
    /// In a property string: the key that this one is another name for.
    pub alias: Option<String>,
    /// In a property string: the key that then takes the name of this one (`virtio=<mac>` sets `model=virtio`).
    pub key_alias: Option<String>,
}

/// The JSON types that parameters have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    #[default]
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// 0 or 1.
    Boolean,
    /// A list.
    Array,
    /// An object, anything, or a type that is not known here: left to PVE.
    Other,
}

/// How a text must look.
#[derive(Debug, Clone, PartialEq)]
pub enum Format {
    /// A form that PVE has a name for: `pve-vmid`, `ip-list`.
    Named(String),
    /// Keys and values in one text: `virtio,bridge=vmbr0`.
    Properties(Vec<Parameter>),
}

impl Kind {
    pub(super) fn read(word: &str) -> Self {
        match word {
            "string" | "" => Self::Text,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "array" => Self::Array,
            _ => Self::Other,
        }
    }

    /// "whole number"
    pub fn noun(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "whole number",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "list",
            Self::Other => "value",
        }
    }
}

impl Parameter {
    pub(super) fn read(name: &str, schema: &Value) -> Self {
        Self::read_at(name, schema, 0)
    }

    fn read_at(name: &str, schema: &Value, depth: usize) -> Self {
        let named = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        let Some(schema) = schema.as_object().filter(|_| depth < DEEPEST) else {
            return Self {
                kind: Kind::Other,
                optional: true,
                ..named
            };
        };
        let number = |key: &str| schema.get(key).and_then(as_f64);
        let length = |key: &str| schema.get(key)?.as_u64()?.try_into().ok();
        let word = |key: &str| schema.get(key).and_then(as_text);
        // What depends on the value of another parameter is left to PVE.
        let varies = schema.contains_key("oneOf") || schema.contains_key("instance-types");
        Self {
            description: text(schema, "description"),
            kind: Kind::read(&text(schema, "type")),
            optional: varies || schema.get("optional").is_some_and(truth),
            default: word("default"),
            choices: words(schema.get("enum")),
            minimum: number("minimum"),
            maximum: number("maximum"),
            shortest: length("minLength"),
            longest: length("maxLength"),
            pattern: word("pattern"),
            format: schema
                .get("format")
                .and_then(|format| Format::read(format, depth)),
            items: schema
                .get("items")
                .map(|items| Box::new(Self::read_at(name, items, depth + 1))),
            requires: word("requires"),
            is_default_key: schema.get("default_key").is_some_and(truth),
            alias: word("alias"),
            key_alias: word("keyAlias"),
            ..named
        }
    }

    /// The name of the family without its `[n]`, if it is one.
    pub fn family(&self) -> Option<&str> {
        self.name.strip_suffix("[n]")
    }

    /// Whether a name is one of the family: `net0`, not `net00` or `net`. How many there may be only PVE knows.
    pub fn has_member(&self, name: &str) -> bool {
        let number = self.family().and_then(|family| name.strip_prefix(family));
        number.is_some_and(|number| {
            (1..=4).contains(&number.len())
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && (number == "0" || !number.starts_with('0'))
        })
    }
}

impl Format {
    fn read(format: &Value, depth: usize) -> Option<Self> {
        match format {
            Value::String(name) => Some(Self::Named(name.clone())),
            Value::Object(keys) => Some(Self::Properties(
                keys.iter()
                    .map(|(name, schema)| Parameter::read_at(name, schema, depth + 1))
                    .collect(),
            )),
            _ => None,
        }
    }
}

/// A text member, or nothing.
pub(super) fn text(object: &Map<String, Value>, key: &str) -> String {
    let value = object.get(key).and_then(Value::as_str);
    value.unwrap_or_default().trim().to_owned()
}

/// Whether a flag is set, in any of PVE's ways to write that.
pub(super) fn truth(value: &Value) -> bool {
    as_bool(value).unwrap_or(value.is_object())
}

fn words(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array);
    items.into_iter().flatten().filter_map(as_text).collect()
}
