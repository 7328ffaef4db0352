//! A parser for one tool's arguments, made from its schema, with our own flags beside them.

use std::io::Read as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Args as _, Command};
use serde_json::Value;
use tools::fault::Fault;
use tools::registry::Described;
use tools::spec::Spec;
use tools::tool::Object;

use super::{Flags, Global};
use crate::cli::arguments::{self, HEADING};
use crate::cli::exit::Exit;

/// The id of the option that tools have only where there are several clusters.
const CLUSTER: &str = "the cluster";

/// The parser.
pub fn command(tool: &Described, spec: &Spec) -> Command {
    let taken: Vec<String> = arguments::parameters(tool)
        .map(|(name, _)| name.replace('_', "-"))
        .collect();
    let is_taken = |name: &str| taken.iter().any(|taken| taken == name);
    let mut command = Command::new(tool.name)
        .bin_name(format!("oxmox call {}", tool.name))
        .about(tool.description.clone())
        .after_help(examples(tool, spec))
        .max_term_width(crate::cli::WIDTH);
    command = arguments::options(command, tool);
    if !is_taken("cluster") {
        let help = "The cluster it is for, where several are configured";
        let cluster = Arg::new(CLUSTER).long("cluster").value_name("NAME");
        command = command.arg(cluster.help(help).help_heading(HEADING));
    }
    if tool.input["properties"].get("wait").is_some() {
        let help = "Seconds to wait for the result [default: until it is done]";
        command = command.mut_arg(arguments::id("wait"), |wait| wait.help(help));
    }
    let ours = Global::augment_args(Flags::augment_args(Command::new("ours")));
    for arg in ours.get_arguments() {
        let name = arg.get_long().unwrap_or_default();
        let mut arg = arg.clone();
        if is_taken(name) {
            arg = arg.long(format!("oxmox-{name}")).hide(true);
        }
        command = command.arg(arg);
    }
    command
}

fn examples(tool: &Described, spec: &Spec) -> String {
    let mut text = "Examples:\n".to_owned();
    for example in spec.examples {
        let line = format!("  {}\n    {}\n", example.ask, typed(tool, example.args));
        text.push_str(&line);
    }
    text
}

/// A call with these JSON arguments as a person would type it.
pub fn typed(tool: &Described, arguments: &str) -> String {
    let arguments: Object = serde_json::from_str(arguments).unwrap_or_default();
    let mut line = format!("oxmox call {}", tool.name);
    for word in arguments::words(tool, &arguments) {
        line.push(' ');
        line.push_str(&arguments::quoted(&word));
    }
    line
}

/// Help is an answer; an unknown argument is told as a model would be told; the rest is clap's to say.
pub(super) fn explain(error: &clap::Error, tool: &Described) -> Result<Exit, Fault> {
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

/// The arguments: those of `--args`, and those that were typed singly. None is given twice with different values.
pub(super) fn given(
    tool: &Described,
    args: Option<&str>,
    matches: &ArgMatches,
) -> Result<Object, Fault> {
    let mut object = match args {
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
    let mut typed = arguments::object(tool, matches)?;
    if let Ok(Some(cluster)) = matches.try_get_one::<String>(CLUSTER) {
        typed.insert("cluster".to_owned(), Value::String(cluster.clone()));
    }
    for (name, value) in typed {
        let other = object.insert(name.clone(), value);
        if other.is_some_and(|other| object[&name] != other) {
            let flag = name.replace('_', "-");
            let message = format!("--{flag} and `{name}` in --args are not the same");
            return Err(Fault::bad_input(message).hint("give it once"));
        }
    }
    Ok(object)
}

fn json_object(text: &str) -> Result<Object, Fault> {
    // The text may hold a secret: only a name and a place are told of it.
    tools::schema::object(text).map_err(|what| {
        Fault::bad_input(format!("--args: {what}")).hint("for example --args '{\"vmid\": 105}'")
    })
}
