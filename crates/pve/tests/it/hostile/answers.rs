//! Whole answers whose JSON is a trap.

use pve::{Error, Request, SnapshotEntry, connect};
use serde_json::Value;

use crate::server::{Server, answer, password_settings, token_settings};

const LEVELS: usize = 100_000;

/// JSON that is nothing but depth.
fn depths() -> [String; 3] {
    let lists = format!("{}{}", "[".repeat(LEVELS), "]".repeat(LEVELS));
    let objects = format!("{}1{}", r#"{"data":"#.repeat(LEVELS), "}".repeat(LEVELS));
    // What nobody reads is skipped, and that has a depth, too.
    let unread = format!(r#"[{{"name":"a","ha":{lists},"children":{objects}}}]"#);
    [lists, objects, unread]
}

#[tokio::test]
async fn depth_is_an_error_and_not_a_full_stack() {
    for json in depths() {
        let body: &'static str = Box::leak(format!(r#"{{"data":{json}}}"#).into_boxed_str());
        for status in [200, 400, 500, 403] {
            let server = Server::start(move |_| answer(status, "no", body)).await;
            let (reader, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
            let read = reader.get::<Value>("/x").await.map(drop);
            let written = writer.send(&Request::post("/x")).await.map(drop);
            for error in [read.unwrap_err(), written.unwrap_err()] {
                let text = error.to_string();
                assert!(text.len() < 5_000, "{}", text.len());
                if status == 200 {
                    assert!(text.contains("nested too deeply"), "{text}");
                }
            }
            // Typed reads skip what they do not know, or refuse; either way they come to an end.
            let _ = reader.list::<SnapshotEntry>("/x").await;
            let _ = reader.resources().await;
            let _ = reader.version().await;
            let _ = reader.permissions().await;
        }
    }
}

#[tokio::test]
async fn a_login_that_is_nothing_but_depth_is_an_error() {
    let body: &'static str = Box::leak(format!(r#"{{"data":{}}}"#, depths()[1]).into_boxed_str());
    let server = Server::start(move |_| answer(200, "OK", body)).await;
    let (reader, _) = connect(password_settings(vec![server.pinned()])).unwrap();
    let error = reader.version().await.unwrap_err();
    assert!(matches!(error, Error::Auth { .. }), "{error:?}");
    assert!(error.to_string().contains("gave no ticket"), "{error}");
}

/// Eight bytes of JSON can be hundreds in memory: an answer within the limit of bytes is refused for what it would become.
#[tokio::test]
async fn many_small_parts_are_refused_before_they_are_read() {
    for part in [r#"{"":0},"#, "[0],", r#"{"a":{"b":[0]}},"#] {
        let parts = part.repeat((8 << 20) / part.len());
        let body = format!(r#"{{"data":[{parts}0]}}"#);
        let body: &'static str = Box::leak(body.into_boxed_str());
        for status in [200, 500] {
            let server = Server::start(move |_| answer(status, "OK", body)).await;
            let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
            let error = reader.get::<Value>("/x").await.unwrap_err();
            let text = error.to_string();
            assert!(text.contains("more parts than any answer"), "{text}");
            assert_eq!(server.seen().len(), 1);
        }
    }
}

/// What stands in a text is no part: a file may hold any number of brackets.
#[tokio::test]
async fn a_long_text_is_one_part() {
    let text = r#"{\"a\":[1,2,{}],"#.repeat(200_000);
    let body: &'static str = Box::leak(format!(r#"{{"data":"{text}"}}"#).into_boxed_str());
    let server = Server::start(move |_| answer(200, "OK", body)).await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    let read: String = reader.get("/x").await.unwrap();
    assert_eq!(read.len(), 200_000 * r#"{"a":[1,2,{}],"#.len());
}
