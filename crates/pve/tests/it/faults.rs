//! Every way for a request to get lost, and what the client makes of it.

use std::time::Duration;

use pve::{Error, Request, Settings, connect};

use super::server::{Act, Server, answer, data, dead_host, raw, token_settings};

/// Settings that give up quickly, for tests that wait for it.
fn impatient(hosts: Vec<pve::Host>) -> Settings {
    let mut settings = token_settings(hosts);
    settings.timeouts.answer = Duration::from_millis(300);
    settings.timeouts.retry = Duration::ZERO;
    settings
}

fn write() -> Request {
    Request::post("/nodes/pve1/qemu/105/status/start")
}

#[tokio::test]
async fn a_refused_connection_was_never_sent() {
    let (reader, writer) = connect(impatient(vec![dead_host().await])).unwrap();
    for error in [
        reader.get::<()>("/version").await.unwrap_err(),
        writer.send(&write()).await.unwrap_err(),
    ] {
        assert!(matches!(error, Error::NeverSent { .. }), "{error:?}");
        assert!(error.is_never_sent() && !error.is_maybe_sent());
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("refused"), "{cause}");
        assert!(
            !error.to_string().contains(&cause),
            "Display repeats its source"
        );
    }
}

#[tokio::test]
async fn a_write_that_was_never_sent_is_repeated_until_it_is() {
    let server = Server::start_dropping(2, |_| data("null")).await;
    let (_, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    writer.send(&write()).await.unwrap();
    assert_eq!((server.connections(), server.seen().len()), (3, 1));
}

#[tokio::test]
async fn the_next_host_is_tried_and_remembered() {
    let server = Server::start(|_| data("null")).await;
    let dead = dead_host().await;
    let (reader, writer) = connect(impatient(vec![dead.clone(), server.pinned()])).unwrap();
    assert_eq!(reader.current_host(), &dead);
    writer.send(&write()).await.unwrap();
    assert_eq!(reader.current_host(), &server.pinned());
    reader.get::<()>("/version").await.unwrap();
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_write_dropped_after_it_was_read_is_maybe_sent_and_not_repeated() {
    let first = Server::start(|_| Act::Close).await;
    let second = Server::start(|_| data("null")).await;
    let hosts = vec![first.pinned(), second.pinned()];
    let (_, writer) = connect(token_settings(hosts)).unwrap();
    let error = writer.send(&write()).await.unwrap_err();
    assert!(matches!(error, Error::MaybeSent { .. }), "{error:?}");
    assert!(error.is_maybe_sent() && !error.is_never_sent());
    assert_eq!((first.seen().len(), second.seen().len()), (1, 0));
}

#[tokio::test]
async fn a_read_dropped_after_it_was_read_is_repeated_once() {
    let first = Server::start(|_| Act::Close).await;
    let second = Server::start(|_| data("7")).await;
    let hosts = vec![first.pinned(), second.pinned()];
    let (reader, _) = connect(token_settings(hosts)).unwrap();
    assert_eq!(reader.get::<u8>("/x").await.unwrap(), 7);
    assert_eq!((first.seen().len(), second.seen().len()), (1, 1));

    let lone = Server::start(|_| Act::Close).await;
    let (reader, _) = connect(token_settings(vec![lone.pinned()])).unwrap();
    let error = reader.get::<u8>("/x").await.unwrap_err();
    assert!(error.is_maybe_sent(), "{error:?}");
    assert_eq!(lone.seen().len(), 2);
}

#[tokio::test]
async fn an_answer_cut_off_in_its_middle_is_maybe_sent() {
    let mut bytes = raw(200, b"OK", br#"{"data":null}"#);
    bytes.truncate(bytes.len() - 3);
    let server = Server::start(move |_| Act::AnswerAndClose(bytes.clone())).await;
    let (_, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    let error = writer.send(&write()).await.unwrap_err();
    assert!(matches!(error, Error::MaybeSent { .. }), "{error:?}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_host_that_hangs_is_left_for_another_one() {
    let hung = Server::start(|_| Act::Hang).await;
    let alive = Server::start(|_| data("7")).await;
    let (reader, writer) = connect(impatient(vec![hung.pinned(), alive.pinned()])).unwrap();
    let error = writer.send(&write()).await.unwrap_err();
    assert!(error.is_maybe_sent(), "{error:?}");
    assert!(error.to_string().contains("300ms"), "{error}");
    assert_eq!(alive.seen().len(), 0, "a write never moves on by itself");
    assert_eq!(reader.get::<u8>("/x").await.unwrap(), 7);
    assert_eq!(hung.seen().len(), 1);
}

#[tokio::test]
async fn a_read_that_hangs_is_answered_by_another_host() {
    let hung = Server::start(|_| Act::Hang).await;
    let alive = Server::start(|_| data("7")).await;
    let (reader, _) = connect(impatient(vec![hung.pinned(), alive.pinned()])).unwrap();
    assert_eq!(reader.get::<u8>("/x").await.unwrap(), 7);
    assert_eq!((hung.seen().len(), alive.seen().len()), (1, 1));
}

#[tokio::test]
async fn a_server_that_never_speaks_tls_was_never_sent_to() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string().parse().unwrap();
    let mut settings = impatient(vec![host]);
    settings.timeouts.connect = Duration::from_millis(200);
    let (_, writer) = connect(settings).unwrap();
    let error = writer.send(&write()).await.unwrap_err();
    assert!(matches!(error, Error::NeverSent { .. }), "{error:?}");
    assert!(error.to_string().contains("200ms"), "{error}");
}

#[tokio::test]
async fn a_595_is_never_sent_and_tried_once_more() {
    let server = Server::start(|seen| match seen.number {
        0 => answer(595, "No route to host", ""),
        _ => data("null"),
    })
    .await;
    let (_, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    writer.send(&write()).await.unwrap();
    assert_eq!(server.seen().len(), 2);

    let server = Server::start(|_| answer(595, "No route to host", "")).await;
    let (_, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    let error = writer.send(&write()).await.unwrap_err();
    assert!(
        error.is_never_sent() && error.status() == Some(595),
        "{error:?}"
    );
    assert_eq!(error.pve_text().unwrap(), "No route to host");
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_596_is_maybe_sent_and_repeated_for_reads_only() {
    let server = Server::start(|_| answer(596, "Broken pipe", "")).await;
    let (reader, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    let error = writer.send(&write()).await.unwrap_err();
    assert!(
        error.is_maybe_sent() && error.status() == Some(596),
        "{error:?}"
    );
    assert_eq!(server.seen().len(), 1);
    let error = reader.get::<()>("/x").await.unwrap_err();
    assert!(error.is_maybe_sent(), "{error:?}");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn what_a_proxy_answers_is_maybe_sent_and_repeated_for_reads_only() {
    let answers: [(u16, &str, &str); 7] = [
        (502, "Bad Gateway", "<html>502 Bad Gateway</html>"),
        (503, "Service Unavailable", ""),
        (504, "Gateway Time-out", "<html></html>"),
        (500, "Internal Server Error", "Internal Server Error\n"),
        (500, "Internal Server Error", ""),
        (500, "Internal Server Error", r#"{"message":"upstream"}"#),
        (520, "", "<html></html>"),
    ];
    for (status, reason, body) in answers {
        let server = Server::start(move |_| answer(status, reason, body)).await;
        let (reader, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
        let error = writer.send(&write()).await.unwrap_err();
        assert!(
            error.is_maybe_sent() && !error.is_never_sent(),
            "{status} {body}: {error:?}"
        );
        assert_eq!(error.status(), Some(status));
        assert!(error.to_string().contains("not PVE"), "{error}");
        assert_eq!(server.seen().len(), 1, "{status} {body}");
        reader.get::<()>("/x").await.unwrap_err();
        assert_eq!(server.seen().len(), 3, "{status} {body}");
    }
}

#[tokio::test]
async fn a_refusal_of_pve_is_certain_in_every_form() {
    let answers: [(u16, &str, &str); 6] = [
        (
            500,
            "VM is locked",
            r#"{"data":null,"message":"VM is locked\n"}"#,
        ),
        (500, "Internal Server Error", r#"{"data":null}"#),
        (500, "no quorum", ""),
        (501, "Not Implemented", ""),
        (403, "Forbidden", ""),
        (
            506,
            "upload 'Content-Type 'text/plain' not implemented",
            "upload 'Content-Type 'text/plain' not implemented",
        ),
    ];
    for (status, reason, body) in answers {
        let server = Server::start(move |_| answer(status, reason, body)).await;
        let (reader, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
        let error = writer.send(&write()).await.unwrap_err();
        assert!(!error.is_maybe_sent(), "{status} {body}: {error:?}");
        reader.get::<()>("/x").await.unwrap_err();
        assert_eq!(server.seen().len(), 2, "{status} {body}");
    }
}

#[tokio::test]
async fn other_errors_of_pve_are_not_repeated() {
    let server = Server::start(|_| answer(500, "cluster not ready - no quorum?", "")).await;
    let (reader, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    writer.send(&write()).await.unwrap_err();
    reader.get::<()>("/x").await.unwrap_err();
    assert_eq!(server.seen().len(), 2);
}

/// The server closes each connection after one answer without announcing it, so the client may find out before,
/// while or after it writes the next request.
#[tokio::test]
async fn a_stale_connection_costs_neither_a_read_nor_a_write() {
    let good = raw(200, b"OK", br#"{"data":null}"#);
    let server = Server::start(move |_| Act::AnswerAndClose(good.clone())).await;
    let (reader, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    for _ in 0..30 {
        reader.get::<()>("/version").await.unwrap();
        writer.send(&write()).await.unwrap();
    }
    let seen = server.seen();
    let posts = seen.iter().filter(|request| request.method == "POST");
    assert_eq!(posts.count(), 30);
}

/// The connection dies under the second request, as when a worker of PVE ends; that costs neither a retry nor a pause.
#[tokio::test]
async fn a_read_on_a_dying_connection_goes_out_over_a_new_one() {
    let server = Server::start(|seen| match seen.number {
        1 => Act::Close,
        number => data(&number.to_string()),
    })
    .await;
    let mut settings = token_settings(vec![server.pinned()]);
    settings.timeouts.retry = Duration::ZERO;
    let (reader, _) = connect(settings).unwrap();
    assert_eq!(reader.get::<u8>("/x").await.unwrap(), 0);
    assert_eq!(reader.get::<u8>("/x").await.unwrap(), 2);
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn an_announced_close_is_heeded() {
    let bytes =
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 13\r\n\r\n{\"data\":null}";
    let server = Server::start(|_| Act::AnswerAndClose(bytes.to_vec())).await;
    let (_, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    for _ in 0..20 {
        writer.send(&write()).await.unwrap();
    }
    assert_eq!((server.seen().len(), server.connections()), (20, 20));
}

#[tokio::test]
async fn a_dropped_caller_leaves_the_client_usable() {
    let server = Server::start(|seen| match seen.number {
        0 => Act::Hang,
        _ => data("7"),
    })
    .await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    let waiting = tokio::time::timeout(Duration::from_millis(200), reader.get::<u8>("/x"));
    waiting.await.unwrap_err();
    assert_eq!(reader.get::<u8>("/x").await.unwrap(), 7);
}
