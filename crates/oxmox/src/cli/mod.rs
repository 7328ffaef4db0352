//! The commands. Each module holds one: its arguments, and a `run` that gives the exit code.
//!
//! Data goes to stdout and talk to stderr, both through [`out`].

pub mod approve;
pub mod arguments;
pub mod audit;
pub mod baseline;
pub mod brake;
pub mod call;
pub mod cluster;
pub mod commands;
pub mod completions;
pub mod demo;
pub mod doctor;
pub mod exit;
mod fold;
pub mod freeze;
pub mod global;
pub mod leave;
pub mod man;
pub mod notify;
pub mod out;
pub mod person;
pub mod progress;
pub mod recovery;
pub mod reload;
pub mod rights;
pub mod runtime;
pub mod secret;
pub mod serve;
pub mod setup;
pub mod sim;
pub mod state;
pub mod store;
pub mod terminal;
pub mod token;
pub mod tools;
pub mod tour;
pub mod undo;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::generate;
use ::tools::fault::Fault;
use exit::Exit;
use global::Global;

/// Longer lines of help are hard to read.
pub(crate) const WIDTH: usize = 110;

/// Run Proxmox VE from AI agents and from the command line
#[derive(Debug, Parser)]
#[command(
    name = "oxmox",
    version,
    max_term_width = WIDTH,
    after_help = "Without a command, oxmox is an MCP server on stdin and stdout."
)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Args),
    Tools(tools::Args),
    Call(call::Args),
    /// Approves a change that waits for a person; without an id, lists what waits
    Approve(approve::Args),
    /// Rejects a change that waits for a person; without an id, lists what waits
    Reject(approve::Args),
    Audit(audit::Args),
    Baseline(baseline::Args),
    Cluster(cluster::Args),
    /// Stops every change at once, until `oxmox thaw`
    Freeze,
    /// Lets changes run again
    Thaw,
    Demo(demo::Args),
    Doctor(doctor::Args),
    Secret(secret::Args),
    Setup(Box<setup::Args>),
    Sim(sim::Args),
    Store(store::Args),
    Token(token::Args),
    Undo(undo::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Generate(generate::Args),
    #[command(hide = true)]
    Man(man::Args),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(exit) => exit.into(),
        Err(fault) => {
            out::fault(&fault);
            Exit::from(&fault).into()
        }
    }
}

impl Cli {
    fn run(self) -> Result<Exit, Fault> {
        let Self { global, command } = self;
        if !matches!(command, Some(Command::Call(_))) {
            runtime::log(global.verbose);
        }
        match command {
            None => serve::run(&serve::Args::default(), &global),
            Some(Command::Serve(args)) => serve::run(&args, &global),
            Some(Command::Tools(args)) => tools::run(&args, &global),
            Some(Command::Call(args)) => call::run(args, global),
            Some(Command::Approve(args)) => approve::run(&args, true, &global),
            Some(Command::Reject(args)) => approve::run(&args, false, &global),
            Some(Command::Audit(args)) => audit::run(&args, &global),
            Some(Command::Baseline(args)) => baseline::run(&args, global),
            Some(Command::Cluster(args)) => cluster::run(args, &global),
            Some(Command::Freeze) => freeze::freeze(&global),
            Some(Command::Thaw) => freeze::thaw(&global),
            Some(Command::Demo(args)) => demo::run(&args, global),
            Some(Command::Doctor(args)) => doctor::run(&args, &global),
            Some(Command::Secret(args)) => secret::run(&args, &global),
            Some(Command::Setup(args)) => setup::run(*args, &global),
            Some(Command::Sim(args)) => sim::run(&args),
            Some(Command::Store(args)) => store::run(&args, &global),
            Some(Command::Token(args)) => token::run(args, &global),
            Some(Command::Undo(args)) => undo::run(&args, global),
            Some(Command::Completions(args)) => completions::run(&args),
            Some(Command::Generate(args)) => generate::run(&args),
            Some(Command::Man(args)) => man::run(&args),
        }
    }
}
