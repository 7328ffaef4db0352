//! A small HTTPS client that trusts the simulator's authority and shows reason phrases.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::ext::ReasonPhrase;
use hyper::header::HeaderValue;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use sim::Sim;
use sim::worlds::ROOT_TOKEN;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::tungstenite::{self, client::IntoClientRequest};
use tokio_tungstenite::{WebSocketStream, client_async};

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) reason: String,
    pub(crate) headers: hyper::HeaderMap,
    pub(crate) body: Value,
}

impl Reply {
    pub(crate) fn data(&self) -> &Value {
        assert_eq!(self.status, 200, "{} {}", self.reason, self.body);
        &self.body["data"]
    }

    /// The UPID of a started task.
    pub(crate) fn upid(&self) -> String {
        let upid = self.data().as_str().expect("a UPID");
        assert!(upid.starts_with("UPID:"), "{upid}");
        upid.to_owned()
    }
}

/// A websocket, and the headers of the answer that opened it.
#[derive(Debug)]
pub(crate) struct Websocket {
    pub(crate) socket: WebSocketStream<TlsStream<TcpStream>>,
    pub(crate) headers: hyper::HeaderMap,
}

/// An answer that opened no websocket.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: u16,
}

/// A client with credentials.
#[derive(Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    tls: TlsConnector,
    headers: Vec<(&'static str, String)>,
}

impl Client {
    /// A client with root's token, at the first node.
    pub(crate) fn root(sim: &Sim) -> Self {
        let (user, token, secret) = ROOT_TOKEN;
        Self::anonymous(sim).token(&format!("{user}!{token}"), secret)
    }

    /// A client without credentials.
    pub(crate) fn anonymous(sim: &Sim) -> Self {
        let mut roots = RootCertStore::empty();
        let authority =
            CertificateDer::from_pem_slice(sim.ca_pem().as_bytes()).expect("a certificate");
        roots.add(authority).expect("an authority");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self {
            address: sim.addr(),
            tls: TlsConnector::from(Arc::new(config)),
            headers: Vec::new(),
        }
    }

    pub(crate) fn token(mut self, who: &str, secret: &str) -> Self {
        self.headers.retain(|(name, _)| *name != "authorization");
        self.headers
            .push(("authorization", format!("PVEAPIToken={who}={secret}")));
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn at(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send("GET", &format!("/api2/json{path}"), "")
            .await
            .expect("an answer")
    }

    pub(crate) async fn post(&self, path: &str, form: &str) -> Reply {
        self.send("POST", &format!("/api2/json{path}"), form)
            .await
            .expect("an answer")
    }

    /// Sends this text, whatever it is; all that comes until the connection ends.
    pub(crate) async fn say(&self, text: &str) -> String {
        let stream = TcpStream::connect(self.address).await.expect("a port");
        let name = ServerName::try_from("localhost").expect("a name");
        let mut stream = self.tls.connect(name, stream).await.expect("TLS");
        stream.write_all(text.as_bytes()).await.expect("sent");
        let mut answer = Vec::new();
        // It ends without a word of TLS, or not at all.
        let all = stream.read_to_end(&mut answer);
        let _ = tokio::time::timeout(Duration::from_secs(10), all).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Sends a request; `None` if no answer came.
    pub(crate) async fn send(&self, method: &str, target: &str, body: &str) -> Option<Reply> {
        let stream = TcpStream::connect(self.address).await.ok()?;
        let name = ServerName::try_from("localhost").expect("a name");
        let stream = self.tls.connect(name, stream).await.ok()?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .ok()?;
        tokio::spawn(connection);
        let mut request = hyper::Request::builder()
            .method(method)
            .uri(target)
            .header("host", "localhost");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request
            .body(Full::new(Bytes::from(body.to_owned())))
            .expect("a request");
        let response = sender.send_request(request).await.ok()?;
        let (head, body) = response.into_parts();
        let reason = head.extensions.get::<ReasonPhrase>().map_or_else(
            || {
                head.status
                    .canonical_reason()
                    .unwrap_or_default()
                    .to_owned()
            },
            |reason| String::from_utf8_lossy(reason.as_bytes()).into_owned(),
        );
        let body = body.collect().await.ok()?.to_bytes();
        let body = serde_json::from_slice(&body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into_owned()));
        Some(Reply {
            status: head.status.as_u16(),
            reason,
            headers: head.headers,
            body,
        })
    }

    /// Asks for a websocket; the error is the answer that came instead, if any came.
    pub(crate) async fn websocket(&self, target: &str) -> Result<Websocket, Option<Refused>> {
        let stream = TcpStream::connect(self.address).await.map_err(|_| None)?;
        let name = ServerName::try_from("localhost").expect("a name");
        let stream = self.tls.connect(name, stream).await.map_err(|_| None)?;
        let mut request = format!("wss://localhost/api2/json{target}")
            .into_client_request()
            .expect("a request");
        for (name, value) in &self.headers {
            let value = HeaderValue::from_str(value).expect("a header");
            request.headers_mut().insert(*name, value);
        }
        match client_async(request, stream).await {
            Ok((socket, answer)) => Ok(Websocket {
                socket,
                headers: answer.headers().clone(),
            }),
            Err(tungstenite::Error::Http(answer)) => Err(Some(Refused {
                status: answer.status().as_u16(),
            })),
            Err(_) => Err(None),
        }
    }

    /// Polls a task until it ends; its exit status. The clock moves with every request.
    pub(crate) async fn wait_for(&self, node: &str, upid: &str) -> String {
        for _ in 0..1000 {
            let status = self
                .get(&format!("/nodes/{node}/tasks/{upid}/status"))
                .await;
            if let Some(exit) = status.data()["exitstatus"].as_str() {
                return exit.to_owned();
            }
        }
        panic!("{upid} does not end");
    }
}
