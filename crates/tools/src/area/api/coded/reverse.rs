//! The request of a call of a coded tool, where all of its arguments are parameters of one endpoint.

use pve::{GuestKind, GuestRef, Request, Vmid};
use serde_json::Value;

use super::row::{Form, Rest, Row};
use crate::plan::{Plan, parts};
use crate::tool::Object;

/// The request that this call would send.
pub(in crate::area::api) fn request_of(
    tool: &str,
    arguments: &Object,
    plan: &Plan,
) -> Option<Request> {
    let mut rows = super::rows().filter(|row| row.tool == tool && row.special.is_none());
    rows.find_map(|row| row.request(arguments, plan))
}

/// The guest that arguments name, where it is one of the plan's.
pub(in crate::area::api) fn target<'a>(arguments: &Object, plan: &'a Plan) -> Option<&'a GuestRef> {
    let vmid = arguments.get("vmid").and_then(pve::lenient::as_text)?;
    let vmid: Vmid = vmid.parse().ok()?;
    let mut targets = plan.targets.iter();
    targets
        .find(|target| target.at.vmid == vmid)
        .map(|target| &target.at)
}

impl Row {
    fn request(&self, arguments: &Object, plan: &Plan) -> Option<Request> {
        let path = self.filled(arguments, target(arguments, plan))?;
        let mut request = Request::new(self.verb, path);
        for (name, json) in self.with {
            let fixed: Value = serde_json::from_str(json).ok()?;
            let is_parameter = self.takes.iter().any(|take| take.to == *name);
            match arguments.get(*name) {
                Some(value) if is_parameter || *value == fixed => {}
                _ => return None,
            }
        }
        for (name, value) in arguments {
            let is_fixed = self.with.iter().any(|(known, _)| known == name);
            let take = self.takes.iter().find(|take| take.to == name);
            request = match (take, self.rest, value) {
                (Some(take), _, _) if self.is_in_path(take.from) => request,
                (Some(take), _, value) => {
                    let values = take.form.written(value)?.into_iter();
                    values.fold(request, |request, value| request.with(take.from, value))
                }
                (None, Rest::Into(object), Value::Object(settings)) if object == name => {
                    let settings = settings.iter();
                    settings.fold(request, |request, (name, value)| {
                        request.with(name, crate::plain::parameter(value))
                    })
                }
                (None, _, Value::Bool(false)) => request,
                (None, ..) if is_fixed || matches!(name.as_str(), "vmid" | "node") => request,
                (None, ..) => return None,
            };
        }
        Some(request)
    }

    fn is_in_path(&self, name: &str) -> bool {
        self.path.contains(&format!("{{{name}}}"))
    }

    /// The path with what the arguments have for its captures.
    fn filled(&self, arguments: &Object, at: Option<&GuestRef>) -> Option<String> {
        let argument = |name: &str| {
            let take = self.take(name);
            let value = arguments.get(take.map_or(name, |take| take.to))?;
            pve::lenient::as_text(value)
        };
        let mut path = String::new();
        for part in self.path.split('/').skip(1) {
            let capture = part.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
            let word = match (capture, at) {
                (None, Some(at)) if matches!(part, "qemu" | "lxc") && !is_kind(part, at) => {
                    return None;
                }
                (None, _) => part.to_owned(),
                (Some("guest"), at) => format!("{}/{}", at?.kind, at?.vmid),
                (Some("node"), Some(at)) => at.node.to_string(),
                (Some(name), _) => pve::encode_segment(&argument(name)?),
            };
            path.push('/');
            path.push_str(&word);
        }
        Some(path)
    }
}

fn is_kind(part: &str, at: &GuestRef) -> bool {
    (part == "qemu") == (at.kind == GuestKind::Qemu)
}

impl Form {
    /// An argument's value as the parameter, which may go along several times.
    fn written(self, value: &Value) -> Option<Vec<pve::Value>> {
        match (self, value) {
            (Self::Typed | Self::Flag | Self::One, value) if !value.is_object() => {
                Some(vec![crate::plain::parameter(value)])
            }
            (Self::Names, Value::Array(names)) => {
                let names: Vec<_> = names.iter().filter_map(Value::as_str).collect();
                Some(vec![names.join(",").into()])
            }
            (Self::Ids, value) => Some(parts(value).into_iter().map(Into::into).collect()),
            _ => None,
        }
    }
}
