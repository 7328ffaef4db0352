//! What must still be true right before the first step is sent.

use std::collections::{BTreeMap, BTreeSet};

use pve::lenient::as_text;
use pve::{GuestConfig, GuestRef, Identity, Request, Vmid};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A fact that the plan rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    /// The vmid still belongs to the guest that was planned for, and that guest is still configured as it was.
    SameGuest {
        /// Where it was.
        at: GuestRef,
        /// What tells it from any other guest that might get its id.
        identity: Identity,
        /// Its name.
        name: String,
        /// Its configuration, to tell what has changed since.
        config: Fingerprints,
    },
    /// Nobody has taken the id that the caller chose.
    VmidFree(Vmid),
    /// Nobody has taken the id that was the next free one. PVE cannot reserve it; if it is gone, another will do.
    NextVmid(Vmid),
    /// The guest does not run: then nothing is interrupted.
    Stopped(GuestRef),
    /// A list of PVE holds just the rows that it held: none has come, gone or changed in what matters.
    SameRows {
        /// What they are, for people: "the backups of VM 105 (staging) on nas".
        says: String,
        /// The read.
        read: Request,
        /// What matters of a row.
        fields: Vec<String>,
        /// The rows as they were.
        rows: BTreeSet<String>,
    },
}

impl Guard {
    /// The guest that it is about.
    pub(crate) fn guest(&self) -> Option<&GuestRef> {
        match self {
            Self::SameGuest { at, .. } => Some(at),
            _ => None,
        }
    }

    /// The list is as it is in `answer`, as far as `fields` of its rows go.
    pub fn same_rows(says: String, read: Request, fields: &[&str], answer: &[Value]) -> Self {
        let fields: Vec<_> = fields.iter().map(|field| (*field).to_owned()).collect();
        let rows = rows_of(answer, &fields);
        Self::SameRows {
            says,
            read,
            fields,
            rows,
        }
    }
}

/// What matters of the rows of a list.
pub fn rows_of(answer: &[Value], fields: &[String]) -> BTreeSet<String> {
    let text = |row: &Value, field: &String| row.get(field).and_then(as_text).unwrap_or_default();
    let row = |row| {
        fields
            .iter()
            .map(|field| text(row, field))
            .collect::<Vec<_>>()
    };
    answer.iter().map(|it| row(it).join(" ")).collect()
}

/// A short hash of each configuration key: enough to say which changed, without keeping the values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprints(BTreeMap<String, String>);

impl Fingerprints {
    /// Of a configuration. PVE's own digest is left out: it changes with the file, not only with what is in it.
    pub fn of(config: &GuestConfig) -> Self {
        Self(
            config
                .values()
                .iter()
                .filter(|(key, _)| *key != "digest")
                .map(|(key, value)| {
                    (
                        key.clone(),
                        crate::keys::hex(&Sha256::digest(value.to_string())[..6]),
                    )
                })
                .collect(),
        )
    }

    /// The keys that are not as they were.
    pub fn changed(&self, now: &Self) -> Vec<String> {
        let keys = self
            .0
            .keys()
            .chain(now.0.keys().filter(|key| !self.0.contains_key(*key)));
        keys.filter(|key| self.0.get(*key) != now.0.get(*key))
            .cloned()
            .collect()
    }
}
