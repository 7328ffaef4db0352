//! What a handler may answer: data, or an error the way PVE words errors.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a handler returns.
pub type Reply = Result<Answer, ApiError>;

/// A successful answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// JSON under `data`, with what stands beside it.
    Data {
        /// The value of `data`.
        data: Value,
        /// `total`, which PVE leaves out when it is zero.
        total: usize,
    },
    /// A download: plain text without any JSON around it.
    Text(String),
    /// A download of bytes.
    File(Vec<u8>),
    /// The port of a console, to which a request for a websocket is connected.
    Console(String),
}

impl Answer {
    /// A page of a longer list; `total` is the length of the whole.
    pub fn page(data: Value, total: usize) -> Self {
        Self::Data { data, total }
    }
}

impl From<Value> for Answer {
    fn from(data: Value) -> Self {
        Self::Data { data, total: 0 }
    }
}

/// `data: null`, the answer of most changes that start no task.
pub fn done() -> Reply {
    Ok(Value::Null.into())
}

/// An error answer. The first line of the message becomes the HTTP reason phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status; 500 for everything PVE did not classify.
    pub status: u16,
    /// The whole message, without its last newline.
    pub message: String,
    /// Errors by parameter, only with 400 (and a few 500) answers.
    pub errors: BTreeMap<String, String>,
    /// What the body holds.
    pub body: Body,
}

/// The body of an error answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// The API's own form: `data`, `message`, `errors`.
    Json,
    /// Nothing, and no content type: answers of the proxy itself.
    Empty,
    /// The message as it is, without a content type: requests the proxy could not read.
    Plain,
}

impl ApiError {
    fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            errors: BTreeMap::new(),
            body: Body::Json,
        }
    }

    /// What PVE answers to nearly everything that fails: 500.
    pub fn fail(message: impl Into<String>) -> Self {
        Self::new(500, message)
    }

    /// 400 with one wrong parameter. The text appears as given: PVE ends some with a newline, and not others.
    pub fn param(name: &str, text: impl Into<String>) -> Self {
        Self::params([(name.to_owned(), text.into())])
    }

    /// 400 with several wrong parameters.
    pub fn params(errors: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            errors: errors.into_iter().collect(),
            ..Self::new(400, "Parameter verification failed.")
        }
    }

    /// A wrong parameter found under a lock: 500, with the 400 and its reason in the text.
    pub fn wrapped(name: &str, text: &str) -> Self {
        Self::fail(format!(
            "400 Parameter verification failed.\n{name}: {text}"
        ))
    }

    /// The same error as the text of another one, as PVE words what fails under a lock: 500, with `action` in front.
    #[must_use]
    pub fn during(self, action: &str) -> Self {
        let status = match self.status {
            500 => String::new(),
            other => format!("{other} "),
        };
        let errors = self.errors.iter();
        let details: Vec<String> = errors
            .map(|(name, text)| format!("\n{name}: {text}"))
            .collect();
        Self::fail(format!(
            "{action}: {status}{}{}",
            self.message,
            details.concat()
        ))
    }

    /// 403. `detail` is what stands in parentheses, e.g. `/vms/100, VM.Clone`.
    pub fn denied(detail: Option<&str>) -> Self {
        match detail {
            Some(detail) => Self::new(403, format!("Permission check failed ({detail})")),
            None => Self::new(403, "Permission check failed"),
        }
    }

    /// 403 for calls that only `root@pam` itself may make.
    pub fn root_only() -> Self {
        Self::denied(Some("user != root@pam"))
    }

    /// 401 of a failed login, the only 401 with a body.
    pub fn login_failed() -> Self {
        Self::new(401, "authentication failure")
    }

    /// 401 of a request without valid credentials.
    pub fn unauthorized(message: &str) -> Self {
        Self::bare(401, message)
    }

    /// 501 for a path or method that does not exist.
    pub fn not_implemented(method: &str, path: &str) -> Self {
        Self::new(501, format!("Method '{method} {path}' not implemented"))
    }

    /// A request the proxy could not read: the message is the body.
    pub fn unreadable(status: u16, message: impl Into<String>) -> Self {
        Self {
            body: Body::Plain,
            ..Self::new(status, message)
        }
    }

    /// An answer of the proxy itself, with an empty body: 401, 501, 59x.
    pub fn bare(status: u16, message: &str) -> Self {
        Self {
            body: Body::Empty,
            ..Self::new(status, message)
        }
    }

    /// The first line, which is also the reason phrase.
    pub fn reason(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}
