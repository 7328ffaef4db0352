//! A configuration that changes while oxmox serves: read again on SIGHUP. What is wrong with it is said, and what held
//! before holds on.

use std::sync::Arc;

use tokio::sync::watch;
use tools::engine::Engine;
use tools::fault::Fault;

use super::global::Global;
use super::notify::{self, News};
use super::{out, serve};
use crate::http::Live;

/// What can change.
pub struct Reload {
    pub(super) engine: Arc<Engine>,
    pub(super) live: watch::Sender<Arc<Live>>,
}

impl Reload {
    /// Reads the configuration again at every SIGHUP. Does not end.
    pub async fn on_signal(&self, args: &serve::Args, global: &Global) {
        if let Some(mut hangups) = hangups() {
            while hangups.recv().await.is_some() {
                self.now(args, global);
            }
        }
        std::future::pending::<()>().await;
    }

    fn now(&self, args: &serve::Args, global: &Global) {
        notify::tell(News::Reloading);
        match self.again(args, global) {
            Ok(()) => out::say("the configuration was read again"),
            Err(fault) => {
                out::warn("the configuration cannot be taken; what held before holds on");
                out::fault(&fault);
            }
        }
        notify::tell(News::Ready);
    }

    /// All of it or nothing.
    fn again(&self, args: &serve::Args, global: &Global) -> Result<(), Fault> {
        let config = global.load()?;
        for warning in &config.warnings {
            out::warn(warning);
        }
        let live = Live::new(&args.over(config.http.clone()))?;
        let live = live.following(&self.live.borrow())?;
        self.engine.decide_by(config.policy())?;
        live.put(&self.live);
        Ok(())
    }
}

#[cfg(unix)]
fn hangups() -> Option<tokio::signal::unix::Signal> {
    use tokio::signal::unix::{SignalKind, signal};
    signal(SignalKind::hangup()).ok()
}

/// Other systems have no such signal: a change of the configuration waits for the next start.
#[cfg(not(unix))]
fn hangups() -> Option<tokio::sync::mpsc::Receiver<()>> {
    None
}
