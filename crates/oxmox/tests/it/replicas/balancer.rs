//! A trivial balancer: in turn, sticky by session, to whoever answers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// One connection is one request here.
pub(super) struct Balancer {
    pub(super) address: SocketAddr,
    inner: Arc<Inner>,
}

struct Inner {
    replicas: Vec<SocketAddr>,
    next: AtomicUsize,
    sessions: Mutex<BTreeMap<String, SocketAddr>>,
}

impl Balancer {
    pub(super) async fn before(replicas: Vec<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Inner {
            replicas,
            next: AtomicUsize::new(0),
            sessions: Mutex::default(),
        });
        let of_all = inner.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let inner = of_all.clone();
                tokio::spawn(async move { inner.carry(client).await });
            }
        });
        Self { address, inner }
    }

    /// The replica that a session is at.
    pub(super) fn place_of(&self, session: &str) -> SocketAddr {
        self.inner.sessions.lock().unwrap()[session]
    }
}

impl Inner {
    /// Carries one request and its answer. What breaks off on one side ends on the other.
    async fn carry(&self, mut client: TcpStream) -> Option<()> {
        let request = read_message(&mut client).await?;
        let session = session_of(&request);
        let mut replica = self.connect(session.as_deref()).await?;
        let (address, stream) = (replica.0, &mut replica.1);
        stream.write_all(&request).await.ok()?;
        let mut answer = Vec::new();
        // Not passed on unless it is whole: a client must not take a part for an answer.
        stream.read_to_end(&mut answer).await.ok()?;
        if let Some(session) = session_of(&answer) {
            self.sessions.lock().unwrap().insert(session, address);
        }
        client.write_all(&answer).await.ok()
    }

    async fn connect(&self, session: Option<&str>) -> Option<(SocketAddr, TcpStream)> {
        let at = session.and_then(|id| self.sessions.lock().unwrap().get(id).copied());
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let count = self.replicas.len();
        let in_turn = (0..count).map(|step| self.replicas[(turn + step) % count]);
        for address in at.into_iter().chain(in_turn) {
            if let Ok(stream) = TcpStream::connect(address).await {
                return Some((address, stream));
            }
        }
        None
    }
}

/// A request with its body.
async fn read_message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut read = Vec::new();
    loop {
        if stream.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&read);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = header(head, "content-length").map_or(0, |it| it.parse().unwrap());
            if body.len() >= length {
                return Some(read);
            }
        }
    }
}

fn session_of(message: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(message);
    let (head, _) = text.split_once("\r\n\r\n")?;
    header(head, "mcp-session-id").map(ToOwned::to_owned)
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value)
}
