//! What a task does: a handler describes it as steps with time between them.

use std::fmt;
use std::time::Duration;

use crate::world::World;
use crate::world::guest::Kind;

/// A change that a task makes. An error ends the task with that text.
pub type Effect = Box<dyn FnOnce(&mut World, &mut Job) -> Result<(), String> + Send>;

pub(super) enum Step {
    Log(String),
    Warn(String),
    Lock(Hold),
    Unlock,
    Run(Effect),
    Fail(String),
    Pause,
}

/// A guest that a task needs for itself, or may share with others that only read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    pub(super) kind: Kind,
    pub(super) vmid: u32,
    pub(super) shared: bool,
}

/// How a task cleans up after itself when it fails or is stopped.
pub(super) struct Undo {
    pub(super) effect: Box<dyn FnOnce(&mut World) + Send>,
    /// The exit status of a task that was stopped.
    pub(super) stopped: &'static str,
}

/// What a task will do: steps in order, with time between them.
#[must_use]
pub struct Work {
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) steps: Vec<(Duration, Step)>,
    pub(super) undo: Option<Undo>,
    length: Duration,
}

impl Work {
    /// Work of a type (`qmstart`) on something (a guest's id, or nothing).
    pub fn new(kind: impl Into<String>, id: impl fmt::Display) -> Self {
        Self {
            kind: kind.into(),
            id: id.to_string(),
            steps: Vec::new(),
            undo: None,
            length: Duration::ZERO,
        }
    }

    /// Takes the guest for this task alone until it ends. Waits for another task that has it, and gives up after ten
    /// seconds.
    pub fn lock(self, kind: Kind, vmid: u32) -> Self {
        self.step(Step::Lock(Hold {
            kind,
            vmid,
            shared: false,
        }))
    }

    /// Like [`Work::lock`], but together with others that share the guest.
    pub fn share(self, kind: Kind, vmid: u32) -> Self {
        self.step(Step::Lock(Hold {
            kind,
            vmid,
            shared: true,
        }))
    }

    /// What to take back if the task fails or is stopped; in the latter case it ends with the status `stopped`.
    pub fn undo(
        mut self,
        stopped: &'static str,
        effect: impl FnOnce(&mut World) + Send + 'static,
    ) -> Self {
        let effect = Box::new(effect);
        self.undo = Some(Undo { effect, stopped });
        self
    }

    /// Writes a line to the log.
    pub fn log(self, line: impl Into<String>) -> Self {
        self.step(Step::Log(line.into()))
    }

    /// Lets time pass.
    pub fn wait(mut self, seconds: u64) -> Self {
        self.length += Duration::from_secs(seconds);
        self.step(Step::Pause)
    }

    /// Changes the world.
    pub fn run(
        self,
        effect: impl FnOnce(&mut World, &mut Job) -> Result<(), String> + Send + 'static,
    ) -> Self {
        self.step(Step::Run(Box::new(effect)))
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push((self.length, step));
        self
    }

    /// Breaks it off half-way: what lies in the first half still happens.
    pub(super) fn cut_short(&mut self, line: &str, exit: &str) {
        let half = self.length / 2;
        self.steps
            .retain(|(at, step)| *at < half || matches!(step, Step::Lock(..)));
        self.steps.push((half, Step::Log(line.to_owned())));
        self.steps.push((half, Step::Fail(exit.to_owned())));
    }

    /// Lets time pass as it would, and changes nothing.
    pub(super) fn idle(&mut self) {
        self.steps
            .retain(|(_, step)| matches!(step, Step::Lock(..) | Step::Log(_) | Step::Pause));
        self.undo = None;
    }
}

/// What an effect may say to its own task.
#[derive(Default)]
pub struct Job {
    pub(super) next: Vec<(Duration, Step)>,
    pub(super) undo: Option<Undo>,
    pub(super) length: Duration,
}

impl Job {
    /// Writes a line to the log.
    pub fn log(&mut self, line: impl Into<String>) {
        self.next.push((self.length, Step::Log(line.into())));
    }

    /// Writes a warning; the task will end with `WARNINGS: n`.
    pub fn warn(&mut self, line: impl Into<String>) {
        self.next.push((self.length, Step::Warn(line.into())));
    }

    /// Lets time pass before what follows.
    pub fn wait(&mut self, seconds: u64) {
        self.length += Duration::from_secs(seconds);
        self.next.push((self.length, Step::Pause));
    }

    /// Lets others have the guest again although the task goes on; its config is locked by then.
    pub fn unlock(&mut self) {
        self.next.push((self.length, Step::Unlock));
    }

    /// Like [`Work::undo`], from the moment on when there is something to take back.
    pub fn undo(
        &mut self,
        stopped: &'static str,
        effect: impl FnOnce(&mut World) + Send + 'static,
    ) {
        let effect = Box::new(effect);
        self.undo = Some(Undo { effect, stopped });
    }

    /// Adds a further effect, after what was added before it and before the rest of the work.
    pub fn then(
        &mut self,
        effect: impl FnOnce(&mut World, &mut Job) -> Result<(), String> + Send + 'static,
    ) {
        self.next.push((self.length, Step::Run(Box::new(effect))));
    }
}
