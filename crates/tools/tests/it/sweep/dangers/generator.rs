//! Calls of tools that send a danger: an example of the tool, with the dangerous argument put in.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use pve::Request;
use pve::apidoc::Schema;
use serde_json::{Value, json};
use tools::deed::{Deed, When};
use tools::registry;
use tools::risk::Danger;
use tools::spec::Risk;
use tools::tool::{Object, Ran, Tool};

use super::raw;
use crate::house::{House, object};
use crate::sweep::full::MORE;

/// What tools send by their examples.
pub(super) struct Generator {
    /// The examples of each tool, with the requests that they send.
    examples: BTreeMap<&'static str, Vec<Sent>>,
    /// The API of the demo world.
    schema: Arc<Schema>,
}

/// A call that works on the demo world.
struct Sent {
    arguments: Object,
    requests: Vec<Request>,
}

impl Sent {
    /// Tells whether one of the requests is to the method of a danger.
    fn is_of(&self, danger: &Danger) -> bool {
        self.requests.iter().any(|it| is_of(danger, it))
    }
}

impl Generator {
    pub(super) async fn new(house: &House) -> Self {
        let mut examples: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for tool in registry::all().filter(|tool| tool.spec().risk > Risk::Read) {
            let name = tool.spec().name;
            let own = tool.spec().examples.iter().map(|example| example.args);
            let more = MORE.iter().filter(|(of, _)| *of == name);
            for args in own.chain(more.map(|(_, args)| *args)) {
                let arguments = object(args);
                let requests = match tool.run(arguments.clone(), &house.context()).await {
                    Ok(Ran::Plan(plan)) => plan.requests().map(Cow::into_owned).collect(),
                    Ok(Ran::Answer(_)) | Err(_) => Vec::new(),
                };
                examples.entry(name).or_default().push(Sent {
                    arguments,
                    requests,
                });
            }
        }
        let schema = house.context().clusters[0].schema().await.unwrap();
        Self { examples, schema }
    }

    /// Whether a tool can send it: the method is one of its endpoints, and the parameter one of its arguments.
    pub(super) fn can_send(&self, tool: &dyn Tool, danger: &Danger) -> bool {
        if tool.spec().name == raw::NAME {
            return raw::is_there(danger, &self.schema);
        }
        let param = danger.param.as_deref();
        let is_method = |verb, path: &str| verb == danger.verb && stands_for(path, &danger.path);
        let methods = tool.methods();
        if !methods.is_empty() {
            return methods.iter().any(|method| {
                let takes = |name: &str| method.params.iter().any(|param| param.name == name);
                is_method(method.method, &method.path) && param.is_none_or(takes)
            });
        }
        // A coded tool also declares endpoints that count as its job and that it never sends.
        let sent = || self.of(tool).any(|sent| sent.is_of(danger));
        let proper = tool.alias_of().unwrap_or(tool);
        let sends = proper.deeds().iter().any(|deed| match deed {
            Deed::Sends { verb, path, when } => {
                matches!(when, When::Always) && is_method(*verb, path) && sent()
            }
            Deed::Keys | Deed::TerminalLine | Deed::TerminalExec => sent(),
        });
        sends && param.is_none_or(|name| argument(tool, name).is_some())
    }

    fn of(&self, tool: &dyn Tool) -> impl Iterator<Item = &Sent> {
        self.examples.get(tool.spec().name).into_iter().flatten()
    }

    /// Calls that may send it, the likeliest first.
    pub(super) fn calls(&self, tool: &dyn Tool, danger: &Danger) -> Vec<Object> {
        if tool.spec().name == raw::NAME {
            let all = self
                .examples
                .values()
                .flatten()
                .flat_map(|sent| &sent.requests);
            let like: Vec<_> = all.filter(|it| is_of(danger, it)).collect();
            return raw::calls(danger, &self.schema, &like);
        }
        let (sending, others): (Vec<_>, Vec<_>) =
            self.of(tool).partition(|sent| sent.is_of(danger));
        let examples = sending.into_iter().chain(others);
        let calls = examples.flat_map(|sent| with_danger(tool, &sent.arguments, danger));
        calls.collect()
    }
}

/// An example with the dangerous argument put in, in each form that the argument takes.
fn with_danger(tool: &dyn Tool, example: &Object, danger: &Danger) -> Vec<Object> {
    let Some(name) = &danger.param else {
        return vec![example.clone()];
    };
    let Some(argument) = argument(tool, name) else {
        return Vec::new();
    };
    let values = match (&argument, danger.values.as_slice()) {
        (Argument::Named(named), []) => any_value(tool, named, example),
        (Argument::Set, []) => vec![json!("x")],
        (_, values) => values.iter().flat_map(|value| forms(value)).collect(),
    };
    let put = |value: Value| {
        let mut changed = example.clone();
        match &argument {
            Argument::Named(name) => drop(changed.insert(name.clone(), value)),
            Argument::Set => {
                changed.retain(|key, _| key == "vmid");
                changed.insert("set".to_owned(), json!({name.as_str(): value}));
            }
        }
        changed
    };
    values.into_iter().map(put).collect()
}

/// Values of an argument whose danger is that it is there: those of examples first.
fn any_value(tool: &dyn Tool, name: &str, example: &Object) -> Vec<Value> {
    const ANY: &[&str] = &[
        "1",
        "x",
        "10.9.9.0/24",
        "/dev/sdb",
        "105",
        "nas",
        "pve2",
        "02:30",
        "a@example.org",
        "images",
        "100000",
    ];
    let mut all: Vec<Value> = example.get(name).cloned().into_iter().collect();
    let others = tool.spec().examples.iter();
    all.extend(others.filter_map(|other| object(other.args).remove(name)));
    let input = tool.input();
    let choices = input["properties"][name]["enum"].as_array();
    all.extend(choices.into_iter().flatten().cloned());
    all.extend(ANY.iter().flat_map(|value| forms(value)));
    all
}

/// A text as the types that arguments have.
fn forms(value: &str) -> Vec<Value> {
    let flag = match value {
        "1" => Some(json!(true)),
        "0" => Some(json!(false)),
        _ => None,
    };
    let number = value.parse::<i64>().ok().map(|number| json!(number));
    let texts = [json!(value), json!([value])];
    flag.into_iter().chain(number).chain(texts).collect()
}

/// What stands for a parameter among the arguments of a tool.
enum Argument {
    /// One of this name.
    Named(String),
    /// An entry of `set`.
    Set,
}

fn argument(tool: &dyn Tool, parameter: &str) -> Option<Argument> {
    let sent_as = tool.sent_as();
    if let Some((name, _)) = sent_as.iter().find(|(_, sent)| *sent == parameter) {
        return Some(Argument::Named((*name).to_owned()));
    }
    let input = tool.input();
    let properties = input.get("properties").and_then(Value::as_object)?;
    let mut called = [parameter.to_owned(), parameter.replace('-', "_")].into_iter();
    let named = called.find(|name| properties.contains_key(name));
    let sets = properties.contains_key("set").then_some(Argument::Set);
    named.map(Argument::Named).or(sets)
}

/// Whether a request is the danger.
pub(super) fn is_sent(danger: &Danger, request: &Request) -> bool {
    let Some(name) = &danger.param else {
        return is_of(danger, request);
    };
    let sent = request.params.iter().filter(|(known, _)| known == name);
    let mut texts = sent.map(|(_, sent)| sent.to_string());
    let counts = |text: String| danger.values.is_empty() || danger.values.contains(&text);
    is_of(danger, request) && texts.any(counts)
}

/// Whether a request is to the method of a danger.
fn is_of(danger: &Danger, request: &Request) -> bool {
    request.method == danger.verb && stands_for(&danger.path, &request.path)
}

/// Whether a path, or another template, is of this form.
fn stands_for(template: &str, path: &str) -> bool {
    let template = template.replace("{guest}", "{}/{}");
    let wanted: Vec<_> = template.split('/').collect();
    let have: Vec<_> = path.split('/').collect();
    let is_place = |part: &str| part.starts_with('{');
    let fits =
        |(wanted, have): (&&str, &&str)| wanted == have || is_place(wanted) || is_place(have);
    wanted.len() == have.len() && wanted.iter().zip(&have).all(fits)
}
