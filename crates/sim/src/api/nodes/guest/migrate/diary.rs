//! The log of a migration, whose lines begin with the time.

use crate::clock::Time;
use crate::world::work::Job;

/// How a migration ends that was stopped.
pub(super) const STOPPED: &str = "migration aborted";

/// Writes the log of one migration.
pub(super) struct Diary<'a> {
    pub(super) job: &'a mut Job,
    /// When the migration began.
    pub(super) began: Time,
    now: Time,
}

impl<'a> Diary<'a> {
    /// The diary of a migration that begins now.
    pub(super) fn new(job: &'a mut Job, now: Time) -> Self {
        Self::since(job, now, now)
    }

    /// The diary of a migration that began earlier.
    pub(super) fn since(job: &'a mut Job, began: Time, now: Time) -> Self {
        Self { job, began, now }
    }

    /// A line.
    pub(super) fn note(&mut self, text: &str) {
        self.job.log(format!("{} {text}", self.now));
    }

    /// A line about something that went wrong.
    pub(super) fn error(&mut self, text: &str) {
        self.note(&format!("ERROR: {text}"));
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, seconds: u64) {
        self.job.wait(seconds);
        self.now = self.now + std::time::Duration::from_secs(seconds);
    }

    /// The last line of a migration that went well.
    pub(super) fn finished(&mut self) {
        let duration = self.duration();
        self.note(&format!(
            "migration finished successfully (duration {duration})"
        ));
    }

    /// The end of a migration that left the guest where it was.
    pub(super) fn abort(mut self, error: &str) -> Result<(), String> {
        let duration = self.duration();
        self.error(&format!("migration aborted (duration {duration}): {error}"));
        self.end_with(STOPPED)
    }

    /// The end of one that did not go well after the guest or its disks had begun to move.
    pub(super) fn end_with_problems(mut self) -> Result<(), String> {
        let duration = self.duration();
        self.error(&format!(
            "migration finished with problems (duration {duration})"
        ));
        self.end_with("migration problems")
    }

    /// Fails the task once the time has come.
    fn end_with(self, status: &'static str) -> Result<(), String> {
        self.job.then(move |_, _| Err(status.to_owned()));
        Ok(())
    }

    fn duration(&self) -> String {
        let seconds = self.now.since(self.began).as_secs();
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
    }
}

/// How PVE reaches another node, as the log shows it.
pub(super) fn ssh(target: &str, ip: &str, command: &str) -> String {
    format!(
        "# /usr/bin/ssh -e none -o 'BatchMode=yes' -o 'HostKeyAlias={target}' -o \
         'UserKnownHostsFile=/etc/pve/nodes/{target}/ssh_known_hosts' -o 'GlobalKnownHostsFile=none' root@{ip} {command}"
    )
}
