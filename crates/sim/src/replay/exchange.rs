//! A recorded exchange, as the recording has it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

pub use super::session::Frame;

/// One request and the real answer. Fields that the checker does not use are left out.
#[derive(Clone, Debug, Deserialize)]
pub struct Exchange {
    /// Scenario and step: `5-vm-017`.
    pub id: String,
    /// The scenario; its steps build on each other.
    pub scenario: String,
    /// Not what a production PVE would answer.
    #[serde(default)]
    pub deviates: bool,
    /// Whose credentials were sent: `root-token`, `none`, ...
    pub auth: String,
    /// The node that was asked; `pve1` if absent.
    pub endpoint: Option<String>,
    /// What stands before the path, if not `/api2/json`.
    pub prefix: Option<String>,
    /// The method.
    pub method: String,
    /// The path, still encoded.
    pub path: String,
    /// Decoded query.
    #[serde(default)]
    pub query: Vec<(String, String)>,
    /// Decoded form.
    #[serde(default)]
    pub form: Vec<(String, String)>,
    /// The content type of a body that is no form.
    pub content_type: Option<String>,
    /// A body that is no form.
    pub raw_body: Option<String>,
    /// Present for multipart uploads.
    pub framing: Option<Value>,
    /// Headers beside the credentials, for websockets; `None` where the recorder left one out.
    #[serde(default)]
    pub request_headers: BTreeMap<String, Option<String>>,
    /// What went over the websocket.
    #[serde(default)]
    pub frames: Vec<Frame>,
    /// The headers of the answer that matter.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The status; `None` if the connection was closed without an answer.
    pub status: Option<u16>,
    /// The reason phrase, if there was an answer.
    #[serde(default)]
    pub reason: Option<String>,
    /// The parsed body, or its text.
    pub body: Value,
    /// Lists in the body were cut.
    #[serde(default)]
    pub truncated: bool,
    /// How long the answer took, in milliseconds.
    pub ms: u64,
    /// The task that it started.
    pub then: Option<Then>,
}

/// How a started task ended.
#[derive(Clone, Debug, Deserialize)]
pub struct Then {
    /// The last status.
    pub status: BTreeMap<String, Value>,
    /// The lines of the log.
    pub log: Vec<String>,
}

impl Then {
    /// The exit status, if the task ended.
    pub fn exit_status(&self) -> Option<&str> {
        self.status.get("exitstatus").and_then(Value::as_str)
    }
}

/// Reads a recording: one exchange per line.
///
/// # Errors
/// When a line is not an exchange.
pub fn parse(text: &str) -> Result<Vec<Exchange>, serde_json::Error> {
    text.lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).map(Exchange::with_parsed_body))
        .collect()
}

impl Exchange {
    /// The recorder did not parse what was answered to requests for websockets.
    fn with_parsed_body(mut self) -> Self {
        if !self.request_headers.is_empty() {
            self.body = match &self.body {
                Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
                _ => Value::from(""),
            };
        }
        self
    }
}
