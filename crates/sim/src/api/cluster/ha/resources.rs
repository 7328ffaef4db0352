//! `/cluster/ha/resources`: the guests that HA looks after.

use serde_json::{Value, json};

use super::{AUDIT, CONSOLE, lock};
use crate::api::nodes::guest::{migrate, power};
use crate::api::section;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::route::{Route, delete, get, post, put};
use crate::schema::common::{DIGEST, NODE};
use crate::schema::{Param, flag, format, int, text};
use crate::world::guest::Kind;
use crate::world::ha::service_id;
use crate::world::{Section, World};

const SID: Param = text("sid").is(format::ha_resource_or_vmid);

/// What a resource may have.
const OPTIONS: &[Param] = &[
    text("comment").longest(4096).optional(),
    flag("failback").optional(),
    text("group").is(format::config_id).optional(),
    int("max_relocate").min(0).optional(),
    int("max_restart").min(0).optional(),
    text("state")
        .one_of(&["started", "stopped", "enabled", "disabled", "ignored"])
        .optional(),
];

/// The routes of HA resources.
pub const ROUTES: &[Route] = &[
    get("/cluster/ha/resources", list)
        .allow(AUDIT)
        .params(&[text("type").one_of(&["ct", "vm"]).optional()]),
    post("/cluster/ha/resources", create)
        .allow(CONSOLE)
        .params(&[SID, text("type").one_of(&["ct", "vm"]).optional()])
        .and(OPTIONS),
    get("/cluster/ha/resources/{sid}", read)
        .allow(AUDIT)
        .params(&[SID]),
    put("/cluster/ha/resources/{sid}", update)
        .allow(CONSOLE)
        .params(&[
            SID,
            DIGEST,
            text("delete")
                .list_of(format::config_id)
                .longest(4096)
                .optional(),
        ])
        .and(OPTIONS),
    delete("/cluster/ha/resources/{sid}", remove)
        .allow(CONSOLE)
        .params(&[SID, flag("purge").optional()]),
    post("/cluster/ha/resources/{sid}/migrate", |w, c| {
        ask(w, c, migrate::move_by_ha)
    })
    .allow(CONSOLE)
    .params(&[SID, NODE]),
    post("/cluster/ha/resources/{sid}/relocate", |w, c| {
        ask(w, c, migrate::relocate_by_ha)
    })
    .allow(CONSOLE)
    .params(&[SID, NODE]),
];

fn list(world: &mut World, call: &Call) -> Reply {
    let wanted = |resource: &Section| call.text("type").is_none_or(|kind| kind == resource.kind);
    let found = world
        .ha_resources
        .iter()
        .filter(|(_, resource)| wanted(resource));
    let entries = found.map(|(sid, resource)| to_json(world, sid, resource));
    Ok(entries.collect::<Value>().into())
}

fn to_json(world: &World, sid: &str, resource: &Section) -> Value {
    let numbers = ["failback", "max_relocate", "max_restart"];
    let mut entry = section::to_json(resource, &numbers);
    entry.insert("sid".to_owned(), json!(sid));
    entry.insert(
        "digest".to_owned(),
        json!(section::digest(&world.ha_resources)),
    );
    entry.into()
}

fn read(world: &mut World, call: &Call) -> Reply {
    let sid = sid_of(world, call)?;
    match world.ha_resources.get(&sid) {
        Some(resource) => Ok(to_json(world, &sid, resource).into()),
        None => Err(ApiError::fail(format!("no such resource '{sid}'"))),
    }
}

/// The id in full: the bare id of a guest stands for it.
fn sid_of(world: &World, call: &Call) -> Result<String, ApiError> {
    let sid = call.text("sid").unwrap_or_default();
    let Ok(vmid) = sid.parse::<u32>() else {
        return Ok(sid.to_owned());
    };
    match world.guests.get(&vmid) {
        Some(guest) => Ok(service_id(guest.kind, vmid)),
        None => Err(ApiError::fail(format!(
            "unable to detect SID from VMID - VM/CT {sid} does not exist"
        ))),
    }
}

/// The guest that a full id names.
fn guest_of(world: &World, sid: &str) -> Result<(Kind, u32), ApiError> {
    let (prefix, name) = sid.split_once(':').unwrap_or_default();
    let (kind, what) = match prefix {
        "vm" => (Kind::Qemu, "a VM"),
        "ct" => (Kind::Lxc, "a CT"),
        other => return Err(ApiError::fail(format!("unknown section type '{other}'"))),
    };
    if let Err(text) = format::vmid(name) {
        return Err(ApiError::fail(text));
    }
    let vmid = name.parse().unwrap_or_default();
    match world.guests.get(&vmid) {
        Some(guest) if guest.kind == kind => Ok((kind, vmid)),
        Some(_) => Err(ApiError::fail(format!(
            "resource '{sid}' - guest with ID {vmid} is not {what}"
        ))),
        None => Err(ApiError::fail(format!(
            "resource '{sid}' does not exist in cluster"
        ))),
    }
}

/// Up to version 8 the group must exist; since then there is none.
fn check_group(world: &World, call: &Call) -> Result<(), ApiError> {
    let Some(group) = call.text("group") else {
        return Ok(());
    };
    if !world.is_before_9() {
        return Err(ApiError::fail(
            "invalid parameter 'group': ha groups have been migrated to rules",
        ));
    }
    if !world.ha_groups.contains_key(group) {
        return Err(ApiError::fail(format!("HA group '{group}' does not exist")));
    }
    Ok(())
}

fn create(world: &mut World, call: &Call) -> Reply {
    world.require_quorum()?;
    let sid = sid_of(world, call)?;
    let prefix = sid.split(':').next().unwrap_or_default();
    if call.text("type").is_some_and(|kind| kind != prefix) {
        return Err(ApiError::fail("types does not match"));
    }
    check_group(world, call)?;
    let (kind, vmid) = guest_of(world, &sid)?;
    lock(world, "create resource failed")?;
    if world.ha_resources.contains_key(&sid) {
        return Err(ApiError::fail(format!(
            "create resource failed: resource ID '{sid}' already defined"
        )));
    }
    let resource = Section {
        kind: prefix.to_owned(),
        props: section::sent(call, &["sid", "type"]),
    };
    world.ha_resources.insert(sid, resource);
    power::follow_ha(world, kind, vmid);
    done()
}

fn update(world: &mut World, call: &Call) -> Reply {
    let sid = sid_of(world, call)?;
    check_group(world, call)?;
    let action = "update resources config failed";
    lock(world, action)?;
    let fail = |error: &str| ApiError::fail(format!("{action}: {error}"));
    section::check_digest(&world.ha_resources, call).map_err(|error| fail(&error.message))?;
    let Some(resource) = world.ha_resources.get_mut(&sid) else {
        return Err(fail(&format!("no such resource '{sid}'")));
    };
    let mut changed = resource.clone();
    changed
        .props
        .extend(section::sent(call, &["sid", "digest", "delete"]));
    let optional: Vec<&str> = OPTIONS.iter().map(|param| param.name).collect();
    section::delete_sent(&mut changed, call, &optional).map_err(|error| fail(&error))?;
    *resource = changed;
    if let Ok((kind, vmid)) = guest_of(world, &sid) {
        power::follow_ha(world, kind, vmid);
    }
    done()
}

/// Removes a resource, and by default also from the rules that name it.
fn remove(world: &mut World, call: &Call) -> Reply {
    let sid = sid_of(world, call)?;
    if !world.ha_resources.contains_key(&sid) {
        return Err(ApiError::fail(format!(
            "cannot delete service '{sid}', not HA managed!"
        )));
    }
    lock(world, "delete resource failed")?;
    world.remove_from_ha(&sid, call.text("purge") != Some("0"));
    done()
}

/// Asks HA to move a resource in one way or the other. The answer only says what was asked for.
fn ask(world: &mut World, call: &Call, act: fn(&mut World, u32, &str)) -> Reply {
    let sid = sid_of(world, call)?;
    let managed = guest_of(world, &sid)
        .ok()
        .filter(|(kind, vmid)| world.ha_resource(*kind, *vmid).is_some());
    let Some((_, vmid)) = managed else {
        return Err(ApiError::fail(format!(
            "resource '{sid}' is not HA managed"
        )));
    };
    if !world.is_quorate() {
        return Err(ApiError::fail("cfs-lock 'domain-ha' error: no quorum!"));
    }
    let target = call.node();
    act(world, vmid, target);
    Ok(json!({ "sid": sid, "requested-node": target }).into())
}
