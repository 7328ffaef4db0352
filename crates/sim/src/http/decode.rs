//! From bytes to parameters: queries, forms and JSON bodies, with PVE's answers to what it cannot read.

use percent_encoding::percent_decode_str;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::multipart::Reader;
use super::{Form, Received, Request};
use crate::call::{Given, Params};
use crate::error::ApiError;
use crate::world::hex;

const FORM: &str = "application/x-www-form-urlencoded";
/// PVE's proxy takes no larger body, but for uploads.
pub(super) const LARGEST_BODY: usize = 512 * 1024;

/// What a request brings along.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) params: Params,
    /// An uploaded file, with the name that it has on the node until somebody takes it.
    pub(crate) file: Option<(String, Received)>,
}

/// Reads all parameters of a request. Query and body merge; a repeated key becomes a list.
pub(crate) fn read(request: &Request) -> Result<Sent, ApiError> {
    let mut params = Params::default();
    let mut file = None;
    add_form(&mut params, request.query());
    let sends_body = matches!(request.method.as_str(), "POST" | "PUT");
    let content_type = request.header("content-type");
    if !sends_body {
        if length(request) > 0 {
            let method = &request.method;
            let message = format!("Unexpected content for method '{method}'");
            return Err(ApiError::unreadable(501, message));
        }
        return Ok(Sent { params, file });
    }
    if is_too_large(request) {
        return Err(ApiError::unreadable(501, "for data too large"));
    }
    match content_type.map(|full| full.split(';').next().unwrap_or_default().trim()) {
        None | Some(FORM) => add_form(&mut params, &String::from_utf8_lossy(&request.body)),
        Some("application/json") => add_json(&mut params, &request.body)?,
        Some("multipart/form-data") if request.path().ends_with("/upload") => {
            let form = form(request).ok_or_else(|| ApiError::bare(400, "Bad Request"))?;
            file = Some(add_upload(&mut params, form));
        }
        Some(_) => {
            let full = content_type.unwrap_or_default();
            let message = format!("upload 'Content-Type '{full}' not implemented");
            return Err(ApiError::unreadable(506, message));
        }
    }
    Ok(Sent { params, file })
}

/// PVE's proxy reads no body whose length is not told beforehand, and says so to anybody.
pub(crate) fn refuse_encoded(request: &Request) -> Result<(), ApiError> {
    match request.header("transfer-encoding") {
        None => Ok(()),
        Some(word) if word.eq_ignore_ascii_case("chunked") => Err(ApiError::unreadable(
            501,
            "chunked transfer encoding not supported",
        )),
        Some(word) => Err(ApiError::unreadable(
            501,
            format!("Unknown transfer encoding '{word}'"),
        )),
    }
}

/// Whether the body is larger than PVE's proxy takes it. It goes by what is announced and does not read that.
pub(crate) fn is_too_large(request: &Request) -> bool {
    length(request) > LARGEST_BODY && Reader::of(request).is_none()
}

/// How long the body is, or says that it will be.
fn length(request: &Request) -> usize {
    let announced = request.header("content-length");
    let announced = announced.and_then(|length| length.parse().ok());
    request.body.len().max(announced.unwrap_or_default())
}

/// The form of an upload, read on its way here or in one piece.
fn form(request: &Request) -> Option<Form> {
    if request.form.is_some() {
        return request.form.clone();
    }
    let mut reader = Reader::of(request)?;
    reader.feed(&request.body);
    reader.end()
}

/// Its fields become parameters, and its file waits under a name on the node.
fn add_upload(params: &mut Params, form: Form) -> (String, Received) {
    let digest = Sha256::digest(format!("{form:?}"));
    let name = format!("/var/tmp/pveupload-{}", hex(&digest[..16]));
    for (field, text) in form.fields {
        params.set(field, Given::Text(text));
    }
    params.set("filename", Given::Text(form.file_name));
    params.set("tmpfilename", Given::Text(name.clone()));
    (name, form.file)
}

fn add_form(params: &mut Params, encoded: &str) {
    for pair in encoded.split(['&', ';']).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        params.add(decode(name), Given::Text(decode(value)));
    }
}

fn decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

fn add_json(params: &mut Params, body: &[u8]) -> Result<(), ApiError> {
    if body.is_empty() {
        return Err(ApiError::unreadable(
            500,
            "malformed JSON string, neither tag, array, object, number, string or atom, at character offset 0 \
             (before \"(end of string)\") at /usr/share/perl5/PVE/APIServer/AnyEvent.pm line 934.\n",
        ));
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => {
            for (name, value) in object {
                params.add(name, given(value));
            }
            Ok(())
        }
        Ok(_) => Err(ApiError::unreadable(
            500,
            "Not a HASH reference at /usr/share/perl5/PVE/APIServer/AnyEvent.pm line 978.\n",
        )),
        Err(error) => Err(ApiError::unreadable(
            500,
            format!("malformed JSON string: {error}\n"),
        )),
    }
}

fn given(value: Value) -> Given {
    match value {
        Value::Null => Given::Null,
        Value::Bool(flag) => Given::Text(u8::from(flag).to_string()),
        Value::Number(number) => Given::Text(number.to_string()),
        Value::String(text) => Given::Text(text),
        Value::Array(items) => Given::List(items.into_iter().map(word).collect()),
        Value::Object(_) => Given::Hash,
    }
}

fn word(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(
        method: &str,
        target: &str,
        content_type: Option<&str>,
        body: &str,
    ) -> Result<Params, ApiError> {
        read(&Request {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: content_type
                .map(|kind| ("content-type".to_owned(), kind.to_owned()))
                .into_iter()
                .collect(),
            body: body.as_bytes().to_vec(),
            ..Request::default()
        })
        .map(|sent| sent.params)
    }

    #[test]
    fn query_and_form_merge_and_repeat() {
        let params = params("PUT", "/x?a=1", None, "b=c+d%2Be&a=2").expect("readable");
        assert_eq!(params.text("b"), Some("c d+e"));
        assert_eq!(params.list("a"), ["1", "2"]);
    }

    #[test]
    fn json_values_become_text() {
        let body = r#"{"cores":2,"onboot":true,"delete":["a","b"],"x":null}"#;
        let params =
            params("PUT", "/x", Some("application/json; charset=utf-8"), body).expect("readable");
        assert_eq!(
            (params.text("cores"), params.text("onboot")),
            (Some("2"), Some("1"))
        );
        assert_eq!(params.list("delete"), ["a", "b"]);
        assert_eq!(params.get("x"), Some(&Given::Null));
    }

    #[test]
    fn a_body_may_be_as_large_as_pve_takes_it() {
        let status = |length: usize| {
            let body = "a".repeat(length);
            let read = params("POST", "/x", None, &body);
            read.map_or_else(|refused| refused.status, |_| 200)
        };
        assert_eq!(status(LARGEST_BODY), 200);
        assert_eq!(status(LARGEST_BODY + 1), 501);
    }

    #[test]
    fn unreadable_bodies() {
        let status = |result: Result<Params, ApiError>| result.expect_err("refused").status;
        assert_eq!(status(params("DELETE", "/x", Some(FORM), "a=1")), 501);
        assert_eq!(status(params("GET", "/x", None, "a=1")), 501);
        assert_eq!(status(params("PUT", "/x", Some("text/plain"), "a=1")), 506);
        assert_eq!(
            status(params("PUT", "/x", Some("application/json"), "[1]")),
            500
        );
    }
}
