//! Answers that go on: streams of events. Who they are for is looked at when they begin, and again while they last.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use hyper::body::{Bytes, Frame, SizeHint};

/// The answer, for as long as `holds` says so; it is asked every `look_again` while nothing else is to be sent. An answer
/// that is all there at once costs nothing.
pub(crate) fn while_true<H>(
    body: Body,
    look_again: Duration,
    holds: impl Fn() -> H + Send + 'static,
) -> Body
where
    H: Future<Output = bool> + Send,
{
    until(body, async move {
        loop {
            tokio::time::sleep(look_again).await;
            if !holds().await {
                return;
            }
        }
    })
}

/// The answer, until `end`.
pub(crate) fn until(body: Body, end: impl Future<Output = ()> + Send + 'static) -> Body {
    Body::new(Lasting {
        body,
        end: Box::pin(end),
    })
}

struct Lasting {
    body: Body,
    end: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl hyper::body::Body for Lasting {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // A complete answer is passed on; a stream that always has more must end as well.
        if self.body.is_end_stream() || self.end.as_mut().poll(cx).is_pending() {
            return Pin::new(&mut self.body).poll_frame(cx);
        }
        // Whoever makes the rest of it sees that nobody listens. What is empty is never pending.
        self.body = Body::empty();
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
