//! Whom the client believes.

use std::io::Write;

use pve::{Error, Fingerprint, Host, Request, Settings, Trust, Untrusted, connect};

use super::server::{Server, data, token_settings};

async fn refused(server: &Server, host: Host, trust: Trust) -> Box<Untrusted> {
    let settings = Settings {
        trust,
        ..token_settings(vec![host])
    };
    let (_, writer) = connect(settings).unwrap();
    let error = writer.send(&Request::post("/x")).await.unwrap_err();
    assert!(error.is_never_sent());
    assert!(
        server.seen().is_empty(),
        "something was sent to an untrusted server"
    );
    match error {
        Error::Fingerprint(untrusted) => untrusted,
        other => panic!("{other:?}"),
    }
}

fn ca_file(pem: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(pem.as_bytes()).unwrap();
    file
}

#[tokio::test]
async fn a_pinned_certificate_is_believed() {
    let server = Server::start(|_| data("7")).await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    assert_eq!(reader.get::<u8>("/x").await.unwrap(), 7);
}

#[tokio::test]
async fn what_was_presented_can_be_looked_at_also_if_it_was_refused() {
    let server = Server::start(|_| data("7")).await;
    let pin = Fingerprint::of_der(b"another certificate");
    for (host, trusted) in [
        (server.pinned(), true),
        (server.host().with_pin(pin), false),
    ] {
        let (reader, _) = connect(token_settings(vec![host.clone()])).unwrap();
        assert!(reader.certificates().is_empty(), "nobody was asked yet");
        assert_eq!(reader.get::<u8>("/x").await.is_ok(), trusted);
        let seen = reader.certificates();
        let [(of, certificate)] = seen.as_slice() else {
            panic!("{seen:?}")
        };
        assert_eq!((*of, certificate.fingerprint), (&host, server.fingerprint));
        assert!(certificate.not_before < certificate.not_after);
    }
}

#[tokio::test]
async fn a_wrong_pin_is_refused_loudly() {
    let server = Server::start(|_| data("7")).await;
    let pin = Fingerprint::of_der(b"another certificate");
    let untrusted = refused(&server, server.host().with_pin(pin), Trust::System).await;
    assert_eq!(untrusted.presented, server.fingerprint);
    assert_eq!(untrusted.pinned, Some(pin));
    let text = untrusted.to_string();
    for part in [
        "IS NOT THE PINNED ONE",
        &pin.to_string(),
        &server.fingerprint.to_string(),
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn a_pin_wins_over_a_ca_that_would_believe() {
    let server = Server::start(|_| data("7")).await;
    let file = ca_file(&server.ca_pem);
    let host = server.host().with_pin(Fingerprint::of_der(b"x"));
    refused(&server, host, Trust::CaFile(file.path().to_owned())).await;
}

#[tokio::test]
async fn an_unknown_issuer_is_refused_with_the_exact_setting() {
    let server = Server::start(|_| data("7")).await;
    let stranger = Server::start(|_| data("7")).await;
    let file = ca_file(&stranger.ca_pem);
    let untrusted = refused(
        &server,
        server.host(),
        Trust::CaFile(file.path().to_owned()),
    )
    .await;
    assert_eq!(
        untrusted.setting(),
        format!("pin = \"{}\"", server.fingerprint)
    );
    let text = untrusted.hint();
    for part in [
        untrusted.setting(),
        "PROXMOX_FINGERPRINT".to_owned(),
        "oxmox cluster add".to_owned(),
        server.addr.to_string(),
        "[clusters.NAME]".to_owned(),
    ] {
        assert!(text.contains(&part), "{part}: {text}");
    }
}

#[tokio::test]
async fn the_systems_roots_do_not_believe_a_strangers_certificate() {
    let server = Server::start(|_| data("7")).await;
    let untrusted = refused(&server, server.host(), Trust::System).await;
    assert_eq!(untrusted.presented, server.fingerprint);
    assert!(
        untrusted.problem.contains("trusted"),
        "{}",
        untrusted.problem
    );
}

#[tokio::test]
async fn the_clusters_ca_is_believed_for_its_names_only() {
    let server = Server::start(|_| data("7")).await;
    let file = ca_file(&server.ca_pem);
    let trust = Trust::CaFile(file.path().to_owned());
    let mut settings = token_settings(vec![server.host()]);
    settings.trust = trust.clone();
    let (reader, _) = connect(settings).unwrap();
    assert_eq!(reader.get::<u8>("/x").await.unwrap(), 7);

    let server = Server::start(|_| data("7")).await;
    let file = ca_file(&server.ca_pem);
    let elsewhere: Host = format!("localhost:{}", server.addr.port()).parse().unwrap();
    let untrusted = refused(&server, elsewhere, Trust::CaFile(file.path().to_owned())).await;
    assert_eq!(untrusted.presented, server.fingerprint);
    assert!(
        untrusted.problem.contains("localhost"),
        "{}",
        untrusted.problem
    );
}

#[tokio::test]
async fn a_ca_file_without_certificates_is_an_error() {
    let server = Server::start(|_| data("7")).await;
    let file = ca_file("nothing\n");
    let mut settings = token_settings(vec![server.host()]);
    settings.trust = Trust::CaFile(file.path().to_owned());
    let (reader, _) = connect(settings).unwrap();
    let error = reader.get::<u8>("/x").await.unwrap_err();
    assert!(
        error.to_string().contains("holds no certificate"),
        "{error}"
    );
}

#[tokio::test]
async fn each_host_has_its_own_pin() {
    let first = Server::start_dropping(1, |_| data("1")).await;
    let second = Server::start(|_| data("2")).await;
    assert_ne!(first.fingerprint, second.fingerprint);
    let hosts = vec![first.pinned(), second.pinned()];
    let (reader, _) = connect(token_settings(hosts)).unwrap();
    assert_eq!(reader.get::<u8>("/x").await.unwrap(), 2);
}

#[tokio::test]
async fn an_untrusted_host_is_not_passed_over_in_silence() {
    let first = Server::start(|_| data("1")).await;
    let second = Server::start(|_| data("2")).await;
    let wrong = first.host().with_pin(second.fingerprint);
    let (reader, _) = connect(token_settings(vec![wrong, second.pinned()])).unwrap();
    for _ in 0..2 {
        let error = reader.get::<u8>("/x").await.unwrap_err();
        assert!(matches!(error, Error::Fingerprint(_)), "{error:?}");
    }
    assert!(second.seen().is_empty());
}
