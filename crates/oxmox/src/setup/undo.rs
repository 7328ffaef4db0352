//! Takes back what setup made, by what it wrote down. What others use by now stays.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pve::{Reader, Settings, Writer};
use tokio_util::sync::CancellationToken;
use tools::fault::{Fault, Kind};
use tools::rights;

use super::facts::{Accounts, Rule};
use super::handed::{self, Rest};
use super::journal::{Entered, Journal};
use super::keyboard;
use super::made::Made;
use super::restored::{Restored, Shared, Stays};
use super::role::USER;
use super::talk::Talk;
use super::trail::{Recorded, Trail};
use super::wishes::{Here, Wishes};
use super::written::Written;
use super::{login, reached, signals, words};
use crate::cli::exit::Exit;
use crate::cli::out;
use crate::config::{Config, Edit, System};
use crate::files::{Locks, behind_links, remove_empty};
use crate::keep::Keep;

/// Shows what would be taken back, asks, and takes it back.
pub async fn run(
    mut wishes: Wishes,
    config: &Config,
    here: &Here,
    locks: Locks,
) -> Result<Exit, Fault> {
    let talk = Talk::new(wishes.yes);
    let leaving = keyboard::may_leave();
    let mut journal = find(&wishes, &here.state)?;
    let changed = journal.changed().filter(|_| !wishes.dry_run);
    let changed = changed.map(Path::to_owned).collect();
    let own = locks.count();
    let mut locks = super::locked(locks, changed).await?;
    let files = Restored::plan(&journal, shared(&journal, &here.state)?, &here.state)?;
    wishes.user = wishes.user.or_else(|| journal.login.clone());
    wishes.token = None;
    let remote = if journal.made.is_empty() || wishes.local_only {
        None
    } else {
        let entered = enter(&journal, &wishes, talk).await;
        Some(entered.map_err(|fault| match fault.kind {
            Kind::Unreachable => reached::or_only_here(fault, &journal),
            _ => fault,
        })?)
    };
    let mut text = shown(&journal, remote.as_ref(), &files);
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
    let stop = signals::stop();
    drop(leaving);
    if let Some(remote) = &remote {
        let planned = journal.made.clone();
        let trail = Trail::open(config, &journal.cluster, remote.identity.clone()).await;
        let writer = Recorded {
            writer: &remote.writer,
            trail,
        };
        withdraw(&remote.undo, &mut journal, &writer, (&here.state, &stop)).await?;
        is_gone(remote, planned, &mut journal, &here.state).await?;
    }
    let in_keyring = take_back_here(&files, &journal, &here.state)?;
    // As long as it is written down which they are.
    locks.keep(own);
    remove_empty(&journal.dirs);
    let rest = match remote {
        None if is_forgotten(&journal, &wishes) => Rest::Forgotten,
        None => Rest::Unasked,
        Some(_) => handed::over(&mut journal, &here.state)?,
    };
    let dirs = close(journal, rest, files.staying(), &here.state)?;
    files.forget(&here.state)?;
    for hint in in_keyring {
        out::hint(hint);
    }
    drop(locks);
    remove_empty(&dirs);
    Ok(Exit::Done)
}

/// Whether a person says for the second time that the cluster is not to be asked.
fn is_forgotten(journal: &Journal, wishes: &Wishes) -> bool {
    wishes.local_only && journal.is_left && !is_in_use(journal)
}

/// The cluster, and what is to be done there.
struct Remote {
    reader: Reader,
    writer: Writer,
    identity: String,
    /// What goes, in the order in which it goes.
    undo: Vec<Made>,
    /// What stays because others use it.
    stays: Vec<String>,
}

async fn enter(journal: &Journal, wishes: &Wishes, talk: Talk) -> Result<Remote, Fault> {
    let hosts = reached::hosts(journal, wishes.pin).await?;
    let entered = login::enter(hosts, journal.trust(), wishes, talk).await?;
    let (reader, writer) = pve::connect(Settings::clone(&entered.settings))?;
    reached::is_the_same(&reader, journal).await?;
    let accounts = Accounts::read(&reader).await?;
    let (undo, stays) = choose(&journal.made, &accounts);
    Ok(Remote {
        writer,
        identity: reader.identity(),
        reader,
        undo,
        stays,
    })
}

/// Takes back what is on the cluster. What is gone is written down as gone, so that whoever comes after an interruption goes
/// on with the rest.
async fn withdraw(
    undo: &[Made],
    journal: &mut Journal,
    writer: &Recorded<'_>,
    (state, stop): (&Path, &CancellationToken),
) -> Result<(), Fault> {
    for made in undo {
        if stop.is_cancelled() {
            return Err(
                Fault::new(Kind::Failed, "interrupted; some of it is still there")
                    .hint("run the command again: it takes back the rest"),
            );
        }
        let request = made.undo();
        out::say(format_args!("  {}", words::request(&request)));
        let says = format!("take back {}", made.says());
        match writer.send(&says, &request).await {
            Err(trouble) if !trouble.is_gone() => return Err(trouble.of(&request)),
            _ => {}
        }
        journal.unmake(made);
        journal.write(state)?;
    }
    Ok(())
}

/// A yes is not believed: what was taken back is looked for once more, before it is forgotten.
async fn is_gone(
    remote: &Remote,
    planned: Vec<Made>,
    journal: &mut Journal,
    state: &Path,
) -> Result<(), Fault> {
    let mut remember = |made: Vec<Made>| {
        journal.made = made;
        journal.write(state)
    };
    let accounts = match Accounts::read(&remote.reader).await {
        Ok(accounts) => accounts,
        Err(fault) => {
            remember(planned)?;
            let message = format!(
                "PVE has taken it back, and does not tell whether it is gone: {}",
                fault.message
            );
            return Err(
                Fault { message, ..fault }.hint("run the command again: it looks once more")
            );
        }
    };
    let still = handed::still_there(&remote.undo, &accounts);
    if still.is_empty() {
        return Ok(());
    }
    remember(
        planned
            .into_iter()
            .filter(|made| made.is_in(&accounts))
            .collect(),
    )?;
    let still: Vec<_> = still.into_iter().map(Made::says).collect();
    let what = format!(
        "PVE said that it has taken it back, and still has {}; that stays written down",
        still.join(", ")
    );
    Err(Fault::new(Kind::Failed, what).hint("run the command again"))
}

/// Answers how to clear by hand what could not be cleared here.
fn take_back_here(files: &Restored, journal: &Journal, state: &Path) -> Result<Vec<String>, Fault> {
    let mut by_hand = Vec::new();
    files.write()?;
    for keep in &journal.secrets {
        match (keep.remove(), unreachable_keyring(keep)) {
            (Ok(()), _) => {}
            (Err(_), Some(hint)) => by_hand.push(hint),
            (Err(fault), None) => return Err(fault),
        }
    }
    rights::forget(state, &journal.cluster);
    Ok(by_hand)
}

/// A keyring that is locked can be unlocked; one whose program was removed would be in the way of everything else for good.
fn unreachable_keyring(keep: &Keep) -> Option<String> {
    let Keep::Keyring { program, entry } = keep else {
        return None;
    };
    if program.exists() {
        return None;
    }
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let clear = match System::HERE {
        System::Mac => format!("{name} delete-generic-password -s oxmox -a {entry}"),
        _ => format!("{name} clear service oxmox cluster {entry}"),
    };
    Some(format!(
        "the keyring of your session may still have the token's secret: {} is not there any more, which reaches it; \
         `{clear}` removes it where that program is, or the keyring's own window, under oxmox and {entry}",
        program.display()
    ))
}

/// What is over is forgotten, and what is left on the cluster stays written down. Answers the directories that may go. What was
/// made for clusters that are still there is theirs now: whoever takes the last one back takes it back, too.
fn close(
    mut journal: Journal,
    rest: Rest,
    stays: &[String],
    state: &Path,
) -> Result<Vec<PathBuf>, Fault> {
    // First: whoever dies in between leaves it written down twice, and not nowhere.
    let dirs = journal.dirs.clone();
    if let Some(mut heir) = heir(&journal, state)? {
        heir.dirs.retain(|dir| !dirs.contains(dir));
        heir.dirs = [&dirs[..], &heir.dirs].concat();
        if is_in_use(&heir) {
            let new = |it: &&Entered| !heir.clients.contains(it);
            let new: Vec<_> = journal.clients.iter().filter(new).cloned().collect();
            heir.clients.extend(new);
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
            out::say("what was on this machine was taken back");
            out::say(by_hand(&journal));
            out::hint(format_args!(
                "`oxmox setup --undo --name {name}` takes that back when the cluster answers again; if it is gone for good, the \
                 same with --local-only once more forgets it"
            ));
        }
        Rest::Forgotten => {
            out::say(by_hand(&journal));
            out::say(format_args!("oxmox knows nothing of {name} any more"));
        }
        Rest::Unasked | Rest::Nothing if !stays.is_empty() => {
            out::say("it was taken back, but for what is named above as staying");
        }
        Rest::Unasked | Rest::Nothing => out::say("all of it was taken back"),
        Rest::With(heir) => {
            out::say(format_args!(
                "it was taken back, but for what stays for {heir}"
            ));
            out::hint(format_args!(
                "`oxmox setup --undo --name {heir}` takes that back along with its own"
            ));
        }
        Rest::Here => {
            out::say("it was taken back, but for what others use by now:");
            out::say(by_hand(&journal));
            out::hint(format_args!(
                "`oxmox setup --undo --name {name}` takes that back when nobody uses it any more"
            ));
        }
    }
    Ok(dirs)
}

/// What is left on the cluster, with what removes it there.
fn by_hand(journal: &Journal) -> String {
    let mut lines = vec!["left on the cluster, with what takes it back on a node:".to_owned()];
    for made in journal.made.iter().rev() {
        lines.push(format!("  - {}", made.says()));
        lines.push(format!("    {}", made.by_hand()));
    }
    lines.push(format!(
        "  other machines may have tokens of {USER} and live on its user and roles: `pveum user token list {USER}` tells"
    ));
    lines.join("\n")
}

/// Who takes over what was made for several: another cluster that is in use, or else another one that something is left of.
fn heir(journal: &Journal, state: &Path) -> Result<Option<Journal>, Fault> {
    let mut found: Option<Journal> = None;
    for name in Journal::known(state) {
        if name != journal.cluster
            && let Some(other) = Journal::read(state, &name)?
            && !found.as_ref().is_some_and(is_in_use)
        {
            found = Some(other);
        }
    }
    Ok(found)
}

/// Who else needs the files.
fn shared(journal: &Journal, state: &Path) -> Result<Shared, Fault> {
    let mut others = Journal::all_of(state)?;
    others.retain(|other| other.cluster != journal.cluster);
    let file = |journal: &Journal| journal.config.as_ref().map(|it| it.path.clone());
    let clients = if others.iter().any(is_in_use) {
        Stays::WithAnother
    } else if has_added(journal, state)? {
        Stays::ForGood
    } else {
        Stays::No
    };
    Ok(Shared {
        config: others.iter().any(|other| file(other) == file(journal)),
        clients,
    })
}

/// Whether somebody has put another cluster beside this one since. What was there before setup went without the clients.
fn has_added(journal: &Journal, state: &Path) -> Result<bool, Fault> {
    let Some(config) = &journal.config else {
        return Ok(false);
    };
    let written = Written::read(state)?;
    let first = written.of(&behind_links(&config.path));
    let mut known = vec![journal.cluster.clone()];
    if let Some(copy) = first.and_then(|touched| touched.copy.as_deref()) {
        known.extend(Edit::open(copy)?.clusters().map(str::to_owned));
    }
    let now = Edit::open(&config.path)?;
    Ok(now
        .clusters()
        .any(|name| !known.iter().any(|it| it == name)))
}

/// Whether it is in a configuration, and not only left on a cluster.
pub(super) fn is_in_use(journal: &Journal) -> bool {
    journal.config.is_some()
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

/// What goes, in the order in which it goes, and what stays because others use it.
fn choose(made: &[Made], accounts: &Accounts) -> (Vec<Made>, Vec<String>) {
    let ours: Vec<String> = (made.iter())
        .filter_map(|made| match made {
            Made::Token { user, name } => Some(format!("{user}!{name}")),
            _ => None,
        })
        .collect();
    let tokens = accounts.users.get(USER).into_iter().flatten();
    let tokens = tokens.map(|name| format!("{USER}!{name}"));
    let others: Vec<_> = tokens.filter(|id| !ours.contains(id)).collect();
    // With a user or a token its rules go.
    let mut gone = ours;
    if others.is_empty() && made.iter().any(|it| matches!(it, Made::User { .. })) {
        gone.push(USER.to_owned());
    }
    // A token never has more than its user: another one may live on what was given to the user for ours.
    let living = |rule: &Rule| {
        let lives = |id: &&String| accounts.has_rule(&rule.path, id, &rule.roleid);
        let is_users = rule.ugid == USER;
        others.iter().find(lives).filter(|_| is_users)
    };
    let rules: Vec<Rule> = made.iter().flat_map(Made::rules).collect();
    let is_ours = |rule: &Rule| rules.iter().any(|ours| ours.is(rule));
    // A rule that stays would hide what the user has from above, if what was given beside it for that reason went.
    let beside = |rule: &Rule| {
        let mut there = rules.iter().filter(|other| other.path == rule.path);
        there.find_map(living).filter(|_| rule.ugid == USER)
    };
    let stays_for = |rule: &Rule| living(rule).or_else(|| beside(rule));
    let (mut undo, mut stays) = (Vec::new(), Vec::new());
    for it in made.iter().rev() {
        let why = match it {
            Made::User { name } if !gone.contains(name) => Some("it has other tokens".to_owned()),
            Made::Role { name, .. } => {
                let goes = |rule: &Rule| {
                    gone.contains(&rule.ugid) || is_ours(rule) && stays_for(rule).is_none()
                };
                let users = accounts.rules.iter();
                let users = users.filter(|rule| rule.roleid == *name && !goes(rule));
                let users: BTreeSet<_> = users.map(|rule| rule.ugid.as_str()).collect();
                let users: Vec<_> = users.into_iter().collect();
                (!users.is_empty()).then(|| format!("used by {}", users.join(", ")))
            }
            Made::Rule { .. } => {
                let living = it.rules().iter().find_map(stays_for);
                living.map(|id| format!("{id} lives on what its user has"))
            }
            Made::User { .. } | Made::Token { .. } => None,
        };
        match why {
            None => undo.push(it.clone()),
            Some(why) => {
                stays.push(format!("{}: {why}", it.for_users_only().says()));
                undo.extend(it.for_tokens_only());
            }
        }
    }
    (undo, stays)
}

fn shown(journal: &Journal, remote: Option<&Remote>, files: &Restored) -> String {
    let mut lines = vec![format!("to take back for {}:", journal.cluster)];
    for made in remote.iter().flat_map(|remote| &remote.undo) {
        lines.push(format!("  - {}", made.says()));
        lines.push(format!("    {}", words::request(&made.undo())));
    }
    for keep in &journal.secrets {
        lines.push(format!("  - the secret in {keep}"));
    }
    lines.extend(files.shown());
    let stays = remote.iter().flat_map(|remote| &remote.stays);
    lines.extend(stays.map(|stays| format!("  stays: {stays}")));
    if remote.is_none() && !journal.made.is_empty() {
        lines.push(by_hand(journal));
    }
    lines.join("\n")
}
