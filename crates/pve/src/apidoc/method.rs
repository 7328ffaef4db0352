//! One method: what it is called, what it takes, who may call it, what it gives.

use std::fmt;

use serde_json::{Map, Value};

use super::parameter::{Kind, Parameter, text, truth};
use super::permission::Permission;
use crate::request::Method as Verb;

/// One verb on one path.
#[derive(Debug, Clone)]
pub struct Method {
    /// GET, POST, PUT or DELETE.
    pub verb: Verb,
    /// The path with its captures in braces: `/nodes/{node}/qemu/{vmid}/config`.
    pub path: String,
    /// PVE's own name for it: `update_vm`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it takes, the captures of its path included.
    pub parameters: Vec<Parameter>,
    /// Whether it takes parameters that it does not list.
    pub takes_others: bool,
    /// Who may call it.
    pub permission: Permission,
    /// What it gives.
    pub returns: Returns,
    /// Whether PVE runs it as root on the node.
    pub protected: bool,
    /// Whether an API token may call it.
    pub allows_token: bool,
}

/// What a method gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Returns {
    /// Its JSON type; `None` where the schema says nothing, or `null`.
    pub kind: Option<Kind>,
    /// What the schema says of it.
    pub description: String,
    /// The fields of the object, or of each row of the list, as far as the schema tells.
    pub fields: Vec<String>,
    /// The field of a row that its own path ends in: `poolid` of `/pools`.
    pub row_key: Option<String>,
}

impl Method {
    /// Reads one method of the schema; `None` if there is nothing that could be called.
    pub(super) fn read(verb: &str, path: &str, info: &Map<String, Value>) -> Option<Self> {
        let verb = match verb {
            "GET" => Verb::Get,
            "POST" => Verb::Post,
            "PUT" => Verb::Put,
            "DELETE" => Verb::Delete,
            _ => return None,
        };
        let takes = info.get("parameters");
        let properties = takes.and_then(|it| it.get("properties")?.as_object());
        Some(Self {
            verb,
            path: path.to_owned(),
            name: text(info, "name"),
            description: text(info, "description"),
            parameters: properties
                .into_iter()
                .flatten()
                .map(|(name, schema)| Parameter::read(name, schema))
                .collect(),
            takes_others: takes
                .and_then(|it| it.get("additionalProperties"))
                .is_some_and(truth),
            permission: Permission::read(info.get("permissions")),
            returns: Returns::read(info.get("returns")),
            protected: info.get("protected").is_some_and(truth),
            allows_token: info.get("allowtoken").is_none_or(truth),
        })
    }

    /// The parameter that a name means: itself, or the family that it is a member of (`net0` of `net[n]`).
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        let exact = self.parameters.iter().find(|it| it.name == name);
        exact.or_else(|| self.parameters.iter().find(|it| it.has_member(name)))
    }

    /// The names in its path.
    pub fn captures(&self) -> impl Iterator<Item = &str> {
        self.path.split('/').filter_map(capture)
    }

    /// The parameters that do not stand in its path.
    pub fn own_parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters
            .iter()
            .filter(|it| self.captures().all(|name| name != it.name))
    }

    /// Whether it may answer with the id of a task. Most schemas say only that it is a text: the answer itself tells.
    pub fn may_start_task(&self) -> bool {
        self.verb != Verb::Get && self.returns.kind == Some(Kind::Text)
    }
}

/// The name in a part of a path, if that is a capture.
pub(super) fn capture(part: &str) -> Option<&str> {
    part.strip_prefix('{')?.strip_suffix('}')
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.path)
    }
}

impl Returns {
    fn read(schema: Option<&Value>) -> Self {
        let Some(Value::Object(schema)) = schema else {
            return Self::default();
        };
        let kind = text(schema, "type");
        let of = schema
            .get("items")
            .and_then(Value::as_object)
            .unwrap_or(schema);
        let fields = of.get("properties").and_then(Value::as_object);
        let link = schema
            .get("links")
            .and_then(|links| links.get(0)?.get("href")?.as_str());
        Self {
            fields: fields.into_iter().flat_map(Map::keys).cloned().collect(),
            row_key: link.and_then(capture).map(str::to_owned),
            kind: (!matches!(kind.as_str(), "" | "null")).then(|| Kind::read(&kind)),
            description: text(schema, "description"),
        }
    }
}
