//! What is said of a tool, and what is found by that.

use std::borrow::Cow;

use serde_json::Value;

use super::Registry;
use crate::search::{self, Index};
use crate::spec::{Risk, Toolset};
use crate::tool::{Object, Tool};

/// A tool as tools/list, the command line and the documentation show it.
#[derive(Debug, Clone)]
pub struct Described {
    /// `clone_proxmox_vm`
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// What a model reads.
    pub description: String,
    /// Schema of all arguments, the engine's own included.
    pub input: Object,
    /// Schema of the answer.
    pub output: Object,
    /// The worst that it can do.
    pub risk: Risk,
    /// Whether a second identical call changes nothing more.
    pub idempotent: bool,
}

impl Registry {
    /// All that is said of a tool. For one that is switched off it is worked out anew each time.
    pub fn describe(&self, tool: &dyn Tool) -> Cow<'_, Described> {
        match self
            .entries
            .iter()
            .find(|entry| entry.tool.spec().name == tool.spec().name)
        {
            Some(entry) => Cow::Borrowed(entry.described.get_or_init(|| self.work_out(tool))),
            None => Cow::Owned(self.work_out(tool)),
        }
    }

    fn work_out(&self, tool: &dyn Tool) -> Described {
        let spec = tool.spec();
        let mut input = tool.input();
        let description = match input.remove("description") {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        if let Some(Value::Object(properties)) = input.get_mut("properties") {
            properties.extend(self.engine_arguments(tool));
        }
        // Nothing says that there are no other properties: a client that checks would refuse what a [`Claim`] takes, and
        // what nobody knows is refused by [`schema::known`], with the name that was meant.
        let mut output = tool.output();
        output.remove("description");
        Described {
            name: spec.name,
            title: spec.title,
            description,
            input,
            output,
            risk: self.risk(tool),
            idempotent: spec.idempotent,
        }
    }

    /// The tools that fit these words, the best first. What is only another name is left to those who know it.
    pub fn search(&self, words: &str, most: usize) -> Vec<&'static dyn Tool> {
        let tools: Vec<_> = self
            .reachable()
            .filter(|tool| tool.alias_of().is_none() && tool.spec().toolset != Toolset::Lean)
            .collect();
        let index = self.index.get_or_init(|| {
            let described: Vec<_> = tools.iter().map(|tool| self.describe(*tool)).collect();
            Index::new(described.iter().map(|tool| document(tool)))
        });
        let hits = index.find(words, self.choices.found.unwrap_or(most));
        hits.iter().map(|hit| tools[hit.document]).collect()
    }
}

fn document(tool: &Described) -> search::Document<'_> {
    let arguments = tool.input.get("properties").and_then(Value::as_object);
    let arguments = arguments.into_iter().flatten();
    search::tool(
        tool.name,
        &tool.description,
        arguments.map(|(name, schema)| {
            let says = schema["description"].as_str().unwrap_or_default();
            (name.as_str(), says)
        }),
    )
}
