//! The migration of a machine: stopped, or running and without anybody noticing.

use super::Order;
use super::diary::{Diary, STOPPED, ssh};
use super::preconditions::{local_devices, mapped_devices};
use super::volumes::{self, Local};
use crate::api::nodes::guest::power::{in_task, too_many_cpus};
use crate::api::nodes::guest::progress::{duration, human, seconds_to_copy, transferred};
use crate::world::World;
use crate::world::guest::Guest;
use crate::world::work::Job;

/// How long a node that is down is waited for.
const SSH_PATIENCE: u64 = 4;

/// The task.
pub(super) fn run(world: &mut World, job: &mut Job, order: Order) -> Result<(), String> {
    let guest = in_task(world, order.kind, &order.node, order.vmid)?.clone();
    let mut diary = Diary::new(job, world.now);
    if let Err(error) = prepare(world, &mut diary, &order, &guest) {
        return diary.abort(&error);
    }
    let (target, ip) = (order.target.clone(), ip_of(world, &order.target));
    diary.note(&format!(
        "starting migration of VM {} to node '{target}' ({ip})",
        order.vmid
    ));
    let locals = match scan(world, &mut diary, &order, &guest) {
        Ok(locals) => locals,
        Err(error) => {
            let error = format!("Problem found while scanning volumes - {error}");
            diary.error(&error);
            diary.note("aborting phase 1 - cleanup resources");
            return diary.abort(&error);
        }
    };
    order.lock_config(world)?;
    let undo = order.clone();
    diary
        .job
        .undo(STOPPED, move |world| undo.unlock_config(world));
    if let Some(error) = too_many_cpus(world, &target, &guest).filter(|_| guest.is_running()) {
        return cannot_start(diary, &order, &error);
    }
    let live = |local: &Local| guest.is_running() && local.attached && !local.cdrom;
    let (mirrored, copied): (Vec<Local>, Vec<Local>) = locals.into_iter().partition(live);
    if !copied.is_empty() {
        diary.note("copying local disk images");
        volumes::copy(world, &mut diary, &order, &copied);
    }
    if guest.is_running() {
        live_migrate(world, &mut diary, &order, &guest, &mirrored);
    }
    diary.wait(1);
    let moved: Vec<Local> = mirrored.into_iter().chain(copied).collect();
    diary
        .job
        .then(move |world, _| volumes::arrive(world, &order, &moved));
    diary.finished();
    Ok(())
}

/// The address of a node.
pub(super) fn ip_of(world: &World, node: &str) -> String {
    world
        .nodes
        .get(node)
        .map_or_else(String::new, |node| node.ip.clone())
}

/// Fails if the target cannot be reached.
pub(super) fn check_reachable(
    world: &World,
    diary: &mut Diary<'_>,
    order: &Order,
) -> Result<(), String> {
    let online = world
        .nodes
        .get(&order.target)
        .is_some_and(crate::world::node::Node::is_online);
    if online {
        return Ok(());
    }
    let ip = ip_of(world, &order.target);
    diary.wait(SSH_PATIENCE);
    diary.note(&ssh(&order.target, &ip, "/bin/true"));
    diary.note(&format!(
        "ssh: connect to host {ip} port 22: No route to host"
    ));
    Err("Can't connect to destination address using public key".to_owned())
}

fn prepare(
    world: &World,
    diary: &mut Diary<'_>,
    order: &Order,
    guest: &Guest,
) -> Result<(), String> {
    super::check_state(world, guest, order)?;
    if guest.is_running() {
        diary.note("conntrack state migration not supported or disabled, active connections might get dropped");
    }
    let mapped = mapped_devices(&guest.config);
    let mut devices = local_devices(&guest.config, guest.is_running());
    devices.retain(|device| !mapped.contains_key(device));
    if !devices.is_empty() {
        let devices = devices.join(", ");
        return Err(format!(
            "can't migrate VM which uses local devices: {devices}"
        ));
    }
    if guest.is_running() && !mapped.is_empty() {
        let names: Vec<String> = mapped
            .iter()
            .map(|(key, name)| format!("{key}:{name}"))
            .collect();
        return Err(format!(
            "can't live migrate running VM which uses following mapped devices: {}",
            names.join(", ")
        ));
    }
    check_reachable(world, diary, order)
}

/// Finds the local volumes, and says which of them cannot go.
fn scan(
    world: &World,
    diary: &mut Diary<'_>,
    order: &Order,
    guest: &Guest,
) -> Result<Vec<Local>, String> {
    let locals = volumes::local(world, guest);
    let mut errors = Vec::new();
    for local in &locals {
        if let Some(error) = obstacle(world, order, guest, local) {
            errors.push((local.volid.as_str(), error));
        }
        let reference = match local {
            local if local.cloudinit || local.drive.as_deref() == Some("tpmstate0") => {
                diary.note(&format!(
                    "found generated disk '{}' (in current VM config)",
                    local.volid
                ));
                continue;
            }
            Local { attached: true, .. } => "attached",
            Local { unused: true, .. } => "unused",
            _ => "referenced by snapshot(s)",
        };
        diary.note(&format!("found local disk '{}' ({reference})", local.volid));
    }
    for (volid, error) in &errors {
        diary.note(&if *volid == "cdrom" {
            error.clone()
        } else {
            format!("can't migrate local disk '{volid}': {error}")
        });
    }
    if !errors.is_empty() {
        return Err("can't migrate VM - check log".to_owned());
    }
    for local in &locals {
        let volid = &local.volid;
        let storage = volid
            .split_once(':')
            .and_then(|(id, _)| world.storages.get(id));
        let kind = storage.map_or("", |storage| storage.kind.as_str());
        if !["dir", "btrfs", "zfspool", "lvmthin", "lvm"].contains(&kind) {
            return Err(format!(
                "can't migrate '{volid}' - storage type '{kind}' not supported"
            ));
        }
        if let Some(base) = world.parse_volid(volid).ok().and_then(|name| name.base) {
            return Err(format!(
                "can't migrate '{volid}' as it's a clone of '{base}'"
            ));
        }
    }
    Ok(locals)
}

fn obstacle(world: &World, order: &Order, guest: &Guest, local: &Local) -> Option<String> {
    if local.volid == "cdrom" {
        return Some("can't migrate local cdrom drive".to_owned());
    }
    if local.volid.starts_with('/') {
        return Some("local file/device".to_owned());
    }
    if local.cdrom && !local.cloudinit {
        return Some("local cdrom image".to_owned());
    }
    if guest.is_running() && !local.snapshots.is_empty() && !local.vmstate {
        return Some(
            "online storage migration not possible if non-replicated snapshot exists".to_owned(),
        );
    }
    if let Some(error) = volumes::obstacle(world, order, local) {
        return Some(error);
    }
    if world.is_base_in_use(&local.volid) {
        return Some("referenced by linked clone(s)".to_owned());
    }
    let unasked = guest.is_running() && local.attached && !local.cdrom && !order.local_disks;
    unasked.then(|| {
        "can't live migrate attached local disks without with-local-disks option".to_owned()
    })
}

/// The end of a migration whose machine cannot run at the target: it runs on where it is.
fn cannot_start(mut diary: Diary<'_>, order: &Order, error: &str) -> Result<(), String> {
    let (vmid, target) = (order.vmid, &order.target);
    diary.note(&format!("starting VM {vmid} on remote node '{target}'"));
    diary.wait(1);
    diary.note(&format!("[{target}] {error}"));
    diary.error("online migrate failure - remote command failed with exit code 255");
    diary.note("aborting phase 2 - cleanup resources");
    diary.note("migrate_cancel");
    diary.end_with_problems()
}

/// What the log says while a running machine moves: first its local disks, then its RAM.
fn live_migrate(
    world: &World,
    diary: &mut Diary<'_>,
    order: &Order,
    guest: &Guest,
    disks: &[Local],
) {
    let (vmid, target) = (order.vmid, &order.target);
    diary.note(&format!("starting VM {vmid} on remote node '{target}'"));
    for local in disks {
        let arrived = volumes::new_volid(world, order, &local.volid);
        diary.note(&format!(
            "volume '{}' is '{arrived}' on the target",
            local.volid
        ));
    }
    diary.wait(2);
    diary.note("start remote tunnel");
    diary.note("ssh tunnel ver 1");
    if !disks.is_empty() {
        diary.note("starting storage migration");
    }
    for local in disks {
        mirror(world, diary, order, local);
    }
    if !disks.is_empty() {
        diary.note("switching mirror jobs to actively synced mode");
    }
    let socket = format!("unix:/run/qemu-server/{vmid}.migrate");
    diary.note(&format!("starting online/live migration on {socket}"));
    diary.note("set migration capabilities");
    diary.note("migration downtime limit: 100 ms");
    let cache = (guest.max_memory() / 10).next_power_of_two();
    diary.note(&format!("migration cachesize: {}", human(cache, 1)));
    diary.note("set migration parameters");
    diary.note(&format!("start migrate command to {socket}"));
    let (used, total) = (guest.max_memory() / 2, guest.max_memory());
    let seconds = seconds_to_copy(used);
    for second in 1..seconds {
        diary.wait(1);
        let done = human(used / seconds * second, 1);
        let total = human(total, 1);
        diary.note(&format!(
            "migration active, transferred {done} of {total} VM-state, 200.0 MiB/s"
        ));
    }
    diary.wait(1);
    diary.note("average migration speed: 200.0 MiB/s - downtime 42 ms");
    let sent = human(used, 1);
    diary.note(&format!("migration completed, transferred {sent} VM-state"));
    diary.note("migration status: completed");
    if !disks.is_empty() {
        diary.note("stopping NBD storage migration server on target.");
    }
    diary.wait(2);
}

fn mirror(world: &World, diary: &mut Diary<'_>, order: &Order, local: &Local) {
    let key = local.drive.as_deref().unwrap_or_default();
    let volume = world.volume(&order.node, &local.volid);
    let total = volume.map_or(0, |volume| volume.size);
    let seconds = seconds_to_copy(volume.map_or(0, |volume| volume.used));
    let vmid = order.vmid;
    diary.note(&format!(
        "{key}: start migration to nbd:unix:/run/qemu-server/{vmid}_nbd.migrate:exportname=drive-{key}"
    ));
    diary.note(&format!("drive mirror is starting for drive-{key}"));
    for second in 0..=seconds {
        let done = total / seconds * second;
        let so_far = transferred(if second == seconds { total } else { done }, total);
        let ready = if second == seconds { ", ready" } else { "" };
        diary.note(&format!(
            "drive-{key}: {so_far} in {}{ready}",
            duration(second)
        ));
        if second < seconds {
            diary.wait(1);
        }
    }
    diary.note("all 'mirror' jobs are ready");
}
