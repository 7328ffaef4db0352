//! From a handler's reply to a response: the `json` and `extjs` formats, and the quirks of PVE's own server.

use serde_json::{Map, Value, json};

use super::Response;
use crate::error::{Answer, ApiError, Body, Reply};

const JSON: &str = "application/json;charset=UTF-8";

/// The formats that the path asks for: `/api2/json`, `/api2/extjs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Errors are HTTP errors.
    Json,
    /// Errors are HTTP 200 with `success: 0`.
    ExtJs,
}

/// Renders a reply.
pub(crate) fn render(reply: Reply, format: Format) -> Response {
    match reply {
        Ok(Answer::Text(text)) => Response {
            status: 200,
            reason: "OK".to_owned(),
            content_type: Some("text/plain"),
            body: text.into_bytes(),
        },
        Ok(Answer::File(body)) => Response {
            status: 200,
            reason: "OK".to_owned(),
            content_type: Some("application/octet-stream"),
            body,
        },
        Ok(Answer::Console(port)) => render(Ok(json!({ "port": port }).into()), format),
        Ok(Answer::Data { data, total }) => {
            let mut body = Map::new();
            body.insert("data".to_owned(), data);
            if total > 0 {
                body.insert("total".to_owned(), total.into());
            }
            if format == Format::ExtJs {
                body.insert("success".to_owned(), 1.into());
            }
            json_response(200, "OK", body)
        }
        Err(error) => render_error(&error, format),
    }
}

pub(crate) fn render_error(error: &ApiError, format: Format) -> Response {
    let plain = |status: u16, reason: &str, body: &str| Response {
        status,
        reason: reason.to_owned(),
        content_type: None,
        body: body.as_bytes().to_vec(),
    };
    match error.body {
        Body::Empty => return plain(error.status, error.reason(), ""),
        Body::Plain => return plain(error.status, error.reason(), &error.message),
        Body::Json => {}
    }
    // PVE's server writes the message into the status line as it is, but for extjs: a carriage return breaks the response, of
    // which only the type stays, and a character beyond Latin-1 kills the worker that answers.
    if format == Format::Json && error.message.contains('\r') {
        return Response {
            content_type: Some(JSON),
            ..plain(400, "Bad Request", "")
        };
    }
    if format == Format::Json && error.message.chars().any(|c| c > '\u{ff}') {
        return plain(596, "Broken pipe", "");
    }
    let mut body = Map::new();
    body.insert("data".to_owned(), Value::Null);
    let newline = if error.status == 501 { "" } else { "\n" };
    body.insert(
        "message".to_owned(),
        format!("{}{newline}", error.message).into(),
    );
    if !error.errors.is_empty() {
        body.insert("errors".to_owned(), json!(error.errors));
    }
    if format == Format::ExtJs {
        // Errors with a code of their own carry it as text, all others as a number.
        let status = match error.status {
            400 | 401 | 403 => Value::from(error.status.to_string()),
            other => Value::from(other),
        };
        body.insert("success".to_owned(), 0.into());
        body.insert("status".to_owned(), status);
        return json_response(200, "OK", body);
    }
    json_response(error.status, error.reason(), body)
}

fn json_response(status: u16, reason: &str, body: Map<String, Value>) -> Response {
    Response {
        status,
        reason: reason.to_owned(),
        content_type: Some(JSON),
        body: Value::Object(body).to_string().into_bytes(),
    }
}
