//! Tasks on the clock: they start with a UPID, their steps ([`Work`]) run when time passes them, and they end with a
//! status. No step runs while a handler runs.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use crate::call::Identity;
use crate::clock::Time;
use crate::world::World;
use crate::world::guest::Kind;
use crate::world::upid::Upid;
use crate::world::work::{Hold, Job, Step, Undo, Work};

/// How long a task waits for a guest that another task holds.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
const LOCK_RETRY: Duration = Duration::from_secs(1);
/// A moment that never comes.
const FOREVER: Time = Time::from_secs(u64::MAX / 4000);

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// When.
    pub at: Time,
    /// `OK`, `WARNINGS: n`, or the error.
    pub status: String,
}

/// One task, running or finished.
pub struct Task {
    /// Its id.
    pub upid: Upid,
    /// The log so far, without the closing line.
    pub log: Vec<String>,
    /// Its end, if it came.
    pub end: Option<End>,
    plan: VecDeque<(Time, Step)>,
    holds: Option<Hold>,
    undo: Option<Undo>,
    waited: Duration,
    warnings: u32,
}

impl Task {
    /// The log as the API shows it: with the line that tells the end.
    pub fn full_log(&self) -> Vec<String> {
        let closing = self.end.as_ref().map(|end| match end.status.as_str() {
            "OK" => "TASK OK".to_owned(),
            status if status.starts_with("WARNINGS") => format!("TASK {status}"),
            status => format!("TASK ERROR: {status}"),
        });
        self.log.iter().cloned().chain(closing).collect()
    }

    fn finish(&mut self, at: Time, status: String) {
        self.end = Some(End { at, status });
        self.plan.clear();
        self.holds = None;
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("upid", &self.upid.to_string())
            .field("log", &self.log)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

/// What goes wrong in a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskTrouble {
    /// It fails half-way.
    Fail {
        /// The last line of the log before the end.
        line: String,
        /// The exit status.
        exit: String,
    },
    /// It ends well, and has done nothing.
    Idle,
}

/// Makes the next matching tasks go wrong.
#[derive(Clone, Debug)]
pub struct TaskFault {
    /// Only tasks of this type.
    pub kind: Option<String>,
    /// Only tasks on this guest.
    pub vmid: Option<u32>,
    /// What goes wrong.
    pub trouble: TaskTrouble,
    /// How many tasks; `None` for all.
    pub times: Option<u32>,
}

/// All tasks of the cluster, oldest first.
#[derive(Debug, Default)]
pub struct Tasks {
    list: Vec<Task>,
    /// Faults for tasks to come.
    pub faults: Vec<TaskFault>,
}

impl Tasks {
    /// All tasks, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Task> {
        self.list.iter()
    }

    /// The task with this id.
    pub fn find(&self, upid: &Upid) -> Option<&Task> {
        self.list.iter().find(|task| task.upid == *upid)
    }

    /// Adds a task that was started before the world began. Without an end it hangs until somebody stops it.
    pub fn add_past(&mut self, upid: Upid, log: Vec<String>, end: Option<End>) {
        let hangs = end.is_none().then_some((FOREVER, Step::Pause));
        self.list.push(Task {
            upid,
            log,
            end,
            plan: hangs.into_iter().collect(),
            holds: None,
            undo: None,
            waited: Duration::ZERO,
            warnings: 0,
        });
    }

    /// Whether a running task holds this guest, alone or with others.
    pub fn holds(&self, kind: Kind, vmid: u32) -> bool {
        let held = |hold: Hold| hold.kind == kind && hold.vmid == vmid;
        self.list.iter().filter_map(|task| task.holds).any(held)
    }

    /// Whether a running task stands in the way of this hold.
    fn blocks(&self, wanted: Hold) -> bool {
        let mut held = self.list.iter().filter_map(|task| task.holds);
        held.any(|hold| {
            let same = hold.kind == wanted.kind && hold.vmid == wanted.vmid;
            same && !(hold.shared && wanted.shared)
        })
    }

    fn take_fault(&mut self, work: &Work) -> Option<TaskFault> {
        let fits = |fault: &TaskFault| {
            fault.times != Some(0)
                && fault.kind.as_ref().is_none_or(|kind| *kind == work.kind)
                && fault.vmid.is_none_or(|vmid| vmid.to_string() == work.id)
        };
        let fault = self.faults.iter_mut().find(|fault| fits(fault))?;
        fault.times = fault.times.map(|left| left - 1);
        Some(fault.clone())
    }

    fn running(&mut self, upid: &str) -> Option<&mut Task> {
        let upid = Upid::parse(upid)?;
        let wanted = |task: &&mut Task| task.upid == upid && task.end.is_none();
        self.list.iter_mut().find(wanted)
    }

    /// The running task whose next step is due first.
    fn next_due(&self, until: Time) -> Option<usize> {
        let due = |task: &Task| {
            task.plan
                .front()
                .map_or(Some(Time::default()), |(at, _)| Some(*at))
        };
        let running = self
            .list
            .iter()
            .enumerate()
            .filter(|(_, task)| task.end.is_none());
        let dated = running.filter_map(|(index, task)| Some((due(task)?, index)));
        dated
            .filter(|(at, _)| *at <= until)
            .min()
            .map(|(_, index)| index)
    }
}

impl World {
    /// Starts a task on a node; its first steps run when time next passes. Returns the UPID.
    pub fn start_task(&mut self, who: &Identity, node: &str, mut work: Work) -> String {
        let pid = self.new_pid();
        let booted = self.nodes.get(node).map_or(self.now, |node| node.boot);
        let pstart = self.now.since(booted).as_millis() / 10;
        let upid = Upid {
            node: node.to_owned(),
            pid,
            pstart: u64::try_from(pstart).unwrap_or_default(),
            start: self.now.secs(),
            kind: work.kind.clone(),
            id: work.id.clone(),
            user: who.clone(),
        };
        match self.tasks.take_fault(&work).map(|fault| fault.trouble) {
            Some(TaskTrouble::Fail { line, exit }) => work.cut_short(&line, &exit),
            Some(TaskTrouble::Idle) => work.idle(),
            None => {}
        }
        let text = upid.to_string();
        let now = self.now;
        self.tasks.list.push(Task {
            upid,
            log: Vec::new(),
            end: None,
            plan: work
                .steps
                .into_iter()
                .map(|(at, step)| (now + at, step))
                .collect(),
            holds: None,
            undo: work.undo,
            waited: Duration::ZERO,
            warnings: 0,
        });
        text
    }

    /// Breaks a running task off. A finished one stays as it is.
    pub fn interrupt_task(&mut self, upid: &Upid) {
        let running = |task: &Task| task.upid == *upid && task.end.is_none();
        if let Some(index) = self.tasks.list.iter().position(running) {
            let undo = self.tasks.list[index].undo.as_ref();
            let status = undo.map_or("received interrupt", |undo| undo.stopped);
            self.fail(index, status.to_owned());
        }
    }

    /// Lets a running task go on until [`World::end_task`].
    pub fn hold_task(&mut self, upid: &str) {
        if let Some(task) = self.tasks.running(upid) {
            task.plan = VecDeque::from([(FOREVER, Step::Pause)]);
        }
    }

    /// Adds a line to the log of a running task.
    pub fn log_task(&mut self, upid: &str, line: String) {
        if let Some(task) = self.tasks.running(upid) {
            task.log.push(line);
        }
    }

    /// Ends a running task, after a last line in its log.
    pub fn end_task(&mut self, upid: &str, line: Option<String>, status: &str) {
        let now = self.now;
        if let Some(task) = self.tasks.running(upid) {
            task.log.extend(line);
            task.finish(now, status.to_owned());
        }
    }

    /// Ends a task with an error, and takes back what it has done if it knows how.
    fn fail(&mut self, index: usize, status: String) {
        let now = self.now;
        let task = &mut self.tasks.list[index];
        task.finish(now, status);
        if let Some(undo) = task.undo.take() {
            (undo.effect)(self);
        }
    }

    /// Runs every step that is due up to `until`, in order of time.
    pub(super) fn run_tasks(&mut self, until: Time) {
        while let Some(index) = self.tasks.next_due(until) {
            let task = &mut self.tasks.list[index];
            match task.plan.pop_front() {
                Some((at, step)) => {
                    self.now = self.now.max(at);
                    self.run_step(index, step);
                }
                None => task.finish(self.now, "OK".to_owned()),
            }
            self.close_if_done(index);
        }
    }

    fn run_step(&mut self, index: usize, step: Step) {
        match step {
            Step::Pause => {}
            Step::Log(line) => self.tasks.list[index].log.push(line),
            Step::Warn(line) => {
                let task = &mut self.tasks.list[index];
                task.warnings += 1;
                task.log.push(format!("WARN: {line}"));
            }
            Step::Fail(status) => self.fail(index, status),
            Step::Lock(hold) => self.take_lock(index, hold),
            Step::Unlock => self.tasks.list[index].holds = None,
            Step::Run(effect) => {
                let mut job = Job::default();
                let result = effect(self, &mut job);
                if let Some(undo) = job.undo.take() {
                    self.tasks.list[index].undo = Some(undo);
                }
                match result {
                    Ok(()) => self.insert_steps(index, job),
                    Err(status) => {
                        self.log_last_words(index, job);
                        self.fail(index, status);
                    }
                }
            }
        }
    }

    /// Puts what an effect asked for in front of the remaining plan, which moves back by that much.
    fn insert_steps(&mut self, index: usize, job: Job) {
        let now = self.now;
        let plan = &mut self.tasks.list[index].plan;
        for (at, _) in plan.iter_mut() {
            *at = *at + job.length;
        }
        for (at, step) in job.next.into_iter().rev() {
            plan.push_front((now + at, step));
        }
    }

    /// Writes the lines of an effect that failed; nothing else it asked for happens.
    fn log_last_words(&mut self, index: usize, job: Job) {
        let lines = job.next.into_iter().filter_map(|(_, step)| match step {
            Step::Log(line) => Some(line),
            Step::Warn(line) => Some(format!("WARN: {line}")),
            _ => None,
        });
        self.tasks.list[index].log.extend(lines);
    }

    fn take_lock(&mut self, index: usize, hold: Hold) {
        let free = !self.tasks.blocks(hold);
        let now = self.now;
        let task = &mut self.tasks.list[index];
        if free {
            task.holds = Some(hold);
            if !task.waited.is_zero() {
                task.log.push(" OK".to_owned());
            }
        } else if task.waited >= LOCK_PATIENCE {
            let file = hold.kind.lock_file(hold.vmid);
            self.fail(index, format!("can't lock file '{file}' - got timeout"));
        } else {
            if task.waited.is_zero() {
                task.log.push("trying to acquire lock...".to_owned());
            }
            task.waited += LOCK_RETRY;
            task.plan
                .iter_mut()
                .for_each(|(at, _)| *at = *at + LOCK_RETRY);
            task.plan.push_front((now + LOCK_RETRY, Step::Lock(hold)));
        }
    }

    fn close_if_done(&mut self, index: usize) {
        let now = self.now;
        let task = &mut self.tasks.list[index];
        if task.end.is_none() && task.plan.is_empty() {
            let status = match task.warnings {
                0 => "OK".to_owned(),
                count => format!("WARNINGS: {count}"),
            };
            task.finish(now, status);
        }
    }
}

#[cfg(test)]
mod tests;
