//! `oxmox store`: moves what is kept from one database to another.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tools::fault::{Fault, Kind};
use tools::store::Verified;
use tools::words;

use super::exit::Exit;
use super::global::Global;
use super::runtime::{Threads, block_on};
use super::{out, state};
use crate::config::Config;

/// Moves plans, approvals, tokens and the audit trail from one store to another
///
/// From the state directory to PostgreSQL: stop the servers, `oxmox store export FILE`, then
/// `oxmox --store postgres://USER@HOST/DATABASE store import FILE` with the same state directory, which holds the keys.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Writes everything in the store into a new file, one JSON object per line
    Export {
        /// The file, which must not be there yet
        file: PathBuf,
    },
    /// Takes in such a file; the store must be empty
    Import {
        /// The file
        file: PathBuf,
    },
}

/// Exports or imports.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    block_on(Threads::One, async {
        match &args.command {
            Command::Export { file } => export(&config, file).await,
            Command::Import { file } => import(&config, file).await,
        }
    })
}

async fn export(config: &Config, file: &Path) -> Result<Exit, Fault> {
    let Some(store) = state::existing(config).await? else {
        return Err(Fault::new(
            Kind::NotFound,
            format!("there is no store in {}", config.state_dir.display()),
        )
        .hint("--state-dir must be the server's"));
    };
    let lines = store.export().await?;
    write_private(file, &lines).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Fault::new(
            Kind::Conflict,
            format!("{} is there already", file.display()),
        )
        .hint("name a file that is not"),
        _ => Fault::new(Kind::Failed, format!("{}: {error}", file.display())),
    })?;
    out::say(format_args!(
        "{} written to {}",
        words::count(lines.len().saturating_sub(2), "row"),
        file.display()
    ));
    out::hint("it holds all that the store does; only you may read it");
    Ok(Exit::Done)
}

fn write_private(file: &Path, lines: &[String]) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut writer = std::io::BufWriter::new(options.open(file)?);
    for line in lines {
        writeln!(writer, "{line}")?;
    }
    writer.into_inner()?.sync_all()
}

async fn import(config: &Config, file: &Path) -> Result<Exit, Fault> {
    let text = fs::read_to_string(file)
        .map_err(|error| Fault::bad_input(format!("{}: {error}", file.display())))?;
    let lines: Vec<_> = text.lines().collect();
    let store = state::open(config).await?;
    let rows = store.import(&lines).await?;
    out::say(format_args!("{} taken in", words::count(rows, "row")));
    match store.verify_audit(None).await? {
        Verified::Whole { entries, head, .. } => {
            out::say(format_args!(
                "the audit trail is whole: {entries} entries, head {head}"
            ));
            Ok(Exit::Done)
        }
        Verified::Broken { seq } => Err(Fault::new(
            Kind::Failed,
            format!("the audit trail is broken at entry {seq}"),
        )),
    }
}
