//! The guest agent inside a machine: what it knows of its system, its files, and the programs it runs.
//!
//! What it answers comes from the world file; the little that every system has is in [`super::shell`].

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::Time;
use crate::world::guest::{Guest, Power};
use crate::world::shell::{self, Outcome};

/// The first process id it gives out.
const FIRST_PID: u32 = 700;

/// The agent and what it sees.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    /// Addresses by network card: `net0 = ["192.168.1.16/24"]`.
    pub addresses: BTreeMap<String, Vec<String>>,
    /// Files by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Users of the system beside root.
    pub users: Vec<String>,
    /// Programs that the shell does not know by itself.
    pub programs: Vec<Program>,
    /// Commands that the settings of the agent forbid: `guest-exec`.
    pub blocked: Vec<String>,
    /// The file systems are frozen.
    pub frozen: bool,
    processes: BTreeMap<u32, Process>,
    started: u32,
}

/// A command line and what comes of it.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The words, with one blank between them.
    pub line: String,
    /// What comes of it.
    pub outcome: Outcome,
}

#[derive(Clone, Debug)]
struct Process {
    ends: Time,
    outcome: Outcome,
}

/// What is known of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is no such process, or its end was told before.
    Unknown,
    /// It still runs.
    Running,
    /// It ended.
    Ended(Outcome),
}

/// What an agent does even while the file systems are frozen.
const ALWAYS: &[&str] = &[
    "guest-ping",
    "guest-info",
    "guest-sync",
    "guest-sync-delimited",
    "guest-fsfreeze-status",
    "guest-fsfreeze-thaw",
];

impl Agent {
    /// Whether it takes this command at the moment.
    pub fn allows(&self, command: &str) -> bool {
        let is_blocked = self.blocked.iter().any(|blocked| blocked == command);
        !is_blocked && (!self.frozen || ALWAYS.contains(&command))
    }

    /// Forgets what does not outlive a restart.
    pub fn reset(&mut self) {
        self.frozen = false;
        self.processes.clear();
    }

    /// The end of a process, which is told once.
    pub fn progress(&mut self, pid: u32, now: Time) -> Progress {
        match self.processes.get(&pid) {
            None => Progress::Unknown,
            Some(process) if process.ends > now => Progress::Running,
            Some(_) => self
                .processes
                .remove(&pid)
                .map_or(Progress::Unknown, |process| {
                    Progress::Ended(process.outcome)
                }),
        }
    }
}

impl Guest {
    /// Whether the agent answers at this moment.
    pub fn agent_answers(&self) -> bool {
        let awake = matches!(self.power, Power::Running { paused: false, .. });
        awake && self.off_at.is_none() && self.inside.agent && self.agent_enabled()
    }

    /// The content of a file. Every system knows its own name.
    pub fn file(&self, path: &str) -> Option<Vec<u8>> {
        let known = self.agent.files.get(path).cloned();
        known.or_else(|| (path == "/etc/hostname").then(|| format!("{}\n", self.name()).into()))
    }

    /// Whether there is a directory of that name: those of the files, and the common ones.
    pub fn has_directory(&self, path: &str) -> bool {
        let below = format!("{}/", path.trim_end_matches('/'));
        let common = [
            "", "/etc", "/home", "/opt", "/root", "/srv", "/tmp", "/usr", "/var",
        ];
        common.contains(&path.trim_end_matches('/'))
            || self.agent.files.keys().any(|file| file.starts_with(&below))
    }

    /// What comes of a command line that this guest was told about.
    pub fn known_program(&self, line: &str) -> Option<&Outcome> {
        let mut known = self.agent.programs.iter();
        let found = known.find(|program| program.line == line)?;
        Some(&found.outcome)
    }

    /// What comes of a command line in a shell.
    pub fn run_line(&self, line: &str) -> Outcome {
        let words = ["sh", "-c", line].map(str::to_owned);
        match self.known_program(line) {
            Some(outcome) => outcome.clone(),
            None => shell::run(self, &words, b"").unwrap_or_default(),
        }
    }

    /// Starts a program; `None` if there is none of that name.
    pub fn execute(&mut self, words: &[String], input: &[u8], now: Time) -> Option<u32> {
        let outcome = shell::run(self, words, input)?;
        let pid = FIRST_PID + self.agent.started * 2;
        self.agent.started += 1;
        let ends = now + Duration::from_secs(outcome.seconds);
        self.agent.processes.insert(pid, Process { ends, outcome });
        Some(pid)
    }
}
