//! A request as data: shown in a preview, stored in a plan, and sent, all from the same value.
//!
//! Nothing here touches the network.

mod value;

use std::collections::BTreeMap;
use std::fmt;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::encode::{check_path, encode_value};
use crate::error::Error;

pub use value::{Filled, Value};

/// The four methods of PVE's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Read.
    Get,
    /// Create, or run an action.
    Post,
    /// Update.
    Put,
    /// Delete.
    Delete,
}

impl Method {
    /// The method as HTTP writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One call of PVE's API, below `/api2/json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path, such as `/nodes/pve1/qemu/105/status/start`; special names in it are encoded with
    /// [`encode_segment`](crate::encode_segment).
    pub path: String,
    /// The parameters in order; a repeated key is a list to PVE.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<(String, Value)>,
}

impl Request {
    /// A request without parameters yet.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            params: Vec::new(),
        }
    }

    /// A read.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::Get, path)
    }

    /// A creation or an action.
    pub fn post(path: impl Into<String>) -> Self {
        Self::new(Method::Post, path)
    }

    /// An update.
    pub fn put(path: impl Into<String>) -> Self {
        Self::new(Method::Put, path)
    }

    /// A deletion.
    pub fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::Delete, path)
    }

    /// Adds a parameter; a key used before is repeated, not replaced.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.params.push((key.into(), value.into()));
        self
    }

    /// Adds a parameter if there is a value.
    #[must_use]
    pub fn maybe(self, key: impl Into<String>, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Fills the holes that `values` names; the others stay. What was filled in is sent, but never shown.
    #[must_use]
    pub fn fill(&self, values: &BTreeMap<String, SecretString>) -> Self {
        let mut filled = self.clone();
        for (_, value) in &mut filled.params {
            if let Value::Hole(name) = value
                && let Some(secret) = values.get(name)
            {
                *value = Value::Filled(Filled::new(name, secret));
            }
        }
        filled
    }

    /// The names of the holes left, in order.
    pub fn holes(&self) -> Vec<&str> {
        self.params
            .iter()
            .filter_map(|(_, value)| match value {
                Value::Hole(name) => Some(name.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The first value of a key.
    pub fn param(&self, key: &str) -> Option<&Value> {
        self.params.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The parameters as a form, ready for a query or a body.
    pub(crate) fn form(&self) -> Result<String, Error> {
        let pairs = self.pairs()?;
        let encoded = pairs
            .iter()
            .map(|(key, text)| format!("{}={}", encode_value(key), encode_value(text)));
        Ok(encoded.collect::<Vec<_>>().join("&"))
    }

    /// The parameters as text, in order, of a request that can be sent.
    pub(crate) fn pairs(&self) -> Result<Vec<(&str, String)>, Error> {
        check_path(&self.path).map_err(|what| self.build_error(&what))?;
        let mut pairs = Vec::with_capacity(self.params.len());
        for (key, value) in &self.params {
            let Some(text) = value.wire_text() else {
                return Err(self.build_error(&format!("{key} is not filled in yet ({value})")));
            };
            pairs.push((key.as_str(), text));
        }
        Ok(pairs)
    }

    pub(crate) fn build_error(&self, what: &str) -> Error {
        Error::Build {
            what: format!("{} {}: {what}", self.method, self.path.escape_debug()),
        }
    }
}

/// Method and path, for messages; the parameters may hold secrets and stay out.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl From<&str> for Request {
    fn from(path: &str) -> Self {
        Self::get(path)
    }
}

impl From<String> for Request {
    fn from(path: String) -> Self {
        Self::get(path)
    }
}

impl From<&Self> for Request {
    fn from(request: &Self) -> Self {
        request.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::Vmid;

    fn create() -> Request {
        Request::post("/nodes/pve1/qemu")
            .with("vmid", Vmid::new(105).unwrap())
            .with("name", "a b")
            .with("onboot", true)
            .maybe("pool", None::<&str>)
            .with("cipassword", Value::Hole("cipassword".to_owned()))
    }

    #[test]
    fn json_round_trips_and_reads_well() {
        let value = serde_json::to_value(create()).unwrap();
        assert_eq!(
            value,
            json!({
                "method": "POST",
                "path": "/nodes/pve1/qemu",
                "params": [["vmid", 105], ["name", "a b"], ["onboot", true], ["cipassword", {"hole": "cipassword"}]]
            })
        );
        assert_eq!(serde_json::from_value::<Request>(value).unwrap(), create());
    }

    #[test]
    fn a_hole_blocks_the_request_until_filled() {
        let request = create();
        assert_eq!(request.holes(), ["cipassword"]);
        assert!(matches!(request.form(), Err(Error::Build { .. })));
        let filled = request.fill(&BTreeMap::from([("cipassword".to_owned(), "s&t".into())]));
        assert_eq!(
            filled.form().unwrap(),
            "vmid=105&name=a%20b&onboot=1&cipassword=s%26t"
        );
        assert!(filled.holes().is_empty());
        let shown = format!("{filled:?} {}", serde_json::to_string(&filled).unwrap());
        assert!(!shown.contains("s&t"), "{shown}");
        let json = |request: &Request| serde_json::to_value(request).unwrap();
        assert_eq!(
            json(&filled),
            json(&request),
            "a filled request is stored as it was shown"
        );
    }

    #[test]
    fn keys_may_repeat() {
        let request = Request::post("/x")
            .with("command", "ls")
            .with("command", "-l");
        assert_eq!(request.form().unwrap(), "command=ls&command=-l");
    }

    #[test]
    fn a_path_from_outside_cannot_leave_its_place() {
        let error = Request::get("/nodes/../access").form().unwrap_err();
        assert!(matches!(error, Error::Build { .. }), "{error}");
    }
}
