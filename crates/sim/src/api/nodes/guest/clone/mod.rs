//! `clone` of a guest. A machine's new config appears in the task, locked as `clone`; a container's at once, locked as
//! `create`, with its source locked as `disk`.

pub(super) mod lxc;
pub(super) mod qemu;

use crate::api::nodes::guest::disk::{CLOUDINIT_SIZE, is_cloudinit};
use crate::call::Call;
use crate::clock::Time;
use crate::error::ApiError;
use crate::permission::{self, Perm};
use crate::world::World;
use crate::world::config::{Config, Drive};
use crate::world::firewall::Scope;
use crate::world::guest::{Guest, Kind};
use crate::world::work::Job;

/// May clone the guest, and allocate the new one itself or in its pool. Storages and bridges are checked later.
pub(super) const CLONE: Perm = Perm::All(&[
    Perm::On("/vms/{vmid}", &["VM.Clone"]),
    Perm::Either(&[
        Perm::On("/vms/{newid}", &["VM.Allocate"]),
        Perm::IfGiven("pool", &Perm::On("/pool/{pool}", &["VM.Allocate"])),
    ]),
]);

/// A clone to be made: what the request says, and what the source answers.
#[derive(Clone)]
struct Order {
    kind: Kind,
    node: String,
    vmid: u32,
    newid: u32,
    /// Another node to put the clone on.
    target: Option<String>,
    pool: Option<String>,
    snapshot: Option<String>,
    storage: Option<String>,
    format: Option<String>,
    full: Option<bool>,
    name: Option<String>,
    description: Option<String>,
    asked: Time,
}

impl Order {
    fn read(call: &Call, kind: Kind) -> Self {
        let text = |name: &str| call.text(name).map(str::to_owned);
        let target = text("target").filter(|target| target != call.node() && target != "localhost");
        Self {
            kind,
            node: call.node().to_owned(),
            vmid: call.vmid(),
            newid: text("newid")
                .and_then(|id| id.parse().ok())
                .unwrap_or_default(),
            target,
            pool: text("pool"),
            snapshot: text("snapname"),
            storage: text("storage"),
            format: text("format"),
            full: call.params.has("full").then(|| call.flag("full")),
            name: text(match kind {
                Kind::Qemu => "name",
                Kind::Lxc => "hostname",
            }),
            description: text("description").filter(|text| !text.is_empty()),
            asked: call.now,
        }
    }

    /// A template is linked to unless the request says otherwise.
    fn is_full(&self, source: &Guest) -> bool {
        self.full.unwrap_or(!source.is_template())
    }

    /// Checks pool, node and storage, which need not exist.
    fn check_target(&self, world: &World) -> Result<(), ApiError> {
        if let Some(pool) = self
            .pool
            .as_ref()
            .filter(|pool| !world.pools.contains_key(*pool))
        {
            let detail = format!("pool '{pool}' does not exist");
            return Err(ApiError::denied(Some(&detail)));
        }
        if let Some(target) = &self.target {
            need_node(world, target)?;
        }
        if let Some(id) = &self.storage {
            let storage = world.storage_on(&self.node, id).map_err(ApiError::fail)?;
            if self.kind == Kind::Qemu && !storage.holds("images") {
                let text = format!("storage '{id}' does not support vm images");
                return Err(ApiError::param("storage", text));
            }
            if let Some(target) = &self.target {
                world.storage_on(target, id).map_err(ApiError::fail)?;
                if !storage.shared {
                    return Err(ApiError::fail(format!(
                        "can't clone to non-shared storage '{id}'"
                    )));
                }
            }
        }
        world.require_quorum()
    }

    /// The config to clone: the guest's, or that of the snapshot.
    fn source_config<'a>(&self, source: &'a Guest) -> Result<&'a Config, ApiError> {
        let Some(name) = &self.snapshot else {
            return Ok(&source.config);
        };
        let found = source
            .snapshots
            .iter()
            .find(|snapshot| snapshot.name == *name);
        let missing = || ApiError::fail(format!("snapshot '{name}' does not exist"));
        found.map(|snapshot| &snapshot.config).ok_or_else(missing)
    }

    /// Storage and format only make sense for a full clone.
    fn check_linked(&self, full: bool) -> Result<(), ApiError> {
        let options = [("storage", &self.storage), ("format", &self.format)];
        let sent = options.iter().find(|(_, value)| value.is_some());
        match sent {
            Some((name, _)) if !full => Err(ApiError::fail(format!(
                "parameter '{name}' not allowed for linked clones"
            ))),
            _ => Ok(()),
        }
    }

    /// Requires space on the storage that a disk will be copied to.
    fn check_space(&self, world: &World, call: &Call, drive: &Drive<'_>) -> Result<(), ApiError> {
        let id = self
            .storage
            .as_deref()
            .or(drive.storage())
            .unwrap_or_default();
        let path = format!("/storage/{id}");
        permission::require(world, &call.who, &path, &["Datastore.AllocateSpace"])
    }

    /// Whether another node sees what this drive is on.
    fn is_shared(world: &World, drive: &Drive<'_>) -> bool {
        let storage = drive.storage().and_then(|id| world.storages.get(id));
        storage.is_none_or(|storage| storage.shared)
    }

    /// Adds the clone to the world, still locked, with a copy of the source's firewall.
    fn add(&self, world: &mut World, guest: Guest) {
        world.guests.insert(self.newid, guest);
        let firewall = world.firewalls.get(&Scope::Guest(self.vmid)).cloned();
        if let Some(firewall) = firewall {
            world.firewalls.insert(Scope::Guest(self.newid), firewall);
        }
    }

    /// The task is done: the clone is unlocked, moves to its node and joins its pool.
    fn finish(&self, world: &mut World) {
        if let Some(guest) = world.guests.get_mut(&self.newid) {
            guest.config.remove("lock");
            if let Some(target) = &self.target {
                guest.node.clone_from(target);
            }
        }
        if let Some(pool) = self
            .pool
            .as_ref()
            .and_then(|pool| world.pools.get_mut(pool))
        {
            pool.guests.insert(self.newid);
        }
    }

    /// The task failed or was stopped: nothing of the clone stays.
    fn undo(&self, world: &mut World) {
        world.guests.remove(&self.newid);
        world.firewalls.remove(&Scope::Guest(self.newid));
        world
            .volumes
            .retain(|volume| volume.vmid != Some(self.newid) || volume.created < self.asked);
    }
}

/// How a clone ends that was stopped.
const STOPPED: &str = "clone failed: interrupted by signal";

/// Fails for a node that is not part of the cluster.
pub(super) fn need_node(world: &World, node: &str) -> Result<(), ApiError> {
    if world.nodes.contains_key(node) {
        return Ok(());
    }
    Err(ApiError::fail(format!("no such cluster node '{node}'")))
}

/// One disk of the source, and what becomes of it.
#[derive(Clone, Debug)]
struct Disk {
    key: String,
    volume: String,
    options: String,
    full: bool,
    cloudinit: bool,
    size: u64,
    used: u64,
    format: String,
}

impl Disk {
    fn of(world: &World, node: &str, drive: &Drive<'_>, full: bool) -> Self {
        let volume = world.volume(node, drive.volume);
        let cloudinit = is_cloudinit(drive);
        let size = volume.map_or(drive.size(), |volume| volume.size);
        Self {
            key: drive.key.to_owned(),
            volume: drive.volume.to_owned(),
            options: drive.options.to_owned(),
            full: full || cloudinit,
            cloudinit,
            size: if cloudinit { CLOUDINIT_SIZE } else { size },
            used: volume.map_or(size, |volume| volume.used),
            format: volume.map_or_else(|| "raw".to_owned(), |volume| volume.format.clone()),
        }
    }

    fn storage(&self) -> &str {
        self.volume.split(':').next().unwrap_or_default()
    }
}

/// Notes a copied disk in the config of the clone.
fn attach(world: &mut World, newid: u32, key: &str, value: String) {
    if let Some(guest) = world.guests.get_mut(&newid) {
        guest.config.set(key, value);
    }
}

/// Writes the lines that making an image left.
fn log_all(job: &mut Job, lines: impl IntoIterator<Item = String>) {
    for line in lines {
        job.log(line);
    }
}
