//! Does what the plan says: the cluster first, then this machine. Whatever goes wrong, what was made is taken back.

use std::path::{Path, PathBuf};

use pve::{Credentials, Settings};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;
use tools::fault::{Fault, Kind};

use super::journal::{Configured, Entered, Journal, Made};
use super::plan::Plan;
use super::trail::Recorded;
use crate::cli::out;
use crate::config::Edit;
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
    /// How the token will reach the cluster.
    pub settings: Settings,
    /// The token's secret, if it is known already.
    pub secret: Option<SecretString>,
    /// Ctrl-C.
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
    /// All of it, or nothing.
    pub async fn run(mut self, mut journal: Journal) -> Result<(), Fault> {
        let before = journal.clone();
        let mut done = Done::default();
        let made_dirs = self.missing_dirs();
        journal.dirs.extend(made_dirs.clone());
        let result = self.attempt(&mut journal, &mut done).await;
        let Err(fault) = result else {
            return Ok(());
        };
        out::say("taking back what was made so far");
        let left = self.take_back(done).await;
        if left.is_empty() {
            // As it was before: what an earlier run made is still there.
            let forgotten = if before.made.is_empty() && before.config.is_none() {
                Journal::forget(self.state, &self.plan.cluster)
            } else {
                before.write(self.state)
            };
            forgotten?;
            remove_empty(&made_dirs);
            let message = format!(
                "{}; what was made so far has been taken back",
                fault.message
            );
            return Err(Fault { message, ..fault });
        }
        let message = format!("{}; left behind: {}", fault.message, left.join(", "));
        Err(Fault { message, ..fault }.hint(format!(
            "`oxmox setup --undo --name {}` takes it back",
            self.plan.cluster
        )))
    }

    async fn attempt(&mut self, journal: &mut Journal, done: &mut Done) -> Result<(), Fault> {
        let earlier = journal.made.clone();
        for step in &self.plan.steps {
            self.go_on()?;
            if let Some(made) = &step.made {
                // Written down first: whoever dies after sending leaves a trace.
                done.made.push(made.clone());
                if !journal.made.contains(made) {
                    journal.made.push(made.clone());
                }
                journal.write(self.state)?;
            }
            out::say(format_args!("  {}", step.says));
            let answer = match self.writer.send(&step.says, &step.request).await {
                Ok(answer) => answer,
                Err(trouble) => {
                    if let Some(made) = step.made.as_ref().filter(|_| !trouble.may_be_done()) {
                        // PVE said no: there is nothing to take back, and what is there by that name is somebody else's.
                        done.made.pop();
                        journal
                            .made
                            .retain(|known| known != made || earlier.contains(known));
                        journal.write(self.state)?;
                    }
                    return Err(trouble.of(&step.request));
                }
            };
            if matches!(step.made, Some(Made::Token { .. })) {
                let value = answer.get("value").and_then(serde_json::Value::as_str);
                let value = value.ok_or_else(|| {
                    Fault::new(
                        Kind::Failed,
                        "PVE made the token and did not tell its secret",
                    )
                })?;
                self.secret = Some(value.into());
            }
        }
        self.go_on()?;
        // How it was before the first run counts.
        let (path, name) = (&self.plan.config.path, &self.plan.cluster);
        if journal.config.is_none() {
            let before = Edit::open(path)?.section(name);
            let path = path.clone();
            journal.config = Some(Configured { path, before });
        }
        for (client, draft) in self.plan.entered() {
            let known = |known: &Entered| known.client == client.word() && known.file == draft.path;
            if !journal.clients.iter().any(known) {
                journal.clients.push(Entered {
                    client: client.word().to_owned(),
                    file: draft.path.clone(),
                    before: client.before(draft.before.as_deref()),
                });
            }
        }
        if let Some(keep) = &self.plan.secret {
            journal.secret = Some(keep.clone());
        }
        journal.write(self.state)?;
        if let (Some(keep), Some(secret)) = (&self.plan.secret, &self.secret) {
            out::say(format_args!("  keep the token's secret in {keep}"));
            done.stored = true;
            keep.store(secret)?;
        }
        let files: Vec<_> = self.plan.files().collect();
        for draft in &files {
            self.go_on()?;
            out::say(format_args!("  write {}", draft.path.display()));
            draft.write()?;
            done.written.push((*draft).clone());
        }
        self.try_token().await
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

    fn go_on(&self) -> Result<(), Fault> {
        if self.stop.is_cancelled() {
            return Err(Fault::new(Kind::Failed, "interrupted"));
        }
        Ok(())
    }

    /// Whether the token gets in, as oxmox will.
    async fn try_token(&self) -> Result<(), Fault> {
        let (Some(secret), Some((user, name))) = (&self.secret, self.plan.token.split_once('!'))
        else {
            return Ok(());
        };
        out::say("  try the token");
        let mut settings = self.settings.clone();
        settings.credentials = Credentials::Token {
            user: user.to_owned(),
            name: name.to_owned(),
            secret: secret.clone(),
        };
        let (reader, _) = pve::connect(settings)?;
        reader.version().await?;
        Ok(())
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
