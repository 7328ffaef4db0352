//! What a plan does by what it sends, whichever tool planned it: a rule about a tool is one about what that tool does, and
//! holds for a raw request and for a tool of many guests that do the same.

mod table;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use pve::{Method, NodeName, Request, Value};

use crate::plan::{Action, Plan, Step};
use crate::registry;
use crate::tool::ApiParam;
use table::THOUGHT;

/// The tools that do something of what a plan does. What it does to a guest that it makes is part of the making.
pub fn of(plan: &Plan) -> BTreeSet<&'static str> {
    let made: Vec<_> = plan.made().map(|target| &target.at).collect();
    let steps = plan.steps.iter();
    let steps = steps.filter(|step| !made.iter().any(|at| step.is_at(at)));
    steps.flat_map(tools_of).collect()
}

fn tools_of(step: &Step) -> Vec<&'static str> {
    match &step.action {
        Action::Keys(_) => return vec!["send_vm_key", "type_vm_text"],
        Action::TerminalLine(_) => return vec!["send_vm_terminal_line"],
        Action::TerminalExec(_) => return vec!["run_proxmox_vm_command"],
        Action::Request(_)
        | Action::Upload(_)
        | Action::Download(_)
        | Action::AgentExec(_)
        | Action::AgentFile(_) => {}
    }
    let request = step.action.request();
    let thought = THOUGHT.iter().filter(|(_, methods)| {
        let mut methods = methods.iter();
        methods.any(|(verb, path, when)| {
            *verb == request.method && fits(&request.path, path) && when.holds(&request)
        })
    });
    let plain = plain().iter().filter(|it| it.is(&request));
    let plain = plain.map(|it| it.tool);
    thought.map(|(tool, _)| *tool).chain(plain).collect()
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

fn plain() -> &'static [PlainDeed] {
    static PLAIN: OnceLock<Vec<PlainDeed>> = OnceLock::new();
    PLAIN.get_or_init(|| {
        let changes = registry::all().filter(|tool| tool.spec().risk > crate::spec::Risk::Read);
        let methods = changes.flat_map(|tool| {
            let methods = tool.methods().into_iter();
            methods.map(|method| PlainDeed {
                tool: tool.spec().name,
                verb: method.method,
                path: method.path,
                always: method.params.iter().filter_map(constant).collect(),
            })
        });
        methods.collect()
    })
}

/// Whether a path is of this form.
fn fits(path: &str, form: &str) -> bool {
    let (mut words, mut forms) = (path.split('/'), form.split('/'));
    loop {
        match (words.next(), forms.next()) {
            (None, None) => return true,
            (Some("qemu" | "lxc"), Some("{guest}")) => {
                if words.next().is_none() {
                    return false;
                }
            }
            (Some(_), Some("{guest}")) => return false,
            (Some(word), Some(form)) if form.starts_with('{') && !word.is_empty() => {}
            (Some(word), Some(form)) if word == form => {}
            _ => return false,
        }
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

    #[test]
    fn a_path_fits_its_form_and_no_other() {
        let guest = "/nodes/{}/{guest}/status/stop";
        assert!(fits("/nodes/pve1/qemu/105/status/stop", guest));
        assert!(fits("/nodes/pve1/lxc/200/status/stop", guest));
        for other in [
            "/nodes/pve1/qemu/105/status/start",
            "/nodes/pve1/qemu/105/status/stop/x",
            "/nodes/pve1/qemu/105/status",
            "/nodes/pve1/storage/105/status/stop",
            "/nodes/pve1/qemu",
        ] {
            assert!(!fits(other, guest), "{other}");
        }
        assert!(fits("/nodes/pve1/qemu/105", "/nodes/{}/{guest}"));
        assert!(!fits("/nodes/pve1/qemu", "/nodes/{}/{guest}"));
    }
}
