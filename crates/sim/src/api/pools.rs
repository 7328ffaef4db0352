//! `/pools`: groups of guests and storages that rights can be given on. Pools nest by name: `lab/web` lies in `lab`.

use serde_json::{Value, json};

use crate::api::cluster::resources::{guest_entry, storage_entry};
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::{Perm, require, require_modify};
use crate::route::{Route, delete, get, post, put};
use crate::schema::{Param, flag, format, text};
use crate::world::{Pool, World};

const POOLID: Param = text("poolid").is(format::pool_id);
const COMMENT: Param = text("comment").optional();
const MOVE: Param = flag("allow-move").optional();
const DELETE: Param = flag("delete").optional();
const STORAGES: Param = text("storage").list_of(format::storage_id).optional();
const GUESTS: Param = text("vms").list_of(format::vmid).optional();
const TYPE: Param = text("type").one_of(&["qemu", "lxc", "storage"]).optional();
const ALLOCATE: Perm = Perm::On("/pool/{poolid}", &["Pool.Allocate"]);

/// The routes of pools. Those with the pool in the path are the older ones, and know no nested pools.
pub const ROUTES: &[Route] = &[
    get("/pools", list)
        .allow(Perm::User)
        .params(&[POOLID.optional(), TYPE.requires("poolid")]),
    post("/pools", create)
        .allow(ALLOCATE)
        .params(&[POOLID, COMMENT]),
    put("/pools", update)
        .allow(ALLOCATE)
        .params(&[POOLID, MOVE, COMMENT, DELETE, STORAGES, GUESTS]),
    delete("/pools", remove).allow(ALLOCATE).params(&[POOLID]),
    get("/pools/{poolid}", read)
        .allow(Perm::On("/pool/{poolid}", &["Pool.Audit"]))
        .params(&[POOLID, TYPE]),
    put("/pools/{poolid}", update)
        .allow(ALLOCATE)
        .params(&[POOLID, MOVE, COMMENT, DELETE, STORAGES, GUESTS]),
    delete("/pools/{poolid}", remove)
        .allow(ALLOCATE)
        .params(&[POOLID]),
];

fn id(call: &Call) -> &str {
    call.text("poolid").unwrap_or_default()
}

fn missing(id: &str) -> ApiError {
    ApiError::fail(format!("pool '{id}' does not exist"))
}

/// All pools the caller may see; or one with its members, which PVE shows to everybody.
fn list(world: &mut World, call: &Call) -> Reply {
    if call.params.has("poolid") {
        return Ok(json!([with_members(world, call)?]).into());
    }
    let visible = world
        .pools
        .iter()
        .filter(|(id, _)| world.may(&call.who, &format!("/pool/{id}"), "Pool.Audit"));
    let entries = visible.map(|(id, pool)| to_json(id, pool));
    Ok(entries.collect::<Value>().into())
}

fn read(world: &mut World, call: &Call) -> Reply {
    Ok(with_members(world, call)?.into())
}

fn to_json(id: &str, pool: &Pool) -> Value {
    let mut entry = json!({ "poolid": id });
    if let Some(comment) = &pool.comment {
        entry["comment"] = json!(comment);
    }
    entry
}

fn with_members(world: &World, call: &Call) -> Result<Value, ApiError> {
    let id = id(call);
    let pool = world.pools.get(id).ok_or_else(|| missing(id))?;
    let wanted = |kind: &str| call.text("type").is_none_or(|wanted| wanted == kind);
    let guests = pool.guests.iter().filter_map(|vmid| world.guests.get(vmid));
    let guests = guests
        .filter(|guest| wanted(guest.kind.name()))
        .map(|guest| {
            let mut entry = guest_entry(world, call, guest);
            if let Some(fields) = entry.as_object_mut() {
                fields
                    .retain(|key, _| !matches!(key.as_str(), "pool" | "tags" | "lock" | "hastate"));
            }
            entry
        });
    let storages = pool.storages.iter().filter(|_| wanted("storage"));
    let storages = storages.filter_map(|id| {
        let storage = world.storages.get(id)?;
        let here = world.nodes.get(&call.endpoint);
        let node = here
            .filter(|node| storage.is_on(&node.name))
            .or_else(|| world.nodes.get(storage.nodes.first()?))?;
        Some(storage_entry(world, id, storage, node))
    });
    let mut entry = to_json(id, pool);
    entry["members"] = guests.chain(storages).collect();
    Ok(entry)
}

fn create(world: &mut World, call: &Call) -> Reply {
    let action = "create pool failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    let id = id(call);
    let fail = |text: String| Err(ApiError::fail(format!("{action}: {text}")));
    if world.pools.contains_key(id) {
        return fail(format!("pool '{id}' already exists"));
    }
    let leaf = match id.rsplit_once('/') {
        Some((parent, _)) if !world.pools.contains_key(parent) => {
            return fail(format!("parent '{parent}' of pool '{id}' does not exist"));
        }
        Some((_, leaf)) => leaf,
        None => id,
    };
    if !leaf.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return fail("pool name must start with a letter".to_owned());
    }
    let comment = call.text("comment").filter(|text| !text.is_empty());
    let pool = Pool {
        comment: comment.map(str::to_owned),
        ..Pool::default()
    };
    world.pools.insert(id.to_owned(), pool);
    done()
}

fn update(world: &mut World, call: &Call) -> Reply {
    let action = "update pools failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    // Everything or nothing: PVE writes its file at the end.
    let mut pools = world.pools.clone();
    change(world, call, &mut pools).map_err(|error| error.during(action))?;
    world.pools = pools;
    done()
}

type Pools = std::collections::BTreeMap<String, Pool>;

fn change(world: &World, call: &Call, pools: &mut Pools) -> Result<(), ApiError> {
    let id = id(call);
    let pool = pools.get_mut(id).ok_or_else(|| missing(id))?;
    if let Some(comment) = call.text("comment") {
        pool.comment = Some(comment.to_owned());
    }
    for vmid in call.params.list("vms") {
        require_modify(world, &call.who, &format!("/vms/{vmid}"))?;
        change_guest(world, call, pools, vmid.parse().unwrap_or_default())?;
    }
    for storage in call.params.list("storage") {
        require_modify(world, &call.who, &format!("/storage/{storage}"))?;
        let pool = pools.get_mut(id).ok_or_else(|| missing(id))?;
        let (changed, state) = if call.flag("delete") {
            (pool.storages.remove(storage), "not")
        } else {
            (pool.storages.insert(storage.to_owned()), "already")
        };
        if !changed {
            return Err(ApiError::fail(format!(
                "Storage '{storage}' is {state} a pool member"
            )));
        }
    }
    Ok(())
}

/// A guest is in one pool at most, and leaves it for another only if that was allowed.
fn change_guest(world: &World, call: &Call, pools: &mut Pools, vmid: u32) -> Result<(), ApiError> {
    let id = id(call);
    let holder = pools
        .iter()
        .find(|(_, pool)| pool.guests.contains(&vmid))
        .map(|(name, _)| name.clone());
    let fail = |text: String| Err(ApiError::fail(text));
    match holder.as_deref() {
        Some(holder) if holder == id && call.flag("delete") => {}
        Some(holder) if holder == id => {
            return fail(format!("VM {vmid} is already a pool member"));
        }
        _ if call.flag("delete") => return fail(format!("VM {vmid} is not a pool member")),
        Some(other) if !call.flag("allow-move") => {
            return fail(format!(
                "VM {vmid} belongs already to pool '{other}' and 'allow-move' is not set"
            ));
        }
        Some(other) => {
            require(
                world,
                &call.who,
                &format!("/pool/{other}"),
                &["Pool.Allocate"],
            )?;
        }
        None => {}
    }
    for pool in pools.values_mut() {
        pool.guests.remove(&vmid);
    }
    if let Some(pool) = pools.get_mut(id).filter(|_| !call.flag("delete")) {
        pool.guests.insert(vmid);
    }
    Ok(())
}

/// Removes an empty pool with its rules. Members that no longer exist do not count.
fn remove(world: &mut World, call: &Call) -> Reply {
    let action = "delete pool failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    let id = id(call);
    let content = content(world, id).map_err(|error| error.during(action))?;
    if let Some(content) = content {
        return Err(ApiError::fail(format!(
            "{action}: pool '{id}' is not empty (contains {content})"
        )));
    }
    world.pools.remove(id);
    let path = format!("/pool/{id}");
    world.access.acl.retain(|rule| rule.path != path);
    done()
}

/// The first thing in a pool, in words.
fn content(world: &World, id: &str) -> Result<Option<String>, ApiError> {
    let pool = world.pools.get(id).ok_or_else(|| missing(id))?;
    let below = format!("{id}/");
    let nested = world.pools.keys().find(|name| name.starts_with(&below));
    let guest = pool
        .guests
        .iter()
        .find(|vmid| world.guests.contains_key(vmid));
    let storage = pool
        .storages
        .iter()
        .find(|name| world.storages.contains_key(*name));
    Ok(nested
        .map(|name| format!("pool '{name}'"))
        .or_else(|| guest.map(|vmid| format!("VM {vmid}")))
        .or_else(|| storage.map(|name| format!("storage '{name}'"))))
}
