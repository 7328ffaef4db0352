//! What is left on a cluster after its part of this machine was taken back: others live on it. Whoever takes back the last of
//! them has to know of it, or it would stay for good.

use std::path::Path;

use tools::fault::Fault;

use super::facts::Accounts;
use super::journal::Journal;
use super::made::Made;

/// What is left there, and who knows of it.
pub(super) enum Rest {
    /// The cluster was not asked.
    Unasked,
    /// The same, and nobody knows of it any more: a person has said that the cluster is gone.
    Forgotten,
    /// Nothing.
    Nothing,
    /// The journal of this name knows of it now.
    With(String),
    /// It stays written down where it was.
    Here,
}

/// Hands what stays to another journal about the same cluster, if there is one.
pub(super) fn over(journal: &mut Journal, state: &Path) -> Result<Rest, Fault> {
    if journal.made.is_empty() {
        return Ok(Rest::Nothing);
    }
    let mut heir: Option<Journal> = None;
    for name in Journal::known(state) {
        if name != journal.cluster
            && let Some(other) = Journal::read(state, &name)?
            && other.is_of_the_same(journal)
            && !heir.as_ref().is_some_and(Journal::is_in_use)
        {
            heir = Some(other);
        }
    }
    let Some(mut heir) = heir else {
        return Ok(Rest::Here);
    };
    // It was made before what the heir has made, so that it goes after that.
    let mut made = std::mem::take(&mut journal.made);
    heir.made.retain(|it| !made.contains(it));
    made.append(&mut heir.made);
    heir.made = made;
    // Those out of reach, for when they are not any more.
    let mut secrets = std::mem::take(&mut journal.secrets);
    secrets.retain(|keep| !heir.secrets.contains(keep));
    heir.secrets.append(&mut secrets);
    heir.login = heir.login.or_else(|| journal.login.clone());
    heir.authority = heir.authority.or(journal.authority);
    // First: whoever dies in between leaves it written down twice, and not nowhere.
    heir.write(state)?;
    journal.write(state)?;
    Ok(Rest::With(heir.cluster))
}

/// What of this the cluster still has, though it was taken back. A role that was changed several times is as it was before the
/// first of them.
pub(super) fn still_there<'a>(undone: &'a [Made], accounts: &Accounts) -> Vec<&'a Made> {
    let is_last = |at: usize, made: &Made| {
        let Made::Role { name, .. } = made else {
            return true;
        };
        let is_same =
            |other: &Made| matches!(other, Made::Role { name: other, .. } if other == name);
        !undone[at + 1..].iter().any(is_same)
    };
    let each = undone.iter().enumerate();
    let each = each.filter(|(at, made)| is_last(*at, made) && made.is_in(accounts));
    each.map(|(_, made)| made).collect()
}
