//! A plan: everything that a change will do, as plain data, before any of it is done.
//!
//! Tools build plans, [`crate::preview`] shows them, [`crate::engine`] applies them. Nothing here reads or sends, and nothing
//! in a plan is a closure: what cannot be shown cannot be planned.

mod action;
mod check;
mod deed;
mod guard;
mod making;
mod needs;
mod reading;
mod secrets;
mod step;
mod terminal;

pub use action::{Action, AgentExec, AgentFile, Download, Keys, Typed, Upload};
pub use check::{Check, Expect};
pub use guard::{Fingerprints, Guard, rows_of};
pub(crate) use making::volume_name;
pub use needs::Needs;
pub use reading::parts;
pub use secrets::Secrets;
pub use step::{Step, Tell, Trace, Wait};
pub use terminal::{TerminalExec, TerminalLine};

use std::borrow::Cow;
use std::collections::BTreeSet;

use pve::{GuestRef, Request};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::context::arguments;
use crate::risk::Judgement;
use crate::spec::{Risk, Spec};

/// What a changing tool returns.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// The tool that planned it, by the name that it was called by.
    pub tool: String,
    /// Its own name, where it was called by another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proper: Option<String>,
    /// The cluster that it changes.
    pub cluster: String,
    /// One sentence: what will be done to what.
    pub summary: String,
    /// The worst of what is sent, as [`crate::risk`] judges it. A plan that nobody has judged is at its worst.
    risk: Risk,
    /// Why, in the order of the steps; `None` until it is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    judgements: Option<Vec<Judgement>>,
    /// What is sent, in order.
    pub steps: Vec<Step>,
    /// What must still be true right before the first step.
    pub guards: Vec<Guard>,
    /// What is affected, with sizes: guests, disks, snapshots, jobs.
    pub impact: Vec<Impact>,
    /// What a person should know before saying yes.
    pub warnings: Vec<String>,
    /// Why it would be refused as things are. A plan with one is shown, and never sent.
    pub blockers: Vec<Blocker>,
    /// How to take it back.
    pub undo: Undo,
    /// The privileges that it takes, its own reads included.
    pub needs: Needs,
    /// The guests that it acts on or makes, with what policy rules look at.
    pub targets: Vec<Target>,
    /// What it makes besides guests that must not be made twice at a time, as people call it: "volume nas:iso/a.iso".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Whether it is a request that no tool plans, which a person decides on whatever its risk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw: bool,
    /// What fills the holes of its requests. Neither stored nor part of the digest: the arguments that a confirmation is
    /// bound to stand in, and a plan that comes back from the store is filled from the confirming call.
    #[serde(skip)]
    pub secrets: Secrets,
}

impl Plan {
    /// A plan of `spec`'s tool that does nothing yet.
    pub fn new(spec: &Spec, cluster: &str, summary: impl Into<String>) -> Self {
        Self {
            tool: spec.name.to_owned(),
            proper: None,
            cluster: cluster.to_owned(),
            summary: summary.into(),
            risk: Risk::Grant,
            judgements: None,
            steps: Vec::new(),
            guards: Vec::new(),
            impact: Vec::new(),
            warnings: Vec::new(),
            blockers: Vec::new(),
            undo: Undo::Impossible {
                because: "nothing is known that takes it back".to_owned(),
            },
            needs: Needs::Nothing,
            targets: Vec::new(),
            names: Vec::new(),
            raw: false,
            secrets: Secrets::default(),
        }
    }

    /// The same, called by another tool's name. What is said of the tool that planned it still holds.
    pub(crate) fn called(mut self, name: &str) -> Self {
        let proper = std::mem::replace(&mut self.tool, name.to_owned());
        self.proper.get_or_insert(proper);
        self
    }

    /// What a confirmation is bound to: any change of what would be sent, to what, gives another digest.
    pub fn digest(&self) -> String {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        crate::keys::hex(&Sha256::digest(bytes))
    }

    /// The guard of the guest that a step is the first for, where the plan is about several guests.
    pub(crate) fn guard_of_one_among_many(&self, index: usize) -> Option<&Guard> {
        let (before, step) = (self.steps.get(..index)?, self.steps.get(index)?);
        let guests = self.guards.iter().filter_map(Guard::guest);
        if guests.count() < 2 {
            return None;
        }
        self.guards.iter().find(|guard| {
            let is_of = |step: &Step| guard.guest().is_some_and(|at| step.is_at(at));
            is_of(step) && !before.iter().any(is_of)
        })
    }

    /// The worst that it does.
    pub fn risk(&self) -> Risk {
        self.risk
    }

    /// Whether its steps were judged.
    pub(crate) fn is_judged(&self) -> bool {
        self.judgements.is_some()
    }

    /// Why its risk is what it is.
    pub fn judgements(&self) -> &[Judgement] {
        self.judgements.as_deref().unwrap_or_default()
    }

    /// Sets the risk by the judgements on its steps. What a tool lists as destroyed or interrupted counts as well, since it
    /// can know more than the requests tell; it can raise a risk, and never lower one.
    pub(crate) fn judged(&mut self, judgements: Vec<Judgement>) {
        self.judgements = Some(judgements);
        self.weigh();
    }

    /// Adds a reason that does not come from a request.
    pub(crate) fn also_judged(&mut self, judgement: Judgement) {
        self.judgements.get_or_insert_default().push(judgement);
        self.weigh();
    }

    fn weigh(&mut self) {
        let does = self.does();
        self.risk = does.last().copied().unwrap_or(Risk::Grant);
    }

    /// Whether something is gone or overwritten afterwards, whatever else the plan does.
    pub fn destroys(&self) -> bool {
        self.does().contains(&Risk::Destroy)
    }

    /// All that it does which policy tells apart, the worst last. A plan that nobody has judged may do anything.
    pub fn does(&self) -> Vec<Risk> {
        let Some(judgements) = &self.judgements else {
            return vec![Risk::Grant];
        };
        let listed = self.impact.iter().filter_map(|item| match item.effect {
            Effect::Destroyed => Some(Risk::Destroy),
            Effect::Interrupted => Some(Risk::Disrupt),
            Effect::Created | Effect::Changed | Effect::Kept => None,
        });
        let listed = listed.filter(|_| !self.steps.is_empty());
        let judged = judgements.iter().map(|judgement| judgement.risk);
        let mut all: BTreeSet<Risk> = judged.chain(listed).collect();
        all.remove(&Risk::Read);
        if all.is_empty() {
            all.insert(Risk::Change);
        }
        all.into_iter().collect()
    }

    /// Keeps a secret beside the plan, and gives the hole that stands for it in a request.
    pub fn secret(&mut self, name: &str, value: SecretString) -> pve::Value {
        pve::Value::Hole(self.secrets.keep(name, value))
    }

    /// The same for an address with a password in it. Its hole is called as the address reads without that: who agrees sees
    /// the rest.
    pub fn secret_address(&mut self, address: &str) -> pve::Value {
        let shown = crate::clean::without_passwords(address);
        self.secret(&shown, SecretString::from(address))
    }

    /// True if it types a secret text on a console or terminal. The person who approves it has to see that text first: it may
    /// be a command.
    pub fn types_secret(&self) -> bool {
        self.steps.iter().any(|step| step.action.is_secret())
    }

    /// The secret texts that it types; `None` if it types none, or its secrets are gone.
    pub(crate) fn secret_texts(&self) -> Option<Vec<SecretString>> {
        let values = self.steps.iter().flat_map(|step| step.action.secrets());
        let texts: Option<Vec<_>> = values.map(|value| self.secrets.text(value)).collect();
        texts.filter(|texts| !texts.is_empty())
    }

    /// The nodes that it acts on by itself, and not by way of a guest that it is about.
    pub fn nodes(&self) -> BTreeSet<String> {
        /// Where guests of a node, and what is theirs, are acted on.
        const OF_GUESTS: &[&str] = &[
            "lxc",
            "migrateall",
            "qemu",
            "replication",
            "startall",
            "stopall",
            "storage",
            "suspendall",
            "tasks",
            "vzdump",
        ];
        let node = |request: Cow<'_, Request>| {
            let below = request.path.strip_prefix("/nodes/")?;
            let (node, rest) = below.split_once('/').unwrap_or((below, ""));
            let part = rest.split('/').next().unwrap_or_default();
            let is_theirs = !self.targets.is_empty() && OF_GUESTS.contains(&part);
            (!is_theirs).then(|| pve::decode_value(node))
        };
        self.requests().filter_map(node).collect()
    }

    /// Whether all that it sends is about its guests.
    pub fn is_about_guests_alone(&self) -> bool {
        let mut requests = self.requests();
        !self.targets.is_empty()
            && self.nodes().is_empty()
            && requests.all(|request| request.path.starts_with("/nodes/"))
    }

    /// The files that it sends.
    pub fn uploads(&self) -> impl Iterator<Item = &Upload> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Upload(upload) => Some(upload),
            _ => None,
        })
    }

    /// The requests that its steps begin with, in order.
    pub fn requests(&self) -> impl Iterator<Item = Cow<'_, Request>> {
        self.steps.iter().map(|step| step.action.request())
    }
}

/// Something that stands in the way of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocker {
    /// What is true.
    pub because: String,
    /// What to send or do about it.
    pub instead: String,
}

impl Blocker {
    /// What is true, and what to do about it.
    pub fn new(because: impl Into<String>, instead: impl Into<String>) -> Self {
        Self {
            because: because.into(),
            instead: instead.into(),
        }
    }
}

/// One thing that a plan affects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Impact {
    /// What becomes of it.
    pub effect: Effect,
    /// What sort of thing, such as VM, container, disk, snapshot or backup job.
    pub kind: String,
    /// Its name or id.
    pub id: String,
    /// Its size, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// What else is worth knowing of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Impact {
    /// Without size or note.
    pub fn new(effect: Effect, kind: &str, id: impl Into<String>) -> Self {
        Self {
            effect,
            kind: kind.to_owned(),
            id: id.into(),
            bytes: None,
            note: None,
        }
    }

    /// With its size.
    #[must_use]
    pub fn bytes(mut self, bytes: Option<u64>) -> Self {
        self.bytes = bytes;
        self
    }

    /// "destroyed: disk local-lvm:vm-105-disk-0, 16.0 GiB (scsi0)"
    pub fn line(&self) -> String {
        let size = self
            .bytes
            .map(|bytes| format!(", {}", crate::words::size(bytes)))
            .unwrap_or_default();
        let note = self
            .note
            .as_ref()
            .filter(|note| !note.is_empty())
            .map(|note| format!(" ({note})"));
        let line = format!(
            "{}: {} {}{size}{}",
            self.effect.word(),
            self.kind,
            self.id,
            note.unwrap_or_default()
        );
        crate::clean::line(&line)
    }

    /// With a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// What becomes of an affected thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Effect {
    /// It comes to be.
    Created,
    /// It is altered.
    Changed,
    /// It runs, and is interrupted.
    Interrupted,
    /// It is gone afterwards.
    Destroyed,
    /// It stays, and is worth knowing of.
    Kept,
}

impl Effect {
    /// As a column of the preview.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Interrupted => "interrupted",
            Self::Destroyed => "destroyed",
            Self::Kept => "kept",
        }
    }
}

/// How a change is taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// By this call.
    Call {
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Map<String, Value>,
    },
    /// Not at all.
    Impossible {
        /// Why, and what comes closest.
        because: String,
    },
}

impl Undo {
    /// By deleting a guest that was made, which is refused for one that is protected.
    pub fn deleting(made: &Target, runs: bool) -> Self {
        if let Some(why) = made.protected_by() {
            return Self::Impossible {
                because: format!(
                    "the new guest is protected ({why}); once a person has taken that off, delete_proxmox_vm with vmid {} takes it back",
                    made.at.vmid
                ),
            };
        }
        Self::Call {
            tool: "delete_proxmox_vm".to_owned(),
            arguments: arguments([("vmid", json!(made.at.vmid)), ("stop", json!(runs))]),
        }
    }
}

/// A guest that a plan acts on or makes, with what policy rules look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Which guest, where.
    pub at: GuestRef,
    /// Its name at the time of planning.
    pub name: String,
    /// The pool that it is in.
    pub pool: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Whether PVE's own protection flag is set.
    pub protection: bool,
    /// Whether nothing becomes of it, whatever the plan does to others: a disk of it is copied.
    #[serde(default)]
    pub only_read: bool,
}

impl Target {
    /// Whether a person marked this guest as not to be destroyed.
    pub fn is_protected(&self) -> bool {
        self.protected_by().is_some()
    }

    /// What marks it so, in words.
    pub fn protected_by(&self) -> Option<&'static str> {
        let mut tags = self.tags.iter();
        if self.protection {
            Some("PVE's protection flag is set")
        } else if tags.any(|tag| tag.eq_ignore_ascii_case("protected")) {
            Some("it has the tag `protected`")
        } else {
            None
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
