//! The documents that are made from the registry and the configuration, so that they cannot be wrong.

pub mod config;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tools::fault::{Fault, Kind};
use tools::registry::{Described, Registry};
use tools::spec::{Risk, Spec, Toolset};

use crate::cli::arguments;
use crate::cli::call::{every_tool, typed};
use crate::cli::exit::Exit;
use crate::cli::out;

/// Writes the documents that are made from the program itself
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write nothing, and fail if one is not current
    #[arg(long)]
    check: bool,
    /// The directory that they are in
    #[arg(long, value_name = "DIR", default_value = "docs")]
    dir: PathBuf,
}

/// Writes or checks them.
pub fn run(args: &Args) -> Result<Exit, Fault> {
    for (name, wanted) in documents() {
        let file = args.dir.join(name);
        if args.check {
            check(&file, &wanted)?;
            continue;
        }
        std::fs::create_dir_all(&args.dir)
            .and_then(|()| std::fs::write(&file, wanted))
            .map_err(|error| Fault::new(Kind::Internal, format!("{}: {error}", file.display())))?;
        out::say(format_args!("wrote {}", file.display()));
    }
    Ok(Exit::Done)
}

/// Every document, by its name.
pub fn documents() -> [(&'static str, String); 3] {
    [
        ("TOOLS.md", tools_document(&every_tool())),
        ("FINDINGS.md", tools::area::findings_document()),
        ("CONFIG.md", config::document()),
    ]
}

fn check(file: &Path, wanted: &str) -> Result<(), Fault> {
    match std::fs::read_to_string(file) {
        Ok(found) if found == wanted => Ok(()),
        _ => Err(
            Fault::new(Kind::Failed, format!("{} is not current", file.display()))
                .hint("`oxmox generate` writes it anew"),
        ),
    }
}

/// docs/TOOLS.md
pub fn tools_document(registry: &Registry) -> String {
    let mut text = String::from(
        "# The tools\n\n\
         Made from the tools' own declarations by `oxmox generate`; changes belong there.\n\n\
         The badge is the worst that a tool can do with any arguments. What a call does with *these* arguments is in its\n\
         plan, and the plan is what is shown, confirmed and sent.\n\n",
    );
    for risk in [
        Risk::Read,
        Risk::Change,
        Risk::Disrupt,
        Risk::Destroy,
        Risk::Grant,
    ] {
        let _ = writeln!(text, "- {}: {}", badge(risk), meaning(risk));
    }
    for toolset in Toolset::ALL {
        let tools: Vec<_> = registry
            .tools()
            .filter(|tool| tool.spec().toolset == *toolset)
            .collect();
        let _ = writeln!(text, "\n## Toolset `{}`\n", toolset.word());
        text.push_str("| tool | risk | |\n|---|---|---|\n");
        for tool in &tools {
            let Spec {
                name, title, risk, ..
            } = tool.spec();
            let _ = writeln!(text, "| [{name}](#{name}) | {} | {title} |", badge(*risk));
        }
        for tool in tools {
            section(&mut text, tool.spec(), &registry.describe(tool));
        }
    }
    text
}

fn section(text: &mut String, spec: &Spec, tool: &Described) {
    let _ = write!(
        text,
        "\n### {}\n\n**{}** · {}\n\n{}\n",
        tool.name,
        tool.title,
        badge(tool.risk),
        tool.description
    );
    let mut rows = String::new();
    for (name, schema) in arguments::parameters(tool) {
        let _ = writeln!(
            rows,
            "| `{name}` | {} | {} | {} |",
            kind(schema),
            if arguments::is_required(tool, name) {
                "yes"
            } else {
                ""
            },
            describe(schema)
        );
    }
    if !rows.is_empty() {
        let _ = write!(
            text,
            "\n| parameter | type | required | |\n|---|---|---|---|\n{rows}"
        );
    }
    for example in spec.examples {
        let _ = write!(
            text,
            "\n{}\n\n```\n{} {}\n{}\n```\n",
            example.ask,
            tool.name,
            example.args,
            typed(tool, example.args)
        );
    }
}

fn badge(risk: Risk) -> &'static str {
    match risk {
        Risk::Read => "🟢 read",
        Risk::Change => "🔵 change",
        Risk::Disrupt => "🟡 disrupt",
        Risk::Destroy => "🔴 destroy",
        Risk::Grant => "🟣 grant",
    }
}

fn meaning(risk: Risk) -> &'static str {
    match risk {
        Risk::Read => "nothing changes",
        Risk::Change => {
            "something is added or altered; nothing that runs is interrupted, nothing is lost"
        }
        Risk::Disrupt => "a running guest or service is interrupted",
        Risk::Destroy => "a volume, snapshot, backup or configuration is removed or overwritten",
        Risk::Grant => {
            "power is handed out: users, tokens, credentials, commands inside a guest, devices of the node"
        }
    }
}

/// `integer`, `list of string`
fn kind(schema: &Value) -> String {
    match &schema["type"] {
        Value::String(kind) if kind == "array" => format!("list of {}", kind_of_items(schema)),
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).collect();
            kinds.join(" or ")
        }
        _ => "any".to_owned(),
    }
}

fn kind_of_items(schema: &Value) -> String {
    kind(&schema["items"])
}

/// The description with choices and default, in one table cell.
fn describe(schema: &Value) -> String {
    let mut text = schema["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let choices = schema.get("enum").or_else(|| schema["items"].get("enum"));
    if let Some(Value::Array(choices)) = choices {
        let words: Vec<_> = choices
            .iter()
            .filter_map(Value::as_str)
            .map(|word| format!("`{word}`"))
            .collect();
        let _ = write!(text, " One of {}.", words.join(", "));
    }
    if let Some(default) = schema.get("default") {
        let _ = write!(text, " Default: `{default}`.");
    }
    text.replace('|', "\\|").replace('\n', " ")
}
