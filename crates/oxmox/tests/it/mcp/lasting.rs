//! What somebody is told as it happens ends when they are no longer let in.

use std::time::Duration;

use oxmox::http::{Live, Pace};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tools::caller::Bounds;

use super::browser::Browser;
use super::http::{Served, serve_as, session};
use super::tokens::token;
use super::{World, world};
use crate::raw;

/// A test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(20);
const GUEST: &str = "proxmox://cluster/homelab/guest/105";

async fn served(world: &World) -> Served {
    let pace = Pace {
        look_again: Duration::from_millis(5),
        ..Pace::default()
    };
    serve_as(world, Live::default().at_pace(pace)).await
}

/// A stream of events of which the first has come.
pub(super) struct Stream {
    stream: TcpStream,
    heard: String,
}

impl Stream {
    pub(super) async fn begin(served: &Served, request: &str, first: &str) -> Self {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let heard = String::new();
        let mut begun = Self { stream, heard };
        begun.until(first).await;
        begun
    }

    /// Until this was heard.
    pub(super) async fn until(&mut self, wanted: &str) {
        while !self.heard.contains(wanted) {
            assert!(self.more().await, "{}", self.heard);
        }
    }

    /// False: it has ended.
    async fn more(&mut self) -> bool {
        let mut part = [0; 4096];
        let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut part)).await;
        let length = read.expect("it goes on").unwrap_or(0);
        self.heard
            .push_str(&String::from_utf8_lossy(&part[..length]));
        length > 0
    }

    pub(super) async fn until_it_ends(mut self) -> String {
        while self.more().await {}
        self.heard
    }
}

async fn take_back(world: &World, name: &str) {
    let store = world.engine.store().await.unwrap();
    assert!(store.remove_token(name).await.unwrap());
}

/// `subscriptions/listen` of the 2026 protocol.
async fn listening(served: &Served, token: &str) -> Stream {
    let wish = json!({"notifications": {"resourceSubscriptions": [GUEST]}});
    let request = raw::stateless(
        &served.address.to_string(),
        ("subscriptions/listen", wish),
        (&json!({}), &json!({})),
        &[("Authorization", token)],
    );
    Stream::begin(served, &request, "subscriptions/acknowledged").await
}

#[tokio::test]
async fn who_listens_hears_nothing_more_once_their_token_is_taken_back() {
    let world = world().await;
    let gone = token(&world, "gone", Bounds::default()).await;
    let kept = token(&world, "kept", Bounds::default()).await;
    let served = served(&world).await;
    let (ends, mut stays) = (
        listening(&served, &gone).await,
        listening(&served, &kept).await,
    );
    take_back(&world, "gone").await;
    ends.until_it_ends().await;
    // The other one was looked at as often.
    let none = stays.stream.try_read(&mut [0; 1]).unwrap_err();
    assert_eq!(none.kind(), std::io::ErrorKind::WouldBlock);
    take_back(&world, "kept").await;
    while stays.more().await {}
}

#[tokio::test]
async fn so_does_the_stream_of_a_session() {
    let world = world().await;
    let token = token(&world, "gone", Bounds::default()).await;
    let served = served(&world).await;
    let known = ("Authorization", token.as_str());
    let session = session(&served, &[known]).await;
    let headers = [
        known,
        ("Accept", "text/event-stream"),
        ("Mcp-Session-Id", session.as_str()),
    ];
    let request = raw::request("GET /mcp", &served.address.to_string(), &headers, None);
    let stream = Stream::begin(&served, &request, "HTTP/1.1 200").await;
    take_back(&world, "gone").await;
    stream.until_it_ends().await;
}

#[tokio::test]
async fn who_was_let_in_unasked_hears_nothing_more_once_tokens_are_given_out() {
    let world = world().await;
    let served = served(&world).await;
    let stream = listening(&served, "").await;
    token(&world, "first", Bounds::default()).await;
    stream.until_it_ends().await;
}

#[tokio::test]
async fn the_page_is_told_nothing_more_once_its_person_is_gone_or_has_left() {
    let world = world().await;
    let served = served(&world).await;
    let page = Browser::at(&served);
    let anna = page.person(&world, "anna", Bounds::default()).await;
    let bert = page.person(&world, "bert", Bounds::default()).await;
    let events = async |browser: &Browser| {
        let headers = [("Cookie", browser.cookie.as_str())];
        let host = served.address.to_string();
        let request = raw::request("GET /api/events", &host, &headers, None);
        Stream::begin(&served, &request, "event: seen").await
    };
    let (of_anna, of_bert) = (events(&anna).await, events(&bert).await);
    take_back(&world, "anna").await;
    of_anna.until_it_ends().await;
    assert_eq!(bert.post("/api/sign-out", json!({})).await.status, 200);
    of_bert.until_it_ends().await;
}
