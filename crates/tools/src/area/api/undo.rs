//! The undo of a plan, written with a tool that the caller has, and never one that would be refused.

use pve::{Method, Request, Value as Parameter};
use serde_json::{Value, json};

use super::effect::call;
use super::write::NAME;
use super::{coded, left_to};
use crate::plan::{Plan, Undo};
use crate::registry::{self, Registry};
use crate::risk::{Use, Which, least_risk, subjects};
use crate::spec::Risk;
use crate::tool::Object;

/// Writes an undo as write_proxmox_api where the caller cannot call its tool. One that would be refused is no undo.
pub(crate) fn settle(plan: &mut Plan, registry: &Registry) {
    let Undo::Call { tool, arguments } = &plan.undo else {
        return;
    };
    let Some(request) = request_of(tool, arguments, plan) else {
        return;
    };
    if let Some(because) = refusal(&request, plan) {
        plan.undo = Undo::Impossible { because };
    } else if !registry.can_call(tool) && registry.can_call(NAME) {
        plan.undo = call(request.method, &request.path, params_of(&request));
    }
}

/// The request that a call would send, where that is one method of the API.
fn request_of(tool: &str, arguments: &Object, plan: &Plan) -> Option<Request> {
    if tool == NAME {
        return written_out(arguments);
    }
    let mut tools = registry::all();
    let found = tools.find(|it| it.spec().name == tool)?;
    match found.plain() {
        Some(declared) => {
            let mut values = arguments.clone();
            if let Some(at) = coded::target(arguments, plan) {
                values.insert("node".to_owned(), json!(at.node));
            }
            Some(declared.request_of(values))
        }
        None => coded::request_of(tool, arguments, plan),
    }
}

/// The request of a call of write_proxmox_api.
fn written_out(arguments: &Object) -> Option<Request> {
    let verb = match arguments.get("method")?.as_str()? {
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        _ => return None,
    };
    let request = Request::new(verb, arguments.get("path")?.as_str()?);
    let params = arguments.get("params").and_then(Value::as_object);
    let params = params.into_iter().flatten();
    Some(params.fold(request, |request, (name, value)| {
        request.with(name, crate::plain::parameter(value))
    }))
}

/// Why a request would be refused once the plan is applied.
fn refusal(request: &Request, plan: &Plan) -> Option<String> {
    if let Some(instead) = left_to(request.method, &request.path) {
        return Some(format!("oxmox does not send what would undo it; {instead}"));
    }
    if least_risk(request.method, &request.path) != Risk::Destroy {
        return None;
    }
    let about = subjects(request);
    let mut protected = plan.targets.iter().filter(|target| target.is_protected());
    let target = protected.find(|target| {
        about.iter().any(|subject| {
            subject.which == Which::One(target.at.vmid) && subject.use_ != Use::Reads
        })
    })?;
    let why = target.protected_by().unwrap_or_default();
    Some(format!(
        "guest {} is protected ({why}), and nothing of it is deleted",
        target.at.vmid
    ))
}

/// The parameters as a caller writes them: those that go along several times are a list.
fn params_of(request: &Request) -> Object {
    let mut params = Object::new();
    for (name, value) in &request.params {
        let several = request.params.iter().filter(|(known, _)| known == name);
        let several: Vec<_> = several.map(|(_, value)| written(value)).collect();
        let value = match several.len() {
            1 => written(value),
            _ => Value::Array(several),
        };
        params.insert(name.clone(), value);
    }
    params
}

/// A parameter as a caller writes it.
fn written(value: &Parameter) -> Value {
    match value {
        Parameter::Bool(flag) => json!(flag),
        Parameter::Int(number) => json!(number),
        other => json!(other.to_string()),
    }
}
