//! The audit trail: opened and closed entries of attempts, and decisions on them, each linked to the one before it by a keyed hash.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::database::{Row, Transaction, Trouble};
use super::{Store, json};
use crate::fault::Fault;
use crate::keys::Keys;
use crate::outcome::StepOutcome;
use crate::spec::Risk;

/// What is kept of an attempted change, or of a decision on one.
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
        /// The cluster, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cluster: Option<String>,
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
        /// Who PVE takes the caller for, where they act by a token of their own; absent where oxmox acts by its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pve_identity: Option<String>,
    },
    /// A person's yes or no to a plan that waited. Belongs to no attempt: whoever asked may never come back for it.
    Decided {
        /// Unix time.
        at: i64,
        /// The plan's id.
        plan: String,
        /// `approved` or `rejected`.
        decision: String,
        /// Who decided.
        decided_by: String,
        /// Who had asked for it.
        caller: String,
        /// The cluster; absent in older entries.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cluster: Option<String>,
        /// The tool.
        tool: String,
        /// What it would do.
        summary: String,
        /// The plan's risk.
        risk: Risk,
        /// The plan's digest.
        digest: String,
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
        /// What was affected, with values before and after where the plan knew them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        affects: Vec<String>,
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

/// An entry as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its number.
    pub seq: i64,
    /// What was kept, as JSON.
    pub entry: String,
    /// Its link: a head, until the next one is written.
    pub link: String,
}

/// Who keeps a copy of the trail elsewhere. Told of each entry once it is on disk, where others wait: it may neither wait for
/// anything nor fail.
pub type Copyist = Arc<dyn Fn(&Written) + Send + Sync>;

/// Tells of these.
pub(super) fn tell(copyist: Option<&Copyist>, written: &[Written]) {
    if let Some(copyist) = copyist {
        for entry in written {
            copyist(entry);
        }
    }
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

/// How many entries are read at a time.
const PAGE: i64 = 1000;

impl Store {
    /// Adds an entry at the end of the chain.
    pub async fn append_audit(&self, entry: &AuditEntry) -> Result<(), Fault> {
        self.append_audits(std::slice::from_ref(entry)).await
    }

    /// Adds several, one after the other: all or none.
    pub async fn append_audits(&self, entries: &[AuditEntry]) -> Result<(), Fault> {
        let entries: Vec<_> = entries.iter().map(json).collect::<Result<_, _>>()?;
        let keys = self.keys.clone();
        self.record(move |tx| {
            let written = entries.iter().map(|entry| chain(tx, &keys, entry));
            Ok(((), written.collect::<Result<_, _>>()?))
        })
        .await?;
        Ok(())
    }

    /// The last `limit` entries, oldest first.
    pub async fn audit_trail(&self, limit: u32) -> Result<Vec<Link>, Fault> {
        let values = [i64::from(limit).into()];
        let rows = self
            .read(move |tx| {
                tx.query(
                    "SELECT seq, entry, link FROM audit ORDER BY seq DESC LIMIT ?1",
                    &values,
                )
            })
            .await?;
        let mut trail = Vec::new();
        for row in rows.into_iter().rev() {
            // One entry that cannot be read must not hide the others; `verify` names it.
            let Ok(entry) = serde_json::from_str(&row.text(1)?) else {
                continue;
            };
            trail.push(Link {
                seq: row.number(0)?,
                entry,
                link: row.text(2)?,
            });
        }
        Ok(trail)
    }

    /// The entries before that number, newest first, a page of them, and where the next page begins, if there is one.
    pub async fn audit_before(&self, seq: i64) -> Result<(Vec<Link>, Option<i64>), Fault> {
        let values = [seq.into(), PAGE.into()];
        let rows = self
            .read(move |tx| {
                tx.query(
                    "SELECT seq, entry, link FROM audit WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2",
                    &values,
                )
            })
            .await?;
        let last = rows.last().map(|row| row.number(0)).transpose()?;
        let mut page = Vec::new();
        for row in rows {
            // As above: one that cannot be read hides no other.
            if let Ok(entry) = serde_json::from_str(&row.text(1)?) {
                page.push(Link {
                    seq: row.number(0)?,
                    entry,
                    link: row.text(2)?,
                });
            }
        }
        Ok((page, last))
    }

    /// The entries after that number, oldest first, a page of them: each exactly as it was written, with its link.
    pub async fn audit_since(&self, seq: i64) -> Result<Vec<(i64, String, String)>, Fault> {
        let values = [seq.into(), PAGE.into()];
        let rows = self
            .read(move |tx| {
                tx.query(
                    "SELECT seq, entry, link FROM audit WHERE seq > ?1 ORDER BY seq LIMIT ?2",
                    &values,
                )
            })
            .await?;
        let mut page = Vec::new();
        for row in rows {
            page.push((row.number(0)?, row.text(1)?, row.text(2)?));
        }
        Ok(page)
    }

    /// Walks the whole chain. With a head kept elsewhere it also finds a tail that was cut off.
    pub async fn verify_audit(&self, head: Option<&str>) -> Result<Verified, Fault> {
        let walked = Walked {
            // Below whatever number somebody may have given an entry.
            after: i64::MIN,
            entries: 0,
            previous: GENESIS.to_owned(),
        };
        self.walk_audit(walked, head).await
    }

    /// Walks on from where the chain was found whole, for whoever looks often: so many entries, with that head. Where the head
    /// is not there any more, the whole chain is walked, with that head to be found in it. What was changed before it since then is not seen.
    pub async fn verify_audit_since(&self, entries: i64, head: &str) -> Result<Verified, Fault> {
        let values = [entries.into()];
        let there = self
            .read(move |tx| tx.query("SELECT link FROM audit WHERE seq = ?1", &values))
            .await?;
        let there = there.first().map(|row| row.text(0)).transpose()?;
        if there.as_deref() != Some(head) {
            return self.verify_audit(Some(head)).await;
        }
        let walked = Walked {
            after: entries,
            entries,
            previous: head.to_owned(),
        };
        self.walk_audit(walked, None).await
    }

    async fn walk_audit(&self, walked: Walked, head: Option<&str>) -> Result<Verified, Fault> {
        let Walked {
            mut after,
            mut entries,
            mut previous,
        } = walked;
        let mut anchored = head.map(|head| head == GENESIS);
        loop {
            let values = [after.into(), PAGE.into()];
            let page = self
                .read(move |tx| {
                    tx.query(
                        "SELECT seq, entry, link FROM audit WHERE seq > ?1 ORDER BY seq LIMIT ?2",
                        &values,
                    )
                })
                .await?;
            if page.is_empty() {
                return Ok(Verified::Whole {
                    entries,
                    head: previous,
                    anchored,
                });
            }
            for row in page {
                let (seq, json, link) = (row.number(0)?, row.text(1)?, row.text(2)?);
                entries += 1;
                if seq != entries || link != self.keys.link(&previous, &json) {
                    return Ok(Verified::Broken { seq: entries });
                }
                if head == Some(link.as_str()) {
                    anchored = Some(true);
                }
                previous = link;
                after = seq;
            }
        }
    }
}

/// How far the chain was walked.
struct Walked {
    /// The number of the last entry.
    after: i64,
    /// How many there were.
    entries: i64,
    /// The last link.
    previous: String,
}

/// Whether these rows, in their order, are a chain from its beginning.
pub(super) fn is_whole<'a>(
    keys: &Keys,
    rows: impl Iterator<Item = &'a Row>,
) -> Result<bool, Trouble> {
    let mut previous = GENESIS.to_owned();
    for (row, place) in rows.zip(1..) {
        let (seq, json, link) = (row.number(0)?, row.text(1)?, row.text(2)?);
        if seq != place || link != keys.link(&previous, &json) {
            return Ok(false);
        }
        previous = link;
    }
    Ok(true)
}

/// Links an entry to the last one, as a part of a transaction.
pub(super) fn chain(tx: &mut dyn Transaction, keys: &Keys, json: &str) -> Result<Written, Trouble> {
    tx.hold_audit()?;
    let last = tx.query("SELECT seq, link FROM audit ORDER BY seq DESC LIMIT 1", &[])?;
    let (seq, previous) = match last.first() {
        Some(row) => (row.number(0)?, row.text(1)?),
        None => (0, GENESIS.to_owned()),
    };
    let next = seq
        .checked_add(1)
        .ok_or_else(|| Trouble("the numbers of the audit trail are used up".to_owned()))?;
    let link = keys.link(&previous, json);
    tx.execute(
        "INSERT INTO audit (seq, entry, link) VALUES (?1, ?2, ?3)",
        &[next.into(), json.into(), (&link).into()],
    )?;
    Ok(Written {
        seq: next,
        entry: json.to_owned(),
        link,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_copyist_is_told_of_every_entry_in_order() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let seen = told.clone();
        let copyist: Copyist = Arc::new(move |written| seen.lock().unwrap().push(written.seq));
        let written = [1, 2].map(|seq| Written {
            seq,
            entry: "{}".to_owned(),
            link: String::new(),
        });
        tell(Some(&copyist), &written);
        tell(None, &written);
        assert_eq!(*told.lock().unwrap(), [1, 2]);
    }
}
