//! What a plain tool is to those that do not call it: methods of PVE's API, with what they take.

use pve::apidoc::Found;

use super::Plain;
use super::arg::{Arg, Kind};
use super::word;
use crate::plan::Needs;
use crate::spec::Risk;
use crate::tool::{ApiMethod, ApiParam, Object};

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

    /// What its arguments would be for a call of the API, if that is the method that it is. What it does not take is left out.
    pub(crate) fn arguments_of(&self, found: &Found<'_>, sent: &Object) -> Option<Object> {
        let (mine, theirs) = (self.path, found.method.path.as_str());
        if self.method != found.method.verb
            || mine.split('/').count() != theirs.split('/').count()
            || !self
                .always
                .iter()
                .all(|(name, value)| word(sent.get(*name)) == *value)
        {
            return None;
        }
        let mut values = Object::new();
        for (mine, theirs) in mine.split('/').zip(theirs.split('/')) {
            let part = match captured(theirs) {
                Some(name) => found.capture(name)?,
                None => theirs,
            };
            match (captured(mine), captured(theirs)) {
                (Some(name), Some(_)) => drop(values.insert(name.to_owned(), part.into())),
                (Some(name), None) if self.chooses(name, part) => {
                    values.insert(name.to_owned(), part.into());
                }
                (None, None) if mine == theirs => {}
                _ => return None,
            }
        }
        for arg in self.sent() {
            if let Some(value) = sent.get(arg.sent) {
                values.insert(arg.name.to_owned(), value.clone());
            }
        }
        Some(values)
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

/// The name in `{name}` or `{name|part}`.
fn captured(part: &str) -> Option<&str> {
    let name = part.strip_prefix('{')?.strip_suffix('}')?;
    Some(name.split_once('|').map_or(name, |(name, _)| name))
}
