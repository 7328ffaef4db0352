//! Secrets appear nowhere but in the requests that carry them.

use std::error::Error as StdError;

use pve::{Credentials, Error, Request, Settings, connect};

use super::server::{
    Act, SECRET, Server, answer, data, dead_host, password_settings, token_settings,
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
