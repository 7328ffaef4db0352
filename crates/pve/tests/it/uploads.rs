//! Files on their way to PVE and from there: the form around them, and every way for them to get lost.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use pve::{Error, Request, Settings, Sink, Source, connect};

use super::server::{Act, Reading, Server, answer, data, raw, token_settings};

/// A file of dots that remembers how much of it was asked for, and may end too early.
#[derive(Debug)]
struct Dots {
    size: u64,
    ends_at: u64,
    asked: AtomicU64,
}

impl Dots {
    fn new(size: u64) -> Arc<Self> {
        Self::ending_at(size, size)
    }

    fn ending_at(size: u64, ends_at: u64) -> Arc<Self> {
        let asked = AtomicU64::new(0);
        Arc::new(Self {
            size,
            ends_at,
            asked,
        })
    }
}

impl Source for Dots {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let left = self.ends_at.saturating_sub(offset).min(into.len() as u64);
        let count = usize::try_from(left).unwrap();
        into[..count].fill(b'.');
        self.asked.fetch_max(offset + left, Ordering::SeqCst);
        Ok(count)
    }
}

fn request() -> Request {
    Request::post("/nodes/pve1/storage/local/upload")
        .with("content", "iso")
        .with("checksum-algorithm", "sha256")
        .with("checksum", "00ff")
        .with("filename", "a.iso")
}

fn impatient(server: &Server) -> Settings {
    let mut settings = token_settings(vec![server.pinned()]);
    settings.timeouts.answer = Duration::from_secs(5);
    settings.timeouts.retry = Duration::ZERO;
    settings
}

#[tokio::test]
async fn the_parts_come_in_order_and_the_length_is_told() {
    let server = Server::start(|_| data("\"UPID:x\"")).await;
    let (_, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    let upid = writer.upload(&request(), Dots::new(700_000)).await.unwrap();
    assert_eq!(upid, "UPID:x");
    let seen = server.seen().remove(0);
    assert_eq!(seen.target, "/api2/json/nodes/pve1/storage/local/upload");
    assert_eq!(seen.header("transfer-encoding"), None);
    let length = seen.body.len().to_string();
    assert_eq!(seen.header("content-length"), Some(length.as_str()));
    let kind = seen.header("content-type").unwrap();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    let field = |name: &str, value: &str| {
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        )
    };
    let expected = [
        field("content", "iso"),
        field("checksum-algorithm", "sha256"),
        field("checksum", "00ff"),
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"filename\"; filename=\"a.iso\"\r\n"),
        "Content-Type: application/octet-stream\r\n\r\n".to_owned(),
        ".".repeat(700_000),
        format!("\r\n--{boundary}--\r\n"),
    ]
    .concat();
    assert!(seen.body == expected, "{}", &seen.body[..600]);
}

#[tokio::test]
async fn what_was_never_sent_is_sent_again_from_its_start() {
    let server = Server::start_dropping(2, |_| data("null")).await;
    let (_, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    writer.upload(&request(), Dots::new(300_000)).await.unwrap();
    assert_eq!((server.connections(), server.seen().len()), (3, 1));
    assert!(server.seen()[0].body.contains(&".".repeat(300_000)));
}

#[tokio::test]
async fn a_connection_lost_half_way_leaves_doubt_and_is_not_tried_again() {
    let server = Server::start_reading(Reading::Cut(400_000)).await;
    let (_, writer) = connect(impatient(&server)).unwrap();
    let size = 64 << 20;
    let error = writer.upload(&request(), Dots::new(size)).await;
    let error = error.unwrap_err();
    assert!(matches!(error, Error::MaybeSent { .. }), "{error:?}");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn an_answer_lost_at_the_end_leaves_doubt() {
    let server = Server::start(|_| Act::Close).await;
    let (_, writer) = connect(impatient(&server)).unwrap();
    let error = writer.upload(&request(), Dots::new(10)).await.unwrap_err();
    assert!(matches!(error, Error::MaybeSent { .. }), "{error:?}");
    assert_eq!(server.seen().len(), 1);
}

/// PVE looks at who sends it before it reads the file.
#[tokio::test]
async fn a_refusal_that_comes_early_is_heard_and_the_rest_stays_here() {
    let refusal = raw(
        403,
        b"Permission check failed (/storage/local, Datastore.AllocateTemplate)",
        b"",
    );
    let server = Server::start_reading(Reading::Head(refusal)).await;
    let (_, writer) = connect(impatient(&server)).unwrap();
    let file = Dots::new(1 << 40);
    let error = writer.upload(&request(), file.clone()).await.unwrap_err();
    assert_eq!(error.status(), Some(403), "{error:?}");
    let asked = file.asked.load(Ordering::SeqCst);
    assert!(
        asked < 64 << 20,
        "{asked} bytes were read of what nobody takes"
    );
}

#[tokio::test]
async fn a_file_that_ends_too_early_is_no_doubt() {
    let server = Server::start(|_| answer(500, "never", "")).await;
    let (_, writer) = connect(impatient(&server)).unwrap();
    let file = Dots::ending_at(2_000_000, 1_000_000);
    let error = writer.upload(&request(), file).await.unwrap_err();
    assert!(matches!(error, Error::Build { .. }), "{error:?}");
    assert!(
        error.to_string().contains("1000000 bytes too early"),
        "{error}"
    );
    assert!(server.seen().is_empty(), "half a request is none");
}

#[tokio::test]
async fn what_would_break_the_form_is_not_sent() {
    let server = Server::start(|_| data("null")).await;
    let (_, writer) = connect(impatient(&server)).unwrap();
    for name in ["a\"; x=\"b.iso", "a\r\nb.iso"] {
        let request = Request::post("/x").with("filename", name);
        let error = writer.upload(&request, Dots::new(1)).await.unwrap_err();
        assert!(matches!(error, Error::Build { .. }), "{error:?}");
    }
    let nothing = Request::post("/x");
    assert!(writer.upload(&nothing, Dots::new(1)).await.is_err());
    assert_eq!(server.connections(), 0);
}

/// Keeps what comes.
struct Got(Vec<u8>);

impl Sink for Got {
    fn take<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, std::io::Result<()>> {
        self.0.extend_from_slice(bytes);
        Box::pin(std::future::ready(Ok(())))
    }
}

/// What came, and how it ended.
async fn fetched(server: &Server) -> (Vec<u8>, Result<(), Error>) {
    let (reader, _) = connect(impatient(server)).unwrap();
    let mut got = Got(Vec::new());
    let request = Request::get("/nodes/pve1/storage/vault/file-restore/download");
    let came = reader.download(&request, &mut got).await;
    (got.0, came)
}

#[tokio::test]
async fn a_file_that_pve_gives_comes_as_it_is() {
    let head =
        b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\n";
    let file = vec![0; 300_000];
    let whole = [&head[..], &file].concat();
    let server = Server::start(move |_| Act::AnswerAndClose(whole.clone())).await;
    let (got, came) = fetched(&server).await;
    came.unwrap();
    assert_eq!(got.len(), 300_000);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_download_that_is_refused_gives_nothing() {
    let server = Server::start(|_| answer(403, "Permission check failed", "")).await;
    let (got, came) = fetched(&server).await;
    assert_eq!(came.unwrap_err().status(), Some(403));
    assert!(got.is_empty());
    let server = Server::start(|_| Act::Close).await;
    let (_, came) = fetched(&server).await;
    assert!(came.unwrap_err().is_maybe_sent());
    assert_eq!(
        server.seen().len(),
        1,
        "it is not asked for again by itself"
    );
}
