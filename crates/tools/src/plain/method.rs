//! What a plain tool is to those that do not call it: methods of PVE's API, with what they take.

use pve::Request;
use pve::apidoc::Found;
use serde_json::{Value, json};

use super::Plain;
use super::arg::{Arg, Kind};
use super::word;
use crate::plan::{Needs, parts};
use crate::spec::Risk;
use crate::tool::{ApiMethod, ApiParam, Object, Tool as _};

impl Plain {
    /// The methods that it is: several where the caller chooses a word of the path.
    pub(crate) fn methods(&self) -> Vec<ApiMethod> {
        let mut paths = vec![self.path.to_owned()];
        for arg in self.args.iter().filter(|arg| self.captures(arg)) {
            if let Kind::Choice(words) = arg.kind {
                let capture = format!("{{{}}}", arg.name);
                let each = paths
                    .iter()
                    .flat_map(|path| words.iter().map(|word| path.replace(&capture, word)));
                paths = each.collect();
            }
        }
        let always = self.always.iter().map(|(name, value)| ApiParam {
            name,
            takes: serde_json::json!({"type": "string", "enum": [value]}),
            always: true,
        });
        let params: Vec<_> = self.sent().map(Arg::param).chain(always).collect();
        let methods = paths.into_iter().map(|path| ApiMethod {
            method: self.method,
            path,
            params: params.clone(),
        });
        methods.collect()
    }

    /// What it does at the least, whatever its arguments.
    pub(crate) fn least_risk(&self) -> Risk {
        let methods = self.methods().into_iter();
        let risks = methods.map(|it| crate::risk::least_risk(it.method, &it.path));
        risks.min().unwrap_or(self.spec.risk).min(self.spec.risk)
    }

    /// True if the tool plans a change, or a GET that does more than read.
    pub(crate) fn changes(&self) -> bool {
        matches!(self.work, super::Work::Does(_))
    }

    /// Its arguments for a request, if that is the method that it is, and the parameters that it has no argument for.
    pub(crate) fn arguments_of(
        &self,
        found: &Found<'_>,
        request: &Request,
    ) -> Option<(Object, Vec<String>)> {
        if self.method != found.method.verb {
            return None;
        }
        let mut values = self.captured_in(found)?;
        let sent = sent(request);
        for (name, value) in self.always {
            if word(sent.get(*name)) != *value {
                return None;
            }
        }
        let mut left = Vec::new();
        for (name, value) in &sent {
            if self.always.iter().any(|(known, _)| known == name) {
                continue;
            }
            let arg = self.sent().find(|arg| arg.sent == name);
            match arg.and_then(|arg| Some((arg.name, arg.read(value)?))) {
                Some((name, value)) => drop(values.insert(name.to_owned(), value)),
                None => left.push(name.clone()),
            }
        }
        Some((values, left))
    }

    /// The arguments in the path of a method, if it is this one's.
    fn captured_in(&self, found: &Found<'_>) -> Option<Object> {
        let (mine, theirs) = (self.path, found.method.path.as_str());
        if mine.split('/').count() != theirs.split('/').count() {
            return None;
        }
        let mut values = Object::new();
        for (mine, theirs) in mine.split('/').zip(theirs.split('/')) {
            let part = match captured(theirs) {
                Some(name) => found.capture(name)?,
                None => theirs,
            };
            let chosen = captured(mine);
            let arg = chosen.and_then(|name| self.args.iter().find(|arg| arg.name == name));
            let value = arg.map_or_else(|| Some(part.into()), |arg| arg.read(&part.into()));
            match (chosen, captured(theirs)) {
                (Some(name), Some(_)) => drop(values.insert(name.to_owned(), value?)),
                (Some(name), None) if self.chooses(name, part) => {
                    values.insert(name.to_owned(), part.into());
                }
                (None, None) if mine == theirs => {}
                _ => return None,
            }
        }
        Some(values)
    }

    /// Whether these are arguments that it takes: complete, of their types and within their bounds.
    pub(crate) fn accepts(&self, arguments: &Object) -> bool {
        let checked = super::checked(arguments.clone(), &self.input());
        checked.is_ok_and(|values| self.args.iter().all(|arg| arg.fits(&values).is_ok()))
    }

    /// The request of a call with these arguments, secrets as they are.
    pub(crate) fn request_of(&self, arguments: Object) -> Request {
        let values = super::arg::with_defaults(self.args, arguments);
        self.request(&values, |_, value| super::arg::value(value))
    }

    /// Whether a word of the path is one that the caller chooses.
    fn chooses(&self, name: &str, word: &str) -> bool {
        let mut args = self.args.iter().filter(|arg| arg.name == name);
        args.any(|arg| matches!(arg.kind, Kind::Choice(words) if words.contains(&word)))
    }

    /// Its arguments, each with what PVE calls it.
    pub(crate) fn sent_as(&self) -> Vec<(&'static str, &'static str)> {
        self.args.iter().map(|arg| (arg.name, arg.sent)).collect()
    }

    /// Whether PVE leaves out of its answer what the token may not see, instead of refusing.
    pub(crate) fn is_filtered(&self) -> bool {
        self.filtered
    }

    /// The privileges that it takes with these arguments.
    pub(crate) fn needed(&self, values: &Object) -> Needs {
        self.spec.needs.of(values)
    }
}

/// The parameters of a request by their names; several of one name are a list.
fn sent(request: &Request) -> Object {
    let mut all = Object::new();
    for (name, value) in &request.params {
        let value = match value {
            pve::Value::Bool(flag) => json!(flag),
            pve::Value::Int(number) => json!(number),
            other => json!(other.to_string()),
        };
        match all.get_mut(name) {
            None => drop(all.insert(name.clone(), value)),
            Some(Value::Array(several)) => several.push(value),
            Some(one) => *one = Value::Array(vec![one.take(), value]),
        }
    }
    all
}

impl Arg {
    /// A parameter of PVE's as this argument; `None` where it cannot be one.
    fn read(&self, value: &Value) -> Option<Value> {
        match (self.kind, value) {
            (Kind::List, value) => Some(json!(parts(value).join(","))),
            (_, Value::Array(_)) => None,
            (Kind::Flag, value) => pve::lenient::as_bool(value).map(Value::from),
            (Kind::Whole(_), value) => word(Some(value)).parse::<i64>().ok().map(Value::from),
            (Kind::Number(_), value) => {
                let number = word(Some(value)).parse::<serde_json::Number>();
                number.ok().map(Value::Number)
            }
            (Kind::Text | Kind::Choice(_), value) => Some(json!(word(Some(value)))),
        }
    }
}

/// The name in `{name}` or `{name|part}`.
fn captured(part: &str) -> Option<&str> {
    let name = part.strip_prefix('{')?.strip_suffix('}')?;
    Some(name.split_once('|').map_or(name, |(name, _)| name))
}
