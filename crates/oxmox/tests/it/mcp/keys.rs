//! The keys of an OAuth server: over TLS, and while it is slow or gone.

use std::path::Path;
use std::sync::Arc;

use oxmox::http::{Jwks, Live};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio_rustls::TlsAcceptor;

use super::http::{serve_as, serve_by};
use super::oauth::{ISSUER, Issuer, PUBLIC, settings, status, tell};
use super::world;
use crate::cli::Machine;
use crate::raw;
use crate::server::Server;

/// A server of keys for localhost, for which only this authority vouches.
async fn keys_over_tls(told: Value, authority: &Path) -> String {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    std::fs::write(authority, ca.pem()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &ca).unwrap();
    let config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Whoever does not trust it ends the greeting.
            if let Ok(stream) = acceptor.accept(stream).await {
                tell(stream, &told).await;
            }
        }
    });
    format!("https://localhost:{port}/jwks")
}

/// In a process of its own: whom the system trusts is found out from its environment.
#[tokio::test]
async fn keys_come_over_tls_from_a_server_that_the_system_trusts() {
    let issuer = Issuer::new("one");
    let dir = tempfile::tempdir().unwrap();
    let authority = dir.path().join("ca.pem");
    let url = keys_over_tls(issuer.jwks(), &authority).await;
    let other = dir.path().join("other.pem");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&other, made.cert.pem()).unwrap();
    let config = dir.path().join("config.toml");
    let text = format!(
        "[http]\npublic_url = \"{PUBLIC}\"\n[oauth]\nissuer = \"{ISSUER}\"\njwks_url = \"{url}\"\n"
    );
    std::fs::write(&config, text).unwrap();
    for (trusted, status) in [(&authority, 200), (&other, 503)] {
        let machine = Machine::new()
            .with("SSL_CERT_FILE", trusted.to_str().unwrap())
            .with("OXMOX_CONFIG", config.to_str().unwrap());
        let server = Server::start(machine.command(&["serve", "--http", "127.0.0.1:0"])).await;
        let token = issuer.token(&json!({}));
        let headers = [("Authorization", token.as_str())];
        let host = server.address.to_string();
        let able = (&json!({}), &json!({}));
        let request = raw::stateless(&host, ("tools/list", json!({})), able, &headers);
        let stream = TcpStream::connect(server.address).await.unwrap();
        let answer = raw::exchange(stream, &request).await.unwrap();
        assert_eq!(answer.status, status, "{}", answer.body);
    }
}

/// A server of keys that answers when it is let.
async fn slow_keys_at(told: Value) -> (String, Arc<Notify>, Arc<Notify>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/jwks", listener.local_addr().unwrap());
    let (asked, let_go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (say, wait) = (asked.clone(), let_go.clone());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        drop(listener);
        say.notify_one();
        wait.notified().await;
        tell(stream, &told).await;
    });
    (url, asked, let_go)
}

#[tokio::test]
async fn whoever_leaves_while_keys_are_fetched_locks_nobody_out() {
    let world = world().await;
    let issuer = Issuer::new("one");
    let (url, asked, let_go) = slow_keys_at(issuer.jwks()).await;
    let live = Live::new(&settings(Jwks::Url(url))).unwrap();
    let served = serve_as(&world, live).await;
    let stranger = Issuer::new("another").token(&json!({}));
    let leaving = served
        .begin(&format!(
            "GET /mcp HTTP/1.1\r\nAuthorization: {stranger}\r\n"
        ))
        .await;
    asked.notified().await;
    drop(leaving);
    // Whoever comes meanwhile waits for the same answer; the issuer is asked once.
    let token = issuer.token(&json!({}));
    let waiting = status(&served, &token);
    let (status, ()) = tokio::join!(waiting, async { let_go.notify_one() });
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_configuration_that_is_read_again_locks_nobody_out() {
    let world = world().await;
    let issuer = Issuer::new("one");
    // It answers once, and is gone then.
    let (url, _, let_go) = slow_keys_at(issuer.jwks()).await;
    let_go.notify_one();
    let settings = settings(Jwks::Url(url));
    let (live, seen) = watch::channel(Arc::new(Live::new(&settings).unwrap()));
    let served = serve_by(&world, seen).await;
    let token = issuer.token(&json!({}));
    assert_eq!(status(&served, &token).await, 200);
    let again = Live::new(&settings).unwrap();
    let again = again.following(&live.borrow()).unwrap();
    live.send_replace(Arc::new(again));
    assert_eq!(status(&served, &token).await, 200);
}
