//! `oxmox baseline`: the estate as it is now, kept to compare with later.

use tools::baseline::{self, Baseline};
use tools::engine::{Call, Progress, Reply, Silent};
use tools::fault::{Fault, Kind};
use tools::words;

use super::exit::Exit;
use super::global::Global;
use super::progress::Display;
use super::runtime::{Threads, block_on};
use super::{out, state};
use crate::session::now;

/// Keeps the estate as it is now, or shows what changed since
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Reads every guest of all clusters and keeps how they are set up, without secrets
    Save(Name),
    /// Lists the baselines that are kept
    Show,
    /// Shows which guests are new, missing, changed or replaced since
    Diff(Name),
}

#[derive(Debug, clap::Args)]
struct Name {
    /// The baseline's name
    #[arg(long, default_value = baseline::DEFAULT)]
    name: String,
}

/// Saves, lists or compares.
pub fn run(args: &Args, mut global: Global) -> Result<Exit, Fault> {
    // Toolsets spare a model's attention; a person who compares wants the comparing.
    global
        .toolsets
        .get_or_insert_with(|| vec!["all".to_owned()]);
    match &args.command {
        Command::Save(Name { name }) => block_on(Threads::One, save(name, &global)),
        Command::Show => block_on(Threads::One, show(&global)),
        Command::Diff(Name { name }) => block_on(Threads::One, diff(name, &global)),
    }
}

async fn save(name: &str, global: &Global) -> Result<Exit, Fault> {
    let session = global.session().await?;
    let engine = &session.engine;
    let display = Display::default();
    let show = |done: usize, total: usize| {
        #[expect(clippy::cast_precision_loss, reason = "a share of guests")]
        let fraction = done as f64 / total.max(1) as f64;
        display.show(&Progress {
            fraction: Some(fraction),
            message: format!("{done} of {total} guests read"),
        });
    };
    let taken = Baseline::take(engine.clusters(), now(), &show).await;
    display.clear();
    let taken = taken?;
    engine.store().await?.keep_baseline(name, &taken).await?;
    let (guests, whole) = taken.size();
    out::say(format_args!(
        "kept {} as baseline \"{name}\"",
        words::count(guests, "guest")
    ));
    if whole < guests {
        out::hint(format_args!(
            "the settings of {} could not be read: an offline node, or VM.Audit is missing",
            words::count(guests - whole, "guest")
        ));
    }
    Ok(Exit::Done)
}

async fn show(global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    let kept = match state::existing(&config).await? {
        Some(store) => store.baselines().await?,
        None => Vec::new(),
    };
    if kept.is_empty() {
        out::say("no baseline is kept; `oxmox baseline save` keeps one");
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = kept
        .into_iter()
        .map(|(name, taken)| [name, words::time(taken)])
        .collect();
    out::table(&words::table(["name", "taken"], &rows))?;
    Ok(Exit::Done)
}

async fn diff(name: &str, global: &Global) -> Result<Exit, Fault> {
    let session = global.session().await?;
    let mut arguments = tools::tool::Object::new();
    arguments.insert("baseline".to_owned(), name.into());
    arguments.insert("limit".to_owned(), 500.into());
    let call = Call::new("get_proxmox_drift", arguments, "cli");
    match session.engine.call(call, &Silent).await? {
        Reply::Done(answer) => out::data(&answer.text)?,
        _ => return Err(Fault::new(Kind::Internal, "a read gave no answer")),
    }
    Ok(Exit::Done)
}
