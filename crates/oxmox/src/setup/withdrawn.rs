//! What setup made on a cluster, taken back there: what others live on stays, and a yes is not believed.

use std::collections::BTreeSet;
use std::path::Path;

use pve::{Reader, Settings, Writer};
use tokio_util::sync::CancellationToken;
use tools::fault::{Fault, Kind};

use super::facts::{Accounts, Rule};
use super::journal::Journal;
use super::made::Made;
use super::role::USER;
use super::talk::Talk;
use super::trail::{Recorded, Trouble};
use super::wishes::Wishes;
use super::{handed, login, reached, remembered, words};
use crate::cli::out;

/// The cluster, and what is to be done there.
pub(super) struct Remote {
    reader: Reader,
    pub(super) writer: Writer,
    pub(super) identity: String,
    /// What goes, in the order in which it goes.
    pub(super) undo: Vec<Made>,
    /// What stays because others use it.
    pub(super) stays: Vec<String>,
}

/// Logs in, and looks what is to be done.
pub(super) async fn enter(
    journal: &mut Journal,
    wishes: &Wishes,
    talk: Talk,
) -> Result<Remote, Fault> {
    let hosts = reached::hosts(journal, wishes).await?;
    let entered = login::enter(hosts, journal.trust(), wishes, talk).await?;
    let (reader, writer) = pve::connect(Settings::clone(&entered.settings))?;
    reached::is_the_same(&reader, journal, &wishes.commands).await?;
    let accounts = Accounts::read(&reader).await?;
    let others = remembered::taken_by_others(journal, &accounts);
    for other in &others {
        journal.forget_token(other);
    }
    let (undo, mut stays) = choose(&journal.made, &accounts);
    let is_anothers = |made: &Made| format!("{}: another oxmox has made it since", made.says());
    stays.extend(others.iter().map(is_anothers));
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
pub(super) async fn withdraw(
    undo: &[Made],
    journal: &mut Journal,
    writer: &Recorded<'_>,
    (state, stop): (&Path, &CancellationToken),
) -> Result<(), Fault> {
    let mut is_begun = false;
    for made in undo {
        if stop.is_cancelled() {
            return Err(
                Fault::new(Kind::Failed, "interrupted; some of it is still there").hint(AGAIN),
            );
        }
        let parts = made.one_by_one();
        // PVE refuses all of a rule where one of those that have it is gone.
        if !take_back(made, writer, &mut is_begun).await? && parts.len() > 1 {
            for part in &parts {
                take_back(part, writer, &mut is_begun).await?;
            }
        }
        journal.unmake(made);
        journal.write(state)?;
    }
    Ok(())
}

const AGAIN: &str = "run the command again: it takes back the rest";

/// Whether PVE took it back: if not, it says that there is nothing of this kind.
async fn take_back(made: &Made, writer: &Recorded<'_>, is_begun: &mut bool) -> Result<bool, Fault> {
    let request = made.undo();
    out::say(format_args!("  {}", words::request(&request)));
    let says = format!("take back {}", made.says());
    match writer.send(&says, &request).await {
        Ok(_) => {
            *is_begun = true;
            Ok(true)
        }
        Err(trouble) if trouble.is_gone() => Ok(false),
        // Stopped in the middle: what it says of changes to come is not all.
        Err(Trouble::Unsent(fault)) if *is_begun => {
            let message = format!(
                "{}; some of it was taken back, and some of it is still there",
                fault.message
            );
            let first = fault.hint.clone().map(|hint| format!("{hint}; then "));
            let first = first.unwrap_or_default();
            Err(Fault { message, ..fault }.hint(format!("{first}{AGAIN}")))
        }
        Err(trouble) => Err(trouble.of(&request)),
    }
}

/// A yes is not believed: what was taken back is looked for once more, before it is forgotten.
pub(super) async fn is_gone(
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

/// What goes, in the order in which it goes, and what stays because others use it.
fn choose(made: &[Made], accounts: &Accounts) -> (Vec<Made>, Vec<String>) {
    let ours: Vec<String> = (made.iter())
        .filter_map(|made| match made {
            Made::Token { user, name, .. } => Some(format!("{user}!{name}")),
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
