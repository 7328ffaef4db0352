//! How much one caller may ask for.

use oxmox::http::{Limits, Live, Settings};
use serde_json::json;
use tools::caller::Bounds;

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
