//! From what was said and found to a plan.

use std::path::{Path, PathBuf};

use pve::{Host, Reader, Settings};
use tools::fault::{Fault, Kind};

use super::choices::Choices;
use super::facts::{Accounts, Facts};
use super::journal::{Journal, Made};
use super::login::Entered;
use super::nodes::{self, Other};
use super::plan::{self, Plan};
use super::rights;
use super::role::USER;
use super::wishes::{Here, Trusting, Wishes};
use crate::config::{
    ClusterConfig, Config, Edit, Environment, Login, Reference, SecretSource, Section,
};
use crate::files::Draft;
use crate::keep::Keep;

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
}

/// How the cluster will be reached.
pub(super) struct Reach {
    pub(super) hosts: Vec<Host>,
    pub(super) authority: Option<Draft>,
}

/// All that will be done.
pub(super) async fn prepare(
    way: &Way,
    choices: &Choices,
    wishes: &Wishes,
    settled: &Settled<'_>,
) -> Result<(Plan, Reach), Fault> {
    let known = known(settled.config, &choices.name, &way.host)?;
    let (reach, mut notes) = reach(way, choices, settled.here).await;
    let mut name = known.and_then(ours).unwrap_or(&choices.token).to_owned();
    let mut token = match &way.entered.token {
        Some((id, _)) => id.clone(),
        None => format!("{USER}!{name}"),
    };
    let kept = match known {
        Some(known) if works(known, &token, &way.entered.settings, settled.environment).await => {
            reference(known)
        }
        _ => None,
    };
    let (steps, stays) = if way.entered.token.is_some() {
        notes.extend(rights::lacking(&choices.grant, &way.reader, &token).await?);
        (Vec::new(), Vec::new())
    } else {
        let accounts = Accounts::read(&way.reader).await?;
        rights::may_grant(&choices.grant, &way.reader, &accounts).await?;
        if kept.is_none() {
            name = free(name, &accounts, &settled.here.state, &choices.name)?;
            token = format!("{USER}!{name}");
        }
        notes.extend(rights::notes(&choices.grant, &accounts, &token));
        plan::remote(&accounts, &choices.grant, &name, kept.is_some())
    };
    let (secret, reference) = if let Some(reference) = kept {
        (None, reference)
    } else {
        let dir = settled.here.config.parent().unwrap_or(Path::new("."));
        let (keep, why) = Keep::find(wishes.secret, &choices.name, dir, settled.environment)?;
        notes.extend(
            why.map(|why| format!("there is no keyring ({why}): the secret goes into a file")),
        );
        let reference = keep.reference();
        (Some(keep), reference)
    };
    let section = Section {
        hosts: reach.hosts.clone(),
        ca_file: reach.authority.as_ref().map(|draft| draft.path.clone()),
        token: token.clone(),
        secret: reference,
    };
    let mut edit = Edit::open(&settled.here.config)?;
    edit.set_cluster(&choices.name, section.table())?;
    let plan = Plan {
        cluster: choices.name.clone(),
        token,
        steps,
        stays,
        notes,
        secret,
        authority: reach.authority.clone(),
        config: edit.draft(),
        clients: choices.entered(settled.environment, settled.here)?,
    };
    for draft in plan.files() {
        draft.check()?;
    }
    Ok((plan, reach))
}

/// The name of the token that the configuration has, if it is one of our user's.
fn ours(known: &ClusterConfig) -> Option<&str> {
    match &known.login {
        Login::Token { user, name, .. } if user == USER => Some(name),
        _ => None,
    }
}

/// This name, or the next one that is free: a token that somebody else made here, or on another machine of the same name, is
/// theirs. One that setup made for this cluster is made anew.
fn free(name: String, accounts: &Accounts, state: &Path, cluster: &str) -> Result<String, Fault> {
    let made = Journal::read(state, cluster)?.map(|journal| journal.made);
    let is_ours = made.is_some_and(|made| {
        let mut made = made.iter();
        made.any(|made| matches!(made, Made::Token { name: known, .. } if *known == name))
    });
    let there = accounts.users.get(USER);
    let is_taken = |name: &String| there.is_some_and(|tokens| tokens.contains(name));
    if is_ours || !is_taken(&name) {
        return Ok(name);
    }
    let mut others = (2..).map(|number: u32| format!("{name}-{number}"));
    Ok(others.find(|name| !is_taken(name)).unwrap_or(name))
}

/// The nodes with what they are trusted by, and what there is to tell.
async fn reach(way: &Way, choices: &Choices, here: &Here) -> (Reach, Vec<String>) {
    let (mut hosts, mut notes) = (vec![way.host.clone()], Vec::new());
    let members = &way.facts.status.nodes;
    if !choices.only_host {
        for other in nodes::others(&way.reader, &way.host, members).await {
            match other {
                Other::Reached(host) => hosts.push(host),
                Other::Left(why) => notes.push(format!("not used as another way in: {why}")),
            }
        }
    }
    let mut authority = None;
    if choices.trusting == Trusting::Ca {
        let file = here
            .config
            .with_file_name(format!("{}-ca.pem", choices.name));
        let pem = nodes::authority(&way.reader, members).await;
        authority = pem
            .zip(Draft::open(&file).ok())
            .map(|(pem, draft)| draft.holding(pem));
        if authority.is_none() {
            let what =
                "the cluster does not tell the certificate of its authority: fingerprints it is";
            notes.push(what.to_owned());
        } else {
            for host in &mut hosts {
                host.pin = None;
            }
        }
    }
    (Reach { hosts, authority }, notes)
}

/// The cluster of that name as it is configured now. Another one of the same name is not overwritten.
fn known<'a>(
    config: &'a Config,
    name: &str,
    host: &Host,
) -> Result<Option<&'a ClusterConfig>, Fault> {
    let Some(known) = config.clusters.iter().find(|cluster| cluster.name == name) else {
        return Ok(None);
    };
    let is_same = |other: &Host| (&other.name, other.port) == (&host.name, host.port);
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

/// Whether the secret of this token is where the configuration says, and opens.
async fn works(
    known: &ClusterConfig,
    token: &str,
    reached: &Settings,
    environment: &Environment,
) -> bool {
    match &known.login {
        Login::Token { user, name, .. } if format!("{user}!{name}") == token => {}
        _ => return false,
    }
    let Ok(settings) = known.settings(environment, &mut Vec::new()) else {
        return false;
    };
    let settings = Settings {
        credentials: settings.credentials,
        ..reached.clone()
    };
    match pve::connect(settings) {
        Ok((reader, _)) => reader.version().await.is_ok(),
        Err(_) => false,
    }
}

/// How the configuration names the secret of a token, if it can be named again.
fn reference(known: &ClusterConfig) -> Option<Reference> {
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
