//! What a plain tool is to those that do not call it: methods of PVE's API, with what they take.

use super::Plain;
use super::arg::{Arg, Kind};
use crate::plan::Needs;
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

    /// Its arguments, each with what PVE calls it.
    pub(crate) fn sent_as(&self) -> Vec<(&'static str, &'static str)> {
        self.args.iter().map(|arg| (arg.name, arg.sent)).collect()
    }

    /// The privileges that it takes with these arguments.
    pub(crate) fn needed(&self, values: &Object) -> Needs {
        self.needs.of(values)
    }
}
