//! Endpoints of tools with code of their own. A request to one of them becomes a call of that tool if every parameter has
//! an argument; otherwise it is refused with the call to send.

mod guests;
mod nodes;
mod restore;
mod reverse;
mod row;

use pve::apidoc::Found;
use pve::{GuestKind, Method, NodeName, Request, Vmid};
use serde_json::{Value, json};

use super::write::NAME;
use crate::claim::Claim;
use crate::clean;
use crate::context::Context;
use crate::deed::fits;
use crate::fault::Fault;
use crate::plain::put;
use crate::plan::Plan;
use crate::registry;
use crate::tool::{Object, Ran, Tool};
use crate::words;

pub(super) use reverse::{request_of, target};
pub(super) use row::Row;
use row::{Rest, Take};

const TABLE: &[&[Row]] = &[guests::ROWS, nodes::ROWS];

/// The longest call that a hint spells out, in characters.
const SPELLED: usize = 2_000;

/// Every row.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().flat_map(|rows| rows.iter())
}

/// The row of a method, whatever its parameters.
pub(super) fn of_method(verb: Method, template: &str) -> Option<&'static Row> {
    rows().find(|row| row.verb == verb && fits(template, row.path))
}

/// A request as a call of the tool whose endpoint it is sent to.
pub(super) struct Call {
    row: &'static Row,
    tool: &'static dyn Tool,
    arguments: Object,
    /// Parameters that the tool has no argument for.
    left: Vec<String>,
    /// Parameters without which the tool would do something else than the request.
    missing: Vec<&'static Take>,
    claim: Claim,
}

impl Call {
    /// The call that this request is; `None` where no coded tool sends it.
    pub(super) fn of(found: &Found<'_>, request: &Request) -> Option<Self> {
        let verb = found.method.verb;
        let is_of = |row: &&Row| {
            row.verb == verb && fits(&found.method.path, row.path) && row.when.holds(request)
        };
        let row = rows().find(is_of)?;
        let tool = registry::find_change(row.tool).ok()?;
        let mut call = Self {
            row,
            tool,
            arguments: Object::new(),
            left: Vec::new(),
            missing: Vec::new(),
            claim: claim(found),
        };
        call.take(found, request);
        Some(call)
    }

    fn take(&mut self, found: &Found<'_>, request: &Request) {
        let row = self.row;
        let schema = self.tool.input();
        if let Some(vmid) = vmid(found) {
            self.arguments.insert("vmid".to_owned(), json!(vmid));
        }
        for (name, value) in &found.captures {
            if let Some(take) = row.take(name)
                && let Some(value) = take
                    .form
                    .read(std::slice::from_ref(value), &schema, take.to)
            {
                put(&mut self.arguments, take.to, value);
            }
        }
        for (name, values) in grouped(request) {
            if !self.parameter(name, &values, request, &schema) {
                self.left.push(name.to_owned());
            }
        }
        if let Some(special) = row.special {
            match special(request) {
                Ok(arguments) => self.arguments.extend(arguments),
                Err(names) => self.left.extend(names.iter().map(|&name| name.to_owned())),
            }
        }
        let lacks = |take: &&Take| take.needed && request.param(take.from).is_none();
        self.missing = row.takes.iter().filter(lacks).collect();
        for (name, json) in row.with {
            let value = serde_json::from_str(json).unwrap_or(Value::Null);
            self.arguments.entry(*name).or_insert(value);
        }
    }

    /// Makes an argument of a parameter. False where there is none that means the same.
    fn parameter(
        &mut self,
        name: &str,
        values: &[String],
        request: &Request,
        schema: &Object,
    ) -> bool {
        match (self.row.take(name), self.row.rest) {
            (Some(take), _) if take.form.is_dropped(values) => true,
            (Some(take), _) => match take.form.read(values, schema, take.to) {
                Some(value) => {
                    put(&mut self.arguments, &filled(take.to, request), value);
                    true
                }
                None => false,
            },
            (None, Rest::Into(object)) => {
                let value = json!(values.join(","));
                put(&mut self.arguments, &format!("{object}.{name}"), value);
                true
            }
            (None, Rest::Refused(_) | Rest::SetLater) => false,
        }
    }

    /// The tool's plan, by the name of the tool that was called; or a refusal with the call to send.
    pub(super) async fn plan(
        self,
        cx: &Context,
        found: &Found<'_>,
        request: &Request,
    ) -> Result<Plan, Fault> {
        if !self.left.is_empty() || !self.missing.is_empty() {
            return Err(self.refusal(cx, found, request));
        }
        let cx = Context {
            claim: self.claim,
            ..cx.clone()
        };
        match self.tool.run(self.arguments, &cx).await? {
            Ran::Plan(plan) => Ok(plan.called(NAME)),
            Ran::Answer(_) => Err(Fault::bad_input(format!(
                "{} changes nothing",
                found.method
            ))),
        }
    }

    fn refusal(&self, cx: &Context, found: &Found<'_>, request: &Request) -> Fault {
        let tool = self.row.tool;
        let mut why = Vec::new();
        if !self.left.is_empty() {
            let names = words::clip(&self.left.join(", "), 300);
            why.push(format!("{tool} has no argument for {names}"));
        }
        let (required, chosen): (Vec<&Take>, Vec<&Take>) = self
            .missing
            .iter()
            .partition(|take| !take.example.is_empty());
        for (takes, verb) in [(required, "needs"), (chosen, "adds")] {
            let names: Vec<_> = takes.iter().map(|take| take.from).collect();
            if !names.is_empty() {
                why.push(format!(
                    "{tool} {verb} {}, which is not sent",
                    names.join(" and ")
                ));
            }
        }
        let message = format!(
            "{} is an endpoint of {tool}, and {}",
            found.method,
            why.join("; ")
        );
        let mut hint = vec![self.spelled(cx, found, request)];
        if let Rest::Refused(advice) = self.row.rest
            && !advice.is_empty()
        {
            hint.push(advice.to_owned());
        }
        if let (Rest::SetLater, Some(vmid)) = (self.row.rest, request.param("vmid")) {
            let settings = grouped(request);
            let settings = settings.filter(|(name, _)| self.left.iter().any(|left| left == name));
            let set: Object = settings
                .map(|(name, values)| (name.to_owned(), shown(name, &values, found)))
                .collect();
            if !set.is_empty() {
                let vmid: Value = vmid
                    .to_string()
                    .parse::<u32>()
                    .map_or(Value::Null, Value::from);
                let then = json!({"vmid": vmid, "set": set}).to_string();
                hint.push(format!(
                    "then send update_proxmox_vm {}",
                    words::clip(&then, SPELLED)
                ));
            }
        }
        Fault::refused(message).hint(hint.join("; "))
    }

    /// "send clone_proxmox_vm {…}": everything of the request that has an argument.
    fn spelled(&self, cx: &Context, found: &Found<'_>, request: &Request) -> String {
        let is_listed = !self.arguments.contains_key("more");
        let (tool, arguments) = if is_listed && cx.registry.can_call(self.row.tool) {
            let mut arguments = self.arguments.clone();
            hide(&mut arguments, &found.method.path);
            for (take, value) in self.examples(request) {
                put(&mut arguments, take.to, value);
            }
            (self.row.tool, Value::Object(arguments))
        } else {
            let kept = grouped(request).filter(|(name, _)| !self.left.iter().any(|it| it == name));
            let mut params: Object = kept
                .map(|(name, values)| (name.to_owned(), shown(name, &values, found)))
                .collect();
            for (take, value) in self.examples(request) {
                params.insert(take.from.to_owned(), value);
            }
            let verb = found.method.verb.as_str();
            let call = json!({"method": verb, "path": found.path(), "params": params});
            (NAME, call)
        };
        let text = arguments.to_string();
        if text.chars().count() > SPELLED {
            return format!("send {tool} without {}", self.left.join(", "));
        }
        format!("send {tool} {text}")
    }
}

impl Call {
    /// Values for what the tool needs and the request does not have.
    fn examples(&self, request: &Request) -> impl Iterator<Item = (&'static Take, Value)> {
        let vmid = request
            .param("vmid")
            .map(ToString::to_string)
            .unwrap_or_default();
        let missing = self.missing.iter().filter(|take| !take.example.is_empty());
        missing.map(move |take| (*take, json!(take.example.replace("{vmid}", &vmid))))
    }
}

/// The guest in the path, as the caller states it: its node and kind.
pub(super) fn claim(found: &Found<'_>) -> Claim {
    let path = &found.method.path;
    let kind = if path.starts_with("/nodes/{node}/qemu/{vmid}") {
        GuestKind::Qemu
    } else if path.starts_with("/nodes/{node}/lxc/{vmid}") {
        GuestKind::Lxc
    } else {
        return Claim::default();
    };
    Claim {
        node: found
            .capture("node")
            .and_then(|node| NodeName::new(node).ok()),
        kind: Some(kind),
        instead: Some("the path has qemu for a VM and lxc for a container".to_owned()),
        ..Claim::default()
    }
}

fn vmid(found: &Found<'_>) -> Option<Vmid> {
    found.capture("vmid")?.parse().ok()
}

/// The parameters of a request, each with all of its values.
fn grouped(request: &Request) -> impl Iterator<Item = (&str, Vec<String>)> {
    let mut all: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, value) in &request.params {
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value.to_string()),
            None => all.push((name, vec![value.to_string()])),
        }
    }
    all.into_iter()
}

/// `grow.{disk}` with what the request has for `disk`.
fn filled(template: &str, request: &Request) -> String {
    let Some((before, after)) = template.split_once('{') else {
        return template.to_owned();
    };
    let name = after.trim_end_matches('}');
    let value = request
        .param(name)
        .map(ToString::to_string)
        .unwrap_or_default();
    format!("{before}{value}")
}

/// A value in a hint; a secret is not repeated.
fn shown(name: &str, values: &[String], found: &Found<'_>) -> Value {
    let template = &found.method.path;
    let is_telling =
        |value: &String| clean::is_address_at(name, template) && clean::has_password(value);
    match values {
        _ if clean::is_secret_at(name, template) => json!(format!("<{name}>")),
        values if values.iter().any(is_telling) => json!(format!("<{name}>")),
        [one] => json!(one),
        several => json!(several),
    }
}

/// Replaces secrets by their names in brackets, so that a hint does not repeat them.
fn hide(arguments: &mut Object, template: &str) {
    for (name, value) in arguments.iter_mut() {
        if clean::is_secret_at(name, template) {
            *value = json!(format!("<{name}>"));
        } else if let Value::Object(inner) = value {
            hide(inner, template);
        }
    }
}

#[cfg(test)]
mod tests;
