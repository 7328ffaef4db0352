//! A TLS server that does exactly what a test tells it, down to the byte: it answers, lies, hangs and hangs up.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pve::{Credentials, Fingerprint, Host, Settings};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::hostile::Pour;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
    /// How many requests came before it.
    pub(crate) number: usize,
    /// Which connection it came over, counted from 0.
    pub(crate) connection: usize,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// What the server does with a request.
pub(crate) enum Act {
    /// Answers and keeps the connection.
    Answer(Vec<u8>),
    /// Answers and hangs up without saying so.
    AnswerAndClose(Vec<u8>),
    /// Hangs up without a word.
    Close,
    /// Says nothing and keeps the connection.
    Hang,
    /// Never comes to an end.
    Pour(Pour),
}

/// An answer with a status, reason phrase and body.
pub(crate) fn answer(status: u16, reason: &str, body: &str) -> Act {
    Act::Answer(raw(status, reason.as_bytes(), body.as_bytes()))
}

/// A good answer with this `data`.
pub(crate) fn data(json: &str) -> Act {
    answer(200, "OK", &format!("{{\"data\":{json}}}"))
}

pub(crate) fn raw(status: u16, reason: &[u8], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} ").into_bytes();
    bytes.extend(reason);
    bytes.extend(format!("\r\nContent-Length: {}\r\n\r\n", body.len()).bytes());
    bytes.extend(body);
    bytes
}

/// How much of a request the server reads before it acts.
#[derive(Debug, Clone, Default)]
pub(crate) enum Reading {
    /// All of it.
    #[default]
    Whole,
    /// So many bytes; then it hangs up.
    Cut(usize),
    /// Its head; then it answers, and reads nothing more.
    Head(Vec<u8>),
}

type Script = dyn Fn(&Seen) -> Act + Send + Sync;

struct Shared {
    script: Box<Script>,
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    /// So many connections are dropped before TLS.
    drop_first: usize,
    reading: Reading,
    acceptor: TlsAcceptor,
}

/// A running server; it ends with the test's runtime.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    pub(crate) fingerprint: Fingerprint,
    /// The certificate of the CA that signed the server's.
    pub(crate) ca_pem: String,
    shared: Arc<Shared>,
}

impl Server {
    pub(crate) async fn start(script: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        Self::start_dropping(0, script).await
    }

    /// Reads no request to its end.
    pub(crate) async fn start_reading(reading: Reading) -> Self {
        Self::start_with(0, reading, |_| Act::Close).await
    }

    /// The first `drop_first` connections are closed as soon as they are made.
    pub(crate) async fn start_dropping(
        drop_first: usize,
        script: impl Fn(&Seen) -> Act + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(drop_first, Reading::Whole, script).await
    }

    async fn start_with(
        drop_first: usize,
        reading: Reading,
        script: impl Fn(&Seen) -> Act + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (config, fingerprint, ca_pem) = certificate();
        let shared = Arc::new(Shared {
            script: Box::new(script),
            seen: Mutex::default(),
            connections: AtomicUsize::new(0),
            drop_first,
            reading,
            acceptor: TlsAcceptor::from(Arc::new(config)),
        });
        let addr = listener.local_addr().unwrap();
        tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self {
            addr,
            fingerprint,
            ca_pem,
            shared,
        }
    }

    /// The server as a host, without a pin.
    pub(crate) fn host(&self) -> Host {
        self.addr.to_string().parse().unwrap()
    }

    /// The server as a host, pinned.
    pub(crate) fn pinned(&self) -> Host {
        self.host().with_pin(self.fingerprint)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

/// A host at which nobody listens.
pub(crate) async fn dead_host() -> Host {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().to_string().parse().unwrap()
}

pub(crate) const SECRET: &str = "canary-0123456789";

/// Settings with a token, for these hosts.
pub(crate) fn token_settings(hosts: Vec<Host>) -> Settings {
    let credentials = Credentials::Token {
        user: "root@pam".to_owned(),
        name: "mcp".to_owned(),
        secret: SECRET.into(),
    };
    Settings::new(hosts, credentials)
}

/// Settings with a password, for these hosts.
pub(crate) fn password_settings(hosts: Vec<Host>) -> Settings {
    let credentials = Credentials::Password {
        user: "root@pam".to_owned(),
        password: SECRET.into(),
    };
    Settings::new(hosts, credentials)
}

fn certificate() -> (ServerConfig, Fingerprint, String) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca_params = CertificateParams::new(Vec::new()).unwrap();
    ca_params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = ca_params.self_signed(&ca_key).unwrap();
    let issuer = Issuer::new(ca_params, ca_key);
    let key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    let leaf = CertificateParams::new(names)
        .unwrap()
        .signed_by(&key, &issuer)
        .unwrap();
    let chain: Vec<CertificateDer<'static>> = vec![leaf.der().clone()];
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .unwrap();
    (config, Fingerprint::of_der(leaf.der()), ca.pem())
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let connection = shared.connections.fetch_add(1, Ordering::SeqCst);
        if connection >= shared.drop_first {
            tokio::spawn(serve(stream, connection, Arc::clone(&shared)));
        }
    }
}

async fn serve(stream: TcpStream, connection: usize, shared: Arc<Shared>) {
    // A client that refuses the certificate ends here.
    let Ok(mut stream) = shared.acceptor.accept(stream).await else {
        return;
    };
    let mut buffer = Vec::new();
    while let Some(mut request) = read_request(&mut stream, &mut buffer, &shared.reading).await {
        request.connection = connection;
        {
            let mut seen = shared.seen.lock().unwrap();
            request.number = seen.len();
            seen.push(request.clone());
        }
        match (shared.script)(&request) {
            Act::Answer(bytes) => {
                if stream.write_all(&bytes).await.is_err() || stream.flush().await.is_err() {
                    return;
                }
            }
            Act::AnswerAndClose(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
                return;
            }
            Act::Close => return,
            Act::Hang => std::future::pending().await,
            Act::Pour(pour) => return pour.into(&mut stream).await,
        }
    }
}

async fn read_request(
    stream: &mut tokio_rustls::server::TlsStream<TcpStream>,
    buffer: &mut Vec<u8>,
    reading: &Reading,
) -> Option<Seen> {
    loop {
        match reading {
            Reading::Cut(bytes) if buffer.len() >= *bytes => return None,
            Reading::Head(answer) if head_end(buffer).is_some() => {
                stream.write_all(answer).await.ok()?;
                stream.flush().await.ok()?;
                std::future::pending::<()>().await;
            }
            _ => {}
        }
        if let Some((request, length)) = parse(buffer) {
            buffer.drain(..length);
            return Some(request);
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}

fn head_end(buffer: &[u8]) -> Option<usize> {
    buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n")
}

fn parse(buffer: &[u8]) -> Option<(Seen, usize)> {
    let head_end = head_end(buffer)?;
    let head = String::from_utf8(buffer[..head_end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .map_or(0, |n| n.parse().unwrap());
    let body = buffer.get(head_end + 4..head_end + 4 + length)?;
    let seen = Seen {
        method: first.next()?.to_owned(),
        target: first.next()?.to_owned(),
        body: String::from_utf8(body.to_vec()).unwrap(),
        headers,
        number: 0,
        connection: 0,
    };
    Some((seen, head_end + 4 + length))
}
