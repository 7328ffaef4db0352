//! The nodes, with what they are trusted by: a fingerprint for each, or the cluster's own authority, whose certificate is in a
//! file then.

use std::path::Path;

use pve::Host;
use tools::fault::Fault;

use super::choices::Choices;
use super::journal::Journal;
use super::nodes::{self, Other};
use super::prepare::{Settled, Way};
use super::shared::trusting;
use super::wishes::Trusting;
use super::written::Written;
use crate::config::Edit;
use crate::files::Draft;

/// How the cluster will be reached.
pub(super) struct Trusted {
    pub(super) hosts: Vec<Host>,
    /// The file of the authority; one that is no longer asked goes.
    pub(super) authority: Option<Draft>,
    /// What there is to tell.
    pub(super) notes: Vec<String>,
}

impl Trusted {
    /// By what was chosen, as far as the cluster and the files here allow it.
    pub(super) async fn find(
        way: &Way,
        choices: &Choices,
        (settled, config): (&Settled<'_>, &Edit),
        (journal, files): (Option<&Journal>, &Written),
    ) -> Result<Self, Fault> {
        let (hosts, notes) = members(way, choices).await;
        let by_pins = Self {
            hosts,
            authority: None,
            notes,
        };
        let others = |file: &Path| trusting(file, &choices.name, config, settled.environment);
        let wrote = |draft: &Draft| match files.of(&draft.path) {
            Some(_) => files.holds_own(draft),
            None => journal.is_some_and(|journal| journal.ca == draft.before),
        };
        let written = journal.and_then(|journal| journal.ca_file.as_deref());
        if choices.trusting != Trusting::Ca {
            return Ok(by_pins.without_authority(written, others, wrote));
        }
        let Some(authority) = &way.facts.authority else {
            let what = "the cluster does not tell the certificate of its authority";
            let by_pins = by_pins.noting(format!("{what}: fingerprints it is"));
            return Ok(by_pins.without_authority(written, others, wrote));
        };
        let name = format!("{}-ca.pem", choices.name);
        let file = settled.here.config.with_file_name(name);
        let draft = Draft::open(&file)?;
        let theirs = others(&file);
        let is_other = draft.before.as_ref().is_some_and(|it| *it != authority.pem);
        if is_other && !theirs.is_empty() {
            return Ok(by_pins.noting(format!(
                "{} holds another certificate, which stays, for {}: fingerprints it is; with another --name, this cluster has \
                 a file of its own",
                file.display(),
                theirs.join(" and ")
            )));
        }
        let Self {
            hosts, mut notes, ..
        } = by_pins;
        let mut vouched = Vec::new();
        for host in hosts {
            let (host, is_vouched) = nodes::by_authority(host, authority).await;
            if !is_vouched {
                notes.push(format!(
                    "the cluster's authority does not vouch for {host}, so that its fingerprint is kept"
                ));
            }
            vouched.push(host);
        }
        Ok(Self {
            hosts: vouched,
            authority: Some(draft.holding(authority.pem.clone())),
            notes,
        })
    }

    /// The file that an earlier run wrote goes, unless somebody goes by it, has put something else there, or it is no file any
    /// more.
    fn without_authority(
        mut self,
        written: Option<&Path>,
        others: impl Fn(&Path) -> Vec<String>,
        wrote: impl Fn(&Draft) -> bool,
    ) -> Self {
        let Some(file) = written else {
            return self;
        };
        let others = others(file);
        if !others.is_empty() {
            let others = others.join(" and ");
            return self.noting(format!("{} stays, for {others}", file.display()));
        }
        match Draft::open(file) {
            Ok(draft) if draft.before.is_none() || wrote(&draft) => {
                self.authority = Some(draft.gone());
                self
            }
            Ok(draft) => self.noting(format!(
                "{} stays, as somebody else left it",
                draft.path.display()
            )),
            Err(fault) => self.noting(format!(
                "the certificate of the cluster's authority is not asked any more, and stays: {}",
                fault.message
            )),
        }
    }

    fn noting(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }
}

/// The host that was named, and the others that stand in for it.
async fn members(way: &Way, choices: &Choices) -> (Vec<Host>, Vec<String>) {
    let (mut hosts, mut notes) = (vec![way.host.clone()], Vec::new());
    if choices.only_host {
        return (hosts, notes);
    }
    for other in nodes::others(&way.reader, &way.host, &way.facts.status.nodes).await {
        match other {
            Other::Reached(host) => hosts.push(host),
            Other::Left(why) => notes.push(format!("not used as another way in: {why}")),
        }
    }
    (hosts, notes)
}
