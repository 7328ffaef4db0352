//! `oxmox call TOOL`: the engine's life of a call, with a terminal at the other end.
//!
//! The command line is read in two steps: clap finds the tool's name, then the rest is read by a parser that is made
//! from that tool's own schema. What stands after the name belongs to the tool first: where a parameter has the name of
//! one of our flags, ours has to stand before it.

mod parser;
mod perform;
mod picture;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::FromArgMatches as _;
use tools::fault::{Fault, Kind};
use tools::registry::Registry;
use tools::spec::Risk;
use tools::spec::Toolset;

use super::exit::Exit;
use super::global::Global;
use super::runtime::{self, Threads};

pub use parser::{command, typed};
use tools::tool::Object;

/// Calls a tool, as a model would
#[derive(Debug, clap::Args)]
#[command(
    subcommand_value_name = "TOOL",
    subcommand_help_heading = "Tools",
    after_help = "`oxmox tools` lists the tools, `oxmox call TOOL --help` shows what one takes."
)]
pub struct Args {
    #[command(flatten)]
    flags: Flags,
    #[command(subcommand)]
    tool: ToolWords,
}

#[derive(Debug, clap::Subcommand)]
enum ToolWords {
    #[command(external_subcommand)]
    Words(Vec<OsString>),
}

/// How to call, whatever the tool.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "How to call")]
pub struct Flags {
    /// Print the structured answer
    #[arg(long)]
    json: bool,
    /// Show what a change would do, and stop there
    #[arg(long)]
    preview: bool,
    /// Confirm without asking
    #[arg(long, short)]
    yes: bool,
    /// The arguments as one JSON object; `-` reads it from stdin
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// Keep the screen that the tool shows as a PNG file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

impl Flags {
    /// For a call whose arguments are known.
    pub fn new(json: bool, preview: bool, yes: bool) -> Self {
        Self {
            json,
            preview,
            yes,
            args: None,
            picture: None,
        }
    }

    fn merged(self, later: Self) -> Self {
        Self {
            json: self.json || later.json,
            preview: self.preview || later.preview,
            yes: self.yes || later.yes,
            args: later.args.or(self.args),
            picture: later.picture.or(self.picture),
        }
    }
}

/// Reads the rest of the command line, calls, and prints.
pub fn run(args: Args, global: Global) -> Result<Exit, Fault> {
    let ToolWords::Words(words) = args.tool;
    let mut name = words
        .first()
        .map(|word| word.to_string_lossy().into_owned())
        .unwrap_or_default();
    let registry = every_tool();
    let tool = registry.find(&name).map_err(|fault| match &fault.hint {
        // What a model has in its list, a person has to ask for.
        Some(hint) if hint.contains("tools/list") => fault.hint("`oxmox tools` lists them"),
        _ => fault,
    })?;
    let described = registry.describe(tool);
    let matches = match command(&described, tool.spec()).try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => return parser::explain(&error, &described),
    };
    let internal = |error: clap::Error| Fault::new(Kind::Internal, error.to_string());
    let flags = args
        .flags
        .merged(Flags::from_arg_matches(&matches).map_err(internal)?);
    let global = global.merged(Global::from_arg_matches(&matches).map_err(internal)?);
    let mut arguments = parser::given(&described, flags.args.as_deref(), &matches)?;
    registry.meant(&mut name, &mut arguments)?;
    runtime::log(global.verbose);
    perform(&name, arguments, flags, global)
}

/// Calls a tool with these arguments, and prints.
pub fn perform(
    tool: &str,
    mut arguments: Object,
    flags: Flags,
    mut global: Global,
) -> Result<Exit, Fault> {
    // Toolsets spare a model's attention; a person who names a tool wants that tool.
    global
        .toolsets
        .get_or_insert_with(|| vec!["all".to_owned(), "lean".to_owned()]);
    let mut name = tool.to_owned();
    let tool = every_tool().meant(&mut name, &mut arguments)?;
    let order = perform::Order {
        spec: tool.spec(),
        arguments,
        flags,
    };
    runtime::block_on(Threads::One, order.perform(&global))
}

/// Every tool there is: which of them may run here is the engine's matter.
pub fn every_tool() -> Registry {
    Registry::new(Toolset::ALL, Risk::Grant, Vec::new())
}
