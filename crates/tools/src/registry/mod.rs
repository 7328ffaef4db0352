//! The tools that are switched on, in the order of the documentation, and what is the same for all of
//! them: arguments that the engine reads itself, annotations, the names' grammar.

mod choices;
mod described;
mod extras;
mod names;
mod off;
pub mod privileges;
mod reach;
#[cfg(test)]
mod risks;

use std::fmt;
use std::sync::OnceLock;

use crate::area;
use crate::caller::Scope;
use crate::fault::Fault;
use crate::schema;
use crate::search::Index;
use crate::spec::{Risk, Toolset};
use crate::tool::Tool;

pub use choices::Choices;
pub use described::Described;
pub use extras::{DEFAULT_WAIT, Extras};
pub use names::{INHERITED, VERBS};

/// Every tool there is, area by area.
pub fn all() -> impl Iterator<Item = &'static dyn Tool> {
    area::ALL.iter().flat_map(|area| area.iter().copied())
}

/// The tool that does the same to the other kind of guest.
pub(crate) fn twin(name: &str) -> Option<&'static str> {
    let other = if name.contains("container") {
        name.replace("container", "vm")
    } else {
        name.replace("vm", "container")
    };
    let found = all().map(|tool| tool.spec().name);
    found
        .filter(|found| *found != name)
        .find(|found| *found == other)
}

/// The changing tool of that name, switched on or not: looking at a plan is a read.
pub fn find_change(name: &str) -> Result<&'static dyn Tool, Fault> {
    let changes = || all().filter(|tool| tool.spec().risk > Risk::Read && !tool.relays());
    if let Some(tool) = changes().find(|tool| tool.spec().name == name) {
        return Ok(tool);
    }
    let names: Vec<_> = changes().map(|tool| tool.spec().name).collect();
    Err(Fault::bad_input(format!(
        "{} is no tool that changes anything",
        crate::words::clip(name, 64)
    ))
    .hint(format!("those that do: {}", names.join(", "))))
}

/// The tools that one server offers. Fixed at start: a list that changes under a client is a trap.
pub struct Registry {
    entries: Vec<Entry>,
    clusters: Vec<String>,
    /// The groups that are switched on.
    toolsets: Vec<Toolset>,
    /// The worst that the mode lets happen.
    mode: Risk,
    /// What the callers may do whom it is for.
    scope: Scope,
    /// What else a person said about the tools.
    choices: Choices,
    /// What finds a tool by what it does, made when it is first asked.
    index: OnceLock<Index>,
}

/// A tool and what is said of it, worked out when it is first asked for.
struct Entry {
    tool: &'static dyn Tool,
    described: OnceLock<Described>,
}

impl Registry {
    /// The tools of these toolsets that are of any use where the mode lets nothing worse than `mode` happen, on clusters of
    /// these names.
    pub fn new(toolsets: &[Toolset], mode: Risk, clusters: Vec<String>) -> Self {
        let entries = all()
            .filter(|tool| toolsets.iter().any(|set| tool.spec().is_in(*set)))
            .filter(|tool| tool.relays() || is_usable(mode, *tool))
            .map(|tool| Entry {
                tool,
                described: OnceLock::new(),
            })
            .collect();
        Self {
            entries,
            clusters,
            toolsets: toolsets.to_vec(),
            mode,
            scope: Scope::Full,
            choices: Choices::default(),
            index: OnceLock::new(),
        }
    }

    /// Removes the tools that these choices do not offer.
    #[must_use]
    pub fn with(mut self, choices: Choices) -> Self {
        self.choices = choices;
        self.entries
            .retain(|entry| choices.allow(entry.tool.spec().name));
        self
    }

    /// Those of them that are of any use to callers who may do so much.
    #[must_use]
    pub fn within(mut self, scope: Scope) -> Self {
        self.scope = scope;
        let most = self.most();
        self.entries
            .retain(|entry| entry.tool.relays() || is_usable(most, entry.tool));
        self
    }

    /// The worst that can happen here.
    fn most(&self) -> Risk {
        self.mode.min(self.scope.most())
    }

    /// Whether a call has to say which cluster it is for where that is not plain.
    pub fn has_several_clusters(&self) -> bool {
        self.clusters.len() > 1
    }

    /// The groups that are switched on.
    pub fn toolsets(&self) -> &[Toolset] {
        &self.toolsets
    }

    /// The tools, in order.
    pub fn tools(&self) -> impl Iterator<Item = &'static dyn Tool> {
        self.entries.iter().map(|entry| entry.tool)
    }

    /// The tool of that name, or an error that names the near one.
    pub fn find(&self, name: &str) -> Result<&'static dyn Tool, Fault> {
        if let Some(tool) = self.tools().find(|tool| tool.spec().name == name) {
            return Ok(tool);
        }
        if let Some(tool) = all().find(|tool| tool.spec().name == name) {
            return Err(self.off(tool));
        }
        let fault = Fault::bad_input(format!("there is no tool {}", crate::words::clip(name, 64)));
        Err(
            match schema::nearest(name, self.tools().map(|tool| tool.spec().name)) {
                Some(near) => fault.hint(format!("did you mean {near}?")),
                None => fault.hint("tools/list has the names"),
            },
        )
    }

    /// The worst that it can do here.
    fn risk(&self, tool: &dyn Tool) -> Risk {
        tool.spec().risk.min(self.most())
    }
}

fn is_usable(most: Risk, tool: &dyn Tool) -> bool {
    tool.least_risk() <= most
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.tools().map(|tool| tool.spec().name))
            .finish()
    }
}
