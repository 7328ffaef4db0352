//! What a person chooses once the cluster is known: how far oxmox may go, where, under which name, for which clients.

use std::path::PathBuf;

use pve::Host;
use tools::caller::Scope;
use tools::fault::{Fault, Kind};

use super::facts::Facts;
use super::look::Known;
use super::role::{Grant, meaning};
use super::talk::Talk;
use super::wishes::{Here, Trusting, Wishes};
use crate::clients::{Client, Server};
use crate::config::{Config, Environment, System, check_cluster_name};
use crate::files::Draft;

/// Everything that was chosen.
pub(super) struct Choices {
    /// The cluster's name in the configuration.
    pub(super) name: String,
    /// The token's own name: this machine's, since each machine has its own.
    pub(super) token: String,
    /// What oxmox may do.
    pub(super) grant: Grant,
    /// How the nodes are recognised.
    pub(super) trusting: Trusting,
    /// Whether the other nodes are left out.
    pub(super) only_host: bool,
    clients: Vec<Client>,
}

impl Choices {
    /// Takes what was said, and asks for the rest.
    pub(super) async fn make(
        wishes: &Wishes,
        facts: &Facts,
        (host, config): (&Host, &Config),
        environment: &Environment,
        (talk, is_given): (Talk, bool),
    ) -> Result<Self, Fault> {
        // A token that is there already has the rights that it has: those are looked at, and not asked about.
        let about_rights = if is_given { talk.silent() } else { talk };
        let level = level(wishes, about_rights).await?;
        let pools = pools(wishes, facts, about_rights).await?;
        let storages = storages(wishes, &pools, facts, about_rights).await?;
        let grant = Grant::new(
            level,
            (&config.toolsets, wishes.screens),
            (&pools, &storages),
            &facts.known,
        );
        Ok(Self {
            trusting: trusting(wishes, facts, (host, config), talk).await?,
            name: name(wishes, facts, host, talk).await?,
            token: token_name(),
            grant,
            only_host: wishes.only_host,
            clients: clients(wishes, environment, talk).await?,
        })
    }

    /// The cluster as people know it.
    pub(super) fn title(facts: &Facts) -> String {
        match called(facts) {
            Some(name) => format!("the cluster {name}"),
            None => match facts.status.nodes.iter().find(|node| node.local) {
                Some(node) => format!("the node {}", node.name),
                None => "it".to_owned(),
            },
        }
    }

    /// Where the files of the clients are.
    pub(super) fn files(&self, environment: &Environment) -> Result<Vec<PathBuf>, Fault> {
        let files = files(&self.clients, environment)?;
        Ok(files.into_iter().map(|(_, file)| file).collect())
    }

    /// These files, with oxmox in them.
    pub(super) fn entered(
        &self,
        environment: &Environment,
        here: &Here,
    ) -> Result<Vec<(Client, Draft)>, Fault> {
        entered(&self.clients, environment, here)
    }
}

/// These clients, and where their files are.
fn files(clients: &[Client], environment: &Environment) -> Result<Vec<(Client, PathBuf)>, Fault> {
    if clients.is_empty() {
        return Ok(Vec::new());
    }
    let places = environment.places(System::HERE).ok_or_else(|| {
        Fault::bad_input("there is no home directory that clients could keep their files in")
            .hint("set HOME")
    })?;
    let each = clients.iter();
    Ok(each.map(|client| (*client, client.file(&places))).collect())
}

/// The files of these clients, with oxmox in them.
pub(super) fn entered(
    clients: &[Client],
    environment: &Environment,
    here: &Here,
) -> Result<Vec<(Client, Draft)>, Fault> {
    let program = std::env::current_exe()
        .map_err(|error| Fault::new(Kind::Internal, format!("where oxmox is: {error}")))?;
    let server = Server {
        program,
        arguments: here.arguments.clone(),
    };
    let each = files(clients, environment)?.into_iter();
    each.map(|(client, file)| Ok((client, client.entered(&file, &server)?)))
        .collect()
}

async fn level(wishes: &Wishes, talk: Talk) -> Result<Scope, Fault> {
    if let Some(level) = wishes.level {
        return Ok(level);
    }
    let ways = Scope::ALL.map(|level| format!("{}: {}", level.word(), meaning(level)));
    let at = talk
        .choose(
            "How far may oxmox go? (what interrupts or destroys is asked about in any case)",
            &ways,
            0,
        )
        .await?;
    Ok(Scope::ALL[at])
}

/// Asked only where there is something to choose: several nodes, behind a certificate that no system knows.
async fn trusting(
    wishes: &Wishes,
    facts: &Facts,
    (host, config): (&Host, &Config),
    talk: Talk,
) -> Result<Trusting, Fault> {
    if let Some(trusting) = wishes.trusting {
        return Ok(trusting);
    }
    if let Some(Known::Authority(_)) = Known::of(host, config) {
        // As it was chosen before.
        return Ok(Trusting::Ca);
    }
    let several = facts.status.nodes.len() > 1 && !wishes.only_host;
    if host.pin.is_none() || !several {
        return Ok(Trusting::Pins);
    }
    let ways = [
        "by a fingerprint for each (exact; to be renewed with each certificate)".to_owned(),
        "by the cluster's own certificate authority (good for ten years)".to_owned(),
    ];
    let question = "How are the cluster's nodes recognised?";
    Ok(match talk.choose(question, &ways, 0).await? {
        0 => Trusting::Pins,
        _ => Trusting::Ca,
    })
}

/// What the cluster calls itself, on one line and with nothing in it for a terminal to act on.
fn called(facts: &Facts) -> Option<String> {
    let name = tools::clean::line(facts.status.name.as_deref()?);
    (!name.is_empty()).then_some(name)
}

/// What the cluster is called in the configuration; by default as it calls itself.
async fn name(wishes: &Wishes, facts: &Facts, host: &Host, talk: Talk) -> Result<String, Fault> {
    let local = facts.status.nodes.iter().find(|node| node.local);
    let local = local.map(|node| node.name.to_string());
    let found = called(facts).or(local);
    let default = plain(&found.unwrap_or_else(|| host.name.clone()));
    let question = "What shall the cluster be called here?";
    let name = match &wishes.name {
        Some(name) => name.clone(),
        None => talk.line(question, Some(&default), "--name").await?,
    };
    check_cluster_name(&name)?;
    Ok(name)
}

async fn pools(wishes: &Wishes, facts: &Facts, talk: Talk) -> Result<Vec<String>, Fault> {
    let question = "Only what is in one of these pools? (none: everything on the cluster)";
    some_of(
        ("pool", &facts.pools),
        wishes.pools.as_deref(),
        question,
        talk,
    )
    .await
}

/// Storages are asked about only where pools bound everything else: what is in a pool has its disks somewhere.
async fn storages(
    wishes: &Wishes,
    pools: &[String],
    facts: &Facts,
    talk: Talk,
) -> Result<Vec<String>, Fault> {
    if pools.is_empty() {
        return Ok(Vec::new());
    }
    let said = Some(wishes.storages.as_slice()).filter(|said| !said.is_empty());
    let question = "Which storages may be used besides those in the pools?";
    some_of(("storage", &facts.storages), said, question, talk).await
}

/// Those that were named, or those that a person picks; none if nobody says.
async fn some_of(
    (what, there): (&str, &[String]),
    said: Option<&[String]>,
    question: &str,
    talk: Talk,
) -> Result<Vec<String>, Fault> {
    let Some(said) = said else {
        if there.is_empty() || !talk.is_there() {
            return Ok(Vec::new());
        }
        let picked = talk
            .pick(question, there, &vec![false; there.len()])
            .await?;
        return Ok(picked.into_iter().map(|at| there[at].clone()).collect());
    };
    match said.iter().find(|name| !there.contains(name)) {
        None => Ok(said.to_vec()),
        Some(name) => Err(
            Fault::new(Kind::NotFound, format!("there is no {what} {name}"))
                .hint(format!("there are: {}", there.join(", "))),
        ),
    }
}

async fn clients(
    wishes: &Wishes,
    environment: &Environment,
    talk: Talk,
) -> Result<Vec<Client>, Fault> {
    if let Some(clients) = &wishes.clients {
        return Ok(clients.clone());
    }
    let Some(places) = environment.places(System::HERE).filter(|_| talk.is_there()) else {
        return Ok(Vec::new());
    };
    let names = Client::ALL.map(|client| client.title().to_owned());
    let here = Client::ALL.map(|client| client.is_here(&places));
    let picked = talk
        .pick("Which clients shall know oxmox?", &names, &here)
        .await?;
    Ok(picked.into_iter().map(|at| Client::ALL[at]).collect())
}

/// A name that can stand in files and on command lines.
fn plain(text: &str) -> String {
    let letters = text.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() || letter == '_' => letter,
        _ => '-',
    });
    letters.collect::<String>().trim_matches('-').to_owned()
}

/// A token's name begins with a letter.
fn token_name() -> String {
    let host = whoami::hostname().unwrap_or_default();
    let name = plain(host.split('.').next().unwrap_or_default());
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() && name.len() > 1 => name,
        _ => format!("oxmox-{name}").trim_end_matches('-').to_owned(),
    }
}
