//! A document of the web, as far as a server needs it: one request, no redirects, not large, not slow.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Uri;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const PATIENCE: Duration = Duration::from_secs(10);
const LARGEST: usize = 1024 * 1024;

/// Why this is no address to fetch from. What is fetched decides on who gets in, so nobody may be able to change it on
/// its way.
pub(super) fn check(url: &str) -> Result<(), &'static str> {
    let uri: Uri = url.parse().map_err(|_| "it is no address")?;
    match (uri.scheme_str(), uri.host()) {
        (Some("https"), Some(_)) | (Some("http"), Some("localhost" | "127.0.0.1" | "[::1]")) => {
            Ok(())
        }
        (Some("http"), Some(_)) => Err("it has to be https://"),
        _ => Err("it is no address of the web"),
    }
}

/// What is there.
pub(super) async fn get(url: &str) -> Result<Bytes, String> {
    check(url)?;
    within(url, None).await
}

/// Brings JSON there.
pub(super) async fn post(url: &str, json: String) -> Result<(), String> {
    within(url, Some(json)).await.map(drop)
}

async fn within(url: &str, json: Option<String>) -> Result<Bytes, String> {
    let got = tokio::time::timeout(PATIENCE, fetch(url, json)).await;
    got.map_err(|_| format!("nothing came within {PATIENCE:?}"))?
}

async fn fetch(url: &str, json: Option<String>) -> Result<Bytes, String> {
    let uri: Uri = url.parse().map_err(|_| "it is no address")?;
    let host = uri.host().unwrap_or_default();
    let host = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned();
    let is_private = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_private { 443 } else { 80 });
    let stream = TcpStream::connect((host.as_str(), port))
        .await
        .map_err(told)?;
    if !is_private {
        return over(stream, &uri, json).await;
    }
    let name = ServerName::try_from(host).map_err(told)?;
    let config = tokio::task::spawn_blocking(trust).await.map_err(told)??;
    let stream = TlsConnector::from(config).connect(name, stream).await;
    over(stream.map_err(told)?, &uri, json).await
}

/// The system's roots.
fn trust() -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(told)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

async fn over<S>(stream: S, uri: &Uri, json: Option<String>) -> Result<Bytes, String>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(told)?;
    let connection = tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let method = match json {
        Some(_) => hyper::Method::POST,
        None => hyper::Method::GET,
    };
    let request = hyper::Request::builder()
        .method(method)
        .uri(path)
        .header(CONTENT_TYPE, "application/json")
        .header(HOST, host)
        .header(USER_AGENT, concat!("oxmox/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, "application/json")
        .body(Full::new(Bytes::from(json.unwrap_or_default())))
        .map_err(told)?;
    let answer = sender.send_request(request).await.map_err(told)?;
    if answer.status() != hyper::StatusCode::OK {
        return Err(format!("it answers {}", answer.status()));
    }
    let body = Limited::new(answer.into_body(), LARGEST).collect().await;
    connection.abort();
    Ok(body.map_err(|error| error.to_string())?.to_bytes())
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}
