//! How much one caller may ask for.

use futures_util::future::join_all;
use oxmox::http::{Limits, Live, PublicUrl, Settings};
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tools::caller::Bounds;

use super::browser::{Answered, Browser, token_of};
use super::http::{Served, serve_as};
use super::tokens::token;
use super::{World, world};

async fn served(world: &World, limits: Limits) -> Served {
    let settings = Settings {
        limits,
        ..Settings::default()
    };
    serve_as(world, Live::new(&settings).unwrap()).await
}

#[tokio::test]
async fn who_asks_too_often_is_told_when_to_try_again_and_others_are_not() {
    let world = world().await;
    let (one, other) = (
        token(&world, "one", Bounds::default()).await,
        token(&world, "other", Bounds::default()).await,
    );
    let limits = Limits {
        requests_per_second: 1,
        burst: 3,
        ..Limits::default()
    };
    let served = served(&world, limits).await;
    let mut refused = None;
    // Slow machines give a request back now and then.
    for _ in 0..30 {
        let headers = [("Authorization", one.as_str())];
        let answer = served.ask("tools/list", json!({}), &headers).await;
        if answer.status != 200 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("nobody was refused");
    assert_eq!(refused.status, 429);
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=2).contains(&seconds), "{seconds}");
    let headers = [("Authorization", other.as_str())];
    let answer = served.ask("tools/list", json!({}), &headers).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn so_many_calls_are_under_way_at_a_time() {
    let world = world().await;
    let limits = Limits {
        concurrent_requests: 1,
        ..Limits::default()
    };
    let served = served(&world, limits).await;
    let first = served
        .begin("POST /mcp HTTP/1.1\r\nContent-Length: 9\r\n")
        .await;
    let mut answers = Vec::new();
    // The one that has begun holds the only place as soon as its head was read.
    while answers.last() != Some(&429) {
        answers.push(served.get("/mcp", &[]).await.status);
        assert!(answers.len() < 200, "{answers:?}");
    }
    drop(first);
    while answers.last() == Some(&429) {
        answers.push(served.get("/mcp", &[]).await.status);
        assert!(answers.len() < 2000, "{answers:?}");
    }
}

/// To MCP as much as the settings allow, to the page as much as it sends.
#[tokio::test]
async fn a_request_that_says_it_is_too_large_is_not_waited_for() {
    let world = world().await;
    let served = served(&world, Limits::default()).await;
    for (path, length) in [("/mcp", "10000000000"), ("/api/sign-in", "65537")] {
        let request = format!("POST {path} HTTP/1.1\r\nContent-Length: {length}\r\n");
        let mut stream = served.begin(&request).await;
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        assert_eq!(&status, b"HTTP/1.1 413", "{path}");
    }
}

/// The head of the answer to a request whose body does not come.
async fn head(served: &Served, request: &str) -> String {
    let mut stream = served.begin(request).await;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

#[tokio::test]
async fn a_refusal_before_the_body_says_that_the_connection_ends() {
    let world = world().await;
    token(&world, "ci", Bounds::default()).await;
    let limits = Limits {
        requests_per_second: 1,
        burst: 3,
        ..Limits::default()
    };
    let served = served(&world, limits).await;
    let ends = |head: &str| head.to_ascii_lowercase().contains("connection: close");
    let with_body = "HTTP/1.1\r\nContent-Length: 9\r\n";
    let cases = [
        (
            "403",
            format!("POST /mcp {with_body}Origin: http://evil.example\r\n"),
        ),
        ("401", format!("POST /mcp {with_body}")),
        (
            "413",
            "POST /api/sign-in HTTP/1.1\r\nContent-Length: 65537\r\n".to_owned(),
        ),
    ];
    for (status, request) in cases {
        let head = head(&served, &request).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{head}");
        assert!(ends(&head), "{head}");
    }
    // What has no body ends nothing.
    assert!(!ends(&head(&served, "GET /mcp HTTP/1.1\r\n").await));
    for path in ["/mcp", "/api/sign-in"] {
        let mut told = String::new();
        // Slow machines give a request back now and then.
        for _ in 0..30 {
            told = head(
                &served,
                &format!("POST {path} {with_body}Expect: 100-continue\r\n"),
            )
            .await;
            if told.starts_with("HTTP/1.1 429") {
                break;
            }
        }
        assert!(told.starts_with("HTTP/1.1 429") && ends(&told), "{told}");
    }
}

/// Behind one address there may be many, and those who have a token are no strangers.
#[tokio::test]
async fn strangers_use_up_nothing_of_those_who_have_a_token() {
    let world = world().await;
    let limits = Limits {
        requests_per_second: 1,
        burst: 3,
        ..Limits::default()
    };
    let served = served(&world, limits).await;
    let ask = async |token: &str| {
        let headers = [("Authorization", token)];
        served.ask("tools/list", json!({}), &headers).await.status
    };
    for (name, stranger) in [("one", ""), ("two", "Bearer oxmox_12345678_nobodys")] {
        let new = token(&world, name, Bounds::default()).await;
        let mut strangers = Vec::new();
        while strangers.last() != Some(&429) {
            strangers.push(ask(stranger).await);
            assert!(strangers.len() < 100, "{strangers:?}");
        }
        // Never seen before.
        assert_eq!(ask(&new).await, 200);
    }
}

#[tokio::test]
async fn a_right_token_is_no_guess_however_many_bring_it_along_at_once() {
    let world = world().await;
    let right = token(&world, "ci", Bounds::default()).await;
    let served = served(&world, Limits::default()).await;
    let headers = [("Authorization", right.as_str())];
    let asks = (0..12).map(|_| served.ask("tools/list", json!({}), &headers));
    for answer in join_all(asks).await {
        assert_eq!(answer.status, 200);
    }
}

#[tokio::test]
async fn whoever_guesses_at_a_token_locks_out_nobody_who_has_it() {
    let world = world().await;
    let right = token(&world, "ci", Bounds::default()).await;
    let served = served(&world, Limits::default()).await;
    let ask = async |token: &str| {
        let headers = [("Authorization", token)];
        served.ask("tools/list", json!({}), &headers).await.status
    };
    assert_eq!(ask(&right).await, 200);
    let wrong = format!("{right}x");
    let mut answers = Vec::new();
    while answers.last() != Some(&429) {
        answers.push(ask(&wrong).await);
        assert!(answers.len() < 30, "{answers:?}");
    }
    assert_eq!(ask(&right).await, 200);
}

#[tokio::test]
async fn a_request_may_be_so_large() {
    let world = world().await;
    let limits = Limits {
        request_bytes: 2000,
        ..Limits::default()
    };
    let served = served(&world, limits).await;
    let large = json!({"padding": "x".repeat(3000)});
    let answer = served.ask("tools/list", large, &[]).await;
    assert_eq!(answer.status, 413);
    assert!(answer.body.contains("2000 bytes"), "{}", answer.body);
    let small = served.ask("tools/list", json!({}), &[]).await;
    assert_eq!(small.status, 200);
}

#[tokio::test]
async fn guesses_at_a_token_are_slowed_down() {
    let world = world().await;
    let right = token(&world, "ci", Bounds::default()).await;
    let served = served(&world, Limits::default()).await;
    for guess in 0..20 {
        let wrong = format!("{right}{guess}");
        let headers = [("Authorization", wrong.as_str())];
        let answer = served.ask("tools/list", json!({}), &headers).await;
        if answer.status == 429 {
            return;
        }
        assert_eq!(answer.status, 401);
    }
    panic!("nobody was slowed down");
}

/// There is nothing to guess: it costs what any request of a stranger costs.
#[tokio::test]
async fn a_token_that_there_is_not_is_no_guess() {
    let world = world().await;
    token(&world, "ci", Bounds::default()).await;
    let served = served(&world, Limits::default()).await;
    for number in 0..10 {
        let unknown = format!("Bearer oxmox_12345678_{number}");
        let headers = [("Authorization", unknown.as_str())];
        let answer = served.ask("tools/list", json!({}), &headers).await;
        assert_eq!(answer.status, 401, "{number}");
    }
}

/// Tries to sign in with what is wrong, until it is refused to try at all.
async fn guess(page: &Browser, headers: &[(&str, &str)]) -> Answered {
    let mut all = vec![("X-Oxmox-Page", "1")];
    all.extend(headers);
    for guess in 0..20 {
        // Another one each time: whose token it is does not matter.
        let wrong = match guess % 2 {
            0 => json!({"token": format!("oxmox_{guess}_x")}),
            _ => json!({"code": guess.to_string()}),
        };
        let answer = page
            .raw("POST", "/api/sign-in", &all, &wrong.to_string())
            .await;
        if answer.status == 429 {
            return answer;
        }
        assert_eq!(answer.status, 401);
    }
    panic!("nobody was slowed down");
}

#[tokio::test]
async fn guesses_at_the_door_of_the_page_are_slowed_down_and_told_in_words() {
    let world = world().await;
    let right = token_of(&world, "owner", Bounds::default(), true).await;
    let served = served(&world, Limits::default()).await;
    let page = Browser::at(&served);
    // Whoever gets in has guessed nothing.
    for _ in 0..10 {
        let entered = page.post("/api/sign-in", json!({"token": right})).await;
        assert_eq!(entered.status, 200);
    }
    // Where no proxy is known of, nobody is believed to be somebody else.
    let refused = guess(&page, &[("X-Forwarded-For", "203.0.113.7")]).await;
    let told = refused.body["error"].as_str().unwrap();
    assert!(told.contains("try again in"), "{told}");
    assert!(refused.head.contains("retry-after: "), "{}", refused.head);
    // The right one has to wait, too, or it could be guessed on.
    let held = page.post("/api/sign-in", json!({"token": right})).await;
    assert_eq!(held.status, 429);
}

#[tokio::test]
async fn behind_a_proxy_each_of_those_it_asks_for_counts() {
    let world = world().await;
    token_of(&world, "owner", Bounds::default(), true).await;
    let settings = Settings {
        public_url: Some(PublicUrl::parse("https://ox.example").unwrap()),
        behind_proxy: true,
        ..Settings::default()
    };
    let served = serve_as(&world, Live::new(&settings).unwrap()).await;
    let page = Browser::at(&served);
    // What comes before the proxy's own word, anybody can write.
    guess(&page, &[("X-Forwarded-For", "198.51.100.1, 203.0.113.7")]).await;
    let headers = |from| [("X-Oxmox-Page", "1"), ("X-Forwarded-For", from)];
    let wrong = json!({"code": "x"}).to_string();
    for (from, status) in [("198.51.100.2, 203.0.113.7", 429), ("203.0.113.8", 401)] {
        let answer = page
            .raw("POST", "/api/sign-in", &headers(from), &wrong)
            .await;
        assert_eq!(answer.status, status, "{from}");
    }
}

#[tokio::test]
async fn the_page_is_asked_for_no_faster_than_the_rest() {
    let world = world().await;
    let limits = Limits {
        requests_per_second: 1,
        burst: 3,
        ..Limits::default()
    };
    let served = served(&world, limits).await;
    let page = Browser::at(&served);
    for _ in 0..30 {
        let answer = page.get("/api/inbox").await;
        if answer.status == 429 {
            assert!(answer.head.contains("retry-after: "), "{}", answer.head);
            return;
        }
    }
    panic!("nobody was refused");
}

/// An agent that asks without end, on the same machine or behind the same address, is what they came to stop.
#[tokio::test]
async fn strangers_use_up_nothing_of_people_at_the_page() {
    let world = world().await;
    let limits = Limits {
        requests_per_second: 1,
        burst: 3,
        ..Limits::default()
    };
    let served = served(&world, limits).await;
    let flood = async |path: &str, headers: &[(&str, &str)]| {
        let mut answers = Vec::new();
        while answers.last() != Some(&429) {
            answers.push(served.get(path, headers).await.status);
            assert!(answers.len() < 100, "{answers:?}");
        }
    };
    // Who asks at MCP keeps nobody from signing in,
    flood("/mcp", &[]).await;
    let page = Browser::at(&served);
    let owner = page.person(&world, "owner", Bounds::default()).await;
    // and nobody who is signed in from deciding, wherever they ask: not with the cookie either, which others can come by.
    let cookie = ("Cookie", owner.cookie.as_str());
    flood("/api/inbox", &[cookie, ("X-Oxmox-Page", "1")]).await;
    assert_eq!(owner.get("/api/inbox").await.status, 200);
    // People ask as often as others at most.
    let mut refused = false;
    for _ in 0..30 {
        refused |= owner.get("/api/inbox").await.status == 429;
    }
    assert!(refused, "nobody was refused");
}
