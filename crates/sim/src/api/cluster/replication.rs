//! `/cluster/replication`: the jobs that copy a guest's disks to another node.

use serde_json::{Value, json};

use crate::api::section;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::{Perm, require};
use crate::route::{Route, delete, get, post, put};
use crate::schema::common::DIGEST;
use crate::schema::{Param, flag, format, number, text};
use crate::world::{Section, World};

const ID: Param = text("id").is(format::replication_job);

/// What a job may have.
const OPTIONS: &[Param] = &[
    text("comment").longest(4096).optional(),
    flag("disable").optional(),
    number("rate").min(1).optional(),
    text("remove_job").one_of(&["local", "full"]).optional(),
    text("schedule")
        .is(format::calendar_event)
        .longest(128)
        .optional(),
    text("source").is(format::node).optional(),
];

/// The routes of replication jobs. Each handler checks the rights on the job's guest.
pub const ROUTES: &[Route] = &[
    get("/cluster/replication", list).allow(Perm::User),
    post("/cluster/replication", create)
        .allow(Perm::User)
        .params(&[
            ID,
            text("target").is(format::node),
            text("type").one_of(&["local"]),
        ])
        .and(OPTIONS),
    get("/cluster/replication/{id}", read)
        .allow(Perm::User)
        .params(&[ID]),
    put("/cluster/replication/{id}", update)
        .allow(Perm::User)
        .params(&[
            ID,
            DIGEST,
            text("delete")
                .list_of(format::config_id)
                .longest(4096)
                .optional(),
        ])
        .and(OPTIONS),
    delete("/cluster/replication/{id}", remove)
        .allow(Perm::User)
        .params(&[ID, flag("force").optional(), flag("keep").optional()]),
];

/// The guest and the number of a job.
pub(crate) fn parts(id: &str) -> (u32, u32) {
    let (guest, number) = id.split_once('-').unwrap_or_default();
    let number_of = |text: &str| text.parse().unwrap_or_default();
    (number_of(guest), number_of(number))
}

/// The jobs of the guests that the caller may see.
fn list(world: &mut World, call: &Call) -> Reply {
    let visible = world.replication_jobs.iter().filter(|(id, _)| {
        let path = format!("/vms/{}", parts(id).0);
        world.may(&call.who, &path, "VM.Audit")
    });
    let entries = visible.map(|(id, job)| to_json(world, id, job));
    Ok(entries.collect::<Value>().into())
}

/// A job with what its id says.
pub(crate) fn to_json(world: &World, id: &str, job: &Section) -> Value {
    let mut entry = section::to_json(job, &["guest", "jobnum", "disable"]);
    let (guest, number) = parts(id);
    entry.insert("id".to_owned(), json!(id));
    entry.insert("guest".to_owned(), json!(guest));
    entry.insert("jobnum".to_owned(), json!(number));
    if let Some(guest) = world.guests.get(&guest) {
        entry.entry("source").or_insert(json!(guest.node));
    }
    entry.into()
}

fn read(world: &mut World, call: &Call) -> Reply {
    let id = call.text("id").unwrap_or_default();
    let Some(job) = world.replication_jobs.get(id) else {
        return Err(ApiError::fail(format!("no such replication job '{id}'")));
    };
    require(
        world,
        &call.who,
        &format!("/vms/{}", parts(id).0),
        &["VM.Audit"],
    )?;
    let mut entry = to_json(world, id, job);
    entry["digest"] = json!(section::digest(&world.replication_jobs));
    Ok(entry.into())
}

fn may_replicate(world: &World, call: &Call, id: &str) -> Result<(), ApiError> {
    let path = format!("/vms/{}", parts(id).0);
    if world.is_before_9() {
        return require(world, &call.who, "/storage", &["Datastore.Allocate"]);
    }
    require(world, &call.who, &path, &["VM.Replicate"])
}

fn create(world: &mut World, call: &Call) -> Reply {
    let id = call.text("id").unwrap_or_default();
    may_replicate(world, call, id)?;
    let (vmid, _) = parts(id);
    let target = call.text("target").unwrap_or_default();
    let Some(guest) = world.guests.get(&vmid) else {
        return Err(ApiError::fail(format!("Guest '{vmid}' does not exist.")));
    };
    if !world.nodes.contains_key(target) {
        return Err(ApiError::fail(format!("Target '{target}' does not exist.")));
    }
    let source = &guest.node;
    if let Some(other) = call.text("source").filter(|other| other != source) {
        return Err(ApiError::fail(format!(
            "Source '{other}' does not match current node of guest '{vmid}' ({source})"
        )));
    }
    if target == source {
        return Err(ApiError::fail("Source and target must not be identical"));
    }
    let on_zfs = guest.config.drives().any(|drive| {
        let storage = drive.storage().and_then(|id| world.storages.get(id));
        !drive.is_cdrom() && storage.is_some_and(|storage| storage.kind == "zfspool")
    });
    if !on_zfs {
        return Err(ApiError::fail("No replicatable volumes found"));
    }
    let mut props = section::sent(call, &["id", "type"]);
    props.insert("source".to_owned(), source.clone());
    world.lock_file("", "replication_cfg")?;
    if world.replication_jobs.contains_key(id) {
        return Err(ApiError::fail(format!(
            "replication job '{id}' already exists"
        )));
    }
    let kind = "local".to_owned();
    let job = Section { kind, props };
    world.replication_jobs.insert(id.to_owned(), job);
    done()
}

fn update(world: &mut World, call: &Call) -> Reply {
    let id = call.text("id").unwrap_or_default();
    may_replicate(world, call, id)?;
    world.lock_file("", "replication_cfg")?;
    section::check_digest(&world.replication_jobs, call)?;
    let Some(job) = world.replication_jobs.get_mut(id) else {
        return Err(ApiError::fail(format!("no such job '{id}'")));
    };
    let mut changed = job.clone();
    let sent = section::sent(call, &["id", "digest", "delete"]);
    changed.props.extend(sent);
    let optional: Vec<&str> = OPTIONS.iter().map(|param| param.name).collect();
    section::delete_sent(&mut changed, call, &optional).map_err(ApiError::fail)?;
    *job = changed;
    done()
}

/// Removes a job. PVE only marks it, and its next run removes it with the copies; here that run is at once.
fn remove(world: &mut World, call: &Call) -> Reply {
    let id = call.text("id").unwrap_or_default();
    may_replicate(world, call, id)?;
    world.lock_file("", "replication_cfg")?;
    if call.flag("force") && call.flag("keep") {
        return Err(ApiError::wrapped(
            "keep",
            "conflicts with parameter 'force'",
        ));
    }
    let known = world.replication_jobs.remove(id).is_some();
    if known || call.flag("force") {
        done()
    } else {
        Err(ApiError::fail(format!("no such job '{id}'")))
    }
}
