//! search_proxmox_tools

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::Context;
use crate::fault::Fault;
use crate::need::{Need, Right};
use crate::registry::Described;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Object, Reads};
use crate::words;

/// How many tools are shown.
const SHOWN: usize = 6;

/// Finds tools by what they do, and describes the best one with its arguments.
///
/// Use it before call_proxmox_tool, which calls what it finds; a tool's own name as the query describes that very tool.
/// Methods of the API that no tool covers are found by the tool search_proxmox_api. It looks at oxmox's own list: nothing
/// is read from the cluster and no privileges are needed; of a tool that the cluster's token cannot use it says what is
/// missing.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchTools {
    /// Such as "grow a disk", or a tool's name.
    query: String,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Hits {
    /// The best first.
    tools: Vec<Line>,
    /// The best one's description.
    description: String,
    /// The best one's arguments, as a JSON schema.
    arguments: Object,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Line {
    name: String,
    /// The worst that it can do.
    risk: Risk,
    /// In a sentence.
    does: String,
    /// Why it cannot be used: what the token has nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    lacks: Option<String>,
}

impl Reads for SearchTools {
    const SPEC: Spec = Spec {
        name: "search_proxmox_tools",
        title: "Find tools",
        toolset: Toolset::Lean,
        risk: Risk::Read,
        idempotent: true,
        special: Special::NONE,
        needs: Need::Nothing,
        examples: &[
            Example {
                ask: "Which tool takes snapshots?",
                args: r#"{"query": "take a snapshot of a VM"}"#,
            },
            Example {
                ask: "What does clone_proxmox_vm take?",
                args: r#"{"query": "clone_proxmox_vm"}"#,
            },
        ],
    };

    type Answer = Hits;

    async fn read(self, cx: &Context) -> Result<Hits, Fault> {
        let query = words::clip(self.query.trim(), 400);
        let found = match cx.registry.reach(&query) {
            Ok(tool) => vec![tool],
            Err(_) => cx.registry.search(&query, SHOWN),
        };
        let Some(best) = found.first() else {
            return Err(Fault::bad_input("no tool fits these words").hint(
                "say what is to be done to what, such as \"resize a disk of a VM\", or look for a method of the API with search_proxmox_api",
            ));
        };
        let best = cx.registry.describe(*best).into_owned();
        let lines = found.iter().map(|tool| {
            let lacks = cx.unlisted.get(tool.spec().name);
            line(&cx.registry.describe(*tool), lacks.map(|it| lacking(it)))
        });
        Ok(Hits {
            tools: lines.collect(),
            description: best.description,
            arguments: best.input,
        })
    }
}

/// "VM.Audit on /vms/VMID and VM.Clone on /vms/VMID"
fn lacking(rights: &[Right]) -> String {
    let rights: Vec<_> = rights.iter().map(Right::to_string).collect();
    words::list(&rights)
}

fn line(tool: &Described, lacks: Option<String>) -> Line {
    let first = tool.description.split_once(". ");
    let first = first.map_or(tool.description.as_str(), |(first, _)| first);
    let first = first.split_once(".\n").map_or(first, |(first, _)| first);
    Line {
        name: tool.name.to_owned(),
        risk: tool.risk,
        does: words::clip(first, 120),
        lacks,
    }
}

impl Answer for Hits {
    fn text(&self) -> String {
        let mut out = String::new();
        for line in &self.tools {
            let _ = write!(out, "{} ({}): {}", line.name, line.risk.word(), line.does);
            if let Some(lacks) = &line.lacks {
                let _ = write!(
                    out,
                    " [cannot be used: no token has {lacks}; a person has to grant it]"
                );
            }
            out.push('\n');
        }
        let best = self.tools.first().map_or("", |line| line.name.as_str());
        let _ = writeln!(out, "\n{best}: {}", self.description);
        let properties = self.arguments.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let _ = writeln!(out, "- {}", argument(name, schema, self.requires(name)));
        }
        out
    }
}

impl Hits {
    fn requires(&self, name: &str) -> bool {
        let required = self.arguments.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|required| required == name))
    }
}

/// `action (shutdown|stop, required): How.`
fn argument(name: &str, schema: &Value, required: bool) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = match schema["enum"].as_array() {
        Some(values) => values.iter().map(text).collect::<Vec<_>>().join("|"),
        None => text(&schema["type"]),
    };
    let must = if required { ", required" } else { "" };
    format!("{name} ({kind}{must}): {}", text(&schema["description"]))
}
