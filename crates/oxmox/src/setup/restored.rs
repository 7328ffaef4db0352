//! What setup wrote on this machine, as it will be when that is taken back. A file that nobody else wrote since is again
//! exactly what it was; of any other only what setup entered goes.

use std::fs;
use std::path::{Path, PathBuf};

use tools::fault::{Fault, Kind};

use super::journal::{Configured, Journal};
use super::shared::{Shared, Stays};
use super::written::{Touched, Written};
use crate::cli::out;
use crate::clients::Client;
use crate::config::Edit;
use crate::files::{Draft, behind_links};

/// Why most files are not put back whole that are not.
const EDITED: &str = "somebody else has changed that file since";

/// The files as they will be, and what becomes of their copies.
pub(super) struct Restored {
    drafts: Vec<Draft>,
    /// Copies that are of no use any more.
    done: Vec<PathBuf>,
    /// Those that may be, with why.
    stays: Vec<String>,
    written: Written,
}

impl Restored {
    pub(super) fn plan(journal: &Journal, shared: &Shared, state: &Path) -> Result<Self, Fault> {
        let mut all = Self {
            drafts: Vec::new(),
            done: Vec::new(),
            stays: Vec::new(),
            written: Written::read(state)?,
        };
        if let Some(config) = &journal.config {
            let edited = || without_section(config, &journal.cluster);
            all.add(&config.path, shared.config, edited, &|draft| draft)?;
        }
        if let Some(file) = &journal.ca_file {
            all.authority(file, journal, &shared.authority)?;
        }
        let mut seen = Vec::new();
        for entered in &journal.clients {
            let (client, file) = (&entered.client, entered.file.display());
            let entry = format!("oxmox in {client} ({file})");
            let stays = shared.stays(entered);
            let is_shared = matches!(stays, Stays::GoesBack(_));
            match stays {
                Stays::No => {}
                Stays::GoesBack(cluster) => {
                    let stays = format!("{entry}, as it was before, for {cluster}");
                    all.stays.push(stays);
                }
                Stays::WithAnother(cluster) => {
                    all.stays.push(format!("{entry}, for {cluster}"));
                    continue;
                }
                Stays::ForGood => {
                    let why = "for the cluster that you have added";
                    all.stays.push(format!("{entry}, {why}"));
                    all.leave(&entered.file);
                    continue;
                }
            }
            let Some(client) = Client::parse(&entered.client) else {
                continue;
            };
            let file = behind_links(&entered.file);
            // Two clusters, perhaps, of which the second found what the first had entered.
            if seen.contains(&file) {
                continue;
            }
            let touched = all.written.of(&file);
            let first = touched.and_then(|touched| touched.entry.clone());
            let first = first.filter(|_| !is_shared);
            let before = first.unwrap_or_else(|| entered.before.clone());
            let edited = || client.left(&entered.file, &before);
            let shown = |draft| client.only_ours_shown(draft);
            all.add(&entered.file, is_shared, edited, &shown)?;
            seen.push(file);
        }
        let is_last = |entered| shared.stays(entered) == Stays::No;
        if shared.is_last() && journal.clients.iter().all(is_last) {
            let untouched = all.written.forget_untouched().into_iter();
            all.done.extend(untouched.filter_map(|it| it.copy));
        }
        Ok(all)
    }

    /// One file: exactly as it was, or else `edited`.
    fn add(
        &mut self,
        file: &Path,
        is_shared: bool,
        edited: impl FnOnce() -> Result<Draft, Fault>,
        shown: &dyn Fn(Draft) -> Draft,
    ) -> Result<(), Fault> {
        let exact = if is_shared {
            None
        } else {
            self.written.put_back(&Draft::open(file)?)
        };
        let draft = match exact {
            Some(exact) => shown(exact),
            None => edited()?,
        };
        self.take(draft, is_shared, EDITED);
        Ok(())
    }

    /// The certificate of the cluster's authority: setup's as a whole, unless somebody else has written it since, or goes by it.
    fn authority(
        &mut self,
        file: &Path,
        journal: &Journal,
        others: &[String],
    ) -> Result<(), Fault> {
        let draft = Draft::open(file)?;
        let is_known = self.written.of(&draft.path).is_some();
        let back = match self.written.put_back(&draft) {
            Some(exact) => exact,
            // Written by an oxmox that did not write it down: the journal tells what.
            None if !is_known && draft.before == journal.ca => draft.clone().gone(),
            None => draft.clone(),
        };
        // As it is now: with what was there before setup, they would be as lost as without any.
        let is_needed = !others.is_empty() && draft.before.is_some() && back.is_change();
        let shown = draft.path.display();
        if is_needed {
            let others = others.join(" and ");
            self.stays.push(format!("{shown}, for {others}"));
            self.take(draft, false, &format!("that file stays for {others}"));
            return Ok(());
        }
        if back.after.is_some() && !self.written.is_as_at_first(&back) {
            self.stays
                .push(format!("{shown}: it is as somebody else left it"));
        }
        self.take(back, false, EDITED);
        Ok(())
    }

    /// `why` a copy is not put back, where there is one with something else in it.
    fn take(&mut self, draft: Draft, is_shared: bool, why: &str) {
        if is_shared {
            self.written.rewrite(&draft);
        } else {
            let copies = match self.written.forget(&draft.path) {
                Some(touched) => touched.kept(),
                // Written by an oxmox that did not write it down.
                None => draft.copies(),
            };
            for (copy, text) in copies {
                self.copy(&draft, copy, &text, why);
            }
        }
        if draft.is_change() {
            self.drafts.push(draft);
        }
    }

    /// A file that is a person's from now on, with what setup entered in it.
    fn leave(&mut self, file: &Path) {
        let touched = self.written.forget(&behind_links(file));
        for (copy, _) in touched.iter().flat_map(Touched::kept) {
            let (copy, file) = (copy.display(), file.display());
            self.stays
                .push(format!("{copy}: what {file} held before oxmox changed it"));
        }
    }

    fn copy(&mut self, draft: &Draft, copy: PathBuf, text: &str, why: &str) {
        if draft.after.as_deref() == Some(text) {
            self.done.push(copy);
            return;
        }
        let (file, shown) = (draft.path.display(), copy.display());
        let stays = format!(
            "{shown}: what {file} held before oxmox changed it; {why}, so that it is not put back whole. Remove the copy when \
             you miss nothing"
        );
        if !self.stays.contains(&stays) {
            self.stays.push(stays);
        }
    }

    /// For people: the files with what changes in them, and what stays.
    pub(super) fn shown(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for draft in &self.drafts {
            lines.push(format!("  - {}:", draft.path.display()));
            lines.extend(draft.diff().lines().map(|line| format!("      {line}")));
        }
        lines.extend(self.stays.iter().map(|stays| format!("  stays: {stays}")));
        lines
    }

    /// What stays, and why.
    pub(super) fn staying(&self) -> &[String] {
        &self.stays
    }

    /// Does it. How the files were stays written down: whoever is killed before the journal is closed comes back.
    pub(super) fn write(&self) -> Result<(), Fault> {
        for draft in &self.drafts {
            out::say(format_args!("  {}", draft.path.display()));
            draft.put_back().map_err(|fault| match fault.kind {
                Kind::Failed => fault.hint(
                    "see that it can be written, and run the command again: it goes on with the rest",
                ),
                _ => fault,
            })?;
        }
        for copy in &self.done {
            let _ = fs::remove_file(copy);
        }
        Ok(())
    }

    /// It is over.
    pub(super) fn forget(&self, state: &Path) -> Result<(), Fault> {
        self.written.write(state)
    }
}

/// The configuration with what its section said before, or without it.
fn without_section(config: &Configured, cluster: &str) -> Result<Draft, Fault> {
    let mut edit = Edit::open(&config.path)?;
    let before = config.before.as_ref();
    let is_back = before.is_some_and(|before| edit.put_section(cluster, before));
    if !is_back && !edit.remove_cluster(cluster) {
        return Draft::open(&config.path);
    }
    let draft = edit.draft();
    Ok(if edit.text().trim().is_empty() {
        draft.gone()
    } else {
        draft
    })
}
