//! A tool's JSON schema as command line options, and back: what a person types becomes the same arguments that a
//! model would send. Values are checked by the tool itself; here only their shape is found.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use tools::fault::Fault;
use tools::registry::Described;
use tools::tool::Object;

/// What a tool's options stand under in its help.
pub const HEADING: &str = "Arguments of the tool";

/// How a parameter is written on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// `--full`, `--full=false`
    Flag,
    /// `--vmid 105`
    Number,
    /// `--name web`
    Text,
    /// `--action reboot`, one of these.
    Choice(Vec<String>),
    /// `--include snapshots,tasks`, or once per item.
    List(Box<Shape>),
    /// `--arguments '{"vmid": 105}'` or `--arguments vmid=105`, once per key.
    Map,
}

impl Shape {
    fn of(schema: &Value) -> Self {
        if let Some(Value::Array(values)) = schema.get("enum") {
            let words = values.iter().filter_map(Value::as_str).map(str::to_owned);
            return Self::Choice(words.collect());
        }
        // Where several types are taken, a number is also taken as text.
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
            other => other.and_then(Value::as_str),
        };
        match kind {
            Some("boolean") => Self::Flag,
            Some("integer" | "number") => Self::Number,
            Some("array") => Self::List(Box::new(Self::of(&schema["items"]))),
            Some("object") => Self::Map,
            _ => Self::Text,
        }
    }

    fn placeholder(&self) -> &'static str {
        match self {
            Self::Flag => "BOOL",
            Self::Number => "N",
            Self::Text | Self::Choice(_) => "VALUE",
            Self::List(_) => "VALUE,…",
            Self::Map => "KEY=VALUE",
        }
    }

    /// One word of the command line as JSON. What is no number is passed on as text, for the tool to judge.
    fn value(&self, word: &str) -> Value {
        let number = || serde_json::from_str(word).ok().filter(Value::is_number);
        match self {
            Self::Flag => word.parse().map_or_else(|_| json!(word), Value::Bool),
            Self::Number => number().unwrap_or_else(|| json!(word)),
            _ => json!(word),
        }
    }
}

/// The parameters of a tool, with their schemas.
pub fn parameters(tool: &Described) -> impl Iterator<Item = (&String, &Value)> {
    let properties = tool.input.get("properties").and_then(Value::as_object);
    // The person at the terminal is asked, and has no use for a value that stands for their yes.
    properties
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "confirm")
}

/// Whether the tool insists on a parameter.
pub fn is_required(tool: &Described, name: &str) -> bool {
    let required = tool.input.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

/// Adds an option for each parameter. None is required by clap: `--args` may hold it, and the tool says what is missing.
pub fn options(mut command: Command, tool: &Described) -> Command {
    for (name, schema) in parameters(tool) {
        command = command.arg(option(name, schema, is_required(tool, name)));
    }
    command
}

fn option(name: &str, schema: &Value, required: bool) -> Arg {
    let shape = Shape::of(schema);
    let long = name.replace('_', "-");
    let mut arg = Arg::new(id(name))
        .long(long.clone())
        .value_name(shape.placeholder())
        .help(help(schema, required))
        .help_heading(HEADING);
    if long != name {
        arg = arg.alias(name.to_owned());
    }
    match shape {
        Shape::Flag => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        Shape::Choice(words) => arg.value_parser(PossibleValuesParser::new(words)),
        Shape::List(_) | Shape::Map => arg.action(ArgAction::Append),
        Shape::Number => arg.allow_negative_numbers(true),
        Shape::Text => arg,
    }
}

fn help(schema: &Value, required: bool) -> String {
    let mut text = schema["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    if let Shape::List(items) = Shape::of(schema)
        && let Shape::Choice(words) = *items
    {
        text = format!("{text} [possible values: {}]", words.join(", "));
    }
    match schema.get("default") {
        Some(default) => format!("{text} [default: {default}]"),
        None if required => format!("{text} [required]"),
        None => text,
    }
}

/// The id of a parameter's option, apart from those of our own flags.
pub fn id(name: &str) -> String {
    format!("argument {name}")
}

/// The arguments that were typed.
pub fn object(tool: &Described, matches: &ArgMatches) -> Result<Object, Fault> {
    let mut object = Object::new();
    for (name, schema) in parameters(tool) {
        let words: Vec<&String> = matches
            .get_many(&id(name))
            .map(Iterator::collect)
            .unwrap_or_default();
        if let [first, ..] = words.as_slice() {
            let value = match Shape::of(schema) {
                Shape::List(items) => list(name, &items, &words)?,
                Shape::Map => map(name, &words)?,
                shape => shape.value(first),
            };
            object.insert(name.clone(), value);
        }
    }
    Ok(object)
}

/// Given once, a list is a JSON array or separated by commas. Given several times, each is one item, commas and all.
fn list(name: &str, items: &Shape, words: &[&String]) -> Result<Value, Fault> {
    match words {
        [json] if json.starts_with('[') => parse(name, json, Value::is_array),
        [one] => Ok(one
            .split(',')
            .map(|word| items.value(word.trim()))
            .collect()),
        several => Ok(several.iter().map(|word| items.value(word)).collect()),
    }
}

fn map(name: &str, words: &[&String]) -> Result<Value, Fault> {
    let mut map = Object::new();
    for word in words {
        if word.starts_with('{') {
            let more = tools::schema::object(word)
                .map_err(|what| Fault::bad_input(format!("argument `{name}`: {what}")))?;
            for (key, value) in more {
                add(name, &mut map, key, value)?;
            }
        } else if let Some((key, value)) = word.split_once('=') {
            let scalar = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
            add(name, &mut map, key.to_owned(), scalar)?;
        } else {
            return Err(
                Fault::bad_input(format!("argument `{name}`: \"{word}\" is no key=value"))
                    .hint("write key=value, once per key, or a JSON object"),
            );
        }
    }
    Ok(Value::Object(map))
}

/// Of two values under one key the last would hold, and nobody would be told.
fn add(name: &str, map: &mut Object, key: String, value: Value) -> Result<(), Fault> {
    if map.contains_key(&key) {
        let key = tools::words::clip(&key, 64);
        return Err(
            Fault::bad_input(format!("argument `{name}`: `{key}` is given twice"))
                .hint("give each key once"),
        );
    }
    map.insert(key, value);
    Ok(())
}

fn parse(name: &str, json: &str, is_right: fn(&Value) -> bool) -> Result<Value, Fault> {
    match serde_json::from_str(json) {
        Ok(value) if is_right(&value) => Ok(value),
        Ok(_) => Err(Fault::bad_input(format!(
            "argument `{name}`: the JSON is of another kind"
        ))),
        Err(error) => Err(Fault::bad_input(format!(
            "argument `{name}`: not JSON: {error}"
        ))),
    }
}

/// These arguments as a person would type them: the way back, for help and documentation.
pub fn words(tool: &Described, arguments: &Object) -> Vec<String> {
    let mut words = Vec::new();
    for (name, value) in arguments {
        let shape = parameters(tool)
            .find(|(known, _)| *known == name)
            .map_or(Shape::Text, |(_, schema)| Shape::of(schema));
        let option = format!("--{}", name.replace('_', "-"));
        match (&shape, value) {
            (Shape::Flag, Value::Bool(true)) => words.push(option),
            (Shape::Flag, value) => words.push(format!("{option}={value}")),
            (_, value) => {
                let text = typed(value);
                // What begins with a dash would be taken for an option.
                if text.starts_with('-') {
                    words.push(format!("{option}={text}"));
                } else {
                    words.extend([option, text]);
                }
            }
        }
    }
    words
}

fn typed(value: &Value) -> String {
    let plain = |item: &Value| match item {
        Value::String(text) => Some(text.clone()).filter(|text| {
            !text.is_empty() && !text.contains(',') && !text.starts_with('[') && text.trim() == text
        }),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => match items.iter().map(plain).collect::<Option<Vec<_>>>() {
            Some(words) if !words.is_empty() => words.join(","),
            _ => value.to_string(),
        },
        other => other.to_string(),
    }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
