//! The end of a run that works: what it takes the place of goes, on the cluster and here. From here on a failure leaves
//! something to do, and takes nothing back; the next run goes on with it.

use std::path::Path;

use tools::fault::{Fault, Kind};

use super::apply::Work;
use super::journal::{At, Journal};
use super::plan::{Last, Plan};
use super::written::Written;
use crate::cli::out;

impl Work<'_> {
    /// What is sent last, what is kept no more, and what is written down of all that.
    pub(super) async fn finish(&self, mut journal: Journal) -> Result<(), Fault> {
        journal.hosts = self.trial.settings.hosts.iter().map(At::from).collect();
        leave_authority(self.plan, &mut journal, self.state)?;
        for last in &self.plan.last {
            if self.stop.is_cancelled() {
                let fault = Fault::new(Kind::Failed, "interrupted");
                return Err(self.left_to_do(last, fault).await);
            }
            out::say(format_args!("  {}", last.says));
            self.send_last(last).await?;
            journal.unmake(&last.gone);
            journal.write(self.state)?;
        }
        self.clear_superseded(&mut journal)
    }

    /// What could not be removed is still written down.
    fn clear_superseded(&self, journal: &mut Journal) -> Result<(), Fault> {
        for keep in &self.plan.superseded {
            out::say(format_args!(
                "  remove the secret of an earlier token: {keep}"
            ));
            match keep.remove() {
                Ok(()) => journal.secrets.retain(|old| !old.is_same_place(keep)),
                Err(fault) => {
                    out::warn(format_args!(
                        "the secret of an earlier token is still there: {}",
                        fault.message
                    ));
                    if let Some(hint) = fault.hint {
                        out::hint(hint);
                    }
                }
            }
        }
        journal.write(self.state)
    }

    async fn send_last(&self, last: &Last) -> Result<(), Fault> {
        let request = last.gone.undo();
        match self.writer.send(&last.says, &request).await {
            Err(trouble) if !trouble.is_gone() => {
                Err(self.left_to_do(last, trouble.of(&request)).await)
            }
            _ => Ok(()),
        }
    }

    async fn left_to_do(&self, last: &Last, fault: Fault) -> Fault {
        let message = format!(
            "oxmox reaches {} as {}, and this is left to do: {}: {}",
            self.plan.cluster, self.plan.token, last.says, fault.message
        );
        let again = "run the same command again".to_owned();
        Fault { message, ..fault }.hint(self.writer.hint(again).await)
    }
}

/// What earlier runs wrote down and is not so any more is forgotten, also where there is nothing else to do.
pub(super) fn tidy(plan: &Plan, mut journal: Journal, state: &Path) -> Result<(), Fault> {
    leave_authority(plan, &mut journal, state)
}

/// The file of an authority that is asked no more. What somebody had there comes back when all is taken back; else setup has no
/// part in it from now on, and what somebody puts there later is theirs.
fn leave_authority(plan: &Plan, journal: &mut Journal, state: &Path) -> Result<(), Fault> {
    let authority = plan.authority.as_ref();
    let Some(gone) = authority.filter(|draft| draft.after.is_none()) else {
        return journal.write(state);
    };
    let mut written = Written::read(state)?;
    if written.is_owed(&gone.path) {
        return journal.write(state);
    }
    journal.ca_file = None;
    // First: what a journal names without that is taken for its own.
    journal.write(state)?;
    written.forget(&gone.path);
    written.write(state)
}
