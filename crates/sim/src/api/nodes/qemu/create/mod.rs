//! `POST /nodes/{node}/qemu`: a new machine, or one restored from a backup.
//!
//! Rights and the form of everything are checked at once, and the id is taken; disks and config come in the task.

mod restore;
mod task;

use std::collections::BTreeMap;

use super::change::disks;
use super::change::request::{
    add_mac_addresses, check_bridges_of, check_ssh_keys, clamp_cpu_units, given_options,
    resolve_cdrom,
};
use super::change::rights::Owner;
use super::drive::is_drive;
use super::options::OPTIONS;
use crate::api::nodes::guest::power::spawn;
use crate::api::nodes::storage::may_use;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::{Perm, require};
use crate::route::{Route, post};
use crate::schema::common::{NODE, VMID};
use crate::schema::{flag, format, int, text};
use crate::world::World;
use crate::world::config::Config;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Qemu;

/// The route that makes machines.
pub const ROUTES: &[Route] = &[post("/nodes/{node}/qemu", start)
    .allow(Perm::User)
    .proxied()
    .params(&[
        NODE,
        VMID,
        text("archive").longest(255).optional(),
        int("bwlimit").min(0).optional(),
        flag("force").requires("archive").optional(),
        flag("ha-managed").optional(),
        text("import-working-storage")
            .is(format::storage_id)
            .optional(),
        flag("live-restore").optional(),
        text("pool").is(format::pool_id).optional(),
        flag("start").optional(),
        text("storage").is(format::storage_id).optional(),
        flag("unique").requires("archive").optional(),
    ])
    .and(OPTIONS)];

const NOT_OPTIONS: &[&str] = &[
    "node",
    "vmid",
    "archive",
    "bwlimit",
    "force",
    "ha-managed",
    "import-working-storage",
    "live-restore",
    "pool",
    "start",
    "storage",
    "unique",
];

/// What is to be made.
#[derive(Clone, Debug)]
struct Order {
    call: Call,
    /// Options in the form the config keeps; disks still as asked for.
    options: BTreeMap<String, String>,
    /// The backup to restore.
    archive: Option<String>,
    /// A machine of this id is replaced.
    replaces: bool,
}

fn start(world: &mut World, call: &Call) -> Reply {
    let mut options = given_options(call, NOT_OPTIONS);
    check_ssh_keys(&options)?;
    clamp_cpu_units(&mut options);
    world.require_quorum()?;
    check_target(world, call)?;
    let archive = call.text("archive").map(str::to_owned);
    if let Some(archive) = &archive {
        check_archive(world, call, archive, &options)?;
    }
    check_options(world, call, &mut options)?;
    add_mac_addresses(world, &mut options);
    let mut order = Order {
        call: call.clone(),
        options,
        archive,
        replaces: false,
    };
    reserve(world, &mut order)?;
    let work = task::plan(order);
    spawn(world, call, work)
}

/// Whether the caller may make a machine of this id, in this pool, on this storage.
fn check_target(world: &World, call: &Call) -> Result<(), ApiError> {
    let (who, vmid, pool) = (&call.who, call.vmid(), call.text("pool"));
    if let Some(pool) = pool.filter(|pool| !world.pools.contains_key(*pool)) {
        let detail = format!("pool '{pool}' does not exist");
        return Err(ApiError::denied(Some(&detail)));
    }
    if let Some(storage) = call.text("storage") {
        let path = format!("/storage/{storage}");
        require(world, who, &path, &["Datastore.AllocateSpace"])?;
    }
    let path = format!("/vms/{vmid}");
    let on_pool = |pool| world.may(who, &format!("/pool/{pool}"), "VM.Allocate");
    let replaces = call.text("archive").is_some()
        && call.flag("force")
        && world.guest(Qemu, call.node(), vmid).is_some();
    if world.may(who, &path, "VM.Allocate")
        || pool.is_some_and(on_pool)
        || (replaces && world.may(who, &path, "VM.Backup"))
    {
        Ok(())
    } else {
        Err(ApiError::denied(None))
    }
}

fn check_archive(
    world: &World,
    call: &Call,
    archive: &str,
    options: &BTreeMap<String, String>,
) -> Result<(), ApiError> {
    if let Some(key) = options.keys().find(|key| is_drive(key)) {
        return Err(ApiError::param(
            key,
            "option conflicts with option 'archive'",
        ));
    }
    if archive == "-" {
        return Err(ApiError::fail("pipe requires cli environment"));
    }
    may_use(world, &call.who, archive, call.vmid(), "backup")?;
    match world.volume(call.node(), archive) {
        Some(_) => Ok(()),
        None => Err(ApiError::fail(format!("volume '{archive}' does not exist"))),
    }
}

fn check_options(
    world: &World,
    call: &Call,
    options: &mut BTreeMap<String, String>,
) -> Result<(), ApiError> {
    resolve_cdrom(options);
    let owner = Owner {
        who: &call.who,
        vmid: call.vmid(),
        pool: call.text("pool"),
    };
    disks::check_access(world, &owner, options)?;
    owner.check_options(world, options.keys().map(String::as_str))?;
    let by_value = options
        .iter()
        .filter(|(key, _)| !is_drive(key) && *key != "tags");
    for (key, value) in by_value {
        owner.check_value(world, key, value)?;
    }
    check_bridges_of(world, call, options)?;
    disks::normalize(world, call.vmid(), options)
}

/// Takes the id: from now on there is a config, locked and still empty.
fn reserve(world: &mut World, order: &mut Order) -> Result<(), ApiError> {
    let (node, vmid) = (order.call.node().to_owned(), order.call.vmid());
    let verb = match order.archive {
        Some(_) => "restore",
        None => "create",
    };
    let refuse = |text: String| {
        Err(ApiError::fail(format!(
            "unable to {verb} VM {vmid} - {text}"
        )))
    };
    let force = order.archive.is_some() && order.call.flag("force");
    match world.guests.get_mut(&vmid) {
        Some(old) if force && old.kind == Qemu && old.node == node => {
            if let Err(text) = old.check_lock() {
                return refuse(text);
            }
            order.replaces = true;
            old.config.set("lock", "create");
        }
        Some(other) => {
            let (label, node) = (other.kind.label(), &other.node);
            return refuse(format!("{label} {vmid} already exists on node '{node}'"));
        }
        None => {
            let config: Config = [("lock", "create")].into_iter().collect();
            world
                .guests
                .insert(vmid, Guest::new(vmid, Qemu, &node, config));
        }
    }
    Ok(())
}
