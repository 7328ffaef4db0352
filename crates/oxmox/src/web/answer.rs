//! What the page gets back: JSON, and a failure in words with a status that fits.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tools::fault::{Fault, Kind};

use crate::http::TooMuch;

/// JSON, or a failure.
pub(super) type Answer = Result<Json, Failure>;

/// A value as JSON.
pub(super) struct Json(pub(super) Value);

impl IntoResponse for Json {
    fn into_response(self) -> Response<Body> {
        let mut answer = Response::new(Body::from(self.0.to_string()));
        let kind = HeaderValue::from_static("application/json");
        answer.headers_mut().insert(header::CONTENT_TYPE, kind);
        answer
    }
}

/// A failure in words.
pub(super) struct Failure {
    pub(super) status: StatusCode,
    pub(super) error: String,
    pub(super) hint: Option<String>,
    /// The seconds after which it is worth trying again.
    pub(super) retry: Option<u64>,
}

impl Failure {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self {
            status,
            error: error.into(),
            hint: None,
            retry: None,
        }
    }

    /// Somebody tried too often.
    pub(super) fn too_much(TooMuch(seconds): TooMuch) -> Self {
        Self {
            retry: Some(seconds),
            ..Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                format!("too many attempts: try again in {seconds} seconds"),
            )
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let status = match fault.kind {
            Kind::BadInput => StatusCode::BAD_REQUEST,
            Kind::NotFound => StatusCode::NOT_FOUND,
            Kind::Conflict | Kind::Forged => StatusCode::CONFLICT,
            Kind::Refused => StatusCode::FORBIDDEN,
            Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            // The cluster's failure, not the server's.
            _ => StatusCode::BAD_GATEWAY,
        };
        Self {
            status,
            error: tools::clean::text(&fault.message),
            hint: fault.hint.as_deref().map(tools::clean::text),
            retry: None,
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response<Body> {
        let body = json!({"error": self.error, "hint": self.hint});
        let mut answer = Json(body).into_response();
        *answer.status_mut() = self.status;
        if let Some(seconds) = self.retry {
            let headers = answer.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer
    }
}

/// What the page sent.
pub(super) fn sent<T: DeserializeOwned>(body: &Bytes) -> Result<T, Failure> {
    // Without serde's words: they repeat what was sent, and that may be a token.
    serde_json::from_slice(body)
        .map_err(|_| Failure::new(StatusCode::BAD_REQUEST, "the request cannot be read"))
}
