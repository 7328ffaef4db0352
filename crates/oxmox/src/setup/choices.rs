//! What a person chooses once the cluster is known: how far oxmox may go, where, under which name, for which clients.

use pve::Host;
use tools::caller::Scope;
use tools::fault::{Fault, Kind};

use super::facts::Facts;
use super::role::{Grant, meaning};
use super::talk::Talk;
use super::wishes::{Here, Trusting, Wishes};
use crate::clients::{Client, Server};
use crate::config::{Config, Environment, System};
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
    pub(super) fn make(
        wishes: &Wishes,
        facts: &Facts,
        (host, config): (&Host, &Config),
        environment: &Environment,
        talk: Talk,
    ) -> Result<Self, Fault> {
        let level = level(wishes, talk)?;
        let pools = pools(wishes, facts, talk)?;
        let grant = Grant::new(
            level,
            (&config.toolsets, wishes.screens),
            (&pools, &wishes.storages),
            &facts.known,
        );
        let several = facts.status.nodes.len() > 1 && !wishes.only_host;
        let trusting = match wishes.trusting {
            Some(trusting) => trusting,
            None if host.pin.is_some() && several => {
                let ways = [
                    "by a fingerprint for each (exact; to be renewed with each certificate)"
                        .to_owned(),
                    "by the cluster's own certificate authority (good for ten years)".to_owned(),
                ];
                match talk.choose("How are the cluster's nodes recognised?", &ways, 0)? {
                    0 => Trusting::Pins,
                    _ => Trusting::Ca,
                }
            }
            None => Trusting::Pins,
        };
        let found = facts.status.name.clone();
        let local = facts.status.nodes.iter().find(|node| node.local);
        let found = found.or_else(|| local.map(|node| node.name.to_string()));
        let default = plain(&found.unwrap_or_else(|| host.name.clone()));
        let name = match &wishes.name {
            Some(name) => name.clone(),
            None => talk.line(
                "What shall the cluster be called here?",
                Some(&default),
                "--name",
            )?,
        };
        if name.is_empty() || plain(&name) != name {
            return Err(Fault::bad_input("this is no name for a cluster")
                .hint("letters, digits, - and _: --name home"));
        }
        Ok(Self {
            name,
            token: token_name(),
            grant,
            trusting,
            only_host: wishes.only_host,
            clients: clients(wishes, environment, talk)?,
        })
    }

    /// The cluster as people know it.
    pub(super) fn title(&self, facts: &Facts) -> String {
        match &facts.status.name {
            Some(name) => format!("the cluster {name}"),
            None => format!("the node {}", self.name),
        }
    }

    /// The files of the clients, with oxmox in them.
    pub(super) fn entered(
        &self,
        environment: &Environment,
        here: &Here,
    ) -> Result<Vec<(Client, Draft)>, Fault> {
        if self.clients.is_empty() {
            return Ok(Vec::new());
        }
        let program = std::env::current_exe()
            .map_err(|error| Fault::new(Kind::Internal, format!("where oxmox is: {error}")))?;
        let server = Server {
            program,
            arguments: here.arguments.clone(),
        };
        let places = environment.places(System::HERE).ok_or_else(|| {
            Fault::bad_input("there is no home directory that clients could keep their files in")
                .hint("set HOME")
        })?;
        let each = self.clients.iter();
        each.map(|client| Ok((*client, client.entered(&client.file(&places), &server)?)))
            .collect()
    }
}

fn level(wishes: &Wishes, talk: Talk) -> Result<Scope, Fault> {
    if let Some(level) = wishes.level {
        return Ok(level);
    }
    let ways = Scope::ALL.map(|level| format!("{}: {}", level.word(), meaning(level)));
    let at = talk.choose(
        "How far may oxmox go? (what interrupts or destroys is asked about in any case)",
        &ways,
        0,
    )?;
    Ok(Scope::ALL[at])
}

fn pools(wishes: &Wishes, facts: &Facts, talk: Talk) -> Result<Vec<String>, Fault> {
    match &wishes.pools {
        Some(pools) => {
            let unknown = pools.iter().find(|pool| !facts.pools.contains(pool));
            match unknown {
                None => Ok(pools.clone()),
                Some(pool) => Err(
                    Fault::new(Kind::NotFound, format!("there is no pool {pool}"))
                        .hint(format!("there are: {}", facts.pools.join(", "))),
                ),
            }
        }
        None if facts.pools.is_empty() || !talk.is_there() => Ok(Vec::new()),
        None => {
            let on = vec![false; facts.pools.len()];
            let picked = talk.pick(
                "Only on these pools? None marked: on everything",
                &facts.pools,
                &on,
            )?;
            Ok(picked
                .into_iter()
                .map(|at| facts.pools[at].clone())
                .collect())
        }
    }
}

fn clients(wishes: &Wishes, environment: &Environment, talk: Talk) -> Result<Vec<Client>, Fault> {
    if let Some(clients) = &wishes.clients {
        return Ok(clients.clone());
    }
    let Some(places) = environment.places(System::HERE).filter(|_| talk.is_there()) else {
        return Ok(Vec::new());
    };
    let names = Client::ALL.map(|client| client.title().to_owned());
    let here = Client::ALL.map(|client| client.is_here(&places));
    let picked = talk.pick("Which clients shall know oxmox?", &names, &here)?;
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
