//! Limits on stored plans: how many wait for approval, and how large one is.

use super::database::{Transaction, Trouble, Value};
use crate::caller::account;
use crate::fault::Fault;
use crate::words;

/// Waiting plans of one account: more than a person would look at.
const MOST_PER_ACCOUNT: usize = 20;
/// Waiting plans of all accounts.
const MOST_PER_STORE: usize = 200;
/// Bytes of one plan as JSON.
const LARGEST_PLAN: usize = 256 * 1024;

/// A limit on waiting plans that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    Account,
    Store,
}

impl Full {
    /// The refusal of one more plan.
    pub(super) fn fault(self) -> Fault {
        let (most, whose) = match self {
            Self::Account => (MOST_PER_ACCOUNT, " of this caller"),
            Self::Store => (MOST_PER_STORE, ""),
        };
        Fault::refused(format!(
            "{most} plans{whose} are waiting for approval, and no more are stored; nothing was sent"
        ))
        .hint(
            "wait until a person has approved or rejected some of them, or until they expire (15 minutes); then repeat the call",
        )
    }
}

/// The limit that one more waiting plan of this caller would exceed. The waiting plan of the same call (caller, tool and
/// arguments) does not count: the new one replaces it.
pub(super) fn full(
    tx: &mut dyn Transaction,
    caller: &str,
    call: &[Value; 3],
    now: i64,
) -> Result<Option<Full>, Trouble> {
    let [by, tool, arguments] = call.clone();
    let waiting = tx.query(
        "SELECT caller FROM plans WHERE state = 'waiting' AND expires > ?1
         AND NOT (caller = ?2 AND tool = ?3 AND arguments = ?4)",
        &[now.into(), by, tool, arguments],
    )?;
    let mut of_account = 0;
    for row in &waiting {
        if account(&row.text(0)?) == account(caller) {
            of_account += 1;
        }
    }
    Ok(if of_account >= MOST_PER_ACCOUNT {
        Some(Full::Account)
    } else if waiting.len() >= MOST_PER_STORE {
        Some(Full::Store)
    } else {
        None
    })
}

/// The plan, if it is not too large to be stored.
pub(super) fn sized(plan: String) -> Result<String, Fault> {
    if plan.len() <= LARGEST_PLAN {
        return Ok(plan);
    }
    let size = |bytes: usize| words::size(bytes as u64);
    Err(Fault::refused(format!(
        "the plan of this call has {}, and at most {} are stored; nothing was sent",
        size(plan.len()),
        size(LARGEST_PLAN)
    ))
    .hint("make a smaller call: shorter texts, or fewer guests at a time"))
}
