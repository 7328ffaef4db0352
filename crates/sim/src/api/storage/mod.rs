//! `/storage`: the definitions of storages, the same for all nodes.

mod kinds;
mod params;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::section;
use crate::call::{Call, split_list};
use crate::error::{ApiError, Reply, done};
use crate::permission::Perm;
use crate::route::{Route, delete, get, post, put};
use crate::schema::Kind as Type;
use crate::schema::common::STORAGE;
use crate::world::storage::Storage;
use crate::world::{World, digest_of};
use kinds::Kind;

/// Bytes of a new storage that is not a directory.
const CAPACITY: u64 = 1 << 40;
const MANAGE: Perm = Perm::On("/storage", &["Datastore.Allocate"]);

/// The routes of storage definitions.
pub const ROUTES: &[Route] = &[
    get("/storage", list)
        .allow(Perm::User)
        .params(&[params::TYPE.optional()]),
    get("/storage/{storage}", show)
        .allow(Perm::On("/storage/{storage}", &["Datastore.Allocate"]))
        .params(&[STORAGE]),
    post("/storage", create)
        .allow(MANAGE)
        .params(params::FIXED)
        .and(params::CHANGEABLE),
    put("/storage/{storage}", update)
        .allow(MANAGE)
        .params(params::UPDATE)
        .and(params::CHANGEABLE),
    delete("/storage/{storage}", remove)
        .allow(MANAGE)
        .params(&[STORAGE]),
];

fn storage_id(call: &Call) -> &str {
    call.text("storage").unwrap_or_default()
}

/// The digest of `storage.cfg`.
fn digest(world: &World) -> String {
    let sections = world
        .storages
        .iter()
        .map(|(id, storage)| entry(id, storage).to_string());
    digest_of(&sections.collect::<Vec<_>>().join("\n"))
}

/// A definition as the API shows it. Secrets are kept elsewhere.
fn entry(id: &str, storage: &Storage) -> Value {
    let numeric = |key: &str| {
        let param = params::CHANGEABLE.iter().find(|param| param.name == key);
        param.is_some_and(|param| matches!(param.kind, Type::Boolean | Type::Integer))
    };
    let mut shown = json!({
        "storage": id,
        "type": storage.kind,
        "content": storage.content.join(","),
    });
    for (key, value) in &storage.props {
        shown[key] = match value.parse::<i64>() {
            Ok(number) if numeric(key) => json!(number),
            _ => json!(value),
        };
    }
    if storage.shared {
        shown["shared"] = json!(1);
    }
    if !storage.nodes.is_empty() {
        shown["nodes"] = json!(storage.nodes.join(","));
    }
    shown
}

fn list(world: &mut World, call: &Call) -> Reply {
    let digest = digest(world);
    let wanted = call.text("type");
    let may_see = |id: &str| {
        let path = format!("/storage/{id}");
        let privs = ["Datastore.Audit", "Datastore.AllocateSpace"];
        privs.iter().any(|name| world.may(&call.who, &path, name))
    };
    let visible = world
        .storages
        .iter()
        .filter(|(id, storage)| may_see(id) && wanted.is_none_or(|kind| kind == storage.kind));
    let entries = visible.map(|(id, storage)| with_digest(entry(id, storage), &digest));
    Ok(entries.collect::<Value>().into())
}

fn with_digest(mut entry: Value, digest: &str) -> Value {
    entry["digest"] = json!(digest);
    entry
}

fn show(world: &mut World, call: &Call) -> Reply {
    let id = storage_id(call);
    let storage = world.storages.get(id).ok_or_else(|| missing("", id))?;
    Ok(with_digest(entry(id, storage), &digest(world)).into())
}

fn missing(action: &str, id: &str) -> ApiError {
    ApiError::fail(format!("{action}storage '{id}' does not exist"))
}

fn create(world: &mut World, call: &Call) -> Reply {
    let (id, name) = (storage_id(call), call.text("type").unwrap_or_default());
    let kind = kinds::find(name)
        .ok_or_else(|| ApiError::fail(format!("storages of type '{name}' cannot be simulated")))?;
    let mut given = section::sent(call, &["storage", "type"]);
    if !given.contains_key("path") && kind.fixed.contains(&"path") && name != "dir" {
        given.insert("path".to_owned(), format!("/mnt/pve/{id}"));
    }
    check_properties(kind, &given).map_err(ApiError::fail)?;
    if let Some(option) = kind
        .fixed
        .iter()
        .find(|option| !given.contains_key(**option))
    {
        let text = format!("missing value for required option '{option}'");
        return Err(ApiError::fail(text));
    }
    world.lock_file("create storage failed: ", "storage_cfg")?;
    if world.storages.contains_key(id) {
        let text = format!("create storage failed: storage ID '{id}' already defined");
        return Err(ApiError::fail(text));
    }
    check_server(world, id, &given)?;
    let disk = world
        .nodes
        .values()
        .map(|node| node.disk)
        .max()
        .unwrap_or(CAPACITY);
    let mut storage = Storage {
        kind: name.to_owned(),
        props: BTreeMap::new(),
        content: kind
            .default_content
            .iter()
            .map(|content| (*content).to_owned())
            .collect(),
        nodes: Vec::new(),
        shared: kind.shared,
        capacity: if name == "dir" { disk } else { CAPACITY },
    };
    apply(&mut storage, given);
    world.storages.insert(id.to_owned(), storage);
    Ok(json!({ "storage": id, "type": name }).into())
}

/// The network has the servers that other storages use, and no others.
fn check_server(world: &World, id: &str, given: &BTreeMap<String, String>) -> Result<(), ApiError> {
    let Some(server) = given.get("server") else {
        return Ok(());
    };
    let known = world
        .storages
        .values()
        .any(|storage| storage.props.get("server") == Some(server));
    if known {
        return Ok(());
    }
    Err(ApiError::fail(format!(
        "create storage failed: storage '{id}' is not online"
    )))
}

/// Every property must be one of the type, and so must the content.
fn check_properties(kind: &Kind, given: &BTreeMap<String, String>) -> Result<(), String> {
    let known = |name: &str| kind.fixed.contains(&name) || kind.optional.contains(&name);
    if let Some(name) = given.keys().find(|name| !known(name)) {
        return Err(format!("unexpected property '{name}'"));
    }
    let content = given.get("content").map(String::as_str).unwrap_or_default();
    match split_list(content).find(|content| !kind.content.contains(content)) {
        Some(content) => Err(format!("storage does not support content type '{content}'")),
        None => Ok(()),
    }
}

/// Puts properties where a storage keeps them.
fn apply(storage: &mut Storage, given: BTreeMap<String, String>) {
    let words = |text: &str| split_list(text).map(str::to_owned).collect();
    for (name, value) in given {
        match name.as_str() {
            "content" => storage.content = words(&value),
            "nodes" => storage.nodes = words(&value),
            "shared" => storage.shared = value == "1",
            // Kept in files of their own.
            "password" | "encryption-key" | "master-pubkey" | "keyring" => {}
            _ => drop(storage.props.insert(name, value)),
        }
    }
}

fn update(world: &mut World, call: &Call) -> Reply {
    let failed = |text: String| ApiError::fail(format!("update storage failed: {text}"));
    let id = storage_id(call);
    world.lock_file("update storage failed: ", "storage_cfg")?;
    if call
        .text("digest")
        .is_some_and(|sent| sent != digest(world))
    {
        let text = "detected modified configuration - file changed by other user? Try again.";
        return Err(failed(text.to_owned()));
    }
    let storage = world
        .storages
        .get(id)
        .ok_or_else(|| missing("update storage failed: ", id))?;
    let mut storage = storage.clone();
    let given = section::sent(call, &["storage", "digest", "delete"]);
    let Some(kind) = kinds::find(&storage.kind) else {
        return Err(failed(format!(
            "storages of type '{}' cannot be simulated",
            storage.kind
        )));
    };
    if let Some(name) = given
        .keys()
        .find(|name| kind.fixed.contains(&name.as_str()))
    {
        return Err(failed(format!(
            "can't change value of fixed parameter '{name}'"
        )));
    }
    check_properties(kind, &given).map_err(failed)?;
    for name in call.params.list("delete") {
        if kind.fixed.contains(&name) {
            return Err(failed(format!("unable to delete required option '{name}'")));
        }
        if !kind.optional.contains(&name) {
            return Err(failed(format!("no such option '{name}'")));
        }
        if given.contains_key(name) {
            return Err(failed(format!(
                "cannot set and delete property '{name}' at the same time!"
            )));
        }
        delete_property(&mut storage, kind, name);
    }
    apply(&mut storage, given);
    let answer = json!({ "storage": id, "type": storage.kind });
    world.storages.insert(id.to_owned(), storage);
    Ok(answer.into())
}

fn delete_property(storage: &mut Storage, kind: &Kind, name: &str) {
    match name {
        "content" => {
            storage.content = kind
                .default_content
                .iter()
                .map(|content| (*content).to_owned())
                .collect();
        }
        "nodes" => storage.nodes.clear(),
        "shared" => storage.shared = kind.shared,
        _ => drop(storage.props.remove(name)),
    }
}

/// The volumes stay where they are: only nobody sees them any more.
fn remove(world: &mut World, call: &Call) -> Reply {
    let id = storage_id(call);
    world.lock_file("delete storage failed: ", "storage_cfg")?;
    if world.storages.remove(id).is_none() {
        return Err(missing("delete storage failed: ", id));
    }
    let path = format!("/storage/{id}");
    world.access.acl.retain(|rule| rule.path != path);
    for pool in world.pools.values_mut() {
        pool.storages.remove(id);
    }
    done()
}
