//! The files of the page. They are in the binary as they are in the repository: nothing builds them.

use std::sync::OnceLock;

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use sha2::{Digest as _, Sha256};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// A file: its name, its kind, what is in it.
type Asset = (&'static str, &'static str, &'static str);

const INDEX: Asset = ("index.html", HTML, include_str!("page/index.html"));

/// All others, below `/page/`.
const ASSETS: &[Asset] = &[
    ("style.css", CSS, include_str!("page/style.css")),
    ("parts.css", CSS, include_str!("page/parts.css")),
    ("icon.svg", SVG, include_str!("page/icon.svg")),
    ("app.js", JS, include_str!("page/app.js")),
    ("api.js", JS, include_str!("page/api.js")),
    ("stream.js", JS, include_str!("page/stream.js")),
    ("dom.js", JS, include_str!("page/dom.js")),
    ("words.js", JS, include_str!("page/words.js")),
    ("chart.js", JS, include_str!("page/chart.js")),
    ("sign-in.js", JS, include_str!("page/sign-in.js")),
    ("inbox.js", JS, include_str!("page/inbox.js")),
    ("inventory.js", JS, include_str!("page/inventory.js")),
    ("guest.js", JS, include_str!("page/guest.js")),
    ("tasks.js", JS, include_str!("page/tasks.js")),
    ("audit.js", JS, include_str!("page/audit.js")),
    ("findings.js", JS, include_str!("page/findings.js")),
];

/// The page itself.
pub(super) async fn index(headers: HeaderMap) -> Response<Body> {
    serve(&INDEX, &headers)
}

/// One of its files.
pub(super) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response<Body> {
    if let Some(asset) = ASSETS.iter().find(|(known, ..)| *known == name) {
        return serve(asset, &headers);
    }
    let mut answer = Response::new(Body::from("there is no such file\n"));
    *answer.status_mut() = StatusCode::NOT_FOUND;
    answer
}

/// Browsers keep a file, and ask each time whether it is still the one: a new binary is a new page at once.
fn serve((_, kind, text): &Asset, headers: &HeaderMap) -> Response<Body> {
    let tag = tag();
    let known = headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|seen| seen == tag);
    let mut answer = if known {
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
        answer
    } else {
        Response::new(Body::from(*text))
    };
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::ETAG, tag.clone());
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

/// One tag for all files, so that modules of two versions never meet.
fn tag() -> &'static HeaderValue {
    static TAG: OnceLock<HeaderValue> = OnceLock::new();
    TAG.get_or_init(|| {
        let mut hash = Sha256::new();
        for (name, _, text) in ASSETS.iter().chain([&INDEX]) {
            hash.update(name);
            hash.update(text);
        }
        let hash = tools::keys::hex(&hash.finalize());
        HeaderValue::from_str(&format!("\"{}\"", &hash[..16]))
            .unwrap_or(HeaderValue::from_static("\"\""))
    })
}
