//! Takes back what setup made, by what it wrote down. What others use by now stays.

use std::path::Path;

use pve::{Settings, Trust};
use tools::fault::{Fault, Kind};

use super::apply::is_gone;
use super::facts::Accounts;
use super::journal::{Journal, Made};
use super::role::USER;
use super::talk::Talk;
use super::wishes::{Here, Wishes};
use super::{login, words};
use crate::cli::exit::Exit;
use crate::cli::out;
use crate::clients::Client;
use crate::config::Edit;
use crate::files::Draft;

/// Shows what would be taken back, asks, and takes it back.
pub async fn run(mut wishes: Wishes, here: &Here) -> Result<Exit, Fault> {
    let talk = Talk::new(wishes.yes);
    let journal = find(&wishes, &here.state)?;
    let files = files(&journal)?;
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
        reached = Some(writer);
    }
    let text = shown(&journal, (&undo, &stays), &files);
    if wishes.dry_run {
        out::data(&text)?;
        return Ok(Exit::Done);
    }
    out::say(text);
    if !wishes.yes && !talk.agree("Take it back?")? {
        out::say("nothing was changed");
        return Ok(Exit::Failed);
    }
    if let Some(writer) = reached {
        for made in &undo {
            out::say(format_args!("  {}", words::request(&made.undo())));
            match writer.send(&made.undo()).await {
                Err(error) if !is_gone(&error) => return Err(Fault::from(error)),
                _ => {}
            }
        }
    }
    for draft in files {
        draft.write()?;
    }
    if let Some(keep) = &journal.secret {
        keep.remove()?;
    }
    Journal::forget(&here.state, &journal.cluster)?;
    out::say("all of it was taken back");
    Ok(Exit::Done)
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
    let ours: Vec<String> = made
        .iter()
        .filter_map(|made| match made {
            Made::Token { user, name } => Some(format!("{user}!{name}")),
            _ => None,
        })
        .collect();
    let token_is_ours = |name: &str| ours.contains(&format!("{USER}!{name}"));
    let tokens = accounts.users.get(USER).into_iter().flatten();
    let others: Vec<_> = tokens.filter(|name| !token_is_ours(name)).collect();
    let user_goes = others.is_empty() && made.iter().any(|it| matches!(it, Made::User { .. }));
    let (mut undo, mut stays) = (Vec::new(), Vec::new());
    for it in made.iter().rev() {
        let why = match it {
            Made::User { name } if !user_goes => Some(format!("{name} has other tokens")),
            Made::Role { name, .. } => {
                let mut but: Vec<&str> = ours.iter().map(String::as_str).collect();
                if others.is_empty() {
                    but.push(USER);
                }
                let users = accounts.others_with(name, &but);
                let users: Vec<_> = users.into_iter().collect();
                (!users.is_empty()).then(|| format!("{} use it", users.join(", ")))
            }
            _ => None,
        };
        match why {
            Some(why) => stays.push(format!("{}: {why}", it.says())),
            None => undo.push(narrowed(it, others.is_empty())),
        }
    }
    (undo, stays)
}

/// A rule for our user stays while other tokens of the same user live on it.
fn narrowed(made: &Made, user_is_free: bool) -> Made {
    match made {
        Made::Rule {
            path, role, tokens, ..
        } if !user_is_free && !tokens.is_empty() => Made::Rule {
            path: path.clone(),
            role: role.clone(),
            users: Vec::new(),
            tokens: tokens.clone(),
        },
        other => other.clone(),
    }
}

/// The files as they will be.
fn files(journal: &Journal) -> Result<Vec<Draft>, Fault> {
    let mut drafts = Vec::new();
    let mut others_left = false;
    if let Some(path) = &journal.config {
        let mut edit = Edit::open(path)?;
        edit.remove_cluster(&journal.cluster);
        others_left = edit.clusters().next().is_some();
        let draft = edit.draft();
        drafts.push(if edit.text().trim().is_empty() {
            draft.gone()
        } else {
            draft
        });
    }
    drafts.extend(
        journal
            .ca_file
            .as_deref()
            .map(Draft::open)
            .transpose()?
            .map(Draft::gone),
    );
    // The clients start oxmox for all of its clusters.
    if !others_left {
        for (word, file) in &journal.clients {
            if let Some(client) = Client::parse(word) {
                drafts.push(client.left(file)?);
            }
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
    if let Some(keep) = &journal.secret {
        lines.push(format!("  - the secret in {keep}"));
    }
    for draft in files {
        lines.push(format!("  - {}:", draft.path.display()));
        lines.extend(draft.diff().lines().map(|line| format!("      {line}")));
    }
    lines.extend(stays.iter().map(|stays| format!("  stays: {stays}")));
    lines.join("\n")
}
