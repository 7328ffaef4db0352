//! Secrets that are kept elsewhere: fetched when they are needed, once, and again when that failed or PVE refuses them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pve::{Credentials, Error, Fetching, Keeper, Request, Secret, Settings, connect};
use tokio::sync::Semaphore;

use super::server::{Seen, Server, answer, data};

/// Gives what it holds at the moment, or fails if that is nothing, and counts how often it was asked. Each answer needs a
/// permit.
#[derive(Clone)]
struct Vault {
    holds: Arc<Mutex<Option<String>>>,
    asked: Arc<AtomicUsize>,
    permits: Arc<Semaphore>,
    quiet: bool,
}

impl Vault {
    fn holding(secret: &str) -> Self {
        let vault = Self {
            holds: Arc::default(),
            asked: Arc::default(),
            permits: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            quiet: false,
        };
        vault.hold(Some(secret));
        vault
    }

    fn hold(&self, secret: Option<&str>) {
        *self.holds.lock().unwrap() = secret.map(str::to_owned);
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Keeper for Vault {
    fn fetch(&self) -> Fetching {
        let vault = self.clone();
        Box::pin(async move {
            vault.asked.fetch_add(1, Ordering::SeqCst);
            let _permit = vault.permits.acquire().await.unwrap();
            let holds = vault.holds.lock().unwrap().clone();
            holds.map(Into::into).ok_or_else(|| Error::Secret {
                what: "the vault is empty".to_owned(),
                hint: "fill it".to_owned(),
            })
        })
    }

    fn is_quiet(&self) -> bool {
        self.quiet
    }
}

fn by_token(server: &Server, vault: &Vault) -> Settings {
    let credentials = Credentials::Token {
        user: "root@pam".to_owned(),
        name: "mcp".to_owned(),
        secret: Secret::kept(vault.clone()),
    };
    Settings::new(vec![server.pinned()], credentials)
}

fn by_password(server: &Server, vault: &Vault) -> Settings {
    let credentials = Credentials::Password {
        user: "root@pam".to_owned(),
        password: Secret::kept(vault.clone()),
    };
    Settings::new(vec![server.pinned()], credentials)
}

/// Takes the token whose secret is this one, and the password.
async fn pve_that_takes(secret: &'static str) -> Server {
    Server::start(move |seen: &Seen| {
        if seen.target == "/api2/json/access/ticket" {
            return if seen.body.ends_with(&format!("password={secret}")) {
                data(r#"{"ticket":"PVE:root@pam:T","CSRFPreventionToken":"C"}"#)
            } else {
                answer(401, "authentication failure", "")
            };
        }
        let token = format!("PVEAPIToken=root@pam!mcp={secret}");
        let is_known =
            seen.header("cookie").is_some() || seen.header("authorization") == Some(token.as_str());
        if is_known {
            data("7")
        } else {
            answer(401, "Authentication failed!", "")
        }
    })
    .await
}

#[tokio::test]
async fn a_secret_is_fetched_when_it_is_first_needed_and_once() {
    let server = pve_that_takes("first-secret").await;
    for settings in [by_token, by_password] {
        let vault = Vault::holding("first-secret");
        let settings = settings(&server, &vault);
        let (reader, _writer) = connect(settings.clone()).unwrap();
        assert_eq!((reader.is_quiet(), vault.asked()), (false, 0));
        let ask = || reader.get::<u8>("/x");
        let (a, b, c) = tokio::join!(ask(), ask(), ask());
        assert_eq!((a.unwrap(), b.unwrap(), c.unwrap()), (7, 7, 7));
        // Whoever connects by the same settings has it, too.
        let (other, _writer) = connect(settings).unwrap();
        other.get::<u8>("/x").await.unwrap();
        assert_eq!((other.is_quiet(), vault.asked()), (true, 1));
    }
}

#[tokio::test]
async fn a_failure_is_shared_and_asked_about_again() {
    let server = pve_that_takes("first-secret").await;
    for settings in [by_token, by_password] {
        let vault = Vault::holding("");
        vault.hold(None);
        let (reader, writer) = connect(settings(&server, &vault)).unwrap();
        let before = server.seen().len();
        let ask = || reader.get::<u8>("/x");
        let (a, b) = tokio::join!(ask(), ask());
        for error in [a.unwrap_err(), b.unwrap_err()] {
            assert!(matches!(error, Error::Secret { .. }), "{error:?}");
            assert!(error.is_never_sent() && !error.is_maybe_sent());
            assert_eq!(error.to_string(), "the vault is empty");
        }
        assert_eq!(vault.asked(), 1);
        writer.send(&Request::post("/x")).await.unwrap_err();
        assert_eq!((vault.asked(), server.seen().len()), (2, before));
        vault.hold(Some("first-secret"));
        assert_eq!(ask().await.unwrap(), 7);
    }
}

#[tokio::test]
async fn whoever_leaves_does_not_stop_what_others_will_need() {
    let server = pve_that_takes("first-secret").await;
    let vault = Vault::holding("first-secret");
    let permits = Arc::new(Semaphore::new(0));
    let vault = Vault {
        permits: permits.clone(),
        ..vault
    };
    let (reader, _writer) = connect(by_token(&server, &vault)).unwrap();
    let asker = reader.clone();
    let gone = tokio::spawn(async move { asker.get::<u8>("/x").await });
    while vault.asked() == 0 {
        tokio::task::yield_now().await;
    }
    assert!(reader.waits_for_secret());
    gone.abort();
    permits.add_permits(1);
    assert_eq!(reader.get::<u8>("/x").await.unwrap(), 7);
    assert_eq!(vault.asked(), 1);
    assert!(!reader.waits_for_secret());
}

#[tokio::test]
async fn a_secret_that_is_refused_and_still_the_same_is_not_sent_again() {
    let server = pve_that_takes("second-secret").await;
    let vault = Vault::holding("first-secret");
    let (reader, _writer) = connect(by_token(&server, &vault)).unwrap();
    let refused = reader.get::<u8>("/x").await.unwrap_err();
    assert!(matches!(refused, Error::Auth { .. }), "{refused:?}");
    assert_eq!((server.seen().len(), vault.asked()), (1, 2));
}

#[tokio::test]
async fn a_read_finds_the_new_secret_and_a_write_goes_out_once() {
    let server = pve_that_takes("second-secret").await;
    let vault = Vault::holding("first-secret");
    let (reader, writer) = connect(by_token(&server, &vault)).unwrap();
    vault.hold(Some("first-secret"));
    let settled = writer.send(&Request::post("/x")).await.unwrap_err();
    assert!(matches!(settled, Error::Auth { .. }), "{settled:?}");
    vault.hold(Some("second-secret"));
    let refused = writer.send(&Request::post("/x")).await.unwrap_err();
    assert!(matches!(refused, Error::Auth { .. }), "{refused:?}");
    assert_eq!(server.seen().len(), 2, "each write went out once");
    assert_eq!(reader.get::<u8>("/x").await.unwrap(), 7);
    writer.send(&Request::post("/x")).await.unwrap();
    assert_eq!((server.seen().len(), vault.asked()), (5, 2));
}

#[tokio::test]
async fn a_keeper_is_not_asked_at_every_refusal() {
    let server = pve_that_takes("another-secret").await;
    let mut vault = Vault::holding("first-secret");
    for (quiet, asked) in [(false, 2), (true, 6)] {
        vault = Vault {
            quiet,
            ..Vault::holding("first-secret")
        };
        let (reader, _writer) = connect(by_token(&server, &vault)).unwrap();
        for _ in 0..5 {
            reader.get::<u8>("/x").await.unwrap_err();
        }
        assert_eq!(vault.asked(), asked, "quiet: {quiet}");
    }
    // A file that was mended holds at once.
    vault.hold(Some("another-secret"));
    let (reader, _writer) = connect(by_token(&server, &vault)).unwrap();
    reader.get::<u8>("/x").await.unwrap();
}

#[tokio::test]
async fn a_login_finds_the_new_password() {
    let server = pve_that_takes("second-secret").await;
    let vault = Vault::holding("first-secret");
    let settings = by_password(&server, &vault);
    settings.credentials.fetch().await.unwrap();
    vault.hold(Some("second-secret"));
    let (_reader, writer) = connect(settings).unwrap();
    writer.send(&Request::post("/x")).await.unwrap();
    let seen: Vec<_> = server.seen().into_iter().map(|one| one.target).collect();
    assert_eq!(
        seen,
        [
            "/api2/json/access/ticket",
            "/api2/json/access/ticket",
            "/api2/json/x"
        ]
    );
}

/// A keyring that is locked is what a person has to hear of, and not a token that was good when it was written down.
#[tokio::test]
async fn a_keeper_that_does_not_answer_a_refusal_is_named() {
    let server = pve_that_takes("second-secret").await;
    for settings in [by_token, by_password] {
        let vault = Vault::holding("first-secret");
        let settings = settings(&server, &vault);
        settings.credentials.fetch().await.unwrap();
        vault.hold(None);
        let (reader, _writer) = connect(settings).unwrap();
        let error = reader.get::<u8>("/x").await.unwrap_err();
        assert!(matches!(error, Error::Secret { .. }), "{error:?}");
        let said = "PVE does not take the secret any more, and the vault is empty";
        assert_eq!(error.to_string(), said);
    }
}

/// Whoever asks in the background would start the program again and again.
#[tokio::test]
async fn a_secret_that_was_refused_is_not_quiet() {
    let server = pve_that_takes("second-secret").await;
    let vault = Vault::holding("first-secret");
    let (reader, _writer) = connect(by_token(&server, &vault)).unwrap();
    reader.get::<u8>("/x").await.unwrap_err();
    assert!(!reader.is_quiet());
    vault.hold(Some("second-secret"));
    let (other, _writer) = connect(by_token(&server, &vault)).unwrap();
    other.get::<u8>("/x").await.unwrap();
    assert!(other.is_quiet());
}

/// A server that was in trouble for a moment.
#[tokio::test]
async fn a_secret_that_is_taken_again_is_quiet_again() {
    for settings in [by_token, by_password] {
        let is_up = Arc::new(AtomicUsize::new(0));
        let counted = is_up.clone();
        let server = Server::start(move |seen: &Seen| {
            let refuses = counted.load(Ordering::SeqCst) == 0;
            match (refuses, seen.target.ends_with("/ticket")) {
                (true, _) => answer(401, "authentication failure", ""),
                (_, true) => data(r#"{"ticket":"PVE:root@pam:T","CSRFPreventionToken":"C"}"#),
                _ => data("7"),
            }
        })
        .await;
        let vault = Vault::holding("first-secret");
        let (reader, _writer) = connect(settings(&server, &vault)).unwrap();
        reader.get::<u8>("/x").await.unwrap_err();
        assert!(!reader.is_quiet());
        is_up.store(1, Ordering::SeqCst);
        reader.get::<u8>("/x").await.unwrap();
        assert!(reader.is_quiet());
    }
}

/// A server in trouble says nothing about a password.
#[tokio::test]
async fn a_login_that_failed_otherwise_does_not_ask_for_another_password() {
    let server = Server::start(|_| answer(500, "the realm does not answer", "")).await;
    let vault = Vault::holding("first-secret");
    let (reader, _writer) = connect(by_password(&server, &vault)).unwrap();
    let error = reader.get::<u8>("/x").await.unwrap_err();
    assert!(
        error.to_string().contains("the realm does not answer"),
        "{error}"
    );
    assert_eq!(vault.asked(), 1);
    assert!(reader.is_quiet());
}
