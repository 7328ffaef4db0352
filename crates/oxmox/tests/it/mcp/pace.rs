//! Those who say nothing, or come in crowds, hold up nobody for long.

use std::io::ErrorKind;
use std::time::Duration;

use oxmox::http::{Live, Pace, Settings};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::http::{Served, serve_as};
use super::tls::certificate;
use super::{World, world};
use crate::raw;

/// A time that has passed before a test ends.
const SOON: Duration = Duration::from_millis(20);
/// A test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(20);

async fn served(world: &World, pace: Pace) -> Served {
    serve_as(world, Live::default().at_pace(pace)).await
}

/// All that the server says until it ends the connection.
async fn to_the_end(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut said)).await;
    let _ = read.expect("the connection stays open");
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let world = world().await;
    let pace = Pace {
        head: SOON,
        ..Pace::default()
    };
    let served = served(&world, pace).await;
    for beginning in ["", "GET /healthz HTTP/1.1\r\nHost: "] {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        let said = to_the_end(&mut stream).await;
        assert!(!said.starts_with("HTTP/1.1 200"), "{said}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let world = world().await;
    let pace = Pace {
        body: SOON,
        ..Pace::default()
    };
    let served = served(&world, pace).await;
    let mut stream = served
        .begin("POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: 9\r\n")
        .await;
    let said = to_the_end(&mut stream).await;
    assert!(said.starts_with("HTTP/1.1 408"), "{said}");
}

#[tokio::test]
async fn a_greeting_that_does_not_come_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings {
        tls: Some(certificate(dir.path(), "own").0),
        ..Settings::default()
    };
    let pace = Pace {
        greeting: SOON,
        ..Pace::default()
    };
    let world = world().await;
    let live = Live::new(&settings).unwrap().at_pace(pace);
    let served = serve_as(&world, live).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    assert_eq!(to_the_end(&mut stream).await, "");
}

#[tokio::test]
async fn who_does_not_take_their_answers_makes_room_for_others() {
    let world = world().await;
    let pace = Pace {
        body: SOON,
        connections: 1,
        ..Pace::default()
    };
    let served = served(&world, pace).await;
    let stream = TcpStream::connect(served.address).await.unwrap();
    let host = served.address.to_string();
    let wish = ("tools/list", json!({}));
    let request = raw::stateless(&host, wish, (&json!({}), &json!({})), &[]);
    // More at once than the system keeps for who does not read.
    let request = request.replace("Connection: close\r\n", "");
    let (_unread, mut sends) = stream.into_split();
    let asks = async {
        for _ in 0..200 {
            if sends.write_all(request.as_bytes()).await.is_err() {
                return;
            }
        }
    };
    let other = async {
        let mut other = served
            .begin("GET /healthz HTTP/1.1\r\nConnection: close\r\n")
            .await;
        to_the_end(&mut other).await
    };
    let (said, ()) = tokio::join!(other, asks);
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
}

/// One more request on a connection that stays.
async fn again(stream: &mut TcpStream, served: &Served) {
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut said = String::new();
    while !said.ends_with("ok\n") {
        let mut part = [0; 512];
        let length = stream.read(&mut part).await.unwrap();
        assert_ne!(length, 0, "{said}");
        said.push_str(std::str::from_utf8(&part[..length]).unwrap());
    }
}

#[tokio::test]
async fn who_comes_when_there_is_no_room_waits_until_somebody_leaves() {
    let world = world().await;
    let pace = Pace {
        connections: 1,
        ..Pace::default()
    };
    let served = served(&world, pace).await;
    let mut first = TcpStream::connect(served.address).await.unwrap();
    again(&mut first, &served).await;
    let mut second = served
        .begin("GET /healthz HTTP/1.1\r\nConnection: close\r\n")
        .await;
    // As often as would be enough to answer the other one in between.
    for _ in 0..50 {
        again(&mut first, &served).await;
    }
    let none = second.try_read(&mut [0; 1]).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::WouldBlock);
    drop(first);
    let said = to_the_end(&mut second).await;
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
}
