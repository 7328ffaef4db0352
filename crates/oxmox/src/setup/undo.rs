//! Takes back what setup made, by what it wrote down. What others use by now stays.

use std::path::Path;

use tools::fault::{Fault, Kind};
use tools::rights;

use super::closed::{by_hand, close};
use super::handed::{self, Rest};
use super::journal::Journal;
use super::keyboard;
use super::restored::Restored;
use super::secrets::{self, Others};
use super::shared::Shared;
use super::talk::Talk;
use super::trail::{Recorded, Trail};
use super::wishes::{Here, Wishes};
use super::withdrawn::{Remote, enter, is_gone, withdraw};
use super::{reached, signals, words};
use crate::cli::brake::Brake;
use crate::cli::exit::Exit;
use crate::cli::out;
use crate::config::{Config, Environment};
use crate::files::{Locks, remove_empty};
use crate::keep::Keep;

/// Shows what would be taken back, asks, and takes it back.
pub async fn run(
    mut wishes: Wishes,
    (config, environment): (&Config, &Environment),
    here: &Here,
    locks: Locks,
) -> Result<Exit, Fault> {
    let talk = Talk::new(wishes.yes);
    let leaving = keyboard::may_leave();
    let mut journal = find(&wishes, &here.state)?;
    if !wishes.yes && !wishes.dry_run {
        // Before anybody is asked for a password in vain.
        talk.can_agree()?;
    }
    let changed = journal.changed().filter(|_| !wishes.dry_run);
    let changed = changed.map(Path::to_owned).collect();
    let own = locks.count();
    let mut locks = super::locked(locks, changed).await?;
    let shared = Shared::of(&journal, &here.state, environment)?;
    let files = Restored::plan(&journal, &shared, &here.state)?;
    wishes.user = wishes.user.or_else(|| journal.login.clone());
    wishes.undone = Some(journal.cluster.clone());
    let remote = if journal.made.is_empty() || wishes.local_only {
        None
    } else {
        let entered = enter(&mut journal, &wishes, talk).await;
        Some(entered.map_err(|fault| match fault.kind {
            Kind::Unreachable => reached::or_only_here(fault, &journal, &wishes.commands),
            _ => fault,
        })?)
    };
    let beside = Journal::beside(&here.state, &journal.cluster);
    let name = journal.cluster.clone();
    let others = Others {
        cluster: &name,
        config,
        journals: &beside,
    };
    let mut text = shown(&journal, remote.as_ref(), &files, &others);
    if is_forgotten(&journal, &wishes) {
        text.push_str("\nand to forget that it is there");
    }
    if wishes.dry_run {
        out::data(&text)?;
        return Ok(Exit::Done);
    }
    out::say(text);
    if !wishes.yes && !talk.agree("Take it back?").await? {
        out::say("nothing was changed");
        return Ok(Exit::Failed);
    }
    let undo = wishes.commands.undo(&journal.cluster);
    let stop = signals::stop(format!("`{undo}` takes back the rest"));
    drop(leaving);
    if let Some(remote) = &remote {
        let planned = journal.made.clone();
        let identity = remote.identity.clone();
        let trail = Trail::open(config, &wishes.commands, &journal.cluster, identity).await;
        let writer = Recorded {
            writer: &remote.writer,
            trail,
            brake: Brake::of(config, &wishes.commands),
        };
        withdraw(&remote.undo, &mut journal, &writer, (&here.state, &stop)).await?;
        is_gone(remote, planned, &mut journal, &here.state).await?;
    }
    let mut stays = files.staying().to_vec();
    stays.extend(secrets_of_others(&journal, &others));
    for keep in take_back_here(&files, &mut journal, &others, &here.state)? {
        let by_hand = secrets::by_hand(&keep);
        out::hint(&by_hand);
        stays.push(by_hand);
    }
    // As long as it is written down which they are.
    locks.keep(own);
    remove_empty(&journal.dirs);
    let rest = match remote {
        None if is_forgotten(&journal, &wishes) => Rest::Forgotten,
        None => Rest::Unasked,
        Some(_) => handed::over(&mut journal, &here.state)?,
    };
    let dirs = close(journal, (rest, &stays), &here.state, &wishes.commands)?;
    files.forget(&here.state)?;
    drop(locks);
    remove_empty(&dirs);
    Ok(Exit::Done)
}

/// Whether a person says for the second time that the cluster is not to be asked.
fn is_forgotten(journal: &Journal, wishes: &Wishes) -> bool {
    wishes.local_only && journal.is_left && !journal.is_in_use()
}

/// The places that other clusters have their secrets in by now.
fn secrets_of_others(journal: &Journal, others: &Others<'_>) -> Vec<String> {
    let each = journal.secrets.iter();
    let each = each.filter_map(|keep| Some((keep, others.holder(keep)?)));
    each.map(|(keep, whose)| format!("the secret in {keep}, for {whose}"))
        .collect()
}

/// Answers the secrets that could not be cleared from here. They stay written down as long as anything does.
fn take_back_here(
    files: &Restored,
    journal: &mut Journal,
    others: &Others<'_>,
    state: &Path,
) -> Result<Vec<Keep>, Fault> {
    let mut left = Vec::new();
    files.write()?;
    for keep in &journal.secrets {
        if others.holder(keep).is_some() {
            continue;
        }
        match keep.remove() {
            Ok(()) => {}
            Err(_) if secrets::is_out_of_reach(keep) => left.push(keep.clone()),
            Err(fault) => return Err(fault),
        }
    }
    journal.secrets.clone_from(&left);
    rights::forget(state, &journal.cluster);
    Ok(left)
}

fn find(wishes: &Wishes, state: &Path) -> Result<Journal, Fault> {
    let known = Journal::known(state);
    let none = |what: String| {
        let hint = if known.is_empty() {
            "setup has made nothing that it knows of, with this state directory".to_owned()
        } else {
            format!("--name takes one of: {}", known.join(", "))
        };
        Fault::new(Kind::NotFound, what).hint(hint)
    };
    let name = match (&wishes.name, known.as_slice()) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, []) => return Err(none("there is nothing to take back".to_owned())),
        (None, _) => {
            return Err(none(
                "there are several clusters that setup made".to_owned(),
            ));
        }
    };
    Journal::read(state, name)?.ok_or_else(|| none(format!("setup wrote nothing down for {name}")))
}

fn shown(
    journal: &Journal,
    remote: Option<&Remote>,
    files: &Restored,
    others: &Others<'_>,
) -> String {
    let mut lines = vec![format!("to take back for {}:", journal.cluster)];
    for made in remote.iter().flat_map(|remote| &remote.undo) {
        lines.push(format!("  - {}", made.says()));
        lines.push(format!("    {}", words::request(&made.undo())));
    }
    let theirs = secrets_of_others(journal, others).into_iter();
    lines.extend(theirs.map(|stays| format!("  stays: {stays}")));
    let own = journal.secrets.iter();
    for keep in own.filter(|keep| others.holder(keep).is_none()) {
        lines.push(if secrets::is_out_of_reach(keep) {
            format!("  stays: the secret in {keep}: that program is not there any more")
        } else {
            format!("  - the secret in {keep}")
        });
    }
    lines.extend(files.shown());
    let stays = remote.iter().flat_map(|remote| &remote.stays);
    lines.extend(stays.map(|stays| format!("  stays: {stays}")));
    if remote.is_none() && !journal.made.is_empty() {
        lines.push(by_hand(journal));
    }
    lines.join("\n")
}
