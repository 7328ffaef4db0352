//! A request in the form in which it is sent.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};

use super::session::Signature;
use crate::error::Error;
use crate::request::{Method, Request};
use crate::settings::{Host, Settings};

/// Path, query and body of a request, checked and encoded once for all attempts.
pub(super) struct Wire {
    method: Method,
    target: String,
    body: Bytes,
    /// True if PVE may carry it out twice without harm.
    pub(super) repeatable: bool,
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
            body,
            repeatable: request.method == Method::Get,
        })
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

    fn has_body(&self) -> bool {
        matches!(self.method, Method::Post | Method::Put)
    }

    /// The HTTP request for one host.
    pub(super) fn to_http(
        &self,
        host: &Host,
        settings: &Settings,
        signature: Option<&Signature>,
    ) -> Result<hyper::Request<Full<Bytes>>, Error> {
        let mut builder = hyper::Request::builder()
            .method(self.method.as_str())
            .uri(&self.target)
            .header(HOST, host.to_string())
            .header(USER_AGENT, &settings.user_agent);
        if self.has_body() {
            // Hyper leaves it out for an empty body, which servers may take for a missing length.
            builder = builder.header(CONTENT_LENGTH, self.body.len());
        }
        if !self.body.is_empty() {
            let form = HeaderValue::from_static("application/x-www-form-urlencoded");
            builder = builder.header(CONTENT_TYPE, form);
        }
        let is_write = self.method != Method::Get;
        for (name, value) in signature.map(|s| s.headers(is_write)).into_iter().flatten() {
            builder = builder.header(name, value);
        }
        // The cause would quote the value at fault, which may be a secret.
        builder
            .body(Full::new(self.body.clone()))
            .map_err(|_| Error::Build {
                what: "the request makes no valid HTTP request".to_owned(),
            })
    }
}
