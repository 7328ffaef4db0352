//! A body that promises more than comes.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

/// Half of the bytes, then nothing: the connection is closed.
pub(crate) struct Cut {
    half: Option<Bytes>,
    promised: u64,
}

/// Why the rest does not come.
#[derive(Debug, thiserror::Error)]
#[error("the answer is cut on purpose")]
pub(crate) struct CutOff;

impl Cut {
    pub(crate) fn new(whole: Vec<u8>) -> Self {
        let whole = Bytes::from(whole);
        Self {
            promised: whole.len() as u64,
            half: Some(whole.slice(..whole.len() / 2)),
        }
    }
}

impl Body for Cut {
    type Data = Bytes;
    type Error = CutOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutOff>>> {
        Poll::Ready(Some(match self.half.take() {
            Some(half) => Ok(Frame::data(half)),
            None => Err(CutOff),
        }))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.promised)
    }
}
