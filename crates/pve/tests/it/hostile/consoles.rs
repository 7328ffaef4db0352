//! Consoles without end: frames, messages, screens and texts.

use std::sync::Arc;
use std::time::Duration;

use pve::console::{Size, Until, Waited};
use pve::{Error, GuestKind, GuestRef, NodeName, Reader, connect};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::{Poured, UNDER_WAY};
use crate::server::{Seen, Server, data, password_settings};

/// More than a machine under load needs for what does not depend on it.
const LONG: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(300);

fn guest(kind: GuestKind) -> GuestRef {
    GuestRef {
        node: NodeName::new("pve1").unwrap(),
        kind,
        vmid: "100".parse().unwrap(),
    }
}

/// A websocket frame of the server: how it begins, and what is in it.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first, 127];
    frame.extend(u64::try_from(payload.len()).unwrap().to_be_bytes());
    frame.extend(payload);
    frame
}

/// The same, with a length that fits a byte, as frames of control have it.
fn short_frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first, u8::try_from(payload.len()).unwrap()];
    frame.extend(payload);
    frame
}

const BINARY: u8 = 0x82;
const BINARY_TO_BE_CONTINUED: u8 = 0x02;
const TO_BE_CONTINUED: u8 = 0x00;
const PING: u8 = 0x89;

/// A node whose consoles send this, and then the other again and again.
async fn consoles(first: Vec<u8>, again: Vec<u8>) -> (Server, Arc<Poured>, Reader) {
    let poured = Poured::new();
    let pour = Arc::clone(&poured);
    let server = Server::start(move |seen: &Seen| match seen.header("sec-websocket-key") {
        Some(key) => {
            let accept = derive_accept_key(key.as_bytes());
            let mut head = format!(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                 Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: binary\r\n\r\n"
            )
            .into_bytes();
            head.extend(&first);
            pour.pour(&head, &again)
        }
        None if seen.target.contains("/access/ticket") => data(
            r#"{"ticket":"PVE:root@pam:00000000::x","CSRFPreventionToken":"x","username":"root@pam"}"#,
        ),
        None => data(r#"{"port":"5900","ticket":"t","user":"root@pam","password":"p"}"#),
    })
    .await;
    let (reader, _) = connect(password_settings(vec![server.pinned()])).unwrap();
    (server, poured, reader)
}

/// What a VNC server says until its screen has a size.
fn rfb_opening(width: u16, height: u16, name: u32) -> Vec<u8> {
    let mut bytes = b"RFB 003.008\n\x01\x01\0\0\0\0".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([0; 16]);
    bytes.extend(name.to_be_bytes());
    bytes
}

async fn screen_error(first: Vec<u8>, again: Vec<u8>, limit: Duration) -> (Error, u64) {
    let (_server, poured, reader) = consoles(first, again).await;
    let watched = reader.watch_screen(&guest(GuestKind::Qemu), limit).await;
    let error = watched.unwrap_err();
    (error, poured.taken(1).await)
}

#[tokio::test]
async fn a_frame_without_end_is_refused_by_its_head() {
    let mut endless = vec![BINARY, 127];
    endless.extend((1_u64 << 62).to_be_bytes());
    let (error, taken) = screen_error(endless, vec![0; 0x10000], LONG).await;
    assert!(matches!(error, Error::Console { .. }), "{error:?}");
    assert!(taken < UNDER_WAY, "{taken}");
}

#[tokio::test]
async fn a_message_in_frames_without_end_is_taken_up_to_the_limit() {
    let first = frame(BINARY_TO_BE_CONTINUED, b"RFB 003.008\n");
    let again = frame(TO_BE_CONTINUED, &vec![0; 0x10000]);
    let (error, taken) = screen_error(first, again, LONG).await;
    assert!(matches!(error, Error::Console { .. }), "{error:?}");
    assert!(taken < (4 << 20) + UNDER_WAY, "{taken}");
}

#[tokio::test]
async fn a_screen_larger_than_any_is_not_taken() {
    let opening = frame(BINARY, &rfb_opening(u16::MAX, u16::MAX, 0));
    let (error, taken) = screen_error(opening, frame(BINARY, &vec![0; 0x10000]), LONG).await;
    assert!(
        error.to_string().contains("65535x65535 is not taken"),
        "{error}"
    );
    assert!(taken < UNDER_WAY, "{taken}");
}

#[tokio::test]
async fn the_name_of_a_screen_has_an_end() {
    let opening = frame(BINARY, &rfb_opening(640, 480, u32::MAX));
    let (error, taken) = screen_error(opening, frame(BINARY, &vec![b'x'; 0x10000]), LONG).await;
    assert!(matches!(error, Error::Console { .. }), "{error:?}");
    assert!(taken < UNDER_WAY, "{taken}");
}

/// Nothing that concerns the screen comes, but something always does.
#[tokio::test]
async fn what_never_gets_to_the_point_ends_with_its_time() {
    let opening = frame(BINARY, &rfb_opening(640, 480, 0));
    let bells = frame(BINARY, &[2; 0x400]);
    let resizes = {
        let mut update = vec![0, 0, 0, 1, 0, 0, 0, 0, 2, 128, 1, 224];
        update.extend((-223_i32).to_be_bytes());
        frame(BINARY, &update)
    };
    let nothings = short_frame(BINARY, &[]).repeat(500);
    for again in [bells, resizes, nothings] {
        let (error, taken) = screen_error(opening.clone(), again, SHORT).await;
        assert!(error.to_string().contains("within 300ms"), "{error}");
        assert!(taken < 1 << 30);
    }
}

#[tokio::test]
async fn screen_of_a_node_that_floods_pings_is_given_up() {
    let opening = frame(BINARY, &rfb_opening(640, 480, 0));
    let pings = short_frame(PING, &[0; 100]).repeat(50);
    let (error, taken) = screen_error(opening, pings, LONG).await;
    assert!(error.to_string().contains("control frames"), "{error}");
    assert!(taken < UNDER_WAY, "{taken}");
}

#[tokio::test]
async fn terminal_of_a_node_that_floods_pings_is_given_up() {
    let pings = short_frame(PING, &[0; 100]).repeat(50);
    let (_server, poured, reader) = consoles(frame(BINARY, b"OK"), pings).await;
    let at = guest(GuestKind::Lxc);
    let watched = reader.watch_terminal(&at, Size::default(), LONG);
    let ended = match watched.await {
        Ok(mut view) => {
            let quiet = Until::Quiet(Duration::from_secs(30));
            let waited = view.wait(&quiet, LONG).await;
            format!("{waited:?}")
        }
        Err(error) => error.to_string(),
    };
    assert!(!ended.contains("TimeUp"), "{ended}");
    let taken = poured.taken(1).await;
    assert!(taken < UNDER_WAY, "{taken}");
}

/// A terminal that writes without a pause: the waiting ends, and what is kept is bounded.
#[tokio::test]
async fn a_terminal_that_never_stops_writing() {
    let again = frame(BINARY, &b"y\x1b[31m\r\n".repeat(1000));
    let (_server, poured, reader) = consoles(frame(BINARY, b"OK"), again).await;
    let at = guest(GuestKind::Lxc);
    let mut view = reader
        .watch_terminal(&at, Size::default(), LONG)
        .await
        .unwrap();
    let quiet = Until::Quiet(Duration::from_millis(100));
    let waited = view.wait(&quiet, SHORT).await.unwrap();
    assert_eq!(waited, Waited::TimeUp);
    let shown = view.screen().text();
    assert!(shown.len() < 100_000, "{}", shown.len());
    drop(view);
    poured.taken(1).await;
}
