//! docs/CONFIG.md: every key of the configuration file, from the types that read it.

use std::fmt::Write as _;

use serde_json::Value;
use tools::tool::Object;

use crate::config::{File, VARIABLES};

/// A table of the file.
pub struct Section {
    /// As it is written above its keys; the keys of the file itself stand above every table.
    pub header: &'static str,
    /// What it is for.
    pub says: String,
    /// What may stand in it.
    pub keys: Vec<Key>,
}

/// A key, as its field declares it.
pub struct Key {
    /// As it is written.
    pub name: String,
    /// What it says.
    pub says: String,
    /// An example of its value, in TOML.
    pub example: Option<String>,
    kind: String,
    default: Option<String>,
    variable: Option<String>,
    flag: Option<String>,
    is_required: bool,
}

/// The file's tables, and where each is in the schema of the file.
const TABLES: [(&str, &str); 6] = [
    ("", ""),
    ("[clusters.NAME]", "/properties/clusters"),
    ("[[rules]]", "/properties/rules"),
    ("[http]", "/properties/http"),
    ("[limits]", "/properties/limits"),
    ("[oauth]", "/properties/oauth"),
];

/// All that may stand in the file.
pub fn sections() -> Vec<Section> {
    let schema = Value::Object(tools::schema::input::<File>());
    let section = |(header, place): (&'static str, &str)| {
        let table = schema.pointer(place).unwrap_or(&Value::Null);
        // A table of tables, a list of tables, or the table itself.
        let shape = ["additionalProperties", "items"]
            .iter()
            .find_map(|inner| table.get(inner).filter(|inner| inner.is_object()))
            .unwrap_or(table);
        Section {
            header,
            says: text(table, "description").unwrap_or_default(),
            keys: keys(shape),
        }
    };
    TABLES.into_iter().map(section).collect()
}

fn keys(table: &Value) -> Vec<Key> {
    let none = Object::new();
    let properties = table["properties"].as_object().unwrap_or(&none);
    let is_table = |name: &str| {
        TABLES
            .iter()
            .any(|(_, place)| place.ends_with(&format!("/{name}")))
    };
    let key = |(name, schema): (&String, &Value)| Key {
        name: name.clone(),
        says: text(schema, "description").unwrap_or_default(),
        example: text(schema, "toml"),
        kind: kind(schema),
        default: default(schema),
        variable: text(schema, "env"),
        flag: text(schema, "flag"),
        is_required: (table["required"].as_array())
            .is_some_and(|all| all.contains(&Value::from(name.as_str()))),
    };
    let plain = properties.iter().filter(|(name, _)| !is_table(name));
    plain.map(key).collect()
}

fn text(schema: &Value, word: &str) -> Option<String> {
    schema[word].as_str().map(str::to_owned)
}

/// In the words of TOML.
fn kind(schema: &Value) -> String {
    if let Some(Value::Array(choices)) = schema.get("enum") {
        let words: Vec<_> = choices.iter().map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    match schema["type"].as_str() {
        Some("array") => "list".to_owned(),
        Some("object") => "table".to_owned(),
        Some(kind) => kind.to_owned(),
        None => "any".to_owned(),
    }
}

fn default(schema: &Value) -> Option<String> {
    match schema.get("default") {
        Some(Value::Object(table)) => {
            let pairs: Vec<_> = table
                .iter()
                .map(|(key, value)| format!("\"{key}\" = {value}"))
                .collect();
            Some(format!("{{ {} }}", pairs.join(", ")))
        }
        Some(value) => Some(value.to_string()),
        None if schema["type"] == "boolean" => Some("false".to_owned()),
        None => None,
    }
}

/// docs/CONFIG.md
pub fn document() -> String {
    let mut text = String::from(
        "# Every key of the configuration\n\n\
         Made from the program's own types by `oxmox generate`; changes belong there. [configuration.md](configuration.md) tells\n\
         how the keys go together, with whole examples.\n\n\
         The file is `~/.config/oxmox/config.toml`, or what `--config` or `OXMOX_CONFIG` names. Relative paths in it start where\n\
         it is. A flag counts before a variable of the environment, a variable before the file, the file before the default. A\n\
         key without a default is unset, and a key that is not here is refused.\n",
    );
    for section in sections() {
        let _ = match section.header {
            "" => writeln!(text, "\n## The file itself"),
            header => writeln!(text, "\n## `{header}`\n\n{}", section.says),
        };
        for key in section.keys {
            describe(&mut text, section.header, &key);
        }
    }
    text.push_str("\n## The environment\n\nVariables that a key above names count before it; `PROXMOX_` ones describe the one cluster `default`.\n\n");
    text.push_str("| variable | what it says |\n|---|---|\n");
    for (name, says) in VARIABLES {
        let _ = writeln!(text, "| `{name}` | {says} |");
    }
    text
}

fn describe(text: &mut String, header: &str, key: &Key) {
    let mut facts = vec![key.kind.clone()];
    if key.is_required {
        facts.push("required".to_owned());
    }
    let told = [
        ("default", &key.default),
        ("flag", &key.flag),
        ("variable", &key.variable),
    ];
    for (what, value) in told {
        facts.extend(value.iter().map(|value| format!("{what} `{value}`")));
    }
    let _ = write!(
        text,
        "\n### `{}`\n\n{}\n\n{}\n",
        key.name,
        facts.join(" · "),
        key.says
    );
    if let Some(example) = &key.example {
        let table = if header.is_empty() {
            String::new()
        } else {
            format!("{header}\n")
        };
        let _ = write!(text, "\n```toml\n{table}{} = {example}\n```\n", key.name);
    }
}
