//! `config` of a guest, as PVE shows it.

use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::schema::{Kind as Type, Param};
use crate::world::World;
use crate::world::config::Config;
use crate::world::guest::{Guest, Kind, Snapshot};

/// `GET config`. Shows what will be after a restart; `current=1` what is now; `snapshot` what was then.
pub(crate) fn show(world: &mut World, call: &Call, kind: Kind, options: &[Param]) -> Reply {
    let snapshot = call.text("snapshot");
    if snapshot.is_some() && call.flag("current") {
        let text = "cannot use 'snapshot' parameter with 'current'";
        return Err(ApiError::params(
            ["snapshot", "current"].map(|name| (name.to_owned(), text.to_owned())),
        ));
    }
    let guest = world.need_guest(kind, call.node(), call.vmid())?;
    let mut shown = match snapshot {
        Some(name) => of_snapshot(find_snapshot(guest, name)?, options),
        None if call.flag("current") => typed(&guest.config, options),
        None => typed(&with_pending(guest), options),
    };
    if shown.contains_key("cipassword") {
        shown.insert("cipassword".to_owned(), json!("**********"));
    }
    shown.insert("digest".to_owned(), json!(guest.digest()));
    Ok(Value::Object(shown).into())
}

/// The snapshot of that name.
pub(crate) fn find_snapshot<'a>(guest: &'a Guest, name: &str) -> Result<&'a Snapshot, ApiError> {
    let found = guest.snapshot(name);
    found.ok_or_else(|| ApiError::fail(format!("snapshot '{name}' does not exist")))
}

/// A snapshot's section of the config file.
pub(crate) fn of_snapshot(snapshot: &Snapshot, options: &[Param]) -> Map<String, Value> {
    let mut shown = typed(&snapshot.config, options);
    shown.insert("snaptime".to_owned(), json!(snapshot.time.secs()));
    let texts = [("parent", &snapshot.parent), ("vmstate", &snapshot.vmstate)];
    for (key, value) in texts {
        if let Some(value) = value {
            shown.insert(key.to_owned(), json!(value));
        }
    }
    if !snapshot.description.is_empty() {
        shown.insert("description".to_owned(), json!(snapshot.description));
    }
    shown
}

/// The config as it will be after a restart.
pub(crate) fn with_pending(guest: &Guest) -> Config {
    let mut config = guest.config.clone();
    for (key, value) in &guest.pending {
        match value {
            Some(value) => config.set(key, value),
            None => {
                config.remove(key);
            }
        }
    }
    config
}

/// Values in the types that PVE's parser gives them: whole numbers and booleans are numbers, everything else is text.
pub(crate) fn typed(config: &Config, options: &[Param]) -> Map<String, Value> {
    config
        .iter()
        .map(|(key, value)| (key.to_owned(), typed_value(key, value, options)))
        .collect()
}

/// One value in its type. What may have a fraction (`cpulimit`) stays text: PVE's parser checks it and keeps it.
pub(crate) fn typed_value(key: &str, value: &str, options: &[Param]) -> Value {
    let option = options.iter().find(|option| option.covers(key));
    match option.map(|option| option.kind) {
        Some(Type::Integer | Type::Boolean) => value
            .parse::<serde_json::Number>()
            .map_or_else(|_| json!(value), Value::Number),
        _ => json!(value),
    }
}
