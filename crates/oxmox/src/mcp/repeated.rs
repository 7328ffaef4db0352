//! Messages in which a name stands twice in one object: of two values the last would hold, and a person who approves may have
//! seen the first. None of them is read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::body::Bytes;
use rmcp::ErrorData;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead as _, AsyncRead, BufReader, ReadBuf};

/// The method that stands in for that of such a request, so that its sender gets an error.
pub(super) const METHOD: &str = "oxmox/repeated-name";
/// The error message.
const TOLD: &str =
    "a name stands twice in an object of this message; nothing was done: send each name once";
/// Bytes of a line; longer ones are left out. Far more than any message has.
const LONGEST: usize = 16 * 1024 * 1024;

/// The error for such a request.
pub(super) fn error() -> ErrorData {
    ErrorData::invalid_request(TOLD, None)
}

/// Lines of JSON, without messages of that sort: a request is replaced by one that gets an error, an answer by an error.
pub(super) struct Unrepeated<R> {
    inner: BufReader<R>,
    /// The line that is being read.
    line: Vec<u8>,
    /// Whether the rest of the line is left out.
    skips: bool,
    /// What was read and not taken.
    ready: Bytes,
}

impl<R: AsyncRead> Unrepeated<R> {
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner: BufReader::new(inner),
            line: Vec::new(),
            skips: false,
            ready: Bytes::new(),
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Unrepeated<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.ready.is_empty() {
            let this = &mut *self;
            let part = ready!(Pin::new(&mut this.inner).poll_fill_buf(cx))?;
            if part.is_empty() {
                // A line that has no end is none.
                return Poll::Ready(Ok(()));
            }
            let end = part.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(part.len(), |end| end + 1);
            if !this.skips {
                this.line.extend_from_slice(&part[..taken]);
            }
            Pin::new(&mut this.inner).consume(taken);
            if this.line.len() > LONGEST {
                this.line = Vec::new();
                this.skips = true;
            }
            if end.is_some() {
                let line = std::mem::take(&mut this.line);
                if !std::mem::take(&mut this.skips) {
                    this.ready = checked(line);
                }
            }
        }
        let fits = self.ready.len().min(buffer.remaining());
        buffer.put_slice(&self.ready.split_to(fits));
        Poll::Ready(Ok(()))
    }
}

/// The line, or what stands in for it.
fn checked(line: Vec<u8>) -> Bytes {
    if !tools::schema::repeats_a_name(&line) {
        return line.into();
    }
    let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
    let message: Value = serde_json::from_slice(text).unwrap_or_default();
    let id = &message["id"];
    let instead = match (message.get("method"), id) {
        // Nobody answers a notification, and nobody misses what nobody can read.
        (Some(_), Value::Null) => return Bytes::from_static(b"\n"),
        (Some(_), id) => json!({"jsonrpc": "2.0", "id": id, "method": METHOD}),
        (None, id) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": TOLD}})
        }
    };
    format!("{instead}\n").into()
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn read(text: &str) -> String {
        let mut read = String::new();
        let mut lines = Unrepeated::new(text.as_bytes());
        lines.read_to_string(&mut read).await.unwrap();
        read
    }

    #[tokio::test]
    async fn messages_without_a_repeated_name_pass_as_they_are() {
        let text = "{\"id\":1,\"method\":\"a\"}\r\n\nno json\n{\"id\": 1, \"result\": {}}\n";
        assert_eq!(read(text).await, text);
    }

    #[tokio::test]
    async fn answer_that_approves_twice_is_an_error() {
        let answer = r#"{"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{"approve":false,"approve":true}}}"#;
        let instead = read(&format!("{answer}\n")).await;
        let instead: Value = serde_json::from_str(&instead).unwrap();
        assert_eq!((&instead["id"], instead.get("result")), (&json!(7), None));
        assert_eq!(instead["error"]["code"], -32600);
    }

    #[tokio::test]
    async fn request_with_a_repeated_name_gets_an_error() {
        let request = r#"{"id":"x","method":"tools/call","params":{"name":"a","name":"b"}}"#;
        let instead = read(&format!("{request}\n")).await;
        let instead: Value = serde_json::from_str(&instead).unwrap();
        assert_eq!(
            (&instead["id"], &instead["method"]),
            (&json!("x"), &json!(METHOD))
        );
    }

    #[tokio::test]
    async fn line_without_end_takes_bounded_memory() {
        let long = format!("{}\n{{}}\n", "x".repeat(LONGEST + 1));
        assert_eq!(read(&long).await, "{}\n");
    }
}
