//! A method in words: how to call it, what it takes, who may.

use std::fmt::Write as _;

use pve::Method as Verb;
use pve::apidoc::{Format, Method, Parameter, Permission};
use serde::Serialize;

use super::{coded, declared, needs, read, refused};
use crate::registry::Registry;
use crate::words::{self, line};

/// Parameters that are described; the others are named.
const DESCRIBED: usize = 16;

/// A method, described.
#[derive(Debug, Serialize)]
pub(super) struct Described {
    /// `PUT /cluster/options`
    pub(super) method: String,
    /// What it does.
    pub(super) does: String,
    /// The tool to call it with, or what does it instead.
    pub(super) call: String,
    /// What it takes beyond its path, what must be given first.
    pub(super) parameters: Vec<String>,
    /// The privileges that it takes.
    pub(super) needs: String,
    /// What it gives, where the schema tells.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) gives: String,
}

/// What a schema says of a method.
pub(super) fn method(method: &Method, registry: &Registry) -> Described {
    let mut own: Vec<_> = method.own_parameters().collect();
    own.sort_by_key(|parameter| parameter.optional);
    let mut parameters: Vec<_> = own.iter().take(DESCRIBED).map(|it| parameter(it)).collect();
    if let Some(others) = own.get(DESCRIBED..).filter(|others| !others.is_empty()) {
        let names: Vec<_> = others.iter().map(|it| it.name.as_str()).collect();
        parameters.push(words::clip(&format!("further: {}", names.join(", ")), 600));
    }
    Described {
        method: method.to_string(),
        does: words::clip(&method.description, 200),
        call: call(method, registry),
        parameters,
        needs: privileges(method),
        gives: gives(method),
    }
}

fn call(method: &Method, registry: &Registry) -> String {
    let (verb, path) = (method.verb, method.path.as_str());
    let tool =
        declared::of_method(verb, path).or_else(|| coded::of_method(verb, path).map(|it| it.tool));
    match (tool, refused::instead(verb, path)) {
        (_, Some(instead)) => instead.to_owned(),
        (Some(tool), None) if registry.can_call(tool) => tool.to_owned(),
        (Some(tool), None) => format!("write_proxmox_api, which plans it as {tool} does"),
        (None, None) if verb == Verb::Get && read::is_read(path) => "read_proxmox_api".to_owned(),
        (None, None) => "write_proxmox_api; a person must approve it".to_owned(),
    }
}

/// "dport (text): …", with `*` where it must be given.
fn parameter(parameter: &Parameter) -> String {
    let mut out = parameter.name.clone();
    if !parameter.optional {
        out.push('*');
    }
    let mut kind = parameter.kind.noun().to_owned();
    if !parameter.choices.is_empty() {
        kind = words::clip(&parameter.choices.join("|"), 120);
    }
    match (parameter.minimum, parameter.maximum) {
        (Some(least), Some(most)) => kind = format!("{kind} {least} to {most}"),
        (Some(least), None) => kind = format!("{kind} from {least}"),
        (None, Some(most)) => kind = format!("{kind} to {most}"),
        (None, None) => {}
    }
    match &parameter.format {
        Some(Format::Named(name)) => kind = format!("{kind}, {name}"),
        Some(Format::Properties(keys)) => {
            let names: Vec<_> = keys
                .iter()
                .filter(|key| key.alias.is_none())
                .map(|key| key.name.as_str())
                .collect();
            kind = format!("key=value,… of {}", words::clip(&names.join(", "), 160));
        }
        None => {}
    }
    if let Some(default) = &parameter.default {
        kind = format!("{kind}, default {}", words::clip(default, 30));
    }
    let _ = write!(out, " ({kind})");
    let said = words::clip(&parameter.description, 90);
    if !said.is_empty() {
        let _ = write!(out, ": {said}");
    }
    out
}

fn privileges(method: &Method) -> String {
    // A path in a check names what the call will name.
    let value = |name: &str| Some(format!("{{{name}}}"));
    match &method.permission {
        Permission::World => "nothing".to_owned(),
        Permission::RootOnly => "root@pam itself, no token".to_owned(),
        Permission::User(said) if said.is_empty() => "any login".to_owned(),
        Permission::User(said) => words::clip(said, 300),
        check @ Permission::Check(_, said) => {
            let needs = needs::of(check, &value).map_or_else(
                || "what PVE works out itself".to_owned(),
                |needs| words::clip(&needs::words(&needs), 300),
            );
            match words::clip(said, 300) {
                none if none.is_empty() => needs,
                said => format!("{needs}; PVE says besides: {said}"),
            }
        }
    }
}

fn gives(method: &Method) -> String {
    let returns = &method.returns;
    let said = words::clip(&returns.description, 80);
    match returns.kind {
        Some(_) if method.may_start_task() => "the id of a task, which is waited for".to_owned(),
        Some(kind) if said.is_empty() && method.verb == Verb::Get => {
            let fields = words::clip(&returns.fields.join(", "), 200);
            if fields.is_empty() {
                kind.noun().to_owned()
            } else {
                format!("{} of {fields}", kind.noun())
            }
        }
        _ => said,
    }
}

impl Described {
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        line!(out, "{}: {}", self.method, self.does);
        line!(out, "call: {}", self.call);
        for parameter in &self.parameters {
            line!(out, "- {parameter}");
        }
        line!(out, "needs: {}", self.needs);
        if !self.gives.is_empty() {
            line!(out, "gives: {}", self.gives);
        }
        out
    }
}
