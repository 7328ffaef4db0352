//! Takes back what setup made, by what it wrote down. What others use by now stays.

use std::collections::BTreeSet;
use std::path::Path;

use pve::{Settings, Trust};
use tools::fault::{Fault, Kind};
use tools::rights;

use super::facts::{Accounts, Rule};
use super::journal::{Configured, Journal, Made};
use super::keyboard;
use super::role::USER;
use super::talk::Talk;
use super::trail::{Recorded, Trail};
use super::wishes::{Here, Wishes};
use super::{login, words};
use crate::cli::exit::Exit;
use crate::cli::{out, runtime};
use crate::clients::Client;
use crate::config::{Config, Edit};
use crate::files::{Draft, remove_empty};

/// Shows what would be taken back, asks, and takes it back.
pub async fn run(mut wishes: Wishes, config: &Config, here: &Here) -> Result<Exit, Fault> {
    let talk = Talk::new(wishes.yes);
    let leaving = keyboard::may_leave();
    let journal = find(&wishes, &here.state)?;
    let is_last = Journal::known(&here.state) == [journal.cluster.clone()];
    let files = files(&journal, is_last)?;
    let remote = !journal.made.is_empty();
    wishes.user = wishes.user.or_else(|| journal.login.clone());
    wishes.token = None;
    let mut reached = None;
    let (mut undo, mut stays) = (Vec::new(), Vec::new());
    if remote {
        let trust = journal.ca_file.clone().map_or(Trust::System, Trust::CaFile);
        let entered = login::enter(journal.hosts()?, trust, &wishes, talk).await?;
        let (reader, writer) = pve::connect(Settings::clone(&entered.settings))?;
        let accounts = Accounts::read(&reader).await?;
        (undo, stays) = choose(&journal.made, &accounts);
        reached = Some((writer, reader.identity()));
    }
    let text = shown(&journal, (&undo, &stays), &files);
    if wishes.dry_run {
        out::data(&text)?;
        return Ok(Exit::Done);
    }
    out::say(text);
    if !wishes.yes && !talk.agree("Take it back?").await? {
        out::say("nothing was changed");
        return Ok(Exit::Failed);
    }
    drop(leaving);
    if let Some((writer, identity)) = &reached {
        let trail = Trail::open(config, &journal.cluster, identity.clone()).await;
        withdraw(&undo, &Recorded { writer, trail }).await?;
    }
    for draft in files {
        out::say(format_args!("  {}", draft.path.display()));
        draft.put_back()?;
    }
    for keep in &journal.secrets {
        keep.remove()?;
    }
    rights::forget(&here.state, &journal.cluster);
    Journal::forget(&here.state, &journal.cluster)?;
    bequeath(&journal, &here.state)?;
    out::say("all of it was taken back");
    Ok(Exit::Done)
}

/// Takes back what is on the cluster.
async fn withdraw(undo: &[Made], writer: &Recorded<'_>) -> Result<(), Fault> {
    let stop = runtime::stop_signal();
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
    }
    Ok(())
}

/// What was made for clusters that are still there is theirs now: whoever takes the last one back takes it back, too.
fn bequeath(journal: &Journal, state: &Path) -> Result<(), Fault> {
    let Some(other) = Journal::known(state).first().cloned() else {
        remove_empty(&journal.dirs);
        return Ok(());
    };
    let Some(mut heir) = Journal::read(state, &other)? else {
        return Ok(());
    };
    heir.dirs = [&journal.dirs[..], &heir.dirs].concat();
    heir.clients.extend(journal.clients.clone());
    heir.write(state)
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
    let (mut undo, mut stays) = (Vec::new(), Vec::new());
    for it in made.iter().rev() {
        let why = match it {
            Made::User { name } if !gone.contains(name) => Some("it has other tokens".to_owned()),
            Made::Role { name, .. } => {
                let goes = |rule: &Rule| {
                    gone.contains(&rule.ugid) || rules.contains(rule) && living(rule).is_none()
                };
                let users = accounts.rules.iter();
                let users = users.filter(|rule| rule.roleid == *name && !goes(rule));
                let users: BTreeSet<_> = users.map(|rule| rule.ugid.as_str()).collect();
                let users: Vec<_> = users.into_iter().collect();
                (!users.is_empty()).then(|| format!("used by {}", users.join(", ")))
            }
            Made::Rule { .. } => {
                let living = it.rules().iter().find_map(living);
                living.map(|id| format!("{id} lives on what its user has"))
            }
            Made::User { .. } | Made::Token { .. } => None,
        };
        match why {
            None => undo.push(it.clone()),
            Some(why) => {
                stays.push(format!("{}: {why}", it.says()));
                undo.extend(it.for_tokens_only());
            }
        }
    }
    (undo, stays)
}

/// The files as they will be.
fn files(journal: &Journal, is_last: bool) -> Result<Vec<Draft>, Fault> {
    let mut drafts = Vec::new();
    if let Some(Configured { path, before }) = &journal.config {
        let mut edit = Edit::open(path)?;
        let name = &journal.cluster;
        let is_back = (before.as_ref()).is_some_and(|before| edit.put_section(name, before));
        if !is_back {
            edit.remove_cluster(name);
        }
        let draft = edit.draft();
        drafts.push(if edit.text().trim().is_empty() {
            draft.gone()
        } else {
            draft
        });
    }
    if let Some(file) = &journal.ca_file {
        let draft = Draft::open(file)?;
        drafts.push(match std::fs::read_to_string(draft.backup()) {
            Ok(once) => draft.holding(once),
            Err(_) => draft.gone(),
        });
    }
    for entered in &journal.clients {
        // The clients start oxmox for all of its clusters: see `bequeath`.
        if let Some(client) = Client::parse(&entered.client)
            && is_last
        {
            drafts.push(client.left(&entered.file, &entered.before)?);
        }
    }
    drafts.retain(Draft::is_change);
    Ok(drafts)
}

fn shown(journal: &Journal, (undo, stays): (&[Made], &[String]), files: &[Draft]) -> String {
    let mut lines = vec![format!("to take back for {}:", journal.cluster)];
    for made in undo {
        lines.push(format!("  - {}", made.says()));
        lines.push(format!("    {}", words::request(&made.undo())));
    }
    for keep in &journal.secrets {
        lines.push(format!("  - the secret in {keep}"));
    }
    for draft in files {
        lines.push(format!("  - {}:", draft.path.display()));
        lines.extend(draft.diff().lines().map(|line| format!("      {line}")));
    }
    lines.extend(stays.iter().map(|stays| format!("  stays: {stays}")));
    lines.join("\n")
}
