//! `/nodes/{node}/vzdump`: backups of guests.

mod archive;
mod guest;
mod notes;
mod task;

use serde_json::json;

use crate::api::cluster::backup::options::{VZDUMP, conflict};
use crate::api::nodes::guest::power::spawn;
use crate::api::nodes::storage::may_read_backup;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::{Perm, require, require_any};
use crate::route::{Route, get, post};
use crate::schema::common::{NODE, STORAGE};
use crate::schema::{flag, text};
use crate::world::World;
use crate::world::guest::Guest;
use task::Order;

/// The routes of backups.
pub const ROUTES: &[Route] = &[
    post("/nodes/{node}/vzdump", start)
        .allow(Perm::User)
        .proxied()
        .params(&[
            NODE.optional(),
            flag("stdout").optional(),
            text("job-id").longest(50).matching(is_word).optional(),
        ])
        .and(VZDUMP),
    get("/nodes/{node}/vzdump/defaults", defaults)
        .allow(Perm::User)
        .proxied()
        .params(&[NODE, STORAGE.optional()]),
    get("/nodes/{node}/vzdump/extractconfig", extract_config)
        .allow(Perm::User)
        .proxied()
        .params(&[NODE, text("volume")]),
];

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

/// The storage of a call; without one it is the node's own.
fn storage_id(call: &Call) -> &str {
    call.text("storage").unwrap_or("local")
}

/// `POST vzdump`. Guests on other nodes are left out; if there are no others, nothing happens.
fn start(world: &mut World, call: &Call) -> Reply {
    if call.flag("stdout") {
        let text = "option is only allowed on the command line interface.";
        return Err(ApiError::param("stdout", text));
    }
    check_rights(world, call)?;
    check_selection(call)?;
    let (guests, elsewhere) = selection(world, call);
    let nothing = || Ok(json!("OK").into());
    if call.flag("stop") {
        let path = format!("/nodes/{}", call.node());
        require(world, &call.who, &path, &["Sys.Modify"])?;
        stop_running(world, call.node());
        if guests.is_empty() {
            return nothing();
        }
    }
    if guests.is_empty() && !call.flag("all") {
        return nothing();
    }
    if !call.params.has("dumpdir") {
        let path = format!("/storage/{}", storage_id(call));
        require(world, &call.who, &path, &["Datastore.AllocateSpace"])?;
    }
    let work = task::plan(Order::read(call), guests, &elsewhere);
    spawn(world, call, work)
}

/// Some options are for `root@pam`, some for administrators.
fn check_rights(world: &World, call: &Call) -> Result<(), ApiError> {
    if call.who.is_root() {
        return Ok(());
    }
    let kept = ["tmpdir", "dumpdir", "script", "job-id"];
    if let Some(name) = kept.iter().find(|name| call.params.has(name)) {
        return Err(ApiError::param(name, "Only root may set this option."));
    }
    if ["bwlimit", "ionice", "performance"]
        .iter()
        .any(|name| call.params.has(name))
    {
        require(world, &call.who, "/", &["Sys.Modify"])?;
    }
    if call.params.has("prune-backups") || call.params.has("maxfiles") {
        let path = format!("/storage/{}", storage_id(call));
        require(world, &call.who, &path, &["Datastore.Allocate"])?;
    }
    Ok(())
}

fn check_selection(call: &Call) -> Result<(), ApiError> {
    if let Some(name) = conflict(|name| call.params.has(name)) {
        return Err(ApiError::param(name, "option conflicts with option 'vmid'"));
    }
    if let Some(template) = call.text("notes-template") {
        notes::check(template).map_err(|text| ApiError::param("notes-template", text + "\n"))?;
    }
    let chosen = ["vmid", "pool", "exclude"]
        .iter()
        .any(|name| call.params.has(name));
    if chosen || call.flag("all") || call.flag("stop") {
        return Ok(());
    }
    Err(ApiError::param("vmid", "property is missing"))
}

/// The guests to back up here, unknown ones included, and those that are on other nodes.
fn selection(world: &World, call: &Call) -> (Vec<u32>, Vec<u32>) {
    let ids = |name: &str| -> Vec<u32> {
        let list = call.params.list(name).into_iter();
        list.filter_map(|id| id.parse().ok()).collect()
    };
    let chosen: Vec<u32> = if let Some(pool) = call.text("pool") {
        let pool = world.pools.get(pool);
        pool.map(|pool| pool.guests.iter().copied().collect())
            .unwrap_or_default()
    } else if call.params.has("vmid") {
        ids("vmid")
    } else if call.flag("all") || call.params.has("exclude") {
        let left_out = ids("exclude");
        let all = world.guests.keys().copied();
        all.filter(|vmid| !left_out.contains(vmid)).collect()
    } else {
        Vec::new()
    };
    let is_here = |guest: Option<&Guest>| guest.is_none_or(|guest| guest.node == call.node());
    chosen
        .into_iter()
        .partition(|vmid| is_here(world.guests.get(vmid)))
}

fn stop_running(world: &mut World, node: &str) {
    let running = world.tasks.iter().filter(|task| task.end.is_none());
    let backups = running.filter(|task| task.upid.kind == "vzdump" && task.upid.node == node);
    let backups: Vec<_> = backups.map(|task| task.upid.clone()).collect();
    for upid in backups {
        world.interrupt_task(&upid);
    }
}

fn defaults(world: &mut World, call: &Call) -> Reply {
    let id = storage_id(call);
    let privs = ["Datastore.Audit", "Datastore.AllocateSpace"];
    require_any(world, &call.who, &format!("/storage/{id}"), &privs)?;
    let Some(storage) = world.storages.get(id) else {
        return Err(ApiError::fail(format!("storage '{id}' does not exist")));
    };
    let mut found = json!({
        "all": 0, "bwlimit": 0, "compress": "0", "fleecing": { "enabled": 0 }, "ionice": 7, "lockwait": 180,
        "mailnotification": "always", "mode": "snapshot", "notification-mode": "auto",
        "performance": { "max-workers": 16, "pbs-entries-max": 1_048_576 }, "pigz": 0,
        "prune-backups": storage.props.get("prune-backups").map_or("keep-all=1", String::as_str),
        "quiet": 0, "remove": 1, "stdexcludes": 1, "stop": 0, "stopwait": 10, "storage": id, "zstd": 1,
    });
    if let Some(path) = storage.props.get("path") {
        found["dumpdir"] = json!(format!("{path}/dump"));
    }
    if !world.may(&call.who, &format!("/nodes/{}", call.node()), "Sys.Audit")
        && let Some(fields) = found.as_object_mut()
    {
        fields.remove("dumpdir");
        fields.remove("ionice");
    }
    Ok(found.into())
}

/// The guest's config inside a backup.
fn extract_config(world: &mut World, call: &Call) -> Reply {
    let volid = call.text("volume").unwrap_or_default();
    may_read_backup(world, &call.who, volid)?;
    let missing = || ApiError::fail(format!("volume '{volid}' does not exist"));
    let volume = world.volume(call.node(), volid).ok_or_else(missing)?;
    let owner = format!("/vms/{}", volume.vmid.unwrap_or_default());
    require(world, &call.who, &owner, &["VM.Backup"])?;
    let config = volume.config.as_ref();
    Ok(json!(
        config
            .map(crate::world::config::Config::to_text)
            .unwrap_or_default()
    )
    .into())
}
