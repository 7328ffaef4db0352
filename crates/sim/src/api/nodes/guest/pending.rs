//! `pending` of a guest: its config with the changes that wait for a restart.

use serde_json::{Map, Value, json};

use super::config::typed_value;
use crate::call::Call;
use crate::error::Reply;
use crate::schema::Param;
use crate::world::World;
use crate::world::guest::Kind;

/// `GET pending`: one entry per key, with `value`, `pending` and `delete` as far as they apply.
pub(crate) fn show(world: &mut World, call: &Call, kind: Kind, options: &[Param]) -> Reply {
    let guest = world.need_guest(kind, call.node(), call.vmid())?;
    let typed = |key: &str, value: &str| match key {
        "cipassword" => json!("**********"),
        _ => typed_value(key, value, options),
    };
    let mut keys: Map<String, Value> = guest
        .config
        .iter()
        .map(|(key, value)| (key.to_owned(), json!({ "value": typed(key, value) })))
        .collect();
    keys.insert("digest".to_owned(), json!({ "value": guest.digest() }));
    if let Some(latest) = guest.snapshots.last() {
        keys.entry("parent")
            .or_insert_with(|| json!({ "value": latest.name }));
    }
    for (key, change) in &guest.pending {
        let entry = keys.entry(key).or_insert_with(|| json!({}));
        match change {
            Some(value) => entry["pending"] = typed(key, value),
            None => entry["delete"] = json!(1),
        }
    }
    let entries = keys.into_iter().map(|(key, mut entry)| {
        entry["key"] = json!(key);
        entry
    });
    Ok(entries.collect::<Value>().into())
}
