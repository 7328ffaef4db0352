//! Who may call a method, as PVE's check expressions say it.

use serde_json::Value;

use super::parameter::truth;

/// The deepest that checks stand in each other; PVE's own go three deep.
const DEEPEST: usize = 12;

/// Who may call a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// `root@pam` alone, as where the schema says nothing.
    RootOnly,
    /// Anybody, also without a login.
    World,
    /// Every login; the method itself may look closer, which then stands in the text.
    User(String),
    /// Whoever passes the check; the method itself may look closer, which then stands in the text.
    Check(Check, String),
}

/// A check expression. Paths have captures in braces, filled with parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// All of these privileges on the path, or any of them.
    On {
        /// The path: `/vms/{vmid}`.
        path: String,
        /// The privileges.
        privileges: Vec<String>,
        /// Whether one is enough.
        any: bool,
        /// The parameter without which the check fails.
        only_with: Option<String>,
    },
    /// Each of these.
    All(Vec<Check>),
    /// One of these.
    Any(Vec<Check>),
    /// The right to change access rules on the path.
    Modify(String),
    /// The user whom the call is about: it must be oneself.
    OwnUser,
    /// The privilege on the realm of the user whom the call is about.
    RealmOfUser(String),
    /// One of the privileges on a group of the user whom the call is about.
    GroupOfUser(Vec<String>),
    /// Something that is not known here.
    Unknown,
}

impl Permission {
    pub(super) fn read(value: Option<&Value>) -> Self {
        let Some(Value::Object(rule)) = value else {
            return Self::RootOnly;
        };
        let said = rule.get("description").and_then(Value::as_str);
        let said = said.unwrap_or_default().trim().to_owned();
        match (rule.get("check"), rule.get("user").and_then(Value::as_str)) {
            (Some(check), _) => Self::Check(Check::read(check, 0), said),
            (None, Some("world")) => Self::World,
            (None, _) => Self::User(said),
        }
    }
}

impl Check {
    fn read(value: &Value, depth: usize) -> Self {
        let Some([Value::String(word), rest @ ..]) = value.as_array().map(Vec::as_slice) else {
            return Self::Unknown;
        };
        if depth >= DEEPEST {
            return Self::Unknown;
        }
        let parts = || {
            rest.iter()
                .map(|part| Self::read(part, depth + 1))
                .collect()
        };
        match (word.as_str(), rest) {
            ("and", _) => Self::All(parts()),
            ("or", _) => Self::Any(parts()),
            ("perm", [Value::String(path), privileges, options @ ..]) => Self::On {
                path: path.clone(),
                privileges: words(privileges),
                any: option(options, "any").is_some_and(truth),
                only_with: option(options, "require_param")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            },
            ("perm-modify", [Value::String(path), ..]) => Self::Modify(path.clone()),
            ("userid-param", [Value::String(who), ..]) if who == "self" => Self::OwnUser,
            ("userid-param", [Value::String(privilege), ..]) => {
                Self::RealmOfUser(privilege.clone())
            }
            ("userid-group", [privileges, ..]) => Self::GroupOfUser(words(privileges)),
            _ => Self::Unknown,
        }
    }
}

fn words(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The value after a name, in a list of names and values.
fn option<'a>(options: &'a [Value], name: &str) -> Option<&'a Value> {
    let mut pairs = options.chunks_exact(2);
    pairs.find_map(|pair| (pair[0] == name).then_some(&pair[1]))
}
