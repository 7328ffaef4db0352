//! `oxmox call TOOL`: the engine's life of a call, with a terminal at the other end.
//!
//! The command line is read in two steps: clap finds the tool's name, then the rest is read by a parser that is made
//! from that tool's own schema. What stands after the name belongs to the tool first: where a parameter has the name of
//! one of our flags, ours has to stand before it.

use std::ffi::OsString;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use serde_json::Value;
use tools::engine::{Call, Engine, Reply};
use tools::fault::{Fault, Kind};
use tools::outcome::{Outcome, Status};
use tools::policy::Mode;
use tools::registry::{Described, Registry};
use tools::spec::{Risk, Spec, Toolset};
use tools::tool::{Object, Rendered};

use super::arguments;
use super::exit::Exit;
use super::global::Global;
use super::out;
use super::runtime::{self, Threads};
use super::terminal::Terminal;

/// A person watches, so there is no reason to give up early; the longest that the engine takes.
const WAIT: u64 = 600;
/// How long the end waits for steps that are on their way.
const PATIENCE: Duration = Duration::from_secs(10);

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
}

impl Flags {
    fn merged(self, later: Self) -> Self {
        Self {
            json: self.json || later.json,
            preview: self.preview || later.preview,
            yes: self.yes || later.yes,
            args: later.args.or(self.args),
        }
    }
}

/// Reads the rest of the command line, calls, and prints.
pub fn run(args: Args, global: Global) -> Result<Exit, Fault> {
    let ToolWords::Words(words) = args.tool;
    let name = words
        .first()
        .map(|word| word.to_string_lossy().into_owned())
        .unwrap_or_default();
    let registry = every_tool();
    let tool = registry.find(&name)?;
    let described = registry.describe(tool);
    let matches = match command(&described, tool.spec()).try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => return usage(&error, &described),
    };
    let later = |error: clap::Error| Fault::new(Kind::Internal, error.to_string());
    let flags = args
        .flags
        .merged(Flags::from_arg_matches(&matches).map_err(later)?);
    let mut global = global.merged(Global::from_arg_matches(&matches).map_err(later)?);
    // Toolsets spare a model's attention; a person who names a tool wants that tool.
    global
        .toolsets
        .get_or_insert_with(|| vec!["all".to_owned()]);
    let arguments = given(&described, &flags, &matches)?;
    runtime::log(global.verbose);
    runtime::block_on(
        Threads::One,
        perform(&global, &flags, tool.spec(), arguments),
    )
}

/// Every tool there is: which of them may run here is the engine's matter.
pub fn every_tool() -> Registry {
    Registry::new(Toolset::ALL, Mode::Trusted, &[])
}

/// The parser of one tool's arguments.
pub fn command(tool: &Described, spec: &Spec) -> Command {
    let mut ours = Global::augment_args(Flags::augment_args(Command::new("ours")));
    let taken: Vec<String> = arguments::parameters(tool)
        .map(|(name, _)| name.replace('_', "-"))
        .collect();
    let mut command = Command::new(tool.name)
        .bin_name(format!("oxmox call {}", tool.name))
        .about(tool.description.clone())
        .after_help(examples(tool, spec));
    command = arguments::options(command, tool);
    if !taken.iter().any(|name| name == "cluster") {
        command = command.arg(
            clap::Arg::new(CLUSTER)
                .long("cluster")
                .value_name("NAME")
                .help("The cluster it is for, where several are configured")
                .help_heading("Arguments of the tool"),
        );
    }
    ours.build();
    for arg in ours.get_arguments() {
        let name = arg.get_long().unwrap_or_default();
        if name == "help" {
            continue;
        }
        let mut arg = arg.clone();
        if taken.iter().any(|taken| taken == name) {
            arg = arg.long(format!("oxmox-{name}")).hide(true);
        }
        command = command.arg(arg);
    }
    command
}

/// The id of the option that tools have only where there are several clusters.
const CLUSTER: &str = "the cluster";

fn examples(tool: &Described, spec: &Spec) -> String {
    let mut text = "Examples:".to_owned();
    for example in spec.examples {
        let Ok(arguments) = serde_json::from_str::<Object>(example.args) else {
            continue;
        };
        let words: Vec<_> = arguments::words(tool, &arguments)
            .iter()
            .map(|word| arguments::quoted(word))
            .collect();
        text = format!(
            "{text}\n  {}\n    oxmox call {} {}",
            example.ask,
            tool.name,
            words.join(" ")
        );
    }
    text
}

/// Help is an answer; an unknown argument is told as a model would be told; the rest is clap's to say.
fn usage(error: &clap::Error, tool: &Described) -> Result<Exit, Fault> {
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    {
        let name = word.trim_start_matches('-').replace('-', "_");
        tools::schema::known(&Object::from_iter([(name, Value::Null)]), &tool.input)?;
    }
    // A pipe that was closed early is not worth a word.
    let _ = error.print();
    Ok(if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    })
}

/// `--args` first, then what was typed singly.
fn given(tool: &Described, flags: &Flags, matches: &ArgMatches) -> Result<Object, Fault> {
    let mut object = match flags.args.as_deref() {
        None => Object::new(),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Fault::bad_input(format!("--args -: {error}")))?;
            json_object(&text)?
        }
        Some(text) => json_object(text)?,
    };
    object.extend(arguments::object(tool, matches)?);
    if let Ok(Some(cluster)) = matches.try_get_one::<String>(CLUSTER) {
        object.insert("cluster".to_owned(), Value::String(cluster.clone()));
    }
    Ok(object)
}

fn json_object(text: &str) -> Result<Object, Fault> {
    serde_json::from_str(text).map_err(|error| {
        // The text may hold a secret, so only the place is told.
        Fault::bad_input(format!(
            "--args: no JSON object (line {}, column {})",
            error.line(),
            error.column()
        ))
        .hint("for example --args '{\"vmid\": 105}'")
    })
}

async fn perform(
    global: &Global,
    flags: &Flags,
    spec: &Spec,
    mut arguments: Object,
) -> Result<Exit, Fault> {
    let session = global.session().await?;
    let changes = spec.risk > Risk::Read;
    drop_only_cluster(&session.engine, &mut arguments);
    if changes && !flags.preview {
        arguments.entry("wait").or_insert_with(|| Value::from(WAIT));
    }
    let terminal = Terminal::new(flags.yes);
    let mut call = Call::new(spec.name, arguments, &terminal.caller());
    call.preview = flags.preview;
    let answered = tokio::select! {
        reply = session.engine.call(call, &terminal) => reply,
        _ = tokio::signal::ctrl_c() => {
            terminal.clear();
            return Ok(interrupted(&session.engine).await);
        }
    };
    terminal.clear();
    let answer = match answered? {
        Reply::Done(answer) => answer,
        // Only transports that say `Asked::Later` get questions back.
        Reply::Ask(_) => return Err(Fault::new(Kind::Internal, "a question came back")),
    };
    if flags.json {
        out::json(&answer.data)?;
    } else {
        out::data(&answer.text)?;
    }
    if !changes || flags.preview {
        return Ok(Exit::Done);
    }
    let status = ended(&answer, global.demo)?;
    session.engine.drain(PATIENCE).await;
    Ok(status.into())
}

/// With one cluster the tools take no `cluster`; a person who names that one is right all the same.
fn drop_only_cluster(engine: &Engine, arguments: &mut Object) {
    if let [only] = engine.clusters()
        && arguments.get("cluster").and_then(Value::as_str) == Some(only.name.as_str())
    {
        arguments.remove("cluster");
    }
}

/// How a change ended, with what to do next.
fn ended(answer: &Rendered, demo: bool) -> Result<Status, Fault> {
    let outcome: Outcome = serde_json::from_value(Value::Object(answer.data.clone()))
        .map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
    if outcome.status == Status::NeedsConfirmation {
        let demo = if demo { "--demo " } else { "" };
        out::hint(format_args!(
            "nobody could be asked. `oxmox {demo}approve {}` and then the same command, or --yes, does it",
            outcome.plan
        ));
    }
    Ok(outcome.status)
}

/// Ctrl-C ends the waiting, not the work: what is being sent is finished, unless it is pressed again.
async fn interrupted(engine: &Arc<Engine>) -> Exit {
    out::say("stopped waiting; finishing what was begun (Ctrl-C again leaves at once)");
    tokio::select! {
        _ = engine.drain(PATIENCE) => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    out::hint("`oxmox audit` shows what was sent; tasks that PVE has started go on");
    Exit::Interrupted
}
