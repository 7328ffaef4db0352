//! What ends a transfer on its way. The bytes of a file go through where nobody can wait for the store: somebody else
//! looks meanwhile, and leaves a word.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::report::Report;
use super::{Engine, State};
use crate::fault::Fault;

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
            let _ = halt.0.set(self.until_ended(report).await);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            done = transfer => done,
            () = watch => unreachable!("whoever watches does not stop"),
        }
    }

    /// Waits until somebody or something ends a plan that is under way.
    pub(super) async fn until_ended(&self, report: &Report) -> String {
        loop {
            if let Some(why) = self.ended_by(report).await {
                return why;
            }
            tokio::time::sleep(GLANCE).await;
        }
    }

    /// The fault that stops every step while a person has frozen this machine, or all replicas on a shared store. What
    /// cannot be looked at counts as frozen.
    pub(super) async fn frozen(&self) -> Option<Fault> {
        if let Some(here) = self.policy().frozen() {
            return Some(here);
        }
        if !matches!(self.state, State::Shared(..)) {
            return None;
        }
        let frozen = match self.store().await {
            Ok(store) => store.frozen_by().await,
            Err(fault) => Err(fault),
        };
        let by = match frozen {
            Ok(by) => by?,
            Err(fault) => return Some(fault),
        };
        let what = format!("oxmox is frozen: {by} stopped all changes of all replicas");
        Some(
            Fault::refused(what)
                .hint("there is nothing to send until a person lets changes run again"),
        )
    }

    /// Who or what ends a plan that is under way.
    pub(super) async fn ended_by(&self, report: &Report) -> Option<String> {
        if let Some(frozen) = self.frozen().await {
            return Some(frozen.message);
        }
        let by = report.cancelled_by().await?;
        Some(format!("it was cancelled by {by}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_goes_on_until_there_is_a_word_against_it() {
        let halt = Halt::default();
        assert!(halt.check().is_ok());
        halt.0.set("cancelled".to_owned()).unwrap();
        assert_eq!(halt.check().unwrap_err().to_string(), "cancelled");
    }
}
