//! The listeners: HTTP/1.1 over TLS, one port per node, all in front of the same cluster.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::ext::ReasonPhrase;
use hyper::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_TYPE, EXPIRES, HeaderValue, PRAGMA, SEC_WEBSOCKET_ACCEPT,
    SEC_WEBSOCKET_PROTOCOL, SERVER, UPGRADE,
};
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::accept;
use super::cut::Cut;
use super::decode::{self, LARGEST_BODY};
use super::multipart::Reader;
use super::websocket::{Accepted, Line};
use super::{Request, Response};
use crate::cluster::{Cluster, Outcome};
use crate::console;
use crate::world::console::Console;

/// Whole, or not.
type Body = Either<Full<Bytes>, Cut>;

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
            (stream, _) = accept::next(|| listener.accept()) => {
                // Or the first answer of a connection waits 40 ms for the client to have seen the tickets before it.
                let _ = stream.set_nodelay(true);
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
    if !lock(&cluster).takes_connections(&node) {
        return;
    }
    let Ok(stream) = tls.accept(stream).await else {
        return;
    };
    let connected = Mutex::new(None);
    let service = service_fn(|request| exchange(request, &node, &cluster, &connected));
    // An error here is a client that went away, or a connection we dropped on purpose.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    let connected = connected.into_inner().unwrap_or_default();
    if let Some((upgrade, console)) = connected {
        visit(upgrade, console, &cluster).await;
    }
}

/// The stream that a connection turns into, and the console it leads to.
type Connected = (OnUpgrade, Box<Console>);

async fn exchange(
    mut request: hyper::Request<Incoming>,
    node: &str,
    cluster: &Mutex<Cluster>,
    connected: &Mutex<Option<Connected>>,
) -> Result<hyper::Response<Body>, HangUp> {
    let upgrade = hyper::upgrade::on(&mut request);
    let (head, body) = request.into_parts();
    let mut request = described(&head, node);
    let cut_off = lock(cluster).cuts_off(&request);
    receive(&mut request, body, cut_off).await?;
    let outcome = lock(cluster).serve(&request);
    match outcome {
        Outcome::Answer { response, delay } => {
            pause(delay).await;
            let (body, response) = write(response);
            Ok(response.map(|()| Either::Left(Full::new(body.into()))))
        }
        Outcome::BreakOff(response) => {
            let (body, response) = write(response);
            Ok(response.map(|()| Either::Right(Cut::new(body))))
        }
        Outcome::Connect {
            accepted,
            console,
            delay,
        } => {
            pause(delay).await;
            *lock(connected) = Some((upgrade, console));
            switch(&accepted).ok_or(HangUp)
        }
        Outcome::HangUp => Err(HangUp),
    }
}

async fn pause(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

/// Serves a console until one side leaves.
async fn visit(upgrade: OnUpgrade, console: Box<Console>, cluster: &Mutex<Cluster>) {
    match upgrade.await {
        Ok(stream) => console::attend(Line::new(stream).await, &console, cluster).await,
        // The client did not wait for the answer.
        Err(_) => lock(cluster).world.end_task(&console.upid, None, "OK"),
    }
}

/// The answer after which a connection is a websocket.
fn switch(accepted: &Accepted) -> Option<hyper::Response<Body>> {
    let mut answer = hyper::Response::builder()
        .status(hyper::StatusCode::SWITCHING_PROTOCOLS)
        .header(UPGRADE, "websocket")
        .header(CONNECTION, "upgrade")
        .header(SEC_WEBSOCKET_ACCEPT, &accepted.key);
    if let Some(protocol) = &accepted.protocol {
        answer = answer.header(SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    answer.body(Either::Left(Full::default())).ok()
}

/// A request as its head tells it.
fn described(head: &hyper::http::request::Parts, node: &str) -> Request {
    let target = head
        .uri
        .path_and_query()
        .map_or("/", |target| target.as_str());
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    Request {
        endpoint: node.to_owned(),
        method: head.method.to_string(),
        target: target.to_owned(),
        headers: head
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect(),
        ..Request::default()
    }
}

/// Takes the body of a request. An upload is read as it comes; of all others no more than is needed to refuse it.
async fn receive(request: &mut Request, mut body: Incoming, cut_off: bool) -> Result<(), HangUp> {
    if decode::is_too_large(request) {
        return if cut_off { Err(HangUp) } else { Ok(()) };
    }
    let mut form = Reader::of(request);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| HangUp)?;
        if cut_off {
            return Err(HangUp);
        }
        let Ok(data) = frame.into_data() else {
            continue;
        };
        match &mut form {
            Some(form) => form.feed(&data),
            None => request.body.extend_from_slice(&data),
        }
        if request.body.len() > LARGEST_BODY {
            break;
        }
    }
    request.form = form.and_then(Reader::end);
    Ok(())
}

/// The body of a response, and its head.
fn write(response: Response) -> (Vec<u8>, hyper::Response<()>) {
    let mut out = hyper::Response::new(());
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
    (response.body, out)
}

/// Status lines are Latin-1.
fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'))
        .collect()
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
