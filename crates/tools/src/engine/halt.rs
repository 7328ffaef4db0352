//! What ends a transfer on its way. The bytes of a file go through where nobody can wait for the store: somebody else
//! looks meanwhile, and leaves a word.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::Engine;
use super::report::Report;

/// How often it is looked whether a transfer is to end.
const GLANCE: Duration = Duration::from_millis(100);

/// Why a transfer is to end, once it is.
#[derive(Clone, Default)]
pub(super) struct Halt(Arc<OnceLock<String>>);

impl Halt {
    /// An error if it is to end.
    pub(super) fn check(&self) -> io::Result<()> {
        match self.0.get() {
            Some(why) => Err(io::Error::other(why.clone())),
            None => Ok(()),
        }
    }
}

impl Engine {
    /// Runs a transfer that looks at `halt` now and then.
    pub(super) async fn watched<T>(
        &self,
        report: &Report,
        halt: &Halt,
        transfer: impl Future<Output = T>,
    ) -> T {
        let watch = async {
            loop {
                if let Some(why) = self.ended_by(report).await {
                    let _ = halt.0.set(why);
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(GLANCE).await;
            }
        };
        tokio::select! {
            done = transfer => done,
            () = watch => unreachable!("whoever watches does not stop"),
        }
    }

    /// Who or what ends a plan that is under way.
    pub(super) async fn ended_by(&self, report: &Report) -> Option<String> {
        if let Some(frozen) = self.policy().frozen() {
            return Some(frozen.message);
        }
        let by = report.cancelled_by().await?;
        Some(format!("it was cancelled by {by}"))
    }
}
