//! One thing that is sent, what it waits for, and what must be true afterwards.

use pve::{GuestKind, GuestRef, NodeName, Request, Vmid};
use serde::{Deserialize, Serialize};

use super::{Action, Check};

/// One step of a plan.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Step {
    /// What it does, for people: "Clone VM 105 to 300".
    pub says: String,
    /// What is sent.
    pub action: Action,
    /// When the next step may go.
    pub wait: Wait,
    /// What a read must show before the step counts as done.
    pub after: Option<Check>,
    /// What is read if it failed, to tell how things stand: most often that nothing has changed.
    #[serde(default)]
    pub otherwise: Option<Check>,
    /// What only PVE can tell once it is done.
    #[serde(default)]
    pub tells: Option<Tell>,
    /// Whether PVE's answer to it is part of the outcome.
    #[serde(default)]
    pub shows: bool,
    /// PVE's answer holds a secret of this thing, told once: it goes into a file that only its owner may read, and nowhere
    /// else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confides: Option<String>,
    /// Whether it only prepares the steps after it, so that the plan's undo does not take back this one alone.
    #[serde(default)]
    pub prepares: bool,
    /// Steps of the same group run side by side; groups run in ascending order.
    pub group: u16,
}

impl Step {
    /// A request that is finished when PVE has answered it.
    pub fn request(says: impl Into<String>, request: Request) -> Self {
        Self::new(says, Action::Request(request))
    }

    /// Anything that can be sent, finished when it was taken.
    pub fn new(says: impl Into<String>, action: Action) -> Self {
        Self {
            says: says.into(),
            action,
            wait: Wait::Nothing,
            after: None,
            otherwise: None,
            tells: None,
            shows: false,
            confides: None,
            prepares: false,
            group: 0,
        }
    }

    /// It starts a task of PVE and waits for its end.
    #[must_use]
    pub fn task(mut self, trace: Trace) -> Self {
        self.wait = Wait::Task(trace);
        self
    }

    /// What a read must show before it counts as done.
    #[must_use]
    pub fn after(mut self, check: Check) -> Self {
        self.after = Some(check);
        self
    }

    /// What is read if it failed, to tell how things stand.
    #[must_use]
    pub fn otherwise(mut self, check: Check) -> Self {
        self.otherwise = Some(check);
        self
    }

    /// What is looked up and told once it is done.
    #[must_use]
    pub fn tells(mut self, tell: Tell) -> Self {
        self.tells = Some(tell);
        self
    }

    /// PVE's answer to it is part of the outcome.
    #[must_use]
    pub fn shows(mut self) -> Self {
        self.shows = true;
        self
    }

    /// PVE answers with a secret of `what`, which goes into a file and nowhere else.
    #[must_use]
    pub fn confides(mut self, what: impl Into<String>) -> Self {
        self.confides = Some(what.into());
        self
    }

    /// It only prepares the steps after it: the plan's undo does not take back this one alone.
    #[must_use]
    pub fn prepares(mut self) -> Self {
        self.prepares = true;
        self
    }

    /// Whether it acts on this guest, by the path that it is sent to.
    pub(crate) fn is_at(&self, guest: &GuestRef) -> bool {
        let request = self.action.request();
        let below = request.path.strip_prefix(&guest.path(""));
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    /// In this group.
    #[must_use]
    pub fn group(mut self, group: u16) -> Self {
        self.group = group;
        self
    }
}

/// What a step waits for before its postcondition is read.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// For PVE's answer only.
    Nothing,
    /// For the task that PVE names in its answer.
    Task(Trace),
}

/// What is looked up after a step because it cannot be known before, and told beside its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tell {
    /// Which of these settings the running guest has not taken over yet.
    Pending {
        /// The guest.
        at: GuestRef,
        /// The settings that the step changed.
        keys: Vec<String>,
    },
    /// What a VM's screen shows once it stands still.
    Screen(GuestRef),
}

/// How to find the task of a step in the node's own list when PVE's answer was lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The node that runs it.
    pub node: NodeName,
    /// The guest that the task is listed under, if it is about one.
    pub vmid: Option<Vmid>,
    /// The task types that this step may start (an HA-managed guest gives another one).
    pub types: Vec<String>,
}

impl Trace {
    /// The task that PVE calls `qm<name>` for a VM and `vz<name>` for a container.
    pub fn of(at: &GuestRef, name: &str) -> Self {
        let program = match at.kind {
            GuestKind::Qemu => "qm",
            GuestKind::Lxc => "vz",
        };
        Self {
            node: at.node.clone(),
            vmid: Some(at.vmid),
            types: vec![format!("{program}{name}")],
        }
    }
}
