//! What stands for the arguments of a call.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::keys::Keys;
use crate::tool::Object;

/// Stands for the arguments of a call: a confirmation counts for the same arguments only, in whatever order they come.
///
/// It is keyed, since it is stored and a password among the arguments could be guessed from a plain hash.
pub(super) fn hash_arguments(keys: &Keys, arguments: &Object) -> String {
    let mut arguments = arguments.clone();
    // These say how to run the call, not what it does.
    arguments.retain(|name, _| name != "confirm" && name != "wait");
    let text = sorted(&Value::Object(arguments)).to_string();
    keys.seal(&[b"arguments", text.as_bytes()])
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let by_name: BTreeMap<_, _> = object.iter().collect();
            by_name
                .into_iter()
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
