//! Secrets appear nowhere but in the requests that carry them.

use std::error::Error as StdError;

use pve::{Credentials, Entry, Error, Factor, Request, Settings, connect};

use super::server::{
    Act, SECRET, Seen, Server, answer, data, dead_host, password_settings, token_settings,
};

fn assert_clean(what: &str, text: &str) {
    assert!(!text.contains(SECRET), "{what} shows the secret: {text}");
}

fn assert_error_is_clean(error: &Error) {
    assert_clean("Display", &error.to_string());
    assert_clean("Debug", &format!("{error:?}"));
    let mut cause = error.source();
    while let Some(error) = cause {
        assert_clean("a cause", &format!("{error} {error:?}"));
        cause = error.source();
    }
}

#[test]
fn a_secret_in_the_wrong_place_is_not_quoted() {
    let whole = format!("root@pam!mcp={SECRET}");
    let (half, realm) = (format!("mcp={SECRET}"), format!("root@pam={SECRET}"));
    let host = || "pve1".parse().unwrap();
    let token = |user: &str, name: &str| Credentials::Token {
        user: user.to_owned(),
        name: name.to_owned(),
        secret: "x".into(),
    };
    let password = |user: &str| Credentials::Password {
        user: user.to_owned(),
        password: "x".into(),
    };
    for credentials in [
        token(&whole, "mcp"),
        token(&realm, "mcp"),
        token("root@pam", &half),
        token("root@pam", &whole),
        password(&whole),
        password(&realm),
    ] {
        let error = connect(Settings::new(vec![host()], credentials)).unwrap_err();
        assert_error_is_clean(&error);
        assert!(error.to_string().contains("a whole token"), "{error}");
    }
    let error = connect(Settings::new(vec![host()], password(SECRET))).unwrap_err();
    assert_error_is_clean(&error);
    let error = SECRET.parse::<pve::Fingerprint>().unwrap_err();
    assert_clean("a fingerprint", &error.to_string());
}

#[tokio::test]
async fn debug_shows_no_secret() {
    let server = Server::start(|seen| {
        let ticket = format!("PVE:{SECRET}:{}", seen.number);
        data(&format!(
            r#"{{"ticket":"{ticket}","CSRFPreventionToken":"{SECRET}"}}"#
        ))
    })
    .await;
    for settings in [
        token_settings(vec![server.pinned()]),
        password_settings(vec![server.pinned()]),
    ] {
        assert_clean("settings", &format!("{settings:?}"));
        let (reader, writer) = connect(settings).unwrap();
        assert_clean("a fresh reader", &format!("{reader:?}"));
        reader.get::<serde_json::Value>("/x").await.unwrap();
        assert_clean("a used reader", &format!("{reader:?} {writer:?}"));
    }
}

/// A ticket renews itself, and the password that was sent for the first one is still nobody's business.
#[tokio::test]
async fn a_password_that_was_sent_long_ago_is_not_shown() {
    let server = Server::start(|seen| {
        if seen.target.ends_with("/ticket") {
            let number = seen.number;
            return data(&format!(
                r#"{{"ticket":"PVE:root@pam:T{number}","CSRFPreventionToken":"C"}}"#
            ));
        }
        answer(
            500,
            "no",
            &format!(r#"{{"data":null,"message":"{SECRET}"}}"#),
        )
    })
    .await;
    let mut settings = password_settings(vec![server.pinned()]);
    settings.timeouts.ticket_renewal = std::time::Duration::ZERO;
    let (reader, _) = connect(settings).unwrap();
    for _ in 0..3 {
        let error = reader.get::<u8>("/x").await.unwrap_err();
        assert_error_is_clean(&error);
        assert!(error.to_string().contains("<redacted>"), "{error}");
    }
}

/// What is said is cut where it is long, and a cut can go through a secret.
#[tokio::test]
async fn half_a_secret_is_not_shown_either() {
    for length in 1_990..2_000 {
        let server = Server::start(move |_| {
            let said = format!("{}{SECRET}", "x".repeat(length));
            answer(500, "no", &format!(r#"{{"data":null,"message":"{said}"}}"#))
        })
        .await;
        let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
        let error = reader.get::<u8>("/x").await.unwrap_err().to_string();
        assert!(error.contains("[cut]"), "{error}");
        assert!(!error.contains(&SECRET[..4]), "{error}");
    }
}

#[tokio::test]
async fn no_error_shows_a_secret_or_the_parameters() {
    let write = Request::post("/x").with("password", SECRET);
    let scripts: [fn() -> Act; 4] = [
        || Act::Close,
        || answer(401, "Authentication failed!", ""),
        || answer(500, "no", ""),
        || answer(200, "OK", "{"),
    ];
    for script in scripts {
        let server = Server::start(move |_| script()).await;
        let (_, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
        assert_error_is_clean(&writer.send(&write).await.unwrap_err());
        let (_, writer) = connect(password_settings(vec![server.pinned()])).unwrap();
        assert_error_is_clean(&writer.send(&write).await.unwrap_err());
    }
    let mut settings = password_settings(vec![dead_host().await]);
    settings.timeouts.retry = std::time::Duration::ZERO;
    let (_, writer) = connect(settings).unwrap();
    assert_error_is_clean(&writer.send(&write).await.unwrap_err());
    let bad_path = Request::post("/x y").with("password", SECRET);
    assert_error_is_clean(&writer.send(&bad_path).await.unwrap_err());
}

#[tokio::test]
async fn credentials_that_no_header_can_carry_are_refused_without_being_shown() {
    let mut settings = token_settings(vec!["pve1".parse().unwrap()]);
    settings.credentials = pve::Credentials::Token {
        user: "root@pam".to_owned(),
        name: "mcp".to_owned(),
        secret: format!("{SECRET}\r\nX: 1").into(),
    };
    assert_error_is_clean(&connect(settings).unwrap_err());
}

/// What a server says that repeats whatever it was told, in every place that an error text is taken from.
fn echo(seen: &Seen) -> Act {
    let head: Vec<_> = ["authorization", "cookie", "csrfpreventiontoken"]
        .iter()
        .filter_map(|name| seen.header(name))
        .collect();
    let told = format!("{} {}", head.join(" "), seen.body);
    let plain = pve::decode_value(&told);
    let body = serde_json::json!({
        "data": null, "message": format!("{told} {plain}"), "errors": { "password": plain },
    });
    answer(400, &plain, &body.to_string())
}

#[tokio::test]
async fn a_server_that_repeats_a_secret_shows_it_to_nobody() {
    let ticket = format!("PVE:root@pam:65A1B2C3::{SECRET}+/==");
    let csrf = format!("65A1B2C3:{SECRET}-csrf");
    let grants = serde_json::json!({ "ticket": ticket, "CSRFPreventionToken": csrf }).to_string();
    let server = Server::start(move |seen| {
        if seen.target.ends_with("/access/ticket") && seen.number == 0 {
            return data(&grants);
        }
        echo(seen)
    })
    .await;
    let (reader, writer) = connect(password_settings(vec![server.pinned()])).unwrap();
    let read = reader.get::<u8>("/x").await.unwrap_err();
    let written = writer.send(&Request::post("/x")).await.unwrap_err();
    for error in [read, written] {
        assert_error_is_clean(&error);
        assert!(error.to_string().contains("<redacted>"), "{error}");
    }
    for settings in [token_settings, password_settings] {
        for status in [401, 400] {
            let server = Server::start(move |seen| match (status, echo(seen)) {
                (401, Act::Answer(bytes)) => {
                    let text = String::from_utf8(bytes).unwrap();
                    Act::Answer(text.replacen("400", "401", 1).into_bytes())
                }
                (_, act) => act,
            })
            .await;
            let (_, writer) = connect(settings(vec![server.pinned()])).unwrap();
            let error = writer.send(&Request::post("/x")).await.unwrap_err();
            assert_error_is_clean(&error);
            assert!(error.to_string().contains("<redacted>"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_code_and_its_challenge_are_shown_to_nobody() {
    let challenge = format!("PVE:!tfa!%7B%22totp%22%3Atrue%7D:65A1B2C3::{SECRET}");
    let half = serde_json::json!({ "ticket": challenge, "NeedTFA": 1, "CSRFPreventionToken": "c" });
    let half = half.to_string();
    let server = Server::start(move |seen| match seen.number {
        0 => data(&half),
        _ => echo(seen),
    })
    .await;
    let settings = password_settings(vec![server.pinned()]);
    let Entry::Half(challenge) = pve::log_in(&settings).await.unwrap() else {
        panic!("a code is asked for");
    };
    let factor = Factor::Totp("271828".into());
    let error = pve::answer_challenge(&settings, &challenge, &factor).await;
    let error = error.unwrap_err();
    assert_error_is_clean(&error);
    assert!(!format!("{error:?}").contains("271828"), "{error:?}");
}
