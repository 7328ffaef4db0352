//! Answers that hold something until their last byte was taken: only then is a request over.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use hyper::body::{Bytes, Frame, SizeHint};

/// The body of an answer, with what ends when it does.
struct Held<T> {
    body: Body,
    _until_its_end: T,
}

/// This answer, which drops `what` at its end.
pub(super) fn until_its_end<T: Send + Unpin + 'static>(body: Body, what: T) -> Body {
    Body::new(Held {
        body,
        _until_its_end: what,
    })
}

impl<T: Unpin> hyper::body::Body for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
