//! What a plan does by what it sends, whichever tool planned it: a rule about a tool is one about what that tool does, and
//! holds for a raw request and for a tool of many guests that do the same.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use pve::{Method, NodeName, Request, Value};

use crate::deed::{self, Deed, fits};
use crate::plan::{Plan, Step};
use crate::registry;
use crate::spec::Risk;
use crate::tool::{ApiParam, Tool};

/// The tools that do something of what a plan does. What it does to a guest that it makes is part of the making.
pub fn of(plan: &Plan) -> BTreeSet<&'static str> {
    let made: Vec<_> = plan.made().map(|target| &target.at).collect();
    let steps = plan.steps.iter();
    let steps = steps.filter(|step| !made.iter().any(|at| step.is_at(at)));
    steps.flat_map(tools_of).collect()
}

fn tools_of(step: &Step) -> Vec<&'static str> {
    let table = table();
    let does = |deeds: &[Deed]| deeds.iter().any(|deed| deed.is(&step.action));
    let declared = table.declared.iter();
    let declared = declared.filter(|(_, deeds)| does(deeds));
    let request = deed::method_of(&step.action);
    let is = |it: &&PlainDeed| request.as_ref().is_some_and(|request| it.is(request));
    let plain = table.plain.iter().filter(is);
    let declared = declared.map(|(tool, _)| *tool);
    declared.chain(plain.map(|it| it.tool)).collect()
}

/// The tools that change something, by what they do.
struct Table {
    /// Those with code of their own, as they say themselves.
    declared: Vec<(&'static str, &'static [Deed])>,
    /// Those that are methods and nothing more.
    plain: Vec<PlainDeed>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let changes = || registry::all().filter(|tool| tool.spec().risk > Risk::Read);
        let declared = changes().map(|tool| (tool.spec().name, tool.deeds()));
        Table {
            declared: declared.collect(),
            plain: changes().flat_map(PlainDeed::of).collect(),
        }
    })
}

/// A tool that is a method and nothing more.
struct PlainDeed {
    tool: &'static str,
    verb: Method,
    path: String,
    /// What goes along with every call of it, always with the same value.
    always: Vec<(&'static str, String)>,
}

impl PlainDeed {
    fn of(tool: &dyn Tool) -> impl Iterator<Item = Self> + use<> {
        let name = tool.spec().name;
        let methods = tool.methods().into_iter();
        methods.map(move |method| Self {
            tool: name,
            verb: method.method,
            path: method.path,
            always: method.params.iter().filter_map(constant).collect(),
        })
    }

    fn is(&self, request: &Request) -> bool {
        let has = |(name, wanted): &(&str, String)| {
            let value = request.param(name).map(Value::to_string);
            value.as_ref() == Some(wanted)
        };
        self.verb == request.method
            && fits(&request.path, &self.path)
            && self.always.iter().all(has)
    }
}

/// A parameter that can have one value only.
fn constant(param: &ApiParam) -> Option<(&'static str, String)> {
    match param.takes["enum"].as_array()?.as_slice() {
        [value] if param.always => Some((param.name, value.as_str()?.to_owned())),
        _ => None,
    }
}

/// The nodes that guests of a plan go to, or are copied to, by what it sends.
pub(super) fn destinations(plan: &Plan) -> BTreeSet<NodeName> {
    const MOVES: &[(&str, &str)] = &[
        ("/nodes/{}/{guest}/migrate", "target"),
        ("/nodes/{}/migrateall", "target"),
        ("/cluster/bulk-action/guest/migrate", "target"),
        ("/cluster/bulk-action/guest/migrate", "target-node"),
        ("/cluster/ha/resources/{}/migrate", "node"),
        ("/cluster/ha/resources/{}/relocate", "node"),
        ("/cluster/replication", "target"),
    ];
    let mut nodes = BTreeSet::new();
    for request in plan.requests().filter(|it| it.method == Method::Post) {
        let moves = MOVES.iter().filter(|(path, _)| fits(&request.path, path));
        let named = moves.filter_map(|(_, name)| request.param(name));
        nodes.extend(named.filter_map(|node| NodeName::new(node.to_string()).ok()));
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{plan, post};

    fn tools(request: Request) -> BTreeSet<&'static str> {
        of(&plan(&[], vec![Step::request("", request)]))
    }

    /// Whatever sends it, what is sent tells which tool does the same: by its verb, its path, and what always goes along.
    #[test]
    fn a_request_is_the_deed_of_the_tool_that_sends_it() {
        let made = of(&plan(&[], vec![post("/pools")]));
        assert!(made.contains("create_pool"), "{made:?}");
        assert!(!made.contains("delete_pool"), "{made:?}");
        assert!(!tools(Request::put("/pools")).contains("create_pool"));
        assert!(!of(&plan(&[], vec![post("/access/groups")])).contains("create_pool"));
    }

    #[test]
    fn what_goes_along_with_every_call_tells_tools_of_one_path_apart() {
        let fixed = table().plain.iter().find(|it| !it.always.is_empty());
        let fixed = fixed.expect("a tool with a parameter that has one value only");
        let request = |value: &str| {
            Request {
                method: fixed.verb,
                ..Request::post(
                    fixed
                        .path
                        .replace("{node}", "pve1")
                        .replace("{vmid}", "105"),
                )
            }
            .with(fixed.always[0].0, value)
        };
        assert!(
            tools(request(&fixed.always[0].1)).contains(fixed.tool),
            "{}",
            fixed.tool
        );
        assert!(
            !tools(request("another")).contains(fixed.tool),
            "{}",
            fixed.tool
        );
    }

    #[test]
    fn only_what_changes_something_is_a_deed() {
        let reads = |name: &str| {
            registry::all().any(|tool| tool.spec().name == name && tool.spec().risk == Risk::Read)
        };
        let table = table();
        let declared = table.declared.iter().map(|(tool, _)| *tool);
        let names = declared.chain(table.plain.iter().map(|it| it.tool));
        assert_eq!(
            names.filter(|name| reads(name)).collect::<Vec<_>>(),
            [""; 0]
        );
    }
}
