//! The listeners: HTTP/1.1 over TLS, one port per node, all in front of the same cluster.

use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::ext::ReasonPhrase;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, EXPIRES, HeaderValue, PRAGMA, SERVER};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::{Request, Response};
use crate::cluster::{Cluster, Outcome};

/// Closing the connection is an error to hyper; this is the one we make on purpose.
#[derive(Debug, thiserror::Error)]
#[error("connection dropped on purpose")]
struct HangUp;

/// Accepts connections for one node until the task is dropped; its connections end with it.
pub(crate) async fn listen(
    listener: TcpListener,
    tls: TlsAcceptor,
    node: String,
    cluster: Arc<Mutex<Cluster>>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(connection(stream, tls.clone(), node.clone(), cluster.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(
    stream: TcpStream,
    tls: TlsAcceptor,
    node: String,
    cluster: Arc<Mutex<Cluster>>,
) {
    if !lock(&cluster).is_reachable(&node) {
        return;
    }
    let Ok(stream) = tls.accept(stream).await else {
        return;
    };
    let service = service_fn(|request| exchange(request, &node, &cluster));
    // An error here is a client that went away, or a connection we dropped on purpose.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn exchange(
    request: hyper::Request<Incoming>,
    node: &str,
    cluster: &Mutex<Cluster>,
) -> Result<hyper::Response<Full<Bytes>>, HangUp> {
    let request = read(request, node).await?;
    let outcome = lock(cluster).serve(&request);
    match outcome {
        Outcome::Answer { response, delay } => {
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            Ok(write(response))
        }
        Outcome::HangUp => Err(HangUp),
    }
}

async fn read(request: hyper::Request<Incoming>, node: &str) -> Result<Request, HangUp> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| HangUp)?.to_bytes();
    let target = head
        .uri
        .path_and_query()
        .map_or("/", |target| target.as_str());
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    Ok(Request {
        endpoint: node.to_owned(),
        method: head.method.to_string(),
        target: target.to_owned(),
        headers: head
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect(),
        body: body.to_vec(),
    })
}

fn write(response: Response) -> hyper::Response<Full<Bytes>> {
    let mut out = hyper::Response::new(Full::new(Bytes::from(response.body)));
    if let Ok(status) = hyper::StatusCode::from_u16(response.status) {
        *out.status_mut() = status;
    }
    let headers = out.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=0"));
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    headers.insert(
        EXPIRES,
        HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT"),
    );
    headers.insert(SERVER, HeaderValue::from_static("pve-api-daemon/3.0"));
    if let Some(kind) = response.content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    if let Ok(reason) = ReasonPhrase::try_from(latin1(&response.reason)) {
        out.extensions_mut().insert(reason);
    }
    out
}

/// Status lines are Latin-1.
fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'))
        .collect()
}

fn lock(cluster: &Mutex<Cluster>) -> std::sync::MutexGuard<'_, Cluster> {
    cluster.lock().unwrap_or_else(PoisonError::into_inner)
}
