//! Faults to inject, on the way of a request or in a task.

use std::time::Duration;

use serde_json::Value;

use crate::http::Request;
use crate::retell::Retold;
use crate::world::task::{TaskFault, TaskTrouble};

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The request is answered with this status and reason, and never reaches its handler.
    Refuse {
        /// The HTTP status.
        status: u16,
        /// The reason phrase.
        reason: String,
    },
    /// The request is answered with this data, and never reaches its handler.
    Answer(Value),
    /// The answer comes late, by real time.
    Delay(Duration),
    /// The connection closes, and nothing happened.
    DropBefore,
    /// The connection closes in the middle of the request, and nothing happened.
    DropDuring,
    /// The connection closes without an answer, but the request was carried out.
    DropAfter,
    /// The connection closes in the middle of the answer; the request was carried out.
    CutAnswer,
    /// The answer is no JSON, though it says so; the request was carried out.
    Gibberish,
    /// The request is answered with this status and reason, but was carried out: the node that did it could not say so.
    RefuseAfter {
        /// The HTTP status.
        status: u16,
        /// The reason phrase.
        reason: String,
    },
    /// Whoever stands before PVE answers with a page to log in, and the request never reaches its handler.
    LoginPage,
    /// This node goes down at the moment at which the request comes.
    Outage(String),
    /// The answer is the real one, but for some of its texts.
    Retell(Retold),
}

/// A fault on the way of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFault {
    /// Only this method.
    pub method: Option<String>,
    /// Only paths like this, below `/api2/json`; `*` stands for any text.
    pub path: String,
    /// Only requests to this node's port.
    pub endpoint: Option<String>,
    /// What goes wrong.
    pub trouble: Trouble,
    /// How many requests; `None` for all.
    pub times: Option<u32>,
}

/// A fault to inject. Built with the functions below, e.g. `Fault::drop_after().on("POST", "/nodes/*/qemu/*/clone")`.
#[derive(Clone, Debug)]
#[must_use]
pub enum Fault {
    /// On the way of requests.
    Request(RequestFault),
    /// In tasks.
    Task(TaskFault),
}

impl Fault {
    fn request(trouble: Trouble) -> Self {
        Self::Request(RequestFault {
            method: None,
            path: "*".to_owned(),
            endpoint: None,
            trouble,
            times: None,
        })
    }

    /// Answers with this status and reason instead of the real answer.
    pub fn refuse(status: u16, reason: &str) -> Self {
        Self::request(Trouble::Refuse {
            status,
            reason: reason.to_owned(),
        })
    }

    /// Answers requests of this method and path with `data` in place of the real answer: 200 and `{"data": ...}`.
    /// For what this simulator never says itself but a client may have to read.
    pub fn answer(method: &str, path: &str, data: impl Into<Value>) -> Self {
        Self::request(Trouble::Answer(data.into())).on(method, path)
    }

    /// Answers late, by real time.
    pub fn delay(span: Duration) -> Self {
        Self::request(Trouble::Delay(span))
    }

    /// Closes the connection before anything happened.
    pub fn drop_before() -> Self {
        Self::request(Trouble::DropBefore)
    }

    /// Closes the connection while the body of the request is on its way.
    pub fn drop_during() -> Self {
        Self::request(Trouble::DropDuring)
    }

    /// Carries the request out and closes the connection without an answer.
    pub fn drop_after() -> Self {
        Self::request(Trouble::DropAfter)
    }

    /// Carries the request out and closes the connection in the middle of the answer.
    pub fn cut_answer() -> Self {
        Self::request(Trouble::CutAnswer)
    }

    /// Carries the request out and answers with what is no JSON.
    pub fn gibberish() -> Self {
        Self::request(Trouble::Gibberish)
    }

    /// Carries the request out and answers with this status and reason all the same.
    pub fn refuse_after(status: u16, reason: &str) -> Self {
        Self::request(Trouble::RefuseAfter {
            status,
            reason: reason.to_owned(),
        })
    }

    /// Answers with the page of a proxy that wants a login of its own, before anything happened.
    pub fn login_page() -> Self {
        Self::request(Trouble::LoginPage)
    }

    /// Takes a node off the network at the moment at which the request comes.
    pub fn outage(node: &str) -> Self {
        Self::request(Trouble::Outage(node.to_owned()))
    }

    /// Answers reads as they are, but for the texts of these fields.
    pub fn retell(retold: Retold) -> Self {
        Self::request(Trouble::Retell(retold)).on("GET", "*")
    }

    /// Makes tasks of this type fail half-way, with a last log line and an exit status.
    pub fn fail_task(kind: &str, line: &str, exit: &str) -> Self {
        let fails = TaskTrouble::Fail {
            line: line.to_owned(),
            exit: exit.to_owned(),
        };
        Self::task(kind, fails)
    }

    /// Makes tasks of this type end well without doing anything.
    pub fn idle_task(kind: &str) -> Self {
        Self::task(kind, TaskTrouble::Idle)
    }

    fn task(kind: &str, trouble: TaskTrouble) -> Self {
        Self::Task(TaskFault {
            kind: Some(kind.to_owned()),
            vmid: None,
            trouble,
            times: None,
        })
    }

    /// Limits a request fault to a method and to paths; `*` in the path stands for any text.
    pub fn on(mut self, method: &str, path: &str) -> Self {
        if let Self::Request(fault) = &mut self {
            fault.method = Some(method.to_owned());
            path.clone_into(&mut fault.path);
        }
        self
    }

    /// Limits a request fault to one node's port.
    pub fn at(mut self, endpoint: &str) -> Self {
        if let Self::Request(fault) = &mut self {
            fault.endpoint = Some(endpoint.to_owned());
        }
        self
    }

    /// Limits a task fault to one guest.
    pub fn vmid(mut self, vmid: u32) -> Self {
        if let Self::Task(fault) = &mut self {
            fault.vmid = Some(vmid);
        }
        self
    }

    /// Limits it to the next `times` matches.
    pub fn times(mut self, times: u32) -> Self {
        match &mut self {
            Self::Request(fault) => fault.times = Some(times),
            Self::Task(fault) => fault.times = Some(times),
        }
        self
    }
}

/// The request faults in force.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<RequestFault>);

impl Faults {
    pub(crate) fn add(&mut self, fault: RequestFault) {
        self.0.push(fault);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The first fault that fits a request which has come; it is used up by one.
    pub(crate) fn take(&mut self, request: &Request, path: &str) -> Option<Trouble> {
        self.take_one(request, path, false)
    }

    /// Whether a request is cut off while it comes.
    pub(crate) fn cuts_off(&mut self, request: &Request, path: &str) -> bool {
        self.take_one(request, path, true).is_some()
    }

    fn take_one(&mut self, request: &Request, path: &str, during: bool) -> Option<Trouble> {
        let fits = |fault: &RequestFault| {
            fault.times != Some(0)
                && (fault.trouble == Trouble::DropDuring) == during
                && fault
                    .method
                    .as_ref()
                    .is_none_or(|method| *method == request.method)
                && fault
                    .endpoint
                    .as_ref()
                    .is_none_or(|endpoint| *endpoint == request.endpoint)
                && matches_glob(&fault.path, path)
        };
        let fault = self.0.iter_mut().find(|fault| fits(fault))?;
        fault.times = fault.times.map(|left| left - 1);
        Some(fault.trouble.clone())
    }
}

/// Whether `text` is `pattern` with each `*` replaced by some text.
fn matches_glob(pattern: &str, text: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(rest) = text.strip_prefix(head) else {
        return false;
    };
    rest.char_indices()
        .map(|(at, _)| at)
        .chain([rest.len()])
        .any(|at| matches_glob(tail, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        assert!(matches_glob("*", "/nodes"));
        assert!(matches_glob(
            "/nodes/*/qemu/*/clone",
            "/nodes/pve1/qemu/100/clone"
        ));
        assert!(!matches_glob(
            "/nodes/*/qemu/*/clone",
            "/nodes/pve1/qemu/100/config"
        ));
        assert!(!matches_glob("/nodes", "/nodes/pve1"));
    }
}
