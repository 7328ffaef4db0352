//! The end of taking back: what is over is forgotten, what is left is handed on or stays written down, and a person is told
//! which of it.

use std::path::{Path, PathBuf};

use tools::fault::Fault;

use super::handed::Rest;
use super::journal::Journal;
use super::role::USER;
use crate::cli::commands::Commands;
use crate::cli::out;

/// What is over is forgotten, and what is left on the cluster stays written down. Answers the directories that may go. What was
/// made for clusters that are still there is theirs now: whoever takes the last one back takes it back, too.
pub(super) fn close(
    mut journal: Journal,
    (rest, stays): (Rest, &[String]),
    state: &Path,
    commands: &Commands,
) -> Result<Vec<PathBuf>, Fault> {
    // First: whoever dies in between leaves it written down twice, and not nowhere.
    let dirs = journal.dirs.clone();
    if let Some(mut heir) = heir(&journal, state)? {
        heir.dirs.retain(|dir| !dirs.contains(dir));
        heir.dirs = [&dirs[..], &heir.dirs].concat();
        // In another configuration it has no use for them.
        if heir.shares_config(&journal) {
            heir.take_clients(&journal);
        }
        heir.write(state)?;
    }
    if journal.made.is_empty() || matches!(rest, Rest::Forgotten) {
        Journal::forget(state, &journal.cluster)?;
    } else {
        journal.keep_remote();
        journal.is_left = matches!(rest, Rest::Unasked);
        journal.write(state)?;
    }
    let name = &journal.cluster;
    match rest {
        Rest::Unasked if !journal.made.is_empty() => {
            out::say(ended("what was on this machine", stays, None));
            out::say(by_hand(&journal));
            out::hint(format_args!(
                "`{}` takes that back when the cluster answers again; if it is gone for good, the same with --local-only once more \
                 forgets it",
                commands.undo(name)
            ));
        }
        Rest::Forgotten => {
            out::say(by_hand(&journal));
            out::say(format_args!("oxmox knows nothing of {name} any more"));
        }
        Rest::Unasked | Rest::Nothing if stays.is_empty() => {
            out::say("all of it was taken back");
        }
        Rest::Unasked | Rest::Nothing => out::say(ended("it", stays, None)),
        Rest::With(heir) => {
            let besides = format!("what stays for {heir}");
            out::say(ended("it", stays, Some(&besides)));
            out::hint(format_args!(
                "`{}` takes that back along with its own",
                commands.undo(&heir)
            ));
        }
        Rest::Here => {
            out::say(ended("it", stays, Some("what others use by now:")));
            out::say(by_hand(&journal));
            out::hint(format_args!(
                "`{}` takes that back when nobody uses it any more",
                commands.undo(name)
            ));
        }
    }
    Ok(dirs)
}

/// What was taken back, but for what stays on this machine and for something besides.
fn ended(what: &str, stays: &[String], besides: Option<&str>) -> String {
    let named = (!stays.is_empty()).then_some("what is named above as staying");
    let left: Vec<_> = named.into_iter().chain(besides).collect();
    if left.is_empty() {
        return format!("{what} was taken back");
    }
    format!("{what} was taken back, but for {}", left.join(", and for "))
}

/// What is left on the cluster, with what removes it there.
pub(super) fn by_hand(journal: &Journal) -> String {
    let mut lines = vec!["left on the cluster, with what takes it back on a node:".to_owned()];
    for made in journal.made.iter().rev() {
        lines.push(format!("  - {}", made.says()));
        let by_hand = made.by_hand().into_iter();
        lines.extend(by_hand.map(|line| format!("    {line}")));
    }
    lines.push(format!(
        "  other machines may have tokens of {USER} and live on its user and roles: `pveum user token list {USER}` tells"
    ));
    lines.join("\n")
}

/// Who takes over what was made for several: another cluster of the same configuration, one that is in use, or else one that
/// something is left of.
fn heir(journal: &Journal, state: &Path) -> Result<Option<Journal>, Fault> {
    let mut others = Journal::all_of(state)?;
    others.retain(|other| other.cluster != journal.cluster);
    Ok(others
        .into_iter()
        // The first of the best.
        .rev()
        .max_by_key(|other| (other.shares_config(journal), other.is_in_use())))
}
