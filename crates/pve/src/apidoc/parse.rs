//! From the JavaScript that a node serves to methods.

use serde_json::{Map, Value};

use super::{Method, Schema};

/// The largest document that is read; those of PVE 8 and 9 have 3 to 6 MB.
const LARGEST: usize = 64 << 20;

/// Longer than any path of PVE's.
const LONGEST_PATH: usize = 200;
/// The most methods that are kept; PVE 9.2 has 675.
const MOST_METHODS: usize = 10_000;

/// Why a document is no schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Larger than any schema.
    #[error("it is too large for a schema ({0} bytes)")]
    TooLarge(usize),
    /// No tree in it.
    #[error("there is no API tree in it")]
    NoTree,
    /// A tree that cannot be read.
    #[error("its API tree cannot be read: {0}")]
    Unreadable(String),
    /// A tree without a single method.
    #[error("its API tree has no methods")]
    Empty,
}

impl Schema {
    /// Reads what a node serves: `const apiSchema = [ … ];` (`var pveapi = …` in older ones) with code after it. Entries that
    /// make no sense are left out.
    pub fn parse(document: &[u8]) -> Result<Self, SchemaError> {
        if document.len() > LARGEST {
            return Err(SchemaError::TooLarge(document.len()));
        }
        let assigned = document.iter().position(|byte| *byte == b'=');
        let tree = assigned.ok_or(SchemaError::NoTree)? + 1;
        // One value, and nothing of what follows it. Its depth is bounded by the JSON reader.
        let mut values = serde_json::Deserializer::from_slice(&document[tree..]).into_iter();
        let roots: Vec<Value> = values
            .next()
            .ok_or(SchemaError::NoTree)?
            .map_err(|error| SchemaError::Unreadable(error.to_string()))?;
        let mut schema = Self::default();
        for root in &roots {
            schema.add_tree(root);
        }
        if schema.methods.is_empty() {
            return Err(SchemaError::Empty);
        }
        Ok(schema)
    }

    /// The same from a flat list of methods, each with its `path` and `method`.
    pub fn from_methods(methods: &[Value]) -> Self {
        let mut schema = Self::default();
        for info in methods.iter().filter_map(Value::as_object) {
            let word = |key: &str| info.get(key).and_then(Value::as_str);
            if let (Some(verb), Some(path)) = (word("method"), word("path")) {
                schema.add(verb, path, info);
            }
        }
        schema
    }

    fn add_tree(&mut self, node: &Value) {
        let member = |key: &str| node.get(key);
        if let (Some(path), Some(verbs)) = (
            member("path").and_then(Value::as_str),
            member("info").and_then(Value::as_object),
        ) {
            for verb in ["GET", "POST", "PUT", "DELETE"] {
                if let Some(Value::Object(info)) = verbs.get(verb) {
                    self.add(verb, path, info);
                }
            }
        }
        for child in member("children")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.add_tree(child);
        }
    }

    fn add(&mut self, verb: &str, path: &str, info: &Map<String, Value>) {
        if self.methods.len() < MOST_METHODS && is_template(path) {
            self.methods.extend(Method::read(verb, path, info));
        }
    }
}

/// Whether a path is one that a request could be made from: plain words and captures.
fn is_template(path: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/{}-_.:".contains(c);
    path == "/"
        || path
            .strip_prefix('/')
            .filter(|path| path.len() <= LONGEST_PATH)
            .is_some_and(|path| {
                path.chars().all(plain)
                    && path
                        .split('/')
                        .all(|part| !matches!(part, "" | "." | ".." | "{}"))
            })
}
