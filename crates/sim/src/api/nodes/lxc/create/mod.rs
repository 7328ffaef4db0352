//! `POST /nodes/{node}/lxc`: a new container from a template, or one restored from a backup.
//!
//! What the caller may do and where the disks go is checked at once; the rest happens in the task.

mod restore;
mod task;

use super::options::OPTIONS;
use super::rights::Change;
use super::update::{check_protection, network_device, normal};
use super::volumes::{Source, is_mount_key, is_unused_key, source};
use crate::api::nodes::guest::access::is_network_device;
use crate::api::nodes::guest::power::spawn;
use crate::api::nodes::storage::may_use;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::require;
use crate::world::World;
use crate::world::config::Config;
use crate::world::guest::Kind::Lxc;
use crate::world::guest::{Guest, Inside};

/// What is to be made.
#[derive(Clone, Debug)]
struct Order {
    call: Call,
    node: String,
    vmid: u32,
    /// The template or backup.
    archive: String,
    /// Where disks go that do not say it themselves.
    storage: String,
    restore: bool,
    unprivileged: Option<bool>,
    /// Options but disks, in the form the config keeps.
    options: Vec<(String, String)>,
    /// Root disk and mount points as sent; none of them means all by default.
    mounts: Vec<(String, String)>,
    /// A container of this id is replaced.
    replaces: bool,
}

/// `POST lxc`.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    world.require_quorum()?;
    let mut order = read(call);
    order.replaces = check_target(world, call, &order)?;
    check_rights(world, call, &order)?;
    check_storages(world, call, &order)?;
    for (key, value) in &mut order.options {
        if is_network_device(key) {
            *value = network_device(world, value);
        }
    }
    reserve(world, &order);
    let work = task::plan(order);
    spawn(world, call, work)
}

fn read(call: &Call) -> Order {
    let text = |name: &str| call.text(name).map(str::to_owned);
    let storage = text("storage").unwrap_or_else(|| "local".to_owned());
    let restore = call.flag("restore");
    let given = call
        .params
        .iter()
        .filter_map(|(name, _)| Some((name, call.text(name)?)));
    let options = given.filter(|(name, _)| {
        OPTIONS.iter().any(|option| option.covers(name))
            && !is_unused_key(name)
            && *name != "unprivileged"
    });
    let (mounts, options): (Vec<_>, Vec<_>) = options.partition(|(name, _)| is_mount_key(name));
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let mount = |(key, value): (&str, &str)| {
        let value = if is_number(value) {
            format!("{storage}:{value}")
        } else {
            value.to_owned()
        };
        (key.to_owned(), value)
    };
    let mounts = mounts.into_iter().map(mount).collect();
    let options = options
        .into_iter()
        .map(|(key, value)| (key.to_owned(), normal(key, value)))
        .collect();
    let unprivileged = text("unprivileged").map(|flag| flag == "1");
    Order {
        node: call.node().to_owned(),
        vmid: call.vmid(),
        archive: text("ostemplate").unwrap_or_default(),
        unprivileged: unprivileged.or((!restore).then_some(true)),
        call: call.clone(),
        storage,
        restore,
        options,
        mounts,
        replaces: false,
    }
}

/// The id must be free, unless a backup may replace what is there. Answers whether it does.
fn check_target(world: &World, call: &Call, order: &Order) -> Result<bool, ApiError> {
    if !order.restore && order.unprivileged == Some(false) {
        require(world, &call.who, "/", &["Sys.Modify"])?;
    }
    if call.flag("ha-managed") {
        require(world, &call.who, "/", &["Sys.Console"])?;
    }
    let here = world.guest(Lxc, &order.node, order.vmid);
    let Some(old) = here.filter(|_| order.restore && call.flag("force")) else {
        return match world.guests.get(&order.vmid) {
            Some(other) => Err(ApiError::fail(format!(
                "{} {} already exists on node '{}'",
                other.kind.label(),
                other.vmid,
                other.node
            ))),
            None => Ok(false),
        };
    };
    if old.is_running() {
        return Err(ApiError::fail("can't overwrite running container"));
    }
    check_protection(old, &format!("unable to restore CT {}", order.vmid))?;
    Ok(true)
}

fn check_rights(world: &World, call: &Call, order: &Order) -> Result<(), ApiError> {
    let pool = call.text("pool");
    if let Some(pool) = pool.filter(|pool| !world.pools.contains_key(*pool)) {
        let detail = format!("pool '{pool}' does not exist");
        return Err(ApiError::denied(Some(&detail)));
    }
    let guest_path = format!("/vms/{}", order.vmid);
    let may_create = world.may(&call.who, &guest_path, "VM.Allocate")
        || pool.is_some_and(|pool| world.may(&call.who, &format!("/pool/{pool}"), "VM.Allocate"));
    let may_replace = order.replaces && world.may(&call.who, &guest_path, "VM.Backup");
    if !may_create && !may_replace {
        return Err(ApiError::denied(None));
    }
    let change = Change {
        vmid: order.vmid,
        pool,
        old: &Config::default(),
        unprivileged: order.unprivileged.unwrap_or_default(),
    };
    let all = order.options.iter().chain(&order.mounts);
    change.check_set(
        world,
        call,
        all.map(|(key, value)| (key.as_str(), value.as_str())),
    )?;
    let content = if order.restore { "backup" } else { "vztmpl" };
    may_use(world, &call.who, &order.archive, order.vmid, content)
}

/// Every storage that will get a disk must be there, for containers, and open to the caller.
fn check_storages(world: &World, call: &Call, order: &Order) -> Result<(), ApiError> {
    let has_root = order.mounts.iter().any(|(key, _)| key == "rootfs");
    if !has_root && !order.mounts.is_empty() {
        return Err(ApiError::fail(
            "mount points configured, but 'rootfs' not set - aborting",
        ));
    }
    let named = order
        .mounts
        .iter()
        .filter_map(|(_, value)| match source(value) {
            Source::New(storage, _) => Some(storage),
            Source::Volume(volid) => volid.split(':').next(),
            Source::Device | Source::Bind => None,
        });
    let default = (!has_root).then_some(order.storage.as_str());
    for id in named.chain(default) {
        let storage = world.storage_on(&order.node, id).map_err(ApiError::fail)?;
        if !storage.holds("rootdir") {
            let text = format!("storage '{id}' does not support container directories");
            return Err(ApiError::param("storage", text));
        }
        require(
            world,
            &call.who,
            &format!("/storage/{id}"),
            &["Datastore.AllocateSpace"],
        )?;
    }
    Ok(())
}

/// Takes the id: from now on there is a config, locked and still empty.
fn reserve(world: &mut World, order: &Order) {
    let vmid = order.vmid;
    let guest = world.guests.entry(vmid).or_insert_with(|| {
        let mut guest = Guest::new(vmid, Lxc, &order.node, Config::default());
        guest.inside = Inside {
            os: true,
            agent: false,
        };
        guest
    });
    guest.config.set("lock", "create");
}
