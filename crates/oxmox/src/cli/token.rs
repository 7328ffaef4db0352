//! `oxmox token`: who may call the server over the network, and how far they may go.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use secrecy::ExposeSecret as _;
use tools::caller::{Bounds, Scope, Vmids};
use tools::fault::{Fault, Kind};
use tools::store::StoredToken;
use tools::words;

use super::exit::Exit;
use super::global::Global;
use super::runtime::{Threads, block_on};
use super::{out, state};
use crate::session::now;
use crate::token;

/// Longest name of a caller.
const LONGEST_NAME: usize = 64;
const DAY: i64 = 24 * 3600;

/// Gives out and takes back the tokens by which callers over the network are known
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Gives out a token; it is printed once, on stdout, and kept nowhere
    Add(Add),
    /// Lists the callers that have one
    List,
    /// Takes a token back; it is worth nothing from then on
    Remove {
        /// The caller's name
        name: String,
    },
}

#[derive(Debug, clap::Args)]
struct Add {
    /// The caller's name, as the audit trail will show it
    name: String,
    /// What they may do: look; also change and interrupt; or all that the configuration allows [default: operate; full for
    /// a person]
    #[arg(long, value_parser = scope_parser())]
    scope: Option<Scope>,
    /// The clusters that they reach [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    clusters: Vec<String>,
    /// The pools whose guests they may change [default: all guests]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pools: Vec<String>,
    /// The guests that they may change, like 105 or 100-199 [default: all]
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = vmids)]
    vmids: Vec<Vmids>,
    /// It is a person's: they may sign in at the page and decide on what waits. Nobody approves what they could not do, so
    /// its scope is full unless you say otherwise
    #[arg(long)]
    person: bool,
    /// After how many days it ends [default: never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: Option<u32>,
}

fn scope_parser() -> impl TypedValueParser<Value = Scope> {
    PossibleValuesParser::new(Scope::ALL.map(Scope::word))
        .try_map(|word| Scope::parse(&word).ok_or("no such scope"))
}

fn vmids(text: &str) -> Result<Vmids, String> {
    Vmids::try_from(text.to_owned())
}

/// Gives out, lists or takes back.
pub fn run(args: Args, global: &Global) -> Result<Exit, Fault> {
    block_on(Threads::One, async {
        match args.command {
            Command::Add(add) => give(add, global).await,
            Command::List => list(global).await,
            Command::Remove { name } => remove(&name, global).await,
        }
    })
}

async fn give(add: Add, global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    check_name(&add.name)?;
    let known: Vec<_> = config.clusters.iter().map(|it| it.name.as_str()).collect();
    if let Some(unknown) = add
        .clusters
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        let fault = Fault::bad_input(format!("there is no cluster {unknown}"));
        return Err(fault.hint(format!("there are: {}", known.join(", "))));
    }
    if add.pools.iter().any(String::is_empty) {
        return Err(Fault::bad_input("a pool has a name")
            .hint("leave --pools out if it is about all guests, whatever pool they are in"));
    }
    // Nobody approves what they could not do themselves, and deletes are what people are asked about most.
    let usual = if add.person {
        Scope::Full
    } else {
        Scope::Operate
    };
    let bounds = Bounds {
        scope: add.scope.unwrap_or(usual),
        clusters: add.clusters,
        pools: add.pools,
        vmids: add.vmids,
    };
    let (now, expires) = (now(), add.days.map(|days| now() + i64::from(days) * DAY));
    let (token, stored) = token::issue(&add.name, bounds, add.person, (now, expires))?;
    if !state::open(&config).await?.keep_token(&stored).await? {
        return Err(
            Fault::new(Kind::Conflict, format!("{} has a token already", add.name)).hint(format!(
                "`{0} token remove {1}` takes it back; or choose another name",
                global.program(),
                add.name
            )),
        );
    }
    out::data(token.expose_secret())?;
    out::say(format_args!("{} may {}", stored.name, stored.bounds));
    out::hint(if stored.person {
        "this is the only time that it is shown: a person signs in with it at the page; it decides on changes, so give it to no client"
    } else {
        "this is the only time that it is shown: it goes into the client's configuration as `Authorization: Bearer …`"
    });
    Ok(Exit::Done)
}

/// Names stand in the audit trail and in tables.
fn check_name(name: &str) -> Result<(), Fault> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.@".contains(letter);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
        return Err(Fault::bad_input(format!(
            "\"{}\" is no name for a caller",
            words::clip(name, LONGEST_NAME)
        ))
        .hint("letters, digits and -_.@, at most 64 of them"));
    }
    Ok(())
}

async fn list(global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    let (tokens, any) = match state::existing(&config).await? {
        Some(store) => (store.tokens().await?, store.has_tokens().await?),
        None => (Vec::new(), false),
    };
    if tokens.is_empty() && any {
        return Err(Fault::refused(
            "tokens were given out, and somebody has changed what is kept of them: none of them counts",
        )
        .hint(format!("`{0} token remove NAME`, then `{0} token add NAME`", global.program())));
    }
    if tokens.is_empty() {
        out::say("nobody has a token");
        out::hint(format_args!(
            "`{} token add NAME` gives one out",
            global.program()
        ));
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = tokens.iter().map(row).collect();
    out::table(&words::table(
        ["name", "who", "may", "since", "until"],
        &rows,
    ))?;
    Ok(Exit::Done)
}

fn row(token: &StoredToken) -> [String; 5] {
    let until = match token.expires {
        None => "never ends".to_owned(),
        Some(expires) if expires <= now() => format!("{} (over)", words::time(expires)),
        Some(expires) => words::time(expires),
    };
    [
        token.name.clone(),
        if token.person { "person" } else { "program" }.to_owned(),
        token.bounds.to_string(),
        words::time(token.created),
        until,
    ]
}

async fn remove(name: &str, global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    let removed = match state::existing(&config).await? {
        Some(store) => store.remove_token(name).await?,
        None => false,
    };
    if !removed {
        return Err(
            Fault::new(Kind::NotFound, format!("{name} has no token")).hint(format!(
                "`{} token list` shows who has one",
                global.program()
            )),
        );
    }
    out::say(format_args!(
        "the token of {name} is worth nothing from now on"
    ));
    Ok(Exit::Done)
}
