//! Options: whether the firewall is on, and what it does with packets that no rule fits.

use serde_json::{Map, Value, json};

use super::{check_digest, scope};
use crate::api::section;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::world::firewall::Firewall;
use crate::world::{World, digest_of};

fn digest(firewall: &Firewall) -> String {
    digest_of(&format!("{:?}", firewall.options))
}

pub(super) fn read(world: &mut World, call: &Call) -> Reply {
    let firewall = world.firewall(&scope(call));
    let value = |text: &str| match text.parse::<u64>() {
        Ok(number) => json!(number),
        Err(_) => json!(text),
    };
    let options = firewall.options.iter();
    let mut shown: Map<String, Value> = options
        .map(|(key, text)| (key.clone(), value(text)))
        .collect();
    shown.insert("digest".to_owned(), json!(digest(&firewall)));
    Ok(Value::from(shown).into())
}

pub(super) fn update(world: &mut World, call: &Call) -> Reply {
    let scope = scope(call);
    let current = digest(&world.firewall(&scope));
    let options = &mut world.firewall_mut(&scope)?.options;
    check_digest(call, &current)?;
    let gone = call.params.list("delete");
    if let Some(key) = gone.iter().find(|key| !is_option(key)) {
        return Err(ApiError::param("delete", format!("no such option '{key}'")));
    }
    options.retain(|key, _| !gone.contains(&key.as_str()));
    options.extend(section::sent(call, &["node", "vmid", "digest", "delete"]));
    done()
}

fn is_option(name: &str) -> bool {
    super::tables::OPTIONS
        .iter()
        .any(|table| table.iter().any(|param| param.name == name))
}
