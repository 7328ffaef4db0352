//! Does what the plan says: the cluster first, then this machine. Whatever goes wrong, what was made is taken back. What
//! could not be brought back comes last, when everything else has shown that it works.

use std::path::{Path, PathBuf};

use secrecy::SecretString;
use tokio_util::sync::CancellationToken;
use tools::fault::{Fault, Kind};

use super::journal::{Configured, Entered, Journal};
use super::made::Made;
use super::plan::Plan;
use super::signals;
use super::trail::Recorded;
use super::trial::Trial;
use super::written::Written;
use crate::cli::out;
use crate::config::{Edit, is_text};
use crate::files::{Draft, missing_dirs, remove_empty};
use crate::keep::Keep;

/// What is needed to do it.
pub struct Work<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What sends.
    pub writer: Recorded<'a>,
    /// Where setup writes down what it does.
    pub state: &'a Path,
    /// What there is to do where something of it is left behind.
    pub way_out: String,
    /// How the token will reach the cluster.
    pub trial: &'a Trial,
    /// The files that earlier runs wrote.
    pub written: Written,
    /// The token's secret, if it is known already.
    pub secret: Option<SecretString>,
    /// The directories that were made before it began, each before those in it.
    pub dirs: Vec<PathBuf>,
    /// Ctrl-C and its like.
    pub stop: CancellationToken,
}

/// What this run has done so far.
#[derive(Default)]
struct Done {
    made: Vec<Made>,
    stored: bool,
    written: Vec<Draft>,
}

impl Work<'_> {
    /// All of it, or nothing. `before`: what earlier runs wrote down. Answers the token's secret, if it is known here.
    pub async fn run(
        mut self,
        before: Option<&Journal>,
        mut journal: Journal,
    ) -> Result<Option<SecretString>, Fault> {
        let mut done = Done::default();
        let made_dirs = [self.dirs.clone(), self.missing_dirs()].concat();
        journal.dirs.extend(made_dirs.clone());
        match self.attempt(&mut journal, &mut done).await {
            Ok(()) => {
                self.finish(journal).await?;
                Ok(self.secret)
            }
            Err(fault) => {
                let after = (before, journal);
                Err(self.give_up(fault, done, after, &made_dirs).await)
            }
        }
    }

    async fn give_up(
        &self,
        fault: Fault,
        done: Done,
        (before, journal): (Option<&Journal>, Journal),
        made_dirs: &[PathBuf],
    ) -> Fault {
        out::say("taking back what was made so far");
        let mut left = self.take_back(done).await;
        if !left.is_empty() {
            left.extend(self.forget_secret(before, journal, &left));
        }
        if left.is_empty() {
            // As it was before: what an earlier run made is still there.
            let written = match before {
                Some(before) => before.write(self.state),
                None => Journal::forget(self.state, &self.plan.cluster),
            };
            match written.and_then(|()| self.written.write(self.state)) {
                Ok(()) => remove_empty(made_dirs),
                Err(also) => left.push(format!("what setup wrote down ({})", also.message)),
            }
        }
        if left.is_empty() {
            let message = format!(
                "{}; what was made so far has been taken back",
                fault.message
            );
            return Fault { message, ..fault };
        }
        let message = format!("{}; left behind: {}", fault.message, left.join(", "));
        let hint = self.writer.hint(self.way_out.clone()).await;
        Fault { message, ..fault }.hint(hint)
    }

    /// The place of a secret that was taken back is free: whoever has it next shall not lose theirs by what is written down here.
    fn forget_secret(
        &self,
        before: Option<&Journal>,
        mut journal: Journal,
        left: &[String],
    ) -> Option<String> {
        let keep = self.plan.secret.as_ref()?;
        let was_known = before.is_some_and(|before| before.secrets.contains(keep));
        if was_known || left.contains(&keep.to_string()) {
            return None;
        }
        journal.secrets.retain(|it| it != keep);
        let also = journal.write(self.state).err()?;
        Some(format!("what setup wrote down ({})", also.message))
    }

    async fn attempt(&mut self, journal: &mut Journal, done: &mut Done) -> Result<(), Fault> {
        self.send_steps(journal, done).await?;
        signals::go_on(&self.stop)?;
        self.write_down(journal)?;
        if let (Some(keep), Some(secret)) = (&self.plan.secret, &self.secret) {
            out::say(format_args!("  keep the token's secret in {keep}"));
            done.stored = true;
            keep.store(secret)?;
        }
        for draft in self.plan.files() {
            signals::go_on(&self.stop)?;
            let act = if draft.after.is_none() {
                "remove"
            } else {
                "write"
            };
            out::say(format_args!("  {act} {}", draft.path.display()));
            draft.write()?;
            done.written.push(draft.clone());
        }
        signals::go_on(&self.stop)?;
        if let Some(secret) = &self.secret {
            out::say("  try the token");
            // It only looks: nothing has to be waited for.
            let notes = tokio::select! {
                notes = self.trial.run(secret) => notes?,
                () = self.stop.cancelled() => return signals::go_on(&self.stop),
            };
            for note in notes {
                out::warn(note);
            }
        }
        signals::go_on(&self.stop)
    }

    async fn send_steps(&mut self, journal: &mut Journal, done: &mut Done) -> Result<(), Fault> {
        let earlier = journal.made.clone();
        for step in &self.plan.steps {
            signals::go_on(&self.stop)?;
            // Written down first: whoever dies after sending leaves a trace.
            done.made.push(step.made.clone());
            if !journal.made.contains(&step.made) {
                journal.made.push(step.made.clone());
            }
            journal.write(self.state)?;
            out::say(format_args!("  {}", step.says));
            let answer = match self.writer.send(&step.says, &step.request).await {
                Ok(answer) => answer,
                Err(trouble) => {
                    if !trouble.may_be_done() {
                        // PVE said no: there is nothing to take back, and what is there by that name is somebody else's.
                        let made = done.made.pop();
                        journal.made.retain(|known| {
                            Some(known) != made.as_ref() || earlier.contains(known)
                        });
                        journal.write(self.state)?;
                    }
                    return Err(trouble.of(&step.request));
                }
            };
            if matches!(step.made, Made::Token { .. }) {
                let value = answer.get("value").and_then(serde_json::Value::as_str);
                let value = value.ok_or_else(|| {
                    Fault::new(
                        Kind::Failed,
                        "PVE made the token and did not tell its secret",
                    )
                })?;
                let secret = value.into();
                is_text(&secret).map_err(|fault| Fault {
                    message: format!("the secret that PVE told: {}", fault.message),
                    ..fault
                })?;
                self.secret = Some(secret);
            }
        }
        Ok(())
    }

    /// How the files are that are about to change. Before the journal names them: what it names without that was written by an
    /// oxmox that did not write it down. Before there are copies, too, or nobody would know of those.
    fn write_down_files(&self) -> Result<(), Fault> {
        let mut written = self.written.clone();
        for draft in self.plan.files() {
            let mut clients = self.plan.entered();
            let client = clients.find(|(_, entered)| entered.path == draft.path);
            let entry = client.map(|(client, _)| client.before(draft.before.as_deref()));
            written.about_to(draft, entry);
        }
        written.write(self.state)
    }

    /// What is about to change on this machine.
    fn write_down(&self, journal: &mut Journal) -> Result<(), Fault> {
        self.write_down_files()?;
        // How it was before the first run counts.
        let (path, name) = (&self.plan.config.path, &self.plan.cluster);
        let edit = Edit::open(path)?;
        let config = journal.config.get_or_insert_with(|| Configured {
            path: path.clone(),
            before: edit.section(name),
        });
        // By this name one comes back, or none.
        let was_there = |other: &&str| *other != name.as_str() || config.before.is_some();
        let beside = edit.clusters().filter(was_there);
        let beside: Vec<_> = beside.map(str::to_owned).collect();
        for (client, draft) in self.plan.entered() {
            let known = |known: &Entered| known.client == client.word() && known.file == draft.path;
            if !journal.clients.iter().any(known) {
                journal.clients.push(Entered {
                    client: client.word().to_owned(),
                    file: draft.path.clone(),
                    before: client.before(draft.before.as_deref()),
                    beside: Some(beside.clone()),
                });
            }
        }
        if let Some(keep) = &self.plan.secret
            && !journal.secrets.contains(keep)
        {
            journal.secrets.push(keep.clone());
        }
        // One that is there already, with the same in it, is not ours to take away.
        let makes = |draft: &&Draft| draft.after.is_some() && draft.is_change();
        if let Some(file) = self.plan.authority.as_ref().filter(makes) {
            journal.ca_file = Some(file.path.clone());
        }
        journal.write(self.state)
    }

    /// The directories that this run will make, each before those in it.
    fn missing_dirs(&self) -> Vec<PathBuf> {
        let secret = self.plan.secret.as_ref().and_then(Keep::file);
        let files = self.plan.files().map(|draft| draft.path.as_path());
        let journal = Journal::path(self.state, &self.plan.cluster);
        let mut dirs = Vec::new();
        for file in files.chain(secret).chain([journal.as_path()]) {
            for dir in missing_dirs(file) {
                if !dirs.contains(&dir) {
                    dirs.push(dir);
                }
            }
        }
        dirs
    }

    /// The other way round. What could not be taken back is named.
    async fn take_back(&self, done: Done) -> Vec<String> {
        let mut left = Vec::new();
        for draft in done.written.into_iter().rev() {
            let path = draft.path.display().to_string();
            let back = Draft {
                before: draft.after,
                after: draft.before,
                ..draft
            };
            if back.put_back().is_err() {
                left.push(path);
            }
        }
        for draft in self.plan.files() {
            draft.drop_copy();
        }
        if let Some(keep) = self.plan.secret.as_ref().filter(|_| done.stored)
            && keep.remove().is_err()
        {
            left.push(keep.to_string());
        }
        for made in done.made.into_iter().rev() {
            let says = format!("take back {}", made.says());
            if let Err(trouble) = self.writer.send(&says, &made.undo()).await
                && !trouble.is_gone()
            {
                left.push(made.says());
            }
        }
        left
    }
}
