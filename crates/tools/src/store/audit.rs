//! The audit trail: opened and closed entries, each linked to the one before it by a keyed hash.

use rusqlite::{OptionalExtension as _, Transaction, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Store, json};
use crate::fault::Fault;
use crate::outcome::StepOutcome;
use crate::spec::Risk;

/// What is kept of an attempted change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AuditEntry {
    /// It is about to be sent, or refused.
    Opened {
        /// Unix time.
        at: i64,
        /// The plan's id; opened and closed share it.
        plan: String,
        /// Who asked.
        caller: String,
        /// The tool.
        tool: String,
        /// Its arguments, secrets redacted.
        arguments: Value,
        /// What it would do, where a plan could be made.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// The plan's risk.
        #[serde(skip_serializing_if = "Option::is_none")]
        risk: Option<Risk>,
        /// The plan's digest.
        #[serde(skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// Who confirmed it, and how; absent where nobody had to.
        #[serde(skip_serializing_if = "Option::is_none")]
        confirmed_by: Option<String>,
    },
    /// What became of it.
    Closed {
        /// Unix time.
        at: i64,
        /// The plan's id.
        plan: String,
        /// `applied`, `nothing_sent`, `not_applied`, `running`, `unknown`, `needs_confirmation`, `refused` or `failed`.
        result: String,
        /// Why, where it was not applied.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The steps with their tasks.
        steps: Vec<StepOutcome>,
    },
}

/// An entry in its place in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its number, from 1.
    pub seq: i64,
    /// What was kept.
    pub entry: AuditEntry,
    /// The keyed hash over the link before and this entry.
    pub link: String,
}

/// What checking the chain showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// Every link holds.
    Whole {
        /// How many entries.
        entries: i64,
        /// The last link: kept elsewhere, it shows a tail that was cut off later.
        head: String,
        /// Whether the given head was found in the chain; `None` if none was given.
        anchored: Option<bool>,
    },
    /// The chain is broken at this entry: it was edited, removed or put elsewhere.
    Broken {
        /// The number of the first entry that does not fit.
        seq: i64,
    },
}

/// What the first entry is linked to.
const GENESIS: &str = "oxmox audit chain 1";

impl Store {
    /// Adds an entry at the end of the chain.
    pub fn append_audit(&self, entry: &AuditEntry) -> Result<(), Fault> {
        let json = json(entry)?;
        self.write(|tx| self.chain(tx, &json))?;
        Ok(())
    }

    /// Links an entry to the last one, as a part of `tx`.
    pub(super) fn chain(&self, tx: &Transaction<'_>, json: &str) -> rusqlite::Result<()> {
        let last: Option<(i64, String)> = tx
            .query_row(
                "SELECT seq, link FROM audit ORDER BY seq DESC LIMIT 1",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let (seq, previous) = last.unwrap_or((0, GENESIS.to_owned()));
        let next = seq
            .checked_add(1)
            .ok_or(rusqlite::Error::IntegralValueOutOfRange(0, seq))?;
        let link = self.keys.link(&previous, json);
        tx.execute(
            "INSERT INTO audit (seq, entry, link) VALUES (?1, ?2, ?3)",
            params![next, json, link],
        )?;
        Ok(())
    }

    /// The last `limit` entries, oldest first.
    pub fn audit_trail(&self, limit: u32) -> Result<Vec<Link>, Fault> {
        let connection = self.lock();
        let mut statement = connection.prepare(
            "SELECT seq, entry, link FROM (SELECT * FROM audit ORDER BY seq DESC LIMIT ?1) ORDER BY seq",
        )?;
        let rows = statement.query_map([limit], |row| {
            Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?))
        })?;
        let mut trail = Vec::new();
        for row in rows {
            let (seq, json, link): (i64, String, String) = row?;
            // One entry that cannot be read must not hide the others; `verify` names it.
            let Ok(entry) = serde_json::from_str(&json) else {
                continue;
            };
            trail.push(Link { seq, entry, link });
        }
        Ok(trail)
    }

    /// Walks the whole chain. With a head kept elsewhere it also finds a tail that was cut off.
    pub fn verify_audit(&self, head: Option<&str>) -> Result<Verified, Fault> {
        let connection = self.lock();
        let mut statement =
            connection.prepare("SELECT seq, entry, link FROM audit ORDER BY seq")?;
        let mut rows = statement.query([])?;
        let mut previous = GENESIS.to_owned();
        let mut entries = 0;
        let mut anchored = head.map(|head| head == GENESIS);
        while let Some(row) = rows.next()? {
            let (seq, json, link): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            entries += 1;
            if seq != entries || link != self.keys.link(&previous, &json) {
                return Ok(Verified::Broken { seq: entries });
            }
            if head == Some(link.as_str()) {
                anchored = Some(true);
            }
            previous = link;
        }
        Ok(Verified::Whole {
            entries,
            head: previous,
            anchored,
        })
    }
}
