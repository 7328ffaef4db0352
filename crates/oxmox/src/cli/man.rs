//! `oxmox man DIR`: the manual pages, made from the command line's own declaration. Packages are built with it.

use std::path::PathBuf;

use clap::CommandFactory as _;
use tools::fault::{Fault, Kind};

use super::Cli;
use super::exit::Exit;

/// Writes the manual pages, one for each command
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory to write them into
    dir: PathBuf,
}

/// Writes them.
pub fn run(args: &Args) -> Result<Exit, Fault> {
    // A page that says how to ask for help helps nobody who has the pages.
    let command = Cli::command().disable_help_subcommand(true);
    std::fs::create_dir_all(&args.dir)
        .and_then(|()| clap_mangen::generate_to(command, &args.dir))
        .map_err(|error| Fault::new(Kind::Internal, format!("{}: {error}", args.dir.display())))?;
    Ok(Exit::Done)
}
