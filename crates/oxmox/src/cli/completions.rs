//! `oxmox completions SHELL`: every command, tool and argument, for the shell to complete.

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use tools::fault::Fault;

use super::call::{command, every_tool};
use super::exit::Exit;
use super::{Cli, out};

/// Prints a completion script for a shell
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints it.
pub fn run(args: &Args) -> Result<Exit, Fault> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut tree(), "oxmox", &mut script);
    out::data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// The whole command line with the tools as commands below `call`, as it looks from outside.
fn tree() -> Command {
    let registry = every_tool();
    let tools: Vec<_> = registry
        .tools()
        .map(|tool| {
            let spec = tool.spec();
            command(&registry.describe(tool), spec).about(spec.title)
        })
        .collect();
    Cli::command().mut_subcommand("call", |call| {
        call.allow_external_subcommands(false).subcommands(tools)
    })
}
