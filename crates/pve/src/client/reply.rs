//! What came back, and what PVE means by it.

use std::time::UNIX_EPOCH;

use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::ext::ReasonPhrase;
use hyper::header::{DATE, HeaderValue};
use hyper::http::response::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::conceal::cut;
use crate::error::{self, Error};
use crate::lenient;
use crate::request::Request;

/// A complete HTTP answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) reason: String,
    /// What time it is by the clock of the host that answered, in Unix seconds.
    pub(super) date: Option<i64>,
    body: Bytes,
}

/// A `Date` header in Unix seconds.
fn seconds(header: &HeaderValue) -> Option<i64> {
    let time = httpdate::parse_http_date(header.to_str().ok()?).ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

/// A successful answer, still unread: a list of thousands of entries is read once, straight into its type.
#[derive(Debug)]
pub(crate) struct Answer {
    body: Bytes,
    request: String,
}

/// How PVE wraps every answer.
#[derive(Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
struct Envelope<T> {
    // Named, so that even an optional `data` must be there.
    #[serde(deserialize_with = "T::deserialize")]
    data: T,
}

/// What stands beside `data` in some lists.
#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    total: Option<Value>,
}

impl Reply {
    pub(super) fn new(head: &Parts, body: Bytes) -> Self {
        let reason = match head.extensions.get::<ReasonPhrase>() {
            Some(phrase) => decode_reason(phrase.as_bytes()),
            None => head
                .status
                .canonical_reason()
                .unwrap_or_default()
                .to_owned(),
        };
        Self {
            status: head.status.as_u16(),
            reason: short(&reason),
            date: head.headers.get(DATE).and_then(seconds),
            body,
        }
    }

    /// The answer of a request, or what PVE said against it.
    pub(super) fn into_answer(self, request: &Request) -> Result<Answer, Error> {
        if !(200..300).contains(&self.status) {
            return Err(self.into_error());
        }
        let answer = Answer {
            body: self.body,
            request: request.to_string(),
        };
        if answer.body.is_empty() {
            return Err(answer.unreadable("it is empty"));
        }
        Ok(answer)
    }

    /// The body as it is, or what PVE said against it.
    pub(super) fn into_bytes(self) -> Result<Vec<u8>, Error> {
        if (200..300).contains(&self.status) {
            Ok(self.body.into())
        } else {
            Err(self.into_error())
        }
    }

    /// True if this answer leaves open whether PVE carried out the request.
    pub(super) fn leaves_doubt(&self) -> bool {
        error::leaves_doubt(self.status, self.is_from_pve())
    }

    /// Whether PVE speaks. Its server errors are JSON with `data`, or plain text or nothing under a reason phrase of
    /// their own, which the text repeats. Proxies send pages, and the standard's phrases.
    fn is_from_pve(&self) -> bool {
        if self.status < 500 {
            return true;
        }
        if let Ok(Value::Object(members)) = serde_json::from_slice(&self.body) {
            return members.contains_key("data");
        }
        let reason = self.reason.trim();
        let standard = StatusCode::from_u16(self.status)
            .ok()
            .and_then(|status| status.canonical_reason());
        let has_own_reason = !reason.is_empty() && standard.is_none_or(|text| text != reason);
        let body = String::from_utf8_lossy(&self.body);
        let first_words = |text: &str| -> Vec<String> {
            text.split_whitespace().take(4).map(str::to_owned).collect()
        };
        has_own_reason && (body.trim().is_empty() || first_words(&body) == first_words(reason))
    }

    pub(super) fn into_error(self) -> Error {
        let from_pve = self.is_from_pve();
        let body: Option<Value> = serde_json::from_slice(&self.body).ok();
        let message = match &body {
            Some(json) => (json.get("message").and_then(lenient::as_text)).map(|text| short(&text)),
            // A few errors come as plain text.
            None => plain_text(&self.body),
        };
        let errors = body
            .as_ref()
            .and_then(|json| json.get("errors")?.as_object())
            .map(|members| {
                let told = members.iter().take(MOST_ERRORS);
                told.map(parameter_error).collect()
            })
            .unwrap_or_default();
        Error::Status {
            status: self.status,
            reason: self.reason,
            message,
            errors,
            from_pve,
        }
    }

    /// An answer in PVE's form.
    #[cfg(test)]
    pub(super) fn for_test(status: u16) -> Self {
        Self {
            status,
            reason: String::new(),
            date: None,
            body: Bytes::from_static(br#"{"data":null}"#),
        }
    }
}

impl Answer {
    /// Reads `data` as a type.
    pub(crate) fn decode<T: DeserializeOwned>(self) -> Result<T, Error> {
        match serde_json::from_slice::<Envelope<T>>(&self.body) {
            Ok(envelope) => Ok(envelope.data),
            Err(error) => {
                self.data()?;
                Err(self.unreadable(&without_values(&error.to_string())))
            }
        }
    }

    /// Reads `data` as a list, leaving out items that cannot be read.
    pub(crate) fn decode_list<T: DeserializeOwned>(self) -> Result<Vec<T>, Error> {
        if let Ok(envelope) = serde_json::from_slice::<Envelope<Vec<T>>>(&self.body) {
            return Ok(envelope.data);
        }
        // One bad item must not cost the others: the slow way, one by one.
        lenient::list(self.data()?).map_err(|what| self.unreadable(&what))
    }

    /// `total`, which stands beside `data` in some lists.
    pub(crate) fn total(&self) -> Option<u64> {
        let counted: Counted = serde_json::from_slice(&self.body).ok()?;
        counted.total.as_ref().and_then(lenient::as_u64)
    }

    /// `data` as it is, or why there is none.
    fn data(&self) -> Result<Value, Error> {
        match serde_json::from_slice::<Envelope<Value>>(&self.body) {
            Ok(envelope) => Ok(envelope.data),
            Err(error) if error.is_data() && self.body.trim_ascii_start().starts_with(b"{") => {
                Err(self.unreadable("it has no `data`; is this a Proxmox VE API?"))
            }
            Err(error) if error.to_string().starts_with("recursion limit") => {
                Err(self.unreadable("it is nested too deeply; is this a Proxmox VE API?"))
            }
            Err(_) => Err(self.unreadable("it is not a JSON object; is this a Proxmox VE API?")),
        }
    }

    fn unreadable(&self, what: &str) -> Error {
        Error::Decode {
            request: self.request.clone(),
            what: what.to_owned(),
        }
    }
}

/// PVE sends UTF-8 or Latin-1, depending on where the text came from.
fn decode_reason(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(
        |_| bytes.iter().map(|byte| char::from(*byte)).collect(),
        str::to_owned,
    )
}

fn plain_text(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    let is_page = text.starts_with('<');
    (!text.is_empty() && !is_page).then(|| short(text))
}

/// The most that one text of a refusal may say, and the most parameters that it tells of: it goes into errors, logs and
/// answers, each time whole.
const ENOUGH: usize = 2_000;
const MOST_ERRORS: usize = 32;

fn short(text: &str) -> String {
    cut(text, ENOUGH)
}

fn parameter_error((parameter, problem): (&String, &Value)) -> (String, String) {
    const WORD: usize = 100;
    let text = lenient::as_text(problem).unwrap_or_else(|| problem.to_string());
    (cut(parameter, WORD), short(&text))
}

/// Serde quotes the value that it did not expect, which may be a secret; what it did expect is enough.
fn without_values(error: &str) -> String {
    match (error.find("missing field"), error.rfind("expected ")) {
        (Some(at), _) | (None, Some(at)) => error[at..].to_owned(),
        (None, None) => "it has an unexpected form".to_owned(),
    }
}
