//! A request in the form in which it is sent.

use std::io;
use std::sync::Arc;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};

use super::pace::Pace;
use super::session::Signature;
use super::upload::Upload;
use crate::error::Error;
use crate::request::{Method, Request};
use crate::settings::{Host, Settings};

/// What is sent after the head of a request.
pub(super) type Outgoing = UnsyncBoxBody<Bytes, io::Error>;

/// Path, query and body of a request, checked and encoded once for all attempts.
pub(super) struct Wire {
    pub(super) method: Method,
    target: String,
    body: Payload,
    /// True if PVE may carry it out twice without harm.
    pub(super) repeatable: bool,
}

/// What a request carries.
enum Payload {
    /// Parameters, or nothing.
    Form(Bytes),
    /// A file, read anew for every attempt.
    Upload(Upload),
}

impl Payload {
    fn length(&self) -> u64 {
        match self {
            Self::Form(form) => form.len() as u64,
            Self::Upload(upload) => upload.length(),
        }
    }

    fn content_type(&self) -> Option<String> {
        match self {
            Self::Form(form) if form.is_empty() => None,
            Self::Form(_) => Some("application/x-www-form-urlencoded".to_owned()),
            Self::Upload(upload) => Some(upload.content_type()),
        }
    }

    fn outgoing(&self, pace: &Arc<Pace>) -> Outgoing {
        match self {
            Self::Form(form) => Full::new(form.clone())
                .map_err(|never| match never {})
                .boxed_unsync(),
            Self::Upload(upload) => upload.outgoing(pace),
        }
    }
}

impl Wire {
    /// Encodes a request: parameters go into the query for GET and DELETE (PVE refuses a body there), else into a form.
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let form = request.form()?;
        let path = &request.path;
        let in_query = matches!(request.method, Method::Get | Method::Delete);
        let (target, body) = match (form.is_empty(), in_query) {
            (true, _) => (format!("/api2/json{path}"), Bytes::new()),
            (false, true) => (format!("/api2/json{path}?{form}"), Bytes::new()),
            (false, false) => (format!("/api2/json{path}"), Bytes::from(form)),
        };
        Ok(Self {
            method: request.method,
            target,
            body: Payload::Form(body),
            repeatable: request.method == Method::Get,
        })
    }

    /// A request whose parameters are parts of a form that ends with a file.
    pub(super) fn upload(request: &Request, upload: Upload) -> Self {
        Self {
            method: request.method,
            target: format!("/api2/json{}", request.path),
            body: Payload::Upload(upload),
            repeatable: false,
        }
    }

    /// A file outside the API.
    pub(super) fn document(request: &Request) -> Result<Self, Error> {
        let mut wire = Self::new(request)?;
        wire.target.clone_from(&request.path);
        Ok(wire)
    }

    /// A login: a POST that does no harm when repeated.
    pub(super) fn login(request: &Request) -> Result<Self, Error> {
        let mut wire = Self::new(request)?;
        wire.repeatable = true;
        Ok(wire)
    }

    /// Method and path, for errors: the query may hold a secret.
    pub(super) fn name(&self) -> String {
        let path = self.target.split('?').next().unwrap_or_default();
        let path = path.strip_prefix("/api2/json").unwrap_or(path);
        format!("{} {path}", self.method.as_str())
    }

    fn has_body(&self) -> bool {
        matches!(self.method, Method::Post | Method::Put)
    }

    /// The HTTP request for one host, and what tells whether its body gets on.
    pub(super) fn to_http(
        &self,
        host: &Host,
        settings: &Settings,
        signature: Option<&Signature>,
    ) -> Result<(hyper::Request<Outgoing>, Arc<Pace>), Error> {
        let mut builder = hyper::Request::builder()
            .method(self.method.as_str())
            .uri(&self.target)
            .header(HOST, host.to_string())
            .header(USER_AGENT, &settings.user_agent);
        if self.has_body() {
            // Hyper leaves it out for an empty body, which servers may take for a missing length.
            // PVE refuses bodies whose length is not told beforehand.
            builder = builder.header(CONTENT_LENGTH, self.body.length());
        }
        if let Some(kind) = self.body.content_type() {
            builder = builder.header(CONTENT_TYPE, kind);
        }
        let is_write = self.method != Method::Get;
        for (name, value) in signature.map(|s| s.headers(is_write)).into_iter().flatten() {
            builder = builder.header(name, value);
        }
        let pace = Arc::new(Pace::default());
        // The cause would quote the value at fault, which may be a secret.
        let request = builder
            .body(self.body.outgoing(&pace))
            .map_err(|_| Error::Build {
                what: "the request makes no valid HTTP request".to_owned(),
            })?;
        Ok((request, pace))
    }
}
