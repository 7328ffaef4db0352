//! The server behind a certificate.

use std::path::Path;
use std::sync::Arc;

use oxmox::http::{Live, Settings, TlsFiles};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tools::caller::Bounds;

use super::browser::token_of;
use super::http::{Served, serve_as};
use super::world;
use crate::raw::{self, Response};

/// A certificate for localhost and its key, as files.
pub(super) fn certificate(dir: &Path, name: &str) -> (TlsFiles, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = TlsFiles {
        cert: dir.join(format!("{name}.pem")),
        key: dir.join(format!("{name}.key")),
    };
    std::fs::write(&files.cert, made.cert.pem()).unwrap();
    crate::private::write(&files.key, made.signing_key.serialize_pem());
    (files, made.cert.der().clone())
}

/// A look at an address by whoever trusts this certificate alone.
pub(super) async fn get(
    served: &Served,
    trusted: &CertificateDer<'static>,
    path: &str,
) -> Response {
    let host = format!("localhost:{}", served.address.port());
    let request = raw::request(&format!("GET {path}"), &host, &[], None);
    send(served, trusted, &request).await
}

/// A request by whoever trusts this certificate alone.
async fn send(served: &Served, trusted: &CertificateDer<'static>, request: &str) -> Response {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(served.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
        .unwrap();
    raw::exchange(stream, request).await.unwrap()
}

fn live(tls: TlsFiles) -> Result<Live, tools::fault::Fault> {
    Live::new(&Settings {
        tls: Some(tls),
        ..Settings::default()
    })
}

#[tokio::test]
async fn it_is_served_behind_its_certificate_and_not_without() {
    let dir = tempfile::tempdir().unwrap();
    let (files, certificate) = certificate(dir.path(), "own");
    let world = world().await;
    let served = serve_as(&world, live(files).unwrap()).await;
    // One who says nothing holds up nobody.
    let silent = TcpStream::connect(served.address).await.unwrap();
    // A GET without a session is no MCP, and the server's own answer all the same.
    let answer = get(&served, &certificate, "/mcp").await;
    assert!((400..500).contains(&answer.status), "{}", answer.status);
    let mut plain = TcpStream::connect(served.address).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut plain, b"GET /mcp HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said).await;
    assert!(!said.starts_with(b"HTTP"), "{said:?}");
    drop(silent);
}

#[tokio::test]
async fn the_page_keeps_its_cookie_to_tls_and_to_this_host() {
    let dir = tempfile::tempdir().unwrap();
    let (files, certificate) = certificate(dir.path(), "own");
    let world = world().await;
    let token = token_of(&world, "owner", Bounds::default(), true).await;
    let served = serve_as(&world, live(files).unwrap()).await;
    let host = format!("localhost:{}", served.address.port());
    let ask = async |target: &str, headers: &[(&str, &str)], body: Option<&str>| {
        let request = raw::request(target, &host, headers, body);
        send(&served, &certificate, &request).await
    };
    let body = json!({"token": token}).to_string();
    let own = [("X-Oxmox-Page", "1")];
    let entered = ask("POST /api/sign-in", &own, Some(&body)).await;
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-oxmox-"), "{cookie}");
    // What browsers insist on for that prefix.
    for wanted in ["; Secure", "; Path=/;", "; HttpOnly"] {
        assert!(cookie.contains(wanted), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
    let kept = cookie.split(';').next().unwrap();
    let body: Value = serde_json::from_str(&entered.body).unwrap();
    let proof = ("X-Oxmox-Page", body["proof"].as_str().unwrap());
    let me = async |cookie: &str| {
        let answer = ask("GET /api/me", &[("Cookie", cookie), proof], None).await;
        answer.status
    };
    assert_eq!(me(kept).await, 200);
    // One that another host may have set is none.
    assert_eq!(me(kept.trim_start_matches("__Host-")).await, 401);
}

#[test]
fn files_that_do_not_fit_are_refused_without_being_shown() {
    let dir = tempfile::tempdir().unwrap();
    let (one, _) = certificate(dir.path(), "one");
    let (other, _) = certificate(dir.path(), "other");
    let swapped = TlsFiles {
        cert: one.key.clone(),
        key: one.cert.clone(),
    };
    let mixed = TlsFiles {
        cert: one.cert.clone(),
        key: other.key,
    };
    let missing = TlsFiles {
        cert: dir.path().join("none.pem"),
        key: one.key.clone(),
    };
    let key = std::fs::read_to_string(&one.key).unwrap();
    for files in [swapped, mixed, missing] {
        let fault = live(files).unwrap_err();
        assert!(fault.message.contains("cannot be used for TLS"), "{fault}");
        for line in key.lines() {
            assert!(!fault.to_string().contains(line), "{fault}");
        }
    }
}
