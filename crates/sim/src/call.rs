//! One API call as a handler sees it: who calls, through which node, with which parameters.

use std::collections::BTreeMap;
use std::fmt;

use crate::clock::Time;

/// The value of one parameter as it arrived. Everything scalar is text, as in PVE: `1` and `"1"` are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// A scalar. JSON `true` and `false` arrive as `1` and `0`.
    Text(String),
    /// A repeated form key or a JSON array.
    List(Vec<String>),
    /// A JSON object, which no PVE parameter takes.
    Hash,
    /// JSON `null`.
    Null,
}

/// The parameters of a call: path captures, query and body together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params(BTreeMap<String, Given>);

impl Params {
    /// Adds a value. A second value under the same name makes a list of both, as PVE's form parser does.
    pub fn add(&mut self, name: impl Into<String>, value: Given) {
        use std::collections::btree_map::Entry;
        match self.0.entry(name.into()) {
            Entry::Vacant(slot) => {
                slot.insert(value);
            }
            Entry::Occupied(mut slot) => {
                let merged =
                    Given::List([slot.get().clone(), value].map(Given::into_words).concat());
                slot.insert(merged);
            }
        }
    }

    /// Sets a value, replacing an earlier one.
    pub fn set(&mut self, name: impl Into<String>, value: Given) {
        self.0.insert(name.into(), value);
    }

    /// Removes a parameter.
    pub fn remove(&mut self, name: &str) -> Option<Given> {
        self.0.remove(name)
    }

    /// The value as it arrived.
    pub fn get(&self, name: &str) -> Option<&Given> {
        self.0.get(name)
    }

    /// Whether the parameter was sent at all.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A scalar.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Given::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A boolean; absent is false.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == Some("1")
    }

    /// A number.
    pub fn int(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// The items of a list, sent as an array or as one text separated by commas, semicolons or blanks.
    pub fn list(&self, name: &str) -> Vec<&str> {
        match self.0.get(name) {
            Some(Given::Text(text)) => split_list(text).collect(),
            Some(Given::List(items)) => items.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// All parameters in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Given)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl Given {
    fn into_words(self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text],
            Self::List(items) => items,
            Self::Hash | Self::Null => Vec::new(),
        }
    }
}

impl From<&str> for Given {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Splits a PVE list: any run of commas, semicolons, blanks and NULs separates.
pub fn split_list(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', ' ', '\t', '\n', '\0'])
        .filter(|item| !item.is_empty())
}

/// A user, or one of a user's API tokens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// `name@realm`.
    pub user: String,
    /// The token's name, without its user.
    pub token: Option<String>,
}

impl Identity {
    /// A user who is logged in with a ticket.
    pub fn user(user: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            token: None,
        }
    }

    /// Reads `name@realm` or `name@realm!token`.
    pub fn parse(text: &str) -> Self {
        match text.split_once('!') {
            Some((user, token)) => Self {
                user: user.to_owned(),
                token: Some(token.to_owned()),
            },
            None => Self::user(text),
        }
    }

    /// True for `root@pam` itself. A token of root is not root, whatever its privileges.
    pub fn is_root(&self) -> bool {
        self.user == "root@pam" && self.token.is_none()
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.token {
            Some(token) => write!(f, "{}!{token}", self.user),
            None => f.write_str(&self.user),
        }
    }
}

/// One call, checked and ready for its handler.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who calls. Calls that need no login have an empty user.
    pub who: Identity,
    /// The node that was asked, which is not always the node that the path names.
    pub endpoint: String,
    /// Path captures, query and body.
    pub params: Params,
    /// The moment of the call.
    pub now: Time,
}

impl Call {
    /// The node named in the path, or else the one that was asked.
    pub fn node(&self) -> &str {
        self.params.text("node").unwrap_or(&self.endpoint)
    }

    /// The guest named in the path. Routes with `{vmid}` have had it verified; elsewhere this is 0.
    pub fn vmid(&self) -> u32 {
        self.params
            .text("vmid")
            .and_then(|text| text.parse().ok())
            .unwrap_or_default()
    }

    /// A scalar parameter.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.params.text(name)
    }

    /// A boolean parameter; absent is false.
    pub fn flag(&self, name: &str) -> bool {
        self.params.flag(name)
    }

    /// A number.
    pub fn int(&self, name: &str) -> Option<u64> {
        self.params.int(name)
    }
}
