//! Taking in an answer: whole, or not at all where it is more than any answer of PVE.

use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use super::parts;
use super::reply::Reply;
use crate::error::Cause;

/// Why one connection gave no answer.
pub(super) enum Failure {
    /// Hyper gave the request back: not a byte of it was written.
    Unsent(Cause),
    /// The connection ended before the answer did.
    Broken(&'static str, Cause),
    /// The answer is not worth waiting for.
    Lost(String),
    /// The answer is not worth reading: it would be the same if it were asked for again.
    Unreadable(String),
}

pub(super) async fn read(
    response: hyper::Response<Incoming>,
    max_bytes: usize,
) -> Result<Reply, Failure> {
    let (head, mut body) = response.into_parts();
    if body.size_hint().lower() > max_bytes as u64 {
        return Err(too_large(max_bytes));
    }
    // Read into one piece as it comes: a list of thousands of guests is megabytes, and collecting it first would hold it
    // twice.
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(max_bytes);
    let mut bytes = Vec::with_capacity(expected);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            let what = "the connection broke in the middle of it";
            Failure::Broken(what, Arc::new(error))
        })?;
        // What is no data are trailers, which PVE does not send.
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > max_bytes {
            return Err(too_large(max_bytes));
        }
        bytes.extend_from_slice(&data);
    }
    if parts::are_too_many(&bytes) {
        let what = format!("it has more parts than any answer of PVE; {ADVICE}");
        return Err(Failure::Unreadable(what));
    }
    Ok(Reply::new(&head, bytes.into()))
}

/// What to do about an answer that is none of PVE's.
const ADVICE: &str = "ask for less, with a limit or a filter, or find out what answers there";

fn too_large(max_bytes: usize) -> Failure {
    Failure::Unreadable(format!("it is larger than {max_bytes} bytes; {ADVICE}"))
}
