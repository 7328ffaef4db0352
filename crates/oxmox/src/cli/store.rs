//! `oxmox store`: moves what is kept from one database to another.

use std::fs;
use std::io::{BufWriter, ErrorKind, IntoInnerError, Write as _};
use std::path::{Path, PathBuf};

use tools::fault::{Fault, Kind};
use tools::store::{Store, Verified};
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
    let rows = match new_private_file(file) {
        Ok(new) => written(&store, new).await.inspect_err(|_| {
            // Half an export is none.
            let _ = fs::remove_file(file);
        })?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(Fault::new(
                Kind::Conflict,
                format!("{} is there already", file.display()),
            )
            .hint("name a file that is not"));
        }
        Err(error) => return Err(unwritable(&error)),
    };
    out::say(format_args!(
        "{} written to {}",
        words::count(rows, "row"),
        file.display()
    ));
    out::hint("it holds all that the store does; only you may read it");
    Ok(Exit::Done)
}

/// Writes the store into a file, row by row; tells how many.
async fn written(store: &Store, file: fs::File) -> Result<usize, Fault> {
    let mut writer = BufWriter::new(file);
    let rows = store.export(|line| writeln!(writer, "{line}").map_err(|error| unwritable(&error)));
    let rows = rows.await?;
    let flushed = writer.into_inner().map_err(IntoInnerError::into_error);
    flushed
        .and_then(|file| file.sync_all())
        .map_err(|error| unwritable(&error))?;
    Ok(rows)
}

fn unwritable(error: &std::io::Error) -> Fault {
    Fault::new(Kind::Failed, format!("the file cannot be written: {error}"))
}

fn new_private_file(file: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

async fn import(config: &Config, file: &Path) -> Result<Exit, Fault> {
    let text = fs::read_to_string(file)
        .map_err(|error| Fault::bad_input(format!("{}: {error}", file.display())))?;
    let lines: Vec<_> = text.lines().collect();
    if !state::has_keys(config)? {
        // It would get new ones, with which no export can be read.
        let what = format!("there is no file `key` in {}", config.state_dir.display());
        return Err(Fault::new(Kind::NotFound, what).hint(
            "copy the one from the state directory that the export comes from, readable by its owner only, and run the command again",
        ));
    }
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
