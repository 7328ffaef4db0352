//! From what was said and found to a plan.

use std::path::PathBuf;

use pve::{Host, Reader, TokenId};
use secrecy::SecretString;
use tools::fault::{Fault, Kind};
use tools::policy::Mode;

use super::choices::Choices;
use super::facts::{Accounts, Facts};
use super::inherited;
use super::journal::Journal;
use super::login::Entered;
use super::made::Made;
use super::plan::{self, Plan, Remote};
use super::remembered::Remembered;
use super::rights;
use super::role::USER;
use super::secrets;
use super::tokens::{self, State};
use super::trusted::Trusted;
use super::wishes::{Here, Wishes};
use super::written::Written;
use crate::cli::commands::Commands;
use crate::config::{
    ClusterConfig, Config, Edit, Environment, Login, Reference, SecretSource, Section,
};
use crate::files::Draft;
use crate::keep::{Keep, Shelf};

/// The way to the cluster, and what is known of it.
pub(super) struct Way {
    pub(super) host: Host,
    pub(super) entered: Entered,
    pub(super) reader: Reader,
    pub(super) facts: Facts,
}

/// What oxmox is told at start, and where that stands.
pub(super) struct Settled<'a> {
    pub(super) config: &'a Config,
    pub(super) environment: &'a Environment,
    pub(super) here: &'a Here,
    /// Where new secrets go, as far as it was tried already.
    pub(super) shelf: Option<Shelf>,
}

/// How the cluster will be reached, and what is known of earlier runs.
pub(super) struct Reach {
    pub(super) hosts: Vec<Host>,
    pub(super) ca_file: Option<PathBuf>,
    /// The secret of a token that is kept.
    pub(super) secret: Option<SecretString>,
    /// What earlier runs wrote down.
    pub(super) journal: Option<Journal>,
    /// The files that they wrote.
    pub(super) written: Written,
}

/// What is to be done about the token.
struct Access {
    token: TokenId,
    remote: Remote,
    /// A token that is kept, and where its secret is.
    kept: Option<(Reference, SecretString)>,
    /// Tokens that earlier runs made, and that are there no more.
    gone: Vec<Made>,
    notes: Vec<String>,
}

/// All that will be done.
pub(super) async fn prepare(
    way: &Way,
    choices: &Choices,
    wishes: &Wishes,
    settled: &Settled<'_>,
) -> Result<(Plan, Reach), Fault> {
    let mut edit = Edit::open(&settled.here.config)?;
    let state = &settled.here.state;
    let mut journal = Journal::read(state, &choices.name)?;
    let others = Journal::beside(state, &choices.name);
    if let Some(journal) = &journal {
        let authority = way.facts.authority.as_ref();
        let authority = authority.and_then(|authority| authority.fingerprint);
        journal.check(edit.path(), (authority, &way.host), &wishes.commands)?;
    }
    let known = known(settled.config, &choices.name, &way.host, journal.as_ref())?;
    let mut written = Written::read(state)?;
    // One that was killed may have come no further than to write them down, or not so far as to forget them.
    let untouched = written.forget_untouched();
    let Trusted {
        hosts,
        authority,
        mut notes,
    } = Trusted::find(way, choices, (settled, &edit), (journal.as_ref(), &written)).await?;
    let access = access(
        way,
        choices,
        (known, journal.as_ref(), &others),
        (settled.environment, &wishes.commands),
    )
    .await?;
    if let Some(journal) = &mut journal {
        for gone in &access.gone {
            journal.forget_token(gone);
        }
    }
    notes.extend(access.notes);
    if settled.config.mode == Mode::ReadOnly {
        notes.push("the mode read-only binds whoever acts through oxmox, and not this setup, which is your own act".into());
    }
    let (secret, reference, kept) = if let Some((reference, secret)) = access.kept {
        (None, reference, Some(secret))
    } else {
        let keep = place(choices, wishes, settled, &mut notes)?;
        let reference = keep.reference();
        (Some(keep), reference, None)
    };
    let others = secrets::Others {
        cluster: &choices.name,
        config: settled.config,
        journals: &others,
    };
    let in_use = (&reference, secret.is_some());
    let superseded = secrets::superseded(journal.as_ref(), in_use, &others);
    let asked = authority.as_ref().filter(|draft| draft.after.is_some());
    let reach = Reach {
        hosts,
        ca_file: asked.map(|draft| draft.path.clone()),
        secret: kept,
        journal,
        written,
    };
    let section = Section {
        hosts: reach.hosts.clone(),
        ca_file: reach.ca_file.clone(),
        token: access.token.to_string(),
        secret: reference,
    };
    edit.set_cluster(&choices.name, section.table())?;
    let earlier = Journal::changed_by_any(state);
    let kept = |draft: Draft| {
        let is_untouched = untouched.iter().any(|it| it.path == draft.path);
        let is_known = reach.written.of(&draft.path).is_some();
        let again = is_known || earlier.contains(&draft.path) && !is_untouched;
        draft.again(again).lasting()
    };
    let clients = choices
        .entered(settled.environment, settled.here)?
        .into_iter();
    let plan = Plan {
        cluster: choices.name.clone(),
        token: access.token,
        steps: access.remote.steps,
        last: access.remote.last,
        stays: access.remote.stays,
        notes,
        secret,
        superseded,
        // Replaced whole, while only an entry changes in the others.
        authority: authority.map(kept).map(|draft| {
            let again = draft.again && is_ours(&draft, &reach);
            draft.again(again)
        }),
        config: kept(edit.draft()),
        clients: clients
            .map(|(client, draft)| (client, kept(draft)))
            .collect(),
    };
    for (client, draft) in plan.entered() {
        client.check(draft)?;
    }
    for draft in plan.files() {
        draft.check()?;
    }
    Ok((plan, reach))
}

/// Whether the certificate that is in the file is what setup wrote there. Of a file that nothing is written down of any more,
/// the journal tells.
fn is_ours(draft: &Draft, reach: &Reach) -> bool {
    if reach.written.of(&draft.path).is_some() {
        return !reach.written.is_edited(draft);
    }
    let journal = reach.journal.as_ref();
    journal.is_some_and(|journal| journal.ca == draft.before)
}

/// Where the secret of a new token goes.
fn place(
    choices: &Choices,
    wishes: &Wishes,
    settled: &Settled<'_>,
    notes: &mut Vec<String>,
) -> Result<Keep, Fault> {
    let shelf = match settled.shelf.clone() {
        Some(shelf) => shelf,
        None => Shelf::find(
            wishes.secret,
            settled.here.config_dir(),
            settled.environment,
        )?,
    };
    let keep = shelf.place(&choices.name);
    let why = shelf.why_no_keyring;
    notes
        .extend(why.map(|why| format!("there is no keyring ({why}): the secret goes into a file")));
    Ok(keep)
}

/// Which token, and what it takes on the cluster.
async fn access(
    way: &Way,
    choices: &Choices,
    (known, journal, others): (Option<&ClusterConfig>, Option<&Journal>, &[Journal]),
    (environment, commands): (&Environment, &Commands),
) -> Result<Access, Fault> {
    let configured = known.and_then(|known| match &known.login {
        Login::Token { user, name, .. } => Some((known, user.as_str(), name.as_str())),
        Login::Password { .. } => None,
    });
    let given = way.entered.token.as_ref().map(|(id, _)| id);
    let wanted_user = given.map_or(USER, |id| id.user.as_str());
    let configured = configured.filter(|(_, user, _)| *user == wanted_user);
    let state = match configured {
        Some((known, ..)) => Some(tokens::tried(known, &way.entered.settings, environment).await),
        None => None,
    };
    let configured = configured.zip(state);
    let kept = |is_kept: bool| match &configured {
        Some(((known, ..), State::Works(secret))) if is_kept => {
            reference(known).map(|reference| (reference, secret.clone()))
        }
        _ => None,
    };
    if let Some(id) = given {
        let is_same = |((.., name), _): &((_, _, &str), _)| *name == id.name;
        let is_kept = configured.as_ref().is_some_and(is_same);
        return Ok(Access {
            token: id.clone(),
            remote: Remote::default(),
            kept: kept(is_kept),
            gone: Vec::new(),
            notes: rights::lacking(&choices.grant, &way.reader, &id.to_string()).await?,
        });
    }
    let accounts = Accounts::read(&way.reader).await?;
    rights::may_grant(&choices.grant, &way.reader, &accounts).await?;
    let there = accounts.users.get(USER).cloned().unwrap_or_default();
    let remembered = Remembered::of(journal, others, &accounts);
    let named = configured
        .as_ref()
        .filter(|((known, ..), _)| reference(known).is_some());
    let choice = tokens::choose(
        named.map(|((_, _, name), state)| (*name, state)),
        (&there, &remembered),
        &choices.token,
        &commands.with(&format!("cluster remove {}", choices.name)),
    )?;
    let token = TokenId::new(USER, &choice.name);
    inherited::counts(&accounts, &choices.grant, &token.to_string())?;
    let mut notes = rights::notes(&choices.grant, &accounts, &token.to_string());
    notes.extend(choice.notes.iter().cloned());
    notes.extend(inherited::hidden_below(&accounts, &choices.grant));
    Ok(Access {
        remote: plan::remote(&accounts, &choices.grant, &choice),
        kept: kept(choice.is_kept),
        gone: remembered.gone,
        token,
        notes,
    })
}

/// The cluster of that name as it is configured now. Another one of the same name is not overwritten.
fn known<'a>(
    config: &'a Config,
    name: &str,
    host: &Host,
    journal: Option<&Journal>,
) -> Result<Option<&'a ClusterConfig>, Fault> {
    let Some(known) = config.clusters.iter().find(|cluster| cluster.name == name) else {
        return Ok(None);
    };
    // Under another address, too: by its certificate, or as the cluster that setup has made this of.
    let is_same = |other: &Host| {
        let is_there = (&other.name, other.port) == (&host.name, host.port);
        let has_its_certificate = other.pin.is_some() && other.pin == host.pin;
        is_there || has_its_certificate || journal.is_some_and(|journal| journal.is_at(other))
    };
    if known.hosts.iter().any(is_same) {
        return Ok(Some(known));
    }
    let hosts: Vec<_> = known.hosts.iter().map(Host::to_string).collect();
    let what = format!(
        "the configuration has another cluster {name}, at {}",
        hosts.join(", ")
    );
    Err(Fault::new(Kind::Conflict, what).hint("give this one another name with --name"))
}

/// How the configuration names the secret of a token, if it can be named again.
pub(super) fn reference(known: &ClusterConfig) -> Option<Reference> {
    let Login::Token { secret, .. } = &known.login else {
        return None;
    };
    match secret {
        SecretSource::Command(words) => Some(Reference::Command(words.clone())),
        SecretSource::File(path) => Some(Reference::File(PathBuf::clone(path))),
        SecretSource::Variable(name) => Some(Reference::Variable(name.clone())),
        SecretSource::Held(_) => None,
    }
}
