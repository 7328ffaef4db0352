//! Tokens, and tickets with their CSRF token and renewal.

use std::time::Duration;

use pve::{Error, Request, connect};

use super::server::{Act, SECRET, Seen, Server, answer, data, password_settings, token_settings};

/// Logins get ticket `T0`, `T1`, … by the number of the request; everything else needs the ticket `wanted` says.
async fn pve_with_tickets(accepts: impl Fn(&str) -> bool + Send + Sync + 'static) -> Server {
    Server::start(move |seen| {
        if seen.target == "/api2/json/access/ticket" {
            return login(seen);
        }
        let cookie = seen.header("cookie").unwrap_or_default();
        let ticket = cookie.strip_prefix("PVEAuthCookie=").unwrap_or_default();
        let csrf = seen.header("csrfpreventiontoken");
        if !accepts(ticket) {
            answer(401, "No ticket", "")
        } else if seen.method != "GET" && csrf != Some(&format!("C-{ticket}")) {
            answer(401, "Permission denied - invalid csrf token", "")
        } else {
            data("7")
        }
    })
    .await
}

fn login(seen: &Seen) -> Act {
    let ticket = format!("PVE:root@pam:T{}", seen.number);
    data(&format!(
        r#"{{"username":"root@pam","ticket":"{ticket}","CSRFPreventionToken":"C-{ticket}"}}"#
    ))
}

fn logins(server: &Server) -> Vec<Seen> {
    let mut seen = server.seen();
    seen.retain(|request| request.target == "/api2/json/access/ticket");
    seen
}

#[tokio::test]
async fn a_token_goes_into_its_header() {
    let server = Server::start(|_| data("7")).await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    reader.get::<u8>("/x").await.unwrap();
    let seen = server.seen().remove(0);
    let header = format!("PVEAPIToken=root@pam!mcp={SECRET}");
    assert_eq!(seen.header("authorization"), Some(header.as_str()));
    assert_eq!(seen.header("cookie"), None);
    assert_eq!(reader.identity(), "root@pam!mcp");
}

#[tokio::test]
async fn a_refused_token_is_an_auth_error_with_pves_words() {
    let server = Server::start(|_| answer(401, "Authentication failed!", "")).await;
    let (reader, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    for error in [
        reader.get::<u8>("/x").await.unwrap_err(),
        writer.send(&Request::post("/x")).await.unwrap_err(),
    ] {
        assert!(
            error.is_refused_login() && error.is_never_sent(),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(
            text.contains("root@pam!mcp") && text.contains("Authentication failed!"),
            "{text}"
        );
    }
    assert_eq!(server.seen().len(), 2, "a refused token is not tried again");
}

#[tokio::test]
async fn a_login_gives_reads_the_cookie_and_writes_the_csrf_token_too() {
    let server = pve_with_tickets(|_| true).await;
    let (reader, writer) = connect(password_settings(vec![server.pinned()])).unwrap();
    reader.get::<u8>("/x").await.unwrap();
    writer.send(&Request::put("/x")).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    assert_eq!(
        seen[0].body,
        format!("username=root%40pam&password={SECRET}")
    );
    assert_eq!(
        seen[1].header("cookie"),
        Some("PVEAuthCookie=PVE:root@pam:T0")
    );
    assert_eq!(seen[1].header("csrfpreventiontoken"), None);
    assert_eq!(
        seen[2].header("csrfpreventiontoken"),
        Some("C-PVE:root@pam:T0")
    );
}

#[tokio::test]
async fn callers_share_one_login() {
    let server = pve_with_tickets(|_| true).await;
    let (reader, _) = connect(password_settings(vec![server.pinned()])).unwrap();
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let reader = reader.clone();
            tokio::spawn(async move { reader.get::<u8>("/x").await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), 7);
    }
    assert_eq!(logins(&server).len(), 1);
}

#[tokio::test]
async fn callers_share_one_failed_login() {
    let server = Server::start(|_| {
        answer(
            401,
            "authentication failure",
            r#"{"data":null,"message":"authentication failure\n"}"#,
        )
    })
    .await;
    let (reader, _) = connect(password_settings(vec![server.pinned()])).unwrap();
    let call = || reader.get::<u8>("/x");
    let (a, b, c) = tokio::join!(call(), call(), call());
    for error in [a.unwrap_err(), b.unwrap_err(), c.unwrap_err()] {
        let text = error.to_string();
        assert!(error.is_refused_login(), "{error:?}");
        assert!(
            text.contains("root@pam") && text.contains("authentication failure"),
            "{text}"
        );
    }
    assert_eq!(
        server.seen().len(),
        1,
        "a wrong password is not tried by everybody in turn"
    );
}

#[tokio::test]
async fn a_ticket_that_ended_is_replaced_and_the_write_repeated() {
    let server = pve_with_tickets(|ticket| ticket != "PVE:root@pam:T0").await;
    let (_, writer) = connect(password_settings(vec![server.pinned()])).unwrap();
    writer.send(&Request::post("/x")).await.unwrap();
    let methods: Vec<String> = server.seen().into_iter().map(|seen| seen.target).collect();
    assert_eq!(
        methods,
        [
            "/api2/json/access/ticket",
            "/api2/json/x",
            "/api2/json/access/ticket",
            "/api2/json/x"
        ]
    );
    assert!(
        logins(&server)[1].body.ends_with(SECRET),
        "a refused ticket renews nothing"
    );
}

#[tokio::test]
async fn a_ticket_that_is_refused_again_ends_it() {
    let server = pve_with_tickets(|_| false).await;
    let (reader, _) = connect(password_settings(vec![server.pinned()])).unwrap();
    let error = reader.get::<u8>("/x").await.unwrap_err();
    assert!(matches!(error, Error::Auth { .. }), "{error:?}");
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn an_old_ticket_is_renewed_with_itself() {
    let server = pve_with_tickets(|_| true).await;
    let mut settings = password_settings(vec![server.pinned()]);
    settings.timeouts.ticket_renewal = Duration::ZERO;
    let (reader, _) = connect(settings).unwrap();
    reader.get::<u8>("/x").await.unwrap();
    reader.get::<u8>("/x").await.unwrap();
    let logins = logins(&server);
    assert_eq!(logins.len(), 2);
    assert_eq!(
        logins[1].body,
        "username=root%40pam&password=PVE%3Aroot%40pam%3AT0"
    );
    assert_eq!(
        server.seen()[3].header("cookie"),
        Some("PVEAuthCookie=PVE:root@pam:T2")
    );
}

#[tokio::test]
async fn a_ticket_that_does_not_renew_itself_falls_back_to_the_password() {
    let server = Server::start(
        |seen| match (seen.target.ends_with("/ticket"), seen.number) {
            (true, 2) => answer(401, "authentication failure", ""),
            (true, _) => login(seen),
            (false, _) => data("7"),
        },
    )
    .await;
    let mut settings = password_settings(vec![server.pinned()]);
    settings.timeouts.ticket_renewal = Duration::ZERO;
    let (reader, _) = connect(settings).unwrap();
    reader.get::<u8>("/x").await.unwrap();
    reader.get::<u8>("/x").await.unwrap();
    let logins = logins(&server);
    assert_eq!(logins.len(), 3);
    assert!(logins[2].body.ends_with(SECRET));
}

#[tokio::test]
async fn a_ticket_that_cannot_be_renewed_is_used_to_its_end() {
    let server = Server::start(
        |seen| match (seen.target.ends_with("/ticket"), seen.number) {
            (true, 0) => login(seen),
            (true, _) => answer(401, "authentication failure", ""),
            (false, _) => data("7"),
        },
    )
    .await;
    let mut settings = password_settings(vec![server.pinned()]);
    settings.timeouts.ticket_renewal = Duration::ZERO;
    let (reader, _) = connect(settings).unwrap();
    for _ in 0..4 {
        assert_eq!(reader.get::<u8>("/x").await.unwrap(), 7);
    }
    assert_eq!(
        logins(&server).len(),
        3,
        "after a failed renewal PVE is left alone for a while"
    );
}

#[tokio::test]
async fn a_second_factor_is_named() {
    let server = Server::start(|_| {
        data(r#"{"NeedTFA":1,"ticket":"PVE:!tfa!x","CSRFPreventionToken":"c","username":"root@pam"}"#)
    })
    .await;
    let (reader, _) = connect(password_settings(vec![server.pinned()])).unwrap();
    let error = reader.get::<u8>("/x").await.unwrap_err();
    assert!(matches!(error, Error::Auth { .. }), "{error:?}");
    assert!(!error.is_refused_login(), "the password may be right");
    assert!(error.to_string().contains("second factor"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_login_moves_on_to_a_host_that_answers() {
    let dead = super::server::dead_host().await;
    let server = pve_with_tickets(|_| true).await;
    let (_, writer) = connect(password_settings(vec![dead, server.pinned()])).unwrap();
    writer.send(&Request::post("/x")).await.unwrap();
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_lost_login_does_not_make_the_write_uncertain() {
    let scripts: [fn() -> Act; 4] = [
        || Act::Close,
        || answer(596, "Broken pipe", ""),
        || answer(500, "no quorum", ""),
        || answer(200, "OK", "{"),
    ];
    for script in scripts {
        let server = Server::start(move |_| script()).await;
        let (_, writer) = connect(password_settings(vec![server.pinned()])).unwrap();
        let error = writer.send(&Request::post("/x")).await.unwrap_err();
        assert!(error.is_never_sent() && !error.is_maybe_sent(), "{error:?}");
        assert_eq!(logins(&server).len(), server.seen().len());
    }
}
