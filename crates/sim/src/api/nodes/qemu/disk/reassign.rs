//! A disk becomes another machine's.

use super::{check_digest, in_snapshots, is_unused};
use crate::api::nodes::guest::disk::hand_over;
use crate::api::nodes::guest::power::{in_task, spawn};
use crate::api::nodes::qemu::drive::Spec;
use crate::call::{Call, split_list};
use crate::error::{ApiError, Reply};
use crate::permission::require;
use crate::world::World;
use crate::world::config::property;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Qemu;
use crate::world::layout::Layout;
use crate::world::work::{Job, Work};

/// Who gives what to whom.
#[derive(Clone, Debug)]
struct Gift {
    node: String,
    vmid: u32,
    key: String,
    digest: Option<String>,
    target: u32,
    target_key: String,
    target_digest: Option<String>,
}

pub(super) fn start(world: &mut World, call: &Call, target: u32) -> Reply {
    let text = |name: &str| call.text(name).map(str::to_owned);
    let key = text("disk").unwrap_or_default();
    let gift = Gift {
        node: call.node().to_owned(),
        vmid: call.vmid(),
        target_key: text("target-disk").unwrap_or_else(|| key.clone()),
        key,
        digest: text("digest"),
        target,
        target_digest: text("target-digest"),
    };
    if !call.who.is_root() {
        let path = format!("/vms/{target}");
        require(world, &call.who, &path, &["VM.Config.Disk"])?;
    }
    if gift.vmid == target {
        return Err(ApiError::param(
            "target-vmid",
            "must be different than source VMID to reassign disk",
        ));
    }
    let drive = check(world, &gift)?;
    let id = drive.file().split(':').next().unwrap_or_default();
    let path = format!("/storage/{id}");
    require(world, &call.who, &path, &["Datastore.AllocateSpace"])?;
    let name = format!("{}-{}>{target}-{}", gift.vmid, gift.key, gift.target_key);
    let work = Work::new("qmmove", name)
        .lock(Qemu, gift.vmid)
        .run(move |world, job| give(world, &gift, job));
    spawn(world, call, work)
}

/// Whether the disk may go; answers it in the form of its new place.
fn check(world: &World, gift: &Gift) -> Result<Spec, ApiError> {
    let fail = |text: String| Err(ApiError::fail(text));
    let (vmid, key, target) = (gift.vmid, &gift.key, gift.target);
    let Some(source) = world.guests.get(&vmid) else {
        return fail(format!("could not find VM {vmid}"));
    };
    let Some(other) = world.guests.get(&target) else {
        return fail(format!("could not find target VM {target}"));
    };
    if source.node != other.node {
        let (from, to) = (&source.node, &other.node);
        return fail(format!(
            "Both VMs need to be on the same node ({from} != {to})"
        ));
    }
    let source = lockless(world, gift, vmid)?;
    let other = lockless(world, gift, target)?;
    if source.is_template() || other.is_template() {
        return fail("Can't move disks from or to template VMs".to_owned());
    }
    check_digests(gift, source, other)?;
    let Some(value) = source.config.get(key) else {
        return fail(format!("Disk '{key}' for VM '{vmid}' does not exist"));
    };
    let slot = &gift.target_key;
    if other.config.get(slot).is_some() {
        return fail(format!(
            "Target disk key '{slot}' is already in use for VM '{target}'"
        ));
    }
    check_disk(world, gift, source, value)
}

fn lockless<'w>(world: &'w World, gift: &Gift, vmid: u32) -> Result<&'w Guest, ApiError> {
    let guest = world.need_guest(Qemu, &gift.node, vmid)?;
    guest.check_lock().map_err(ApiError::fail)?;
    Ok(guest)
}

fn check_digests(gift: &Gift, source: &Guest, other: &Guest) -> Result<(), ApiError> {
    let text = |vmid| {
        format!(
            "VM {vmid}: detected modified configuration - file changed by other user? Try again."
        )
    };
    check_digest(source, gift.digest.as_deref(), &text(gift.vmid))?;
    check_digest(other, gift.target_digest.as_deref(), &text(gift.target))
}

fn check_disk(world: &World, gift: &Gift, source: &Guest, value: &str) -> Result<Spec, ApiError> {
    let fail = |text: &str| Err(ApiError::fail(text));
    let Some(drive) = Spec::parse(&gift.key, value) else {
        return fail("failed to parse source disk - ");
    };
    if drive.is_cdrom() {
        return fail("CD drive contents can't be moved to another VM");
    }
    let volid = drive.file();
    let Some((id, _)) = volid.split_once(':').filter(|_| !volid.starts_with('/')) else {
        return Err(ApiError::fail(format!(
            "Volume '{volid}' not managed by PVE"
        )));
    };
    if in_snapshots(source, volid) {
        return fail("Can't move disk used by a snapshot to another VM");
    }
    if source.is_running() && !is_unused(&gift.key) {
        return fail(
            "Cannot move disk to another VM while the source VM is running - detach first",
        );
    }
    let value = if is_unused(&gift.target_key) {
        volid
    } else {
        value
    };
    let Some(drive) = Spec::parse(&gift.target_key, value) else {
        return fail("failed to parse source disk for target disk format - ");
    };
    let job_of = format!("{}-", gift.target);
    let replicated = world
        .replication_jobs
        .keys()
        .any(|id| id.starts_with(&job_of));
    let storage = world.storages.get(id);
    if replicated && storage.is_none_or(|storage| storage.layout() != Layout::Zfs) {
        return fail("Cannot move disk to a replicated VM. Storage does not support replication!");
    }
    Ok(drive)
}

fn give(world: &mut World, gift: &Gift, job: &mut Job) -> Result<(), String> {
    let mut drive = check(world, gift).map_err(|error| error.message)?;
    let (node, vmid, key) = (&gift.node, gift.vmid, &gift.key);
    let (target, slot) = (gift.target, &gift.target_key);
    job.log(format!(
        "reassign disk '{key}' from VM '{vmid}' as '{slot}' to VM '{target}'"
    ));
    let new = hand_over(world, node, drive.file(), target)?;
    drive.set("file", &new);
    let source = in_task(world, Qemu, node, vmid)?;
    leave_boot_order(source, key, job);
    source.config.remove(key);
    job.log(format!("removing disk '{key}' from VM '{vmid}' config"));
    let value = drive.print();
    if !is_unused(slot) {
        job.log(format!("update VM {target}: -{slot} {value}"));
    }
    in_task(world, Qemu, node, target)?.config.set(slot, value);
    Ok(())
}

fn leave_boot_order(guest: &mut Guest, key: &str, job: &mut Job) {
    let boot = guest.config.get("boot").unwrap_or_default();
    let order = property(boot, "order").unwrap_or_default();
    if !split_list(order).any(|device| device == key) {
        return;
    }
    job.log(format!("removing disk '{key}' from boot order config"));
    let left: Vec<&str> = split_list(order).filter(|device| *device != key).collect();
    let order = match left[..] {
        [] => " ".to_owned(),
        _ => format!("order={}", left.join(";")),
    };
    guest.config.set("boot", order);
}
