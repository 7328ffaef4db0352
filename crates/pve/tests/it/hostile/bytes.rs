//! Answers without end, at the level of bytes.

use std::sync::Arc;
use std::time::Duration;

use pve::apidoc::SCHEMA_PATH;
use pve::{Error, Request, Settings, connect};
use serde_json::Value;

use super::{Poured, UNDER_WAY};
use crate::server::{Act, Server, answer, data, token_settings};

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const UNTIL_CLOSED: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"data\":\"";
const GIBIBYTE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n{\"data\":\"";

fn chunk() -> Vec<u8> {
    let mut chunk = b"10000\r\n".to_vec();
    chunk.extend(vec![b'x'; 0x10000]);
    chunk.extend(b"\r\n");
    chunk
}

/// A server that pours this as its answer to everything.
async fn pouring(head: &'static [u8], piece: Vec<u8>) -> (Server, Arc<Poured>) {
    let poured = Poured::new();
    let pour = Arc::clone(&poured);
    let server = Server::start(move |_| pour.pour(head, &piece)).await;
    (server, poured)
}

/// Settings that take a mebibyte, and wait a third of a second.
fn narrow(server: &Server) -> Settings {
    let mut settings = token_settings(vec![server.pinned()]);
    settings.max_answer_bytes = 1 << 20;
    settings.timeouts.answer = Duration::from_millis(300);
    settings.timeouts.retry = Duration::ZERO;
    settings
}

#[tokio::test]
async fn an_answer_of_a_gibibyte_is_refused_by_its_head_and_not_asked_for_again() {
    let (server, poured) = pouring(GIBIBYTE, vec![b'x'; 0x10000]).await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    let error = reader.get::<Value>("/version").await.unwrap_err();
    assert!(matches!(error, Error::Decode { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("GET /version"), "{text}");
    assert!(text.contains("larger than 67108864 bytes"), "{text}");
    assert!(poured.taken(1).await < UNDER_WAY);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn an_answer_that_never_says_its_length_is_taken_up_to_the_limit() {
    for (head, piece) in [(CHUNKED, chunk()), (UNTIL_CLOSED, vec![b'x'; 0x10000])] {
        let (server, poured) = pouring(head, piece).await;
        let mut settings = narrow(&server);
        settings.timeouts.answer = Duration::from_secs(45);
        let (reader, writer) = connect(settings).unwrap();
        let read = reader.get::<Value>("/x").await.unwrap_err();
        let written = writer.send(&Request::post("/x")).await.unwrap_err();
        for error in [read, written] {
            let text = error.to_string();
            assert!(text.contains("larger than 1048576 bytes"), "{text}");
            assert!(error.is_maybe_sent(), "{error:?}");
        }
        assert!(poured.taken(2).await < 2 * ((1 << 20) + UNDER_WAY));
        assert_eq!(server.seen().len(), 2, "a read is not repeated either");
    }
}

#[tokio::test]
async fn a_refusal_and_a_schema_without_end_are_bounded_too() {
    const REFUSED: &[u8] = b"HTTP/1.1 500 no\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (head, is_document) in [(REFUSED, false), (CHUNKED, true)] {
        let (server, poured) = pouring(head, chunk()).await;
        let mut settings = narrow(&server);
        settings.timeouts.answer = Duration::from_secs(45);
        let (reader, _) = connect(settings).unwrap();
        let error = if is_document {
            reader.document(SCHEMA_PATH).await.unwrap_err()
        } else {
            reader.get::<Value>("/x").await.unwrap_err()
        };
        let text = error.to_string();
        assert!(text.contains("larger than 1048576 bytes"), "{text}");
        assert!(poured.taken(1).await < (1 << 20) + UNDER_WAY);
    }
}

#[tokio::test]
async fn headers_without_end_are_cut_off() {
    let flood = b"X-Flood: 0123456789\r\n".repeat(1000);
    let (server, poured) = pouring(b"HTTP/1.1 200 OK\r\n", flood).await;
    let mut settings = narrow(&server);
    settings.timeouts.answer = Duration::from_secs(45);
    let (_, writer) = connect(settings).unwrap();
    let error = writer.send(&Request::post("/x")).await.unwrap_err();
    assert!(matches!(error, Error::MaybeSent { .. }), "{error:?}");
    assert!(poured.taken(1).await < UNDER_WAY);
}

/// Answers that only announce another are no answer, however many come.
#[tokio::test]
async fn announcements_without_end_end_with_the_time_for_an_answer() {
    let announced = b"HTTP/1.1 103 Early Hints\r\n\r\n";
    let (server, poured) = pouring(announced, announced.to_vec()).await;
    let (_, writer) = connect(narrow(&server)).unwrap();
    let error = writer.send(&Request::post("/x")).await.unwrap_err();
    assert!(matches!(error, Error::MaybeSent { .. }), "{error:?}");
    assert!(poured.taken(1).await < 1 << 30);
}

#[tokio::test]
async fn an_answer_that_trickles_for_ever_is_given_up() {
    const BODY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{\"data\":\"";
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nX-Slow: ";
    const STATUS: &[u8] = b"HTTP/1.1 200 O";
    for head in [BODY, HEAD, STATUS] {
        let (server, poured) = pouring(head, b"x".to_vec()).await;
        let mut settings = narrow(&server);
        settings.timeouts.answer = Duration::from_millis(100);
        let (reader, _) = connect(settings).unwrap();
        let error = reader.get::<Value>("/x").await.unwrap_err();
        assert!(error.to_string().contains("within 100ms"), "{error}");
        assert!(poured.taken(1).await < UNDER_WAY);
    }
}

/// Nothing is asked for in packed form, and nothing is unpacked: a few bytes stay a few bytes.
#[tokio::test]
async fn what_is_packed_stays_packed() {
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&vec![b' '; 8 << 20], 6);
    let length = packed.len();
    let mut bytes =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: {length}\r\n\r\n")
            .into_bytes();
    bytes.extend(packed);
    let server = Server::start(move |_| Act::Answer(bytes.clone())).await;
    let (reader, _) = connect(narrow(&server)).unwrap();
    let error = reader.get::<Value>("/x").await.unwrap_err();
    assert!(matches!(error, Error::Decode { .. }), "{error:?}");
    assert_eq!(server.seen()[0].header("accept-encoding"), None);
}

/// Who follows a redirect brings the token to whoever was named.
#[tokio::test]
async fn a_redirect_leads_nowhere() {
    let other = Server::start(|_| data("7")).await;
    for status in [301, 302, 303, 307, 308] {
        let to = other.addr;
        let server = Server::start(move |_| {
            let head = format!("HTTP/1.1 {status} Moved\r\nLocation: https://{to}/api2/json/x\r\n");
            Act::Answer(format!("{head}Content-Length: 0\r\n\r\n").into_bytes())
        })
        .await;
        let hosts = vec![server.pinned(), other.pinned()];
        let (reader, writer) = connect(token_settings(hosts)).unwrap();
        let read = reader.get::<u8>("/x").await.unwrap_err();
        let written = writer.send(&Request::post("/x")).await.unwrap_err();
        for error in [read, written] {
            assert_eq!(error.status(), Some(status));
        }
        assert_eq!(server.seen().len(), 2);
    }
    assert_eq!(other.seen().len(), 0);
}

/// A page between us and PVE may be long; what is said of it is not.
#[tokio::test]
async fn a_long_refusal_is_told_in_short() {
    let page: &'static str = Box::leak("no ".repeat(100_000).into_boxed_str());
    let json: &'static str = Box::leak(
        format!(r#"{{"data":null,"message":"{page}","errors":{{"vmid":"{page}","{page}":"x"}}}}"#)
            .into_boxed_str(),
    );
    for (status, body) in [(400, page), (500, json), (403, json)] {
        let server = Server::start(move |_| answer(status, "no", body)).await;
        let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
        let error = reader.get::<Value>("/x").await.unwrap_err();
        let length = format!("{error} {error:?} {:?}", error.pve_text()).len();
        assert!(length < 40_000, "{length}");
    }
}
