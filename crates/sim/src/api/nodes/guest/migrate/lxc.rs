//! The migration of a container: stopped, or down and up again.

use super::Order;
use super::diary::{Diary, STOPPED, ssh};
use super::qemu::{check_reachable, ip_of};
use super::volumes::{self, Local};
use crate::api::nodes::guest::power::{in_task, start_now, stop_now};
use crate::world::World;
use crate::world::guest::Guest;
use crate::world::work::Job;

/// The task.
pub(super) fn run(world: &mut World, job: &mut Job, order: Order) -> Result<(), String> {
    let guest = in_task(world, order.kind, &order.node, order.vmid)?.clone();
    let mut diary = Diary::new(job, world.now);
    if let Err(error) = prepare(world, &mut diary, &order, &guest) {
        return diary.abort(&error);
    }
    let was_running = guest.is_running();
    if was_running {
        diary.note(&format!("shutdown CT {}", order.vmid));
        stop_now(world, order.kind, &order.node, order.vmid)?;
        diary.wait(2);
    }
    let (target, ip) = (order.target.clone(), ip_of(world, &order.target));
    diary.note(&format!(
        "starting migration of CT {} to node '{target}' ({ip})",
        order.vmid
    ));
    let locals = match scan(world, &mut diary, &order, &guest) {
        Ok(locals) => locals,
        Err(error) => {
            if was_running {
                start_now(world, order.kind, &order.node, order.vmid)?;
            }
            diary.error(&error);
            diary.note("aborting phase 1 - cleanup resources");
            diary.note("start final cleanup");
            return diary.abort(&error);
        }
    };
    order.lock_config(world)?;
    let undo = order.clone();
    diary
        .job
        .undo(STOPPED, move |world| undo.unlock_config(world));
    volumes::copy(world, &mut diary, &order, &locals);
    diary.note("start final cleanup");
    diary.wait(1);
    let moved = order.clone();
    diary
        .job
        .then(move |world, _| volumes::arrive(world, &moved, &locals));
    if was_running {
        diary.note("start container on target node");
        let command = ssh(&target, &ip, &format!("pct start {}", order.vmid));
        diary.note(&command);
        let began = diary.began;
        let start = move |world: &mut World, job: &mut Job| {
            start_again(world, Diary::since(job, began, world.now), &order, &command)
        };
        diary.job.then(start);
        return Ok(());
    }
    diary.finished();
    Ok(())
}

/// Starts the container on its new node. It has moved whether it starts or not.
fn start_again(
    world: &mut World,
    mut diary: Diary<'_>,
    order: &Order,
    command: &str,
) -> Result<(), String> {
    if let Err(error) = start_now(world, order.kind, &order.target, order.vmid) {
        let command = command.trim_start_matches("# ");
        diary.note(&error);
        diary.error(&format!("command '{command}' failed: exit code 255"));
        return diary.end_with_problems();
    }
    diary.wait(2);
    diary.finished();
    Ok(())
}

fn prepare(
    world: &World,
    diary: &mut Diary<'_>,
    order: &Order,
    guest: &Guest,
) -> Result<(), String> {
    guest.check_lock()?;
    if guest.is_running() && order.online {
        return Err("lxc live migration is currently not implemented".to_owned());
    }
    if guest.is_running() && !order.restart {
        return Err("running container can only be migrated in restart mode".to_owned());
    }
    for drive in guest.config.drives() {
        let Some(id) = drive.storage().filter(|_| !drive.volume.starts_with('/')) else {
            if drive.option("shared") == Some("1") {
                continue;
            }
            let sort = if drive.volume.starts_with("/dev/") {
                "device"
            } else {
                "bind"
            };
            return Err(format!(
                "cannot migrate local {sort} mount point '{}'",
                drive.key
            ));
        };
        let here = world.storage_on(&order.node, id)?;
        let target = if here.shared {
            id
        } else {
            order.storages.target_of(id)
        };
        let there = world.storage_on(&order.target, target)?;
        if !there.holds("rootdir") {
            return Err(format!(
                "{}: content type 'rootdir' is not available on storage '{target}'",
                drive.volume
            ));
        }
    }
    check_reachable(world, diary, order)
}

fn scan(
    world: &World,
    diary: &mut Diary<'_>,
    order: &Order,
    guest: &Guest,
) -> Result<Vec<Local>, String> {
    let mut drives: Vec<_> = guest.config.drives().collect();
    drives.sort_by_key(|drive| drive.key != "rootfs");
    for drive in drives {
        let id = drive.storage().unwrap_or_default();
        if world.storages.get(id).is_some_and(|storage| storage.shared) {
            diary.note(&format!(
                "volume '{}' is on shared storage '{id}'",
                drive.volume
            ));
        }
    }
    let locals = volumes::local(world, guest);
    let mut errors = Vec::new();
    for local in &locals {
        let base = world
            .parse_volid(&local.volid)
            .ok()
            .and_then(|name| name.base);
        let linked = base.map(|base| format!("clone of '{base}'"));
        if let Some(error) = volumes::obstacle(world, order, local).or(linked) {
            errors.push((local.volid.as_str(), error));
        }
        let reference = if local.snapshots.is_empty() || local.attached {
            "in current VM config"
        } else {
            "referenced by snapshot(s)"
        };
        diary.note(&format!(
            "found local volume '{}' ({reference})",
            local.volid
        ));
    }
    for (volid, error) in &errors {
        diary.note(&format!("can't migrate local volume '{volid}': {error}"));
    }
    if errors.is_empty() {
        Ok(locals)
    } else {
        Err("can't migrate CT - check log".to_owned())
    }
}
