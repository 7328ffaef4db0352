//! Connections: how many, how long each may take to say what it wants, and their end.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Extension;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::crowd::Crowd;
use super::impatient::Impatient;
use super::settings::Live;

/// So much of all connections goes to one network. Of this machine's there may be more: a proxy comes from there.
const SHARE: usize = 4;
/// The pause after the system had no connection to give: out of files, most likely.
const BREATH: Duration = Duration::from_millis(500);

/// Whom a request came from, among its extensions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    /// The other end.
    pub(super) address: IpAddr,
    /// Our end.
    pub(super) local: IpAddr,
    /// Whether nobody between the two can read along.
    pub(super) is_private: bool,
}

/// Serves all who come until `stop` is cancelled, then lets those who wait have their answers.
pub(super) async fn serve(
    listener: TcpListener,
    app: Router,
    live: watch::Receiver<Arc<Live>>,
    stop: CancellationToken,
) -> io::Result<()> {
    let bound = listener.local_addr()?;
    let room = Arc::new(Semaphore::new(live.borrow().pace.connections));
    let crowd = Arc::new(Crowd::default());
    let open = GracefulShutdown::new();
    loop {
        let coming = async {
            let place = room.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = stop.cancelled() => break,
            coming = coming => coming,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if is_theirs(&error) => continue,
            Err(error) => {
                tracing::warn!(%error, "no connection can be accepted");
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        let now = live.borrow().clone();
        let is_crowd = !now.behind_proxy && !from.ip().to_canonical().is_loopback();
        let share = if is_crowd {
            (now.pace.connections / SHARE).max(1)
        } else {
            usize::MAX
        };
        let Some(share) = crowd.enter(from.ip(), share) else {
            continue;
        };
        let connection = Connection {
            app: app.clone(),
            live: now,
            from,
            bound,
            open: open.watcher(),
        };
        tokio::spawn(async move {
            connection.serve(stream).await;
            drop((place, share));
        });
    }
    drop(listener);
    open.shutdown().await;
    Ok(())
}

/// Whether it is the other end's doing, and no reason to pause.
fn is_theirs(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

struct Connection {
    app: Router,
    live: Arc<Live>,
    from: SocketAddr,
    bound: SocketAddr,
    open: Watcher,
}

impl Connection {
    async fn serve(self, stream: TcpStream) {
        let local = stream.local_addr().unwrap_or(self.bound).ip();
        let peer = Peer {
            address: self.from.ip().to_canonical(),
            local: local.to_canonical(),
            is_private: self.live.is_private_for(self.from.ip()),
        };
        // Small answers are what is sent here most.
        let _ = stream.set_nodelay(true);
        let stream = Impatient::new(stream, self.live.pace.body);
        match self.live.tls.clone() {
            None => self.converse(stream, peer).await,
            Some(tls) => {
                let greeting = TlsAcceptor::from(tls).accept(stream);
                match tokio::time::timeout(self.live.pace.greeting, greeting).await {
                    Ok(Ok(stream)) => self.converse(stream, peer).await,
                    Ok(Err(error)) => tracing::debug!(%error, from = %self.from, "no TLS"),
                    Err(_) => tracing::debug!(from = %self.from, "no TLS in time"),
                }
            }
        }
    }

    async fn converse<S>(self, stream: S, peer: Peer)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let app = self.app.layer(Extension(peer));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.live.pace.head)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
        if let Err(error) = self.open.watch(connection).await {
            tracing::debug!(%error, from = %self.from, "a connection broke");
        }
    }
}
