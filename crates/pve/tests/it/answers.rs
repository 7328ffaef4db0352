//! What PVE says, and how it reaches the caller.

use pve::{Error, Request, connect};
use serde_json::Value;

use super::server::{Act, Server, answer, data, raw, token_settings};

async fn get(act: impl Fn() -> Act + Send + Sync + 'static) -> Result<Value, Error> {
    let server = Server::start(move |_| act()).await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    reader.get("/x").await
}

#[tokio::test]
async fn the_reason_phrase_and_the_parameter_errors_arrive() {
    let body = r#"{"data":null,"message":"Parameter verification failed.\n","errors":{"vmid":"not a valid VM ID\n"}}"#;
    let error = get(|| answer(400, "Parameter verification failed.", body))
        .await
        .unwrap_err();
    assert_eq!(error.status(), Some(400));
    let Error::Status {
        reason,
        message,
        errors,
        ..
    } = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!(reason, "Parameter verification failed.");
    assert_eq!(message.as_deref(), Some("Parameter verification failed.\n"));
    assert_eq!(errors["vmid"], "not a valid VM ID\n");
}

#[tokio::test]
async fn a_reason_phrase_alone_is_enough() {
    let error = get(|| answer(501, "Method 'GET /x' not implemented", ""))
        .await
        .unwrap_err();
    assert_eq!(error.pve_text().unwrap(), "Method 'GET /x' not implemented");
}

#[tokio::test]
async fn a_plain_text_body_is_taken_as_the_message() {
    let error = get(|| answer(500, "malformed JSON string", "malformed JSON string\n"))
        .await
        .unwrap_err();
    assert_eq!(error.pve_text().unwrap(), "malformed JSON string");
    assert!(!error.is_maybe_sent(), "PVE has refused it");
}

#[tokio::test]
async fn text_beyond_ascii_survives() {
    assert_eq!(
        get(|| data("\"Zürich 東京 🦀\"")).await.unwrap(),
        "Zürich 東京 🦀"
    );
    // Not every byte may stand in a reason phrase; the body then tells.
    let body = r#"{"data":null,"message":"VM für Ägypten\n"}"#;
    for reason in ["VM für Ägypten".as_bytes(), b"VM f\xFCr \xC4gypten"] {
        let bytes = raw(500, reason, body.as_bytes());
        let error = get(move || Act::Answer(bytes.clone())).await.unwrap_err();
        assert!(
            error.pve_text().unwrap().ends_with("VM für Ägypten"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn null_data_is_an_answer() {
    assert_eq!(get(|| data("null")).await.unwrap(), Value::Null);
}

#[tokio::test]
async fn what_is_not_an_answer_of_pve_is_a_decode_error() {
    for body in [
        "",
        "{",
        "[]",
        "<html>hello</html>",
        r#"{"success":1}"#,
        "\u{0}",
    ] {
        let error = get(move || answer(200, "OK", body)).await.unwrap_err();
        assert!(matches!(error, Error::Decode { .. }), "{body:?}: {error:?}");
        assert!(
            error.is_maybe_sent(),
            "a write may well have been carried out"
        );
    }
}

#[tokio::test]
async fn a_decode_error_tells_what_was_expected_but_not_what_came() {
    let server = Server::start(|_| data(r#"{"version":{"secret":"canary"}}"#)).await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    let error = reader.version().await.unwrap_err();
    assert!(error.to_string().contains("GET /version"), "{error}");
    let server = Server::start(|_| data("\"canary\"")).await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    let error = reader.get::<u32>("/x").await.unwrap_err();
    assert!(error.to_string().contains("expected u32"), "{error}");
    assert!(!format!("{error:?} {error}").contains("canary"));
}

#[tokio::test]
async fn a_huge_answer_is_an_error_and_not_memory() {
    let announced = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{".to_vec();
    let mut chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..20 {
        chunked.extend(b"400\r\n");
        chunked.extend([b' '; 0x400]);
        chunked.extend(b"\r\n");
    }
    for bytes in [announced, chunked] {
        let server = Server::start(move |_| Act::Answer(bytes.clone())).await;
        let mut settings = token_settings(vec![server.pinned()]);
        settings.max_answer_bytes = 10_000;
        let (_, writer) = connect(settings).unwrap();
        let error = writer.send(&Request::post("/x")).await.unwrap_err();
        assert!(error.is_maybe_sent(), "{error}");
        assert!(
            error.to_string().contains("larger than 10000 bytes"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let bytes =
        b"HTTP/1.1 301 Moved\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
    let error = get(|| Act::Answer(bytes.to_vec())).await.unwrap_err();
    assert_eq!(error.status(), Some(301));
}

#[tokio::test]
async fn one_bad_item_does_not_fail_a_list() {
    let server = Server::start(|_| {
        data(r#"[{"type":"qemu","vmid":100,"node":"pve1","name":"web"},7,{"type":"node","node":"pve1"},{"type":"lxc","vmid":"x","node":"pve1"}]"#)
    })
    .await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    assert_eq!(reader.resources().await.unwrap().len(), 3);
    let guests = reader.guests().await.unwrap();
    assert_eq!(guests.len(), 1);
    assert_eq!(guests[0].at.path("config"), "/nodes/pve1/qemu/100/config");
    let missing = reader.find_guest("101".parse().unwrap()).await.unwrap();
    assert_eq!(missing, None);
}
