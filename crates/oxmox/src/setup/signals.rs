//! The signals that end setup: Ctrl-C, SIGTERM, and SIGHUP, which comes when the terminal is closed. Nobody who waits for
//! them later misses one: it is listened from the moment on at which that is asked for.

use tokio_util::sync::CancellationToken;
use tools::fault::{Fault, Kind};

use crate::cli::exit::Exit;
use crate::cli::out;
use crate::files;

/// Cancelled by the first of them, so that whoever works ends in order. The second ends the process where it stands: what it
/// made is written down, and `hint` tells what to do about it.
pub(super) fn stop(hint: String) -> CancellationToken {
    let mut signals = Signals::listen();
    let stop = CancellationToken::new();
    let cancel = stop.clone();
    tokio::spawn(async move {
        signals.next().await;
        cancel.cancel();
        out::say("interrupted: as soon as PVE has answered, this ends");
        signals.next().await;
        out::say("interrupted again, and ended at once: what was made is written down");
        out::hint(hint);
        files::let_go();
        std::process::exit(Exit::Interrupted as i32);
    });
    stop
}

/// Whether to go on.
pub(super) fn go_on(stop: &CancellationToken) -> Result<(), Fault> {
    if stop.is_cancelled() {
        return Err(Fault::new(Kind::Failed, "interrupted"));
    }
    Ok(())
}

#[cfg(unix)]
pub(super) struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    pub(super) fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let heard = kinds.into_iter().filter_map(|kind| signal(kind).ok());
        Self(heard.collect())
    }

    pub(super) async fn next(&mut self) {
        if self.0.is_empty() {
            return std::future::pending().await;
        }
        let each = self.0.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(each).await;
    }
}

#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn listen() -> Self {
        Self
    }

    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
