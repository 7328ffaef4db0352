//! A question put to PVE whose answer is already known if the change worked.

use pve::{GuestRef, Request, Vmid};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A read and what it must show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What is then true, for people: "VM 300 exists and is unlocked".
    pub says: String,
    /// The read.
    pub read: Request,
    /// All that it must show.
    pub expect: Vec<Expect>,
    /// Whether it may take a while to become true after the request is done (a guest that HA starts).
    pub settles: bool,
}

/// What a read must show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// This field has this value; null stands for "absent".
    Is(String, Value),
    /// This field is there and has another value than this one.
    Not(String, Value),
    /// The read answers a list, and one of its rows has this value in this field.
    Listed(String, Value),
    /// The read answers a list, and none of its rows has this value in this field.
    Unlisted(String, Value),
    /// `/cluster/nextid` says that the id is free. It answers every user, so a guest hidden by a missing privilege
    /// never looks like a deleted one.
    Free,
}

impl Check {
    /// No guest of either kind has this id any more.
    pub fn free(vmid: Vmid) -> Self {
        Self {
            says: format!("no guest has the id {vmid}"),
            read: Request::get("/cluster/nextid").with("vmid", vmid),
            expect: vec![Expect::Free],
            settles: false,
        }
    }

    /// The guest's `status/current` or `config` shows this.
    pub fn guest(at: &GuestRef, part: &str, says: impl Into<String>, expect: Vec<Expect>) -> Self {
        Self {
            says: says.into(),
            read: Request::get(at.path(part)),
            expect,
            settles: false,
        }
    }

    /// It may take a while after the request is done.
    #[must_use]
    pub fn settles(mut self, settles: bool) -> Self {
        self.settles = settles;
        self
    }

    /// Whether PVE's answer shows what is expected.
    pub fn holds(&self, answer: &Value) -> bool {
        let field = |name: &str| answer.get(name).unwrap_or(&Value::Null);
        self.expect.iter().all(|expect| match expect {
            Expect::Is(name, value) => field(name) == value,
            Expect::Not(name, value) => !field(name).is_null() && field(name) != value,
            Expect::Listed(name, value) => answer
                .as_array()
                .is_some_and(|rows| has_row(rows, name, value)),
            Expect::Unlisted(name, value) => answer
                .as_array()
                .is_some_and(|rows| !has_row(rows, name, value)),
            Expect::Free => true,
        })
    }

    /// Whether this refusal is PVE's way of saying that the id is taken.
    pub fn is_taken(&self, error: &pve::Error) -> bool {
        self.expect.contains(&Expect::Free) && error.status() == Some(400)
    }
}

fn has_row(rows: &[Value], field: &str, value: &Value) -> bool {
    rows.iter().any(|row| row.get(field) == Some(value))
}
