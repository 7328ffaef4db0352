//! A form that ends with a file, as PVE's server reads it: by the order of its parts, and with its length told beforehand.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, OnceLock};

use futures_util::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Bytes, Frame};

use super::pace::Pace;
use super::wire::Outgoing;
use crate::error::Error;
use crate::request::Request;
use crate::source::Source;

/// How much of the file is in memory at a time, beside what the connection holds.
const PIECE: u64 = 256 * 1024;

/// What went wrong with the file, if something did.
pub(super) type Broken = Arc<OnceLock<String>>;

/// The form around a file, and where the file comes from.
pub(super) struct Upload {
    boundary: String,
    head: Bytes,
    tail: Bytes,
    source: Arc<dyn Source>,
    broken: Broken,
}

impl Upload {
    /// The parameters become parts in their order; the last one names the file.
    pub(super) fn new(request: &Request, source: Arc<dyn Source>) -> Result<Self, Error> {
        let boundary = boundary().map_err(|error| request.build_error(&error.to_string()))?;
        let pairs = request.pairs()?;
        let breaks_out = |text: &str| text.contains(|c: char| c.is_control() || c == '"');
        if let Some((key, _)) = pairs
            .iter()
            .find(|(key, text)| breaks_out(key) || breaks_out(text))
        {
            let what = format!("{} does not fit into a form", key.escape_debug());
            return Err(request.build_error(&what));
        }
        let Some(((file, name), fields)) = pairs.split_last() else {
            return Err(request.build_error("no parameter names the file"));
        };
        let mut head = String::new();
        for (key, text) in fields {
            let _ = write!(
                head,
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{key}\"\r\n\r\n{text}\r\n"
            );
        }
        let _ = write!(
            head,
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{file}\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        Ok(Self {
            head: head.into(),
            tail: format!("\r\n--{boundary}--\r\n").into(),
            boundary,
            source,
            broken: Broken::default(),
        })
    }

    /// Tells afterwards whether the file could be read.
    pub(super) fn broken(&self) -> Broken {
        self.broken.clone()
    }

    pub(super) fn length(&self) -> u64 {
        let around = self.head.len() as u64 + self.tail.len() as u64;
        around.saturating_add(self.source.size())
    }

    pub(super) fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }

    /// The body, from its start.
    ///
    /// All that stands before the file is one piece: PVE takes what follows a file's name for its content even where the
    /// rest of the part's head has not arrived yet.
    pub(super) fn outgoing(&self, pace: &Arc<Pace>) -> Outgoing {
        let (source, pace, broken) = (self.source.clone(), pace.clone(), self.broken.clone());
        let file = stream::try_unfold(0, move |offset| {
            let (source, pace, broken) = (source.clone(), pace.clone(), broken.clone());
            async move {
                if offset >= source.size() {
                    return Ok(None);
                }
                if !pace.moves() {
                    return Err(io::Error::other("the rest is not wanted any more"));
                }
                let piece = read_piece(source, offset).await;
                let piece = piece.inspect_err(|error| drop(broken.set(error.to_string())))?;
                let next = offset + piece.len() as u64;
                Ok(Some((Frame::data(piece), next)))
            }
        });
        let around = |bytes: &Bytes| {
            let frame = Frame::data(bytes.clone());
            stream::once(async { Ok(frame) })
        };
        let whole = around(&self.head).chain(file).chain(around(&self.tail));
        StreamBody::new(whole).boxed_unsync()
    }
}

/// The piece at `offset`, on a thread that may wait for a disk.
async fn read_piece(source: Arc<dyn Source>, offset: u64) -> io::Result<Bytes> {
    let read = move || {
        let left = source.size() - offset;
        let mut piece = vec![0; usize::try_from(left.min(PIECE)).unwrap_or_default()];
        match source.read_at(offset, &mut piece)? {
            0 => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("it ends {left} bytes too early"),
            )),
            count => {
                piece.truncate(count);
                Ok(piece.into())
            }
        }
    };
    tokio::task::spawn_blocking(read)
        .await
        .map_err(io::Error::other)?
}

/// What no file can hold, since nobody knows it before: PVE ends the file where it finds it.
fn boundary() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    Ok(format!("oxmox-{}", digits.collect::<String>()))
}
