//! `oxmox setup`: from nothing to a client that reaches a cluster. All of it can be said by flags, or is asked for.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use pve::Fingerprint;
use secrecy::SecretString;
use tools::caller::Scope;
use tools::fault::{Fault, Kind};

use super::brake::Brake;
use super::exit::Exit;
use super::global::Global;
use super::runtime::{Threads, block_on};
use crate::cli::commands::Commands;
use crate::clients::Client;
use crate::config::{Environment, SecretSource, secret_file};
use crate::files::Locks;
use crate::keep::Wanted;
use crate::program::MOST;
use crate::setup::journal::Journal;
use crate::setup::wishes::{Here, Trusting, Wishes};
use crate::setup::{self, undo};

/// Connects oxmox to a cluster: makes a token with just the rights it needs, and tells your clients
///
/// Asks for what no flag says, shows everything that it will do, and does it only after a yes.
#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct Args {
    /// A node of the cluster, by name or address
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Its port [default: 8006]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Who logs in, once [default: root@pam]
    #[arg(long, value_name = "USER@REALM")]
    user: Option<String>,
    /// Read the password from stdin
    #[arg(long, conflicts_with = "password_file")]
    password_stdin: bool,
    /// Read the password from the first line of a file
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// The code of the authenticator, for a user with TOTP
    #[arg(long, value_name = "CODE")]
    totp: Option<String>,
    /// How far oxmox may go [default: read]
    #[arg(long, value_name = "LEVEL", value_parser = level_parser())]
    level: Option<Scope>,
    /// Only on these pools [default: on everything]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pools: Option<Vec<String>>,
    /// Storages outside the pools that may be used, too
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "pools")]
    storages: Vec<String>,
    /// At level read, allow looking at screens; PVE has one privilege for looking and typing
    #[arg(long)]
    screens: bool,
    /// The SHA-256 fingerprint that the node's certificate must have
    #[arg(long, value_name = "FINGERPRINT", conflicts_with = "accept_pin")]
    pin: Option<Fingerprint>,
    /// Take the certificate that the node presents now for the right one
    #[arg(long)]
    accept_pin: bool,
    /// How the cluster's nodes are recognised
    #[arg(long, value_enum, value_name = "HOW")]
    trust: Option<Trusting>,
    /// Use this address only, and not the cluster's other nodes when it is down
    #[arg(long)]
    only_host: bool,
    /// Use a token that is there already, instead of logging in and making one
    #[arg(long, value_name = "USER@REALM!NAME", conflicts_with_all = ["user", "password_stdin", "password_file", "totp"])]
    token: Option<String>,
    /// Read the token's secret from stdin
    #[arg(long, requires = "token", conflicts_with = "token_secret_file")]
    token_secret_stdin: bool,
    /// Read the token's secret from the first line of a file
    #[arg(long, value_name = "FILE", requires = "token")]
    token_secret_file: Option<PathBuf>,
    /// Where the token's secret is kept
    #[arg(long, value_enum, value_name = "WHERE", default_value_t)]
    secret_store: Wanted,
    /// The clients that shall know oxmox, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = client_parser())]
    client: Option<Vec<Client>>,
    /// What the cluster is called here [default: its own name]
    #[arg(long, value_name = "CLUSTER")]
    name: Option<String>,
    /// Do it without asking
    #[arg(long, short)]
    yes: bool,
    /// Show what would be done, on stdout, and stop there
    #[arg(long)]
    dry_run: bool,
    /// Take back what setup made
    #[arg(long, conflicts_with = "token")]
    undo: bool,
    /// With --undo, take back only what is on this machine: for a cluster that is out of reach or gone
    ///
    /// What is on the cluster stays written down for a later --undo, and is shown with the commands that remove it there.
    #[arg(long, requires = "undo")]
    local_only: bool,
}

fn level_parser() -> impl TypedValueParser<Value = Scope> {
    PossibleValuesParser::new(Scope::ALL.map(Scope::word))
        .try_map(|word| Scope::parse(&word).ok_or("no such level"))
}

fn client_parser() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::word))
        .try_map(|word| Client::parse(&word).ok_or("no such client"))
}

impl Args {
    fn wishes(self, commands: Commands) -> Result<Wishes, Fault> {
        // Before anything is read or asked: PVE would only say that the login is wrong.
        if let Some(user) = &self.user {
            has_realm(user)?;
        }
        Ok(Wishes {
            password: secret(
                self.password_stdin,
                self.password_file.as_deref(),
                ("password", "--password-file"),
            )?,
            token_secret: secret(
                self.token_secret_stdin,
                self.token_secret_file.as_deref(),
                ("token's secret", "--token-secret-file"),
            )?,
            host: self.host,
            port: self.port,
            user: self.user,
            totp: self.totp.map(SecretString::from),
            level: self.level,
            pools: self.pools,
            storages: self.storages,
            screens: self.screens,
            pin: self.pin,
            accept_pin: self.accept_pin,
            only_host: self.only_host,
            trusting: self.trust,
            token: self.token,
            clients: self.client,
            name: self.name,
            secret: self.secret_store,
            yes: self.yes,
            dry_run: self.dry_run,
            local_only: self.local_only,
            undone: None,
            commands,
        })
    }

    /// Whoever takes back and cannot look whether somebody has stopped all changes may want to send none: the store was in a VM
    /// of the cluster that is gone, perhaps. Where somebody has stopped them, that is no way round.
    fn or_only_here(&self, fault: Fault, commands: &Commands) -> Fault {
        if !self.undo || fault.kind == Kind::Refused {
            return fault;
        }
        let undo = match &self.name {
            Some(name) => commands.undo(name),
            None => commands.with("setup --undo"),
        };
        let first = fault.hint.clone().map(|hint| format!("{hint}; "));
        fault.hint(format!(
            "{}where the store is gone, `{undo} --local-only` takes back what is on this machine, and keeps the rest for later",
            first.unwrap_or_default()
        ))
    }
}

fn has_realm(user: &str) -> Result<(), Fault> {
    match user.rsplit_once('@') {
        Some((name, realm)) if !name.is_empty() && !realm.is_empty() => Ok(()),
        _ => {
            let name = user.trim_matches('@');
            let what = format!("--user {user} lacks the name or the realm: it is USER@REALM");
            Err(Fault::bad_input(what).hint(format!(
                "--user {name}@pam for an account of the node, --user {name}@pve for one of PVE's own"
            )))
        }
    }
}

/// The first line of stdin or of a file, if one of them was named, the file by `flag`.
pub(super) fn secret(
    stdin: bool,
    file: Option<&Path>,
    (what, flag): (&str, &str),
) -> Result<Option<SecretString>, Fault> {
    let what = format!("the {what}");
    let unreadable = |why: String| Fault::bad_input(format!("{what}: {why}"));
    let read = match file {
        Some(path) => std::fs::File::open(path).and_then(short).map_err(|error| {
            secret_file::misplaced(path, flag)
                .unwrap_or_else(|| unreadable(format!("{}: {error}", path.display())))
        }),
        None if stdin => {
            short(std::io::stdin()).map_err(|error| unreadable(format!("stdin: {error}")))
        }
        None => return Ok(None),
    };
    let secret = read.and_then(|text| SecretSource::first_line(&text, &what));
    secret.map(Some).map_err(|fault| match fault.hint {
        Some(_) => fault,
        None => {
            fault.hint("it is the first line of what is named, and nothing else is needed there")
        }
    })
}

/// What is there, if it is as short as any secret: what has no end is not read to it.
fn short(from: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    from.take(MOST as u64 + 1).read_to_string(&mut text)?;
    if text.len() > MOST {
        let what = format!("longer than {} KiB; a secret is one line", MOST >> 10);
        return Err(std::io::Error::other(what));
    }
    Ok(text)
}

/// What is written down is looked up from anywhere.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// Sets up, or takes it back.
pub fn run(args: Args, global: &Global) -> Result<Exit, Fault> {
    if global.demo {
        return Err(Fault::bad_input("the demo needs no setup")
            .hint("leave out --demo, or run `oxmox demo`"));
    }
    let commands = Commands::of(global);
    let environment = Environment::of_process();
    let config_file = absolute(global.config_file(&environment)?);
    // From before it is read until all is written, so that two at once do not lose what the other one did.
    let mut locks = Locks::default();
    if !args.dry_run {
        locks.add(&config_file)?;
    }
    let config = global.load_or_fresh(&environment)?;
    let here = Here {
        config: config_file,
        state: config.state_dir.clone(),
        arguments: global.for_clients(&environment),
    };
    if !args.dry_run {
        Brake::of(&config, &commands).is_off_here()?;
        // Where nothing is sent, a store that went with the cluster is in nobody's way.
        if !args.local_only && args.token.is_none() {
            let looked = block_on(Threads::One, Brake::look(&config, &commands));
            looked.map_err(|fault| args.or_only_here(fault, &commands))?;
        }
        locks.add(&Journal::all(&here.state))?;
        setup::clear_dead(&environment, &here);
    }
    let take_back = args.undo;
    let wishes = args.wishes(commands)?;
    block_on(Threads::One, async {
        if take_back {
            undo::run(wishes, (&config, &environment), &here, locks).await
        } else {
            setup::run(wishes, &config, &environment, &here, locks).await
        }
    })
}
