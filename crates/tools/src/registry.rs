//! The tools that are switched on, in the order of the documentation, and what is the same for all of
//! them: arguments that the engine reads itself, annotations, the names' grammar.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::area::{self, lean::CallTool};
use crate::claim::Claim;
use crate::fault::Fault;
use crate::policy::Mode;
use crate::schema;
use crate::search::{self, Index};
use crate::spec::{Risk, Toolset};
use crate::tool::{Object, Tool};

/// The first word of every tool's name.
pub const VERBS: &[&str] = &[
    "list",
    "get",
    "create",
    "clone",
    "start",
    "stop",
    "update",
    "snapshot",
    "delete",
    "rollback",
    "backup",
    "migrate",
    "preview",
    "send",
    "type",
    "capture",
    "run",
    "search",
    "read",
    "write",
    "call",
    // of the toolsets that follow PVE's API
    "set",
    "add",
    "change",
    "sync",
    "test",
    "bulk",
    "join",
    "manage",
    "register",
    "order",
    "apply",
    "allocate",
    "upload",
    "download",
    "prune",
    "initialize",
    "shutdown",
    "reboot",
    "suspend",
    "resume",
    "reset",
    "convert",
    "resize",
    "move",
    "relocate",
    "dump",
    "startall",
    "stopall",
    "wakeonlan",
];

/// Names that begin otherwise: those of other Proxmox MCP servers' tools, so that agents set up for them go on working,
/// and what belongs beside these.
pub const INHERITED: &[&str] = &[
    "vm_agent_exec",
    "vm_agent_exec_status",
    "vm_agent_file_read",
    "vm_agent_file_write",
    "vm_agent_fsfreeze_freeze",
    "vm_agent_fsfreeze_thaw",
    "vm_agent_fstrim",
    "vm_agent_get_info",
    "vm_agent_set_password",
];

/// How long a change is waited for if the caller does not say; common clients give up at 60 s.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(40);
const LONGEST_WAIT: u64 = 600;

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
    mode: Mode,
    /// What finds a tool by what it does, made when it is first asked.
    index: OnceLock<Index>,
}

/// A tool and what is said of it, worked out when it is first asked for.
struct Entry {
    tool: &'static dyn Tool,
    described: OnceLock<Described>,
}

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

/// The arguments that the engine reads itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extras {
    /// The configured cluster that the call is for, by its name.
    pub cluster: Option<String>,
    /// The same by one of its addresses, or its name.
    pub host: Option<String>,
    /// How long the caller wants to wait; `None` if it did not say.
    pub wait: Option<Duration>,
    /// A confirm value from an earlier answer.
    pub confirm: Option<String>,
    /// What the caller says of the guest, on tools that do not list it.
    pub claim: Claim,
}

impl Registry {
    /// The tools of these toolsets that the mode leaves any use for, on clusters of these names.
    pub fn new(toolsets: &[Toolset], mode: Mode, clusters: Vec<String>) -> Self {
        let entries = all()
            .filter(|tool| toolsets.iter().any(|set| lists(*set, *tool)))
            .filter(|tool| tool.relays() || is_usable(mode, *tool))
            .map(|tool| Entry {
                tool,
                described: OnceLock::new(),
            })
            .collect();
        Self {
            entries,
            clusters,
            mode,
            index: OnceLock::new(),
        }
    }

    /// Whether a call has to say which cluster it is for where that is not plain.
    pub fn has_several_clusters(&self) -> bool {
        self.clusters.len() > 1
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
        if all().any(|tool| tool.spec().name == name) {
            return Err(Fault::refused(format!("the tool {name} is switched off here"))
                .hint("it changes something and oxmox runs read-only, or its toolset is off; a person can change --mode or --toolsets"));
        }
        let fault = Fault::bad_input(format!("there is no tool {}", crate::words::clip(name, 64)));
        Err(
            match schema::nearest(name, self.tools().map(|tool| tool.spec().name)) {
                Some(near) => fault.hint(format!("did you mean {near}?")),
                None => fault.hint("tools/list has the names"),
            },
        )
    }

    /// The tool that a call is for: the one of that name or, if that hands calls on, the one that it names.
    pub fn meant(
        &self,
        name: &mut String,
        arguments: &mut Object,
    ) -> Result<&'static dyn Tool, Fault> {
        let tool = self.find(name)?;
        if !tool.relays() {
            return Ok(tool);
        }
        let (tool, theirs) = self.handed_on(std::mem::take(arguments))?;
        tool.spec().name.clone_into(name);
        *arguments = theirs;
        Ok(tool)
    }

    /// The name and the arguments of the call that is meant, where one is handed on.
    pub(crate) fn behind(
        &self,
        name: String,
        arguments: Object,
    ) -> Result<(String, Object), Fault> {
        if !all().any(|tool| tool.relays() && tool.spec().name == name) {
            return Ok((name, arguments));
        }
        let (tool, arguments) = self.handed_on(arguments)?;
        Ok((tool.spec().name.to_owned(), arguments))
    }

    /// The tool and the arguments in a call that is handed on.
    pub(crate) fn handed_on(
        &self,
        mut arguments: Object,
    ) -> Result<(&'static dyn Tool, Object), Fault> {
        let input = schema::input::<CallTool>();
        let cluster = arguments.remove("cluster").filter(|name| !name.is_null());
        schema::known(&arguments, &input)?;
        schema::coerce(&mut arguments, &input)?;
        let mut call: CallTool = schema::parse(arguments)?;
        let tool = self.reach(&call.tool)?;
        // Beside the arguments it means the same as among them.
        if let Some(cluster) = cluster {
            let inside = call.arguments.entry("cluster").or_insert(cluster.clone());
            if *inside != cluster {
                return Err(Fault::bad_input("two clusters are named")
                    .hint("send cluster once, beside the arguments or among them"));
            }
        }
        Ok((tool, call.arguments))
    }

    /// The tool of that name, of whatever toolset, as far as the mode leaves any use for it.
    pub fn reach(&self, name: &str) -> Result<&'static dyn Tool, Fault> {
        if let Some(tool) = self.reachable().find(|tool| tool.spec().name == name) {
            return Ok(tool);
        }
        if all().any(|tool| tool.spec().name == name && !tool.relays()) {
            return Err(Fault::refused(format!(
                "{name} changes something and oxmox runs read-only"
            ))
            .hint("a person can change --mode"));
        }
        let fault = Fault::bad_input(format!("there is no tool {}", crate::words::clip(name, 64)));
        let names = self.reachable().map(|tool| tool.spec().name);
        Err(match schema::nearest(name, names) {
            Some(near) => fault.hint(format!("did you mean {near}?")),
            None => fault.hint("search_proxmox_tools finds it by what it does"),
        })
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
        let hits = index.find(words, most);
        hits.iter().map(|hit| tools[hit.document]).collect()
    }

    fn reachable(&self) -> impl Iterator<Item = &'static dyn Tool> {
        let mode = self.mode;
        all().filter(move |tool| !tool.relays() && is_usable(mode, *tool))
    }

    /// The worst that it can do here. What hands calls on reaches no further than the mode.
    fn risk(&self, tool: &dyn Tool) -> Risk {
        if tool.relays() && self.mode == Mode::ReadOnly {
            Risk::Read
        } else {
            tool.spec().risk
        }
    }

    /// Whether a client can call the tool of that name, by itself or through the one that hands calls on.
    pub fn can_call(&self, name: &str) -> bool {
        self.find(name).is_ok() || self.hands_on() && self.reach(name).is_ok()
    }

    /// Whether tools that are not listed can be called.
    pub fn hands_on(&self) -> bool {
        self.tools().any(Tool::relays)
    }

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

    /// The properties that the engine adds to a tool's own.
    fn engine_arguments(&self, tool: &dyn Tool) -> Object {
        let spec = tool.spec();
        let mut added = Object::new();
        let mut add = |name: &str, schema: Value| added.insert(name.to_owned(), schema);
        if self.clusters.len() > 1 {
            add(
                "cluster",
                json!({
                    "type": "string", "enum": self.clusters,
                    "description": "The cluster; needed where several have the guest or node.",
                }),
            );
        }
        if tool.relays() {
            return added;
        }
        if spec.risk > Risk::Read {
            add(
                "wait",
                json!({
                    "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT, "default": DEFAULT_WAIT.as_secs(),
                    "description": "Seconds; the work goes on.",
                }),
            );
        }
        if spec.risk > Risk::Change {
            add(
                "confirm",
                json!({
                    "type": "string",
                    "description": "From the answer that asked.",
                }),
            );
        }
        added
    }

    /// Checks arguments against the tool's schema, and takes the engine's own out of them.
    pub fn split(&self, tool: &dyn Tool, mut args: Object) -> Result<(Object, Extras), Fault> {
        let described = self.describe(tool);
        let mut extras = Extras {
            claim: Claim::take(&mut args, &described.input)?,
            ..Extras::default()
        };
        let spec = tool.spec();
        // Agents that know it from elsewhere send it; nobody else needs to be told of it.
        if spec.takes_host {
            extras.host = schema::one("host", args.remove("host"), &Value::Null)?;
        }
        // A rule may have a question asked about what needs none otherwise, so that nobody is told of it beforehand.
        if spec.risk == Risk::Change {
            extras.confirm = schema::one("confirm", args.remove("confirm"), &Value::Null)?;
        }
        schema::known(&args, &described.input)?;
        if spec.toolset.is_inherited() {
            // The engine's own arguments are nobody else's.
            schema::drop_blanks(&mut args, &tool.input(), &tool.empties());
        }
        schema::coerce(&mut args, &described.input)?;
        let property = |name: &str| &described.input["properties"][name];
        let text =
            |args: &mut Object, name: &str| schema::one(name, args.remove(name), property(name));
        if self.clusters.len() > 1 {
            extras.cluster = text(&mut args, "cluster")?;
        }
        if spec.risk > Risk::Change {
            extras.confirm = text(&mut args, "confirm")?;
        }
        if spec.risk > Risk::Read {
            let wait = schema::one("wait", args.remove("wait"), property("wait"))?;
            extras.wait = wait.map(Duration::from_secs);
        }
        Ok((args, extras))
    }
}

/// Whether a toolset lists the tool. The lean one has the preview of every change besides its own.
fn lists(set: Toolset, tool: &dyn Tool) -> bool {
    let spec = tool.spec();
    spec.toolset == set || set == Toolset::Lean && spec.name == "preview_proxmox_change"
}

fn is_usable(mode: Mode, tool: &dyn Tool) -> bool {
    mode != Mode::ReadOnly || tool.spec().risk == Risk::Read
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

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.tools().map(|tool| tool.spec().name))
            .finish()
    }
}
