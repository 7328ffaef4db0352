//! Requests and responses as plain values, so that the whole simulator can be driven without a socket.

use percent_encoding::percent_decode_str;

use super::Form;

/// A request as it came off the wire.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The node whose port it came to.
    pub endpoint: String,
    /// `GET`, `POST`, ...
    pub method: String,
    /// Path and query, still encoded.
    pub target: String,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The form that came in place of a body, read while it came.
    pub form: Option<Form>,
}

impl Request {
    /// The first header of that name (in lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The path, decoded as a whole: PVE decodes before it splits.
    pub fn path(&self) -> String {
        let encoded = self.target.split('?').next().unwrap_or_default();
        percent_decode_str(encoded).decode_utf8_lossy().into_owned()
    }

    /// The query, still encoded.
    pub fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }
}

/// A response, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The reason phrase, where PVE puts its error texts.
    pub reason: String,
    /// The content type, if there is a body that has one.
    pub content_type: Option<&'static str>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// Without a body: what PVE's server says of itself, and not its API.
    pub(crate) fn bare(status: u16, reason: String) -> Self {
        Self {
            status,
            reason,
            content_type: None,
            body: Vec::new(),
        }
    }

    /// The same, as if it had been cut somewhere and its length been put right.
    pub(crate) fn without_its_end(mut self) -> Self {
        let half = self.body.len() / 2;
        self.body.truncate(half);
        self
    }

    /// What a proxy with a login of its own answers whatever it is asked, as a success.
    pub(crate) fn login_page() -> Self {
        Self {
            status: 200,
            reason: "OK".to_owned(),
            content_type: Some("text/html; charset=utf-8"),
            body: LOGIN_PAGE.as_bytes().to_vec(),
        }
    }
}

const LOGIN_PAGE: &str = "<!DOCTYPE html>\n<html><head><title>Log in</title></head><body><form method=\"post\" \
    action=\"/login\"><input name=\"user\"><input name=\"password\" type=\"password\"><button>Log in</button></form>\
    </body></html>\n";
