//! Power of a virtual machine. What goes wrong usually goes wrong in the task, after the UPID was given.

use super::hibernate;
use crate::api::nodes::guest::access::is_network_device;
use crate::api::nodes::guest::only_root;
use crate::api::nodes::guest::power::{
    ask_ha, check_start, in_task, spawn, start_now, stop_now, work,
};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::config::property;
use crate::world::guest::Kind::Qemu;
use crate::world::guest::{Guest, Power, no_vm_on_node};
use crate::world::work::Job;

/// How long PVE waits for a guest to shut down if nothing else is said.
const SHUTDOWN_PATIENCE: u64 = 180;
/// How long the guest agent is waited for.
const AGENT_PATIENCE: u64 = 3;
/// How long an operating system takes to go down.
const OS_SHUTDOWN: u64 = 2;

const ROOT_ONLY_AT_START: &[&str] = &[
    "skiplock",
    "stateuri",
    "migratedfrom",
    "migration_type",
    "migration_network",
    "targetstorage",
    "force-cpu",
    "nets-host-mtu",
    "with-conntrack-state",
];

pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    only_root(call, ROOT_ONLY_AT_START)?;
    world.require_quorum()?;
    if world.ha_resource(Qemu, call.vmid()).is_some() {
        return ask_ha(world, call, Qemu, true);
    }
    let (vmid, node, skiplock) = (call.vmid(), call.node().to_owned(), call.flag("skiplock"));
    let work = work(Qemu, "start", vmid).run(move |world, job| {
        let guest = in_task(world, Qemu, &node, vmid)?;
        let hibernated = guest.config.get("lock") == Some("suspended");
        if !hibernated && !skiplock {
            check_start(guest)?;
        }
        check_parts(world, &node, vmid, job)?;
        let guest = in_task(world, Qemu, &node, vmid)?;
        if guest
            .config
            .drives()
            .any(|drive| drive.volume.contains("cloudinit"))
        {
            job.log("generating cloud-init ISO");
        }
        if hibernated {
            wake(guest, job);
        }
        job.wait(1);
        job.then(move |world, _| start_now(world, Qemu, &node, vmid));
        Ok(())
    });
    spawn(world, call, work)
}

/// A machine does not start without its volumes and bridges.
fn check_parts(world: &World, node: &str, vmid: u32, job: &mut Job) -> Result<(), String> {
    let Some(guest) = world.guest(Qemu, node, vmid) else {
        return Ok(());
    };
    let drives = guest.config.drives();
    let mut volumes =
        drives.filter(|drive| drive.storage().is_some() && !drive.key.starts_with("unused"));
    if let Some(gone) = volumes.find(|drive| world.volume(node, drive.volume).is_none()) {
        return Err(format!("volume '{}' does not exist", gone.volume));
    }
    let cards = guest
        .config
        .iter()
        .filter(|(key, _)| is_network_device(key));
    let mut bridges = cards.filter_map(|(key, value)| Some((key, property(value, "bridge")?)));
    let Some((key, bridge)) = bridges.find(|(_, bridge)| !world.has_bridge(bridge)) else {
        return Ok(());
    };
    let port = key.trim_start_matches("net");
    let script = "/usr/libexec/qemu-server/pve-bridge";
    job.log(format!("bridge '{bridge}' does not exist"));
    job.log(format!(
        "kvm: -netdev type=tap,id={key},ifname=tap{vmid}i{port},script={script},downscript={script}down,vhost=on: \
         network script {script} failed with status 512"
    ));
    Err("start failed: QEMU exited with code 1".to_owned())
}

/// A hibernated machine goes on where it was.
fn wake(guest: &mut Guest, job: &mut Job) {
    job.log("Resuming suspended VM");
    guest.config.remove("lock");
    for key in ["runningmachine", "runningcpu", "running-nets-host-mtu"] {
        guest.config.remove(key);
    }
    let Some(state) = guest.config.remove("vmstate") else {
        return;
    };
    job.log(format!("activating and using '{state}' as vmstate"));
    job.log("Resumed VM, removing state");
    job.then(move |world, _| {
        world.volumes.retain(|volume| volume.volid != state);
        Ok(())
    });
}

pub(super) fn stop(world: &mut World, call: &Call) -> Reply {
    only_root(call, &["skiplock", "keepActive", "migratedfrom"])?;
    if world.ha_resource(Qemu, call.vmid()).is_some() {
        return ask_ha(world, call, Qemu, false);
    }
    let (vmid, node, skiplock) = (call.vmid(), call.node().to_owned(), call.flag("skiplock"));
    let work = work(Qemu, "stop", vmid).run(move |world, job| {
        let Some(guest) = running(world, &node, vmid)? else {
            return Ok(());
        };
        if !skiplock {
            guest.check_lock()?;
        }
        job.wait(1);
        job.then(move |world, _| stop_now(world, Qemu, &node, vmid));
        Ok(())
    });
    spawn(world, call, work)
}

/// The machine, if it runs. A machine that is not on this node is an error, one that is stopped is not.
fn running<'a>(world: &'a World, node: &str, vmid: u32) -> Result<Option<&'a Guest>, String> {
    let guest = world
        .guest(Qemu, node, vmid)
        .ok_or_else(|| no_vm_on_node(node, vmid))?;
    Ok(guest.is_running().then_some(guest))
}

/// Fails at once, before any task, if the machine does not run.
fn need_running(world: &World, call: &Call) -> Result<(), ApiError> {
    let vmid = call.vmid();
    match running(world, call.node(), vmid) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(ApiError::fail(format!("VM {vmid} not running"))),
        Err(text) => Err(ApiError::fail(text)),
    }
}

pub(super) fn shutdown(world: &mut World, call: &Call) -> Reply {
    only_root(call, &["skiplock", "keepActive"])?;
    if world.ha_resource(Qemu, call.vmid()).is_some() {
        return ask_ha(world, call, Qemu, false);
    }
    let (vmid, node, force) = (call.vmid(), call.node().to_owned(), call.flag("forceStop"));
    let patience = call.int("timeout").unwrap_or(SHUTDOWN_PATIENCE);
    let work = work(Qemu, "shutdown", vmid).run(move |world, job| {
        if running(world, &node, vmid)?.is_none() {
            return Ok(());
        }
        power_down(world, job, &node, vmid, patience, force)
    });
    spawn(world, call, work)
}

/// Asks the guest to go down, waits, and gives up or pulls the plug.
fn power_down(
    world: &mut World,
    job: &mut Job,
    node: &str,
    vmid: u32,
    patience: u64,
    force: bool,
) -> Result<(), String> {
    let guest = in_task(world, Qemu, node, vmid)?;
    guest.check_lock()?;
    let inside = guest.inside;
    if guest.agent_enabled() && !inside.agent {
        job.wait(AGENT_PATIENCE);
        job.log(format!(
            "QEMU Guest Agent is not running - VM {vmid} qga command 'guest-ping' failed - got timeout"
        ));
    }
    let node = node.to_owned();
    if inside.os {
        job.wait(OS_SHUTDOWN);
        job.then(move |world, _| stop_now(world, Qemu, &node, vmid));
        return Ok(());
    }
    job.wait(patience);
    if force {
        job.log("VM still running - terminating now with SIGTERM");
        job.wait(1);
        job.then(move |world, _| stop_now(world, Qemu, &node, vmid));
    } else {
        job.then(|_, _| Err("VM quit/powerdown failed - got timeout".to_owned()));
    }
    Ok(())
}

pub(super) fn reboot(world: &mut World, call: &Call) -> Reply {
    need_running(world, call)?;
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let patience = call.int("timeout").unwrap_or(SHUTDOWN_PATIENCE);
    let work = work(Qemu, "reboot", vmid).run(move |world, job| {
        power_down(world, job, &node, vmid, patience, false)?;
        job.wait(1);
        job.then(move |world, _| start_now(world, Qemu, &node, vmid));
        Ok(())
    });
    spawn(world, call, work)
}

pub(super) fn reset(world: &mut World, call: &Call) -> Reply {
    only_root(call, &["skiplock"])?;
    need_running(world, call)?;
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let work = work(Qemu, "reset", vmid).run(move |world, _| press_reset(world, &node, vmid));
    spawn(world, call, work.wait(1))
}

fn press_reset(world: &mut World, node: &str, vmid: u32) -> Result<(), String> {
    let now = world.now;
    let machine = in_task(world, Qemu, node, vmid)?;
    machine.check_lock()?;
    machine.reset_display(now);
    Ok(())
}

pub(super) fn suspend(world: &mut World, call: &Call) -> Reply {
    only_root(call, &["skiplock"])?;
    need_running(world, call)?;
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    if call.flag("todisk") {
        return hibernate::start(world, call);
    }
    let work = work(Qemu, "pause", vmid)
        .wait(1)
        .run(move |world, _| set_paused(world, &node, vmid, true));
    spawn(world, call, work)
}

pub(super) fn resume(world: &mut World, call: &Call) -> Reply {
    only_root(call, &["skiplock", "nocheck"])?;
    need_running(world, call)?;
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let work = work(Qemu, "resume", vmid)
        .wait(1)
        .run(move |world, _| set_paused(world, &node, vmid, false));
    spawn(world, call, work)
}

fn set_paused(world: &mut World, node: &str, vmid: u32, pause: bool) -> Result<(), String> {
    let guest = in_task(world, Qemu, node, vmid)?;
    guest.check_lock()?;
    if let Power::Running { paused, .. } = &mut guest.power {
        *paused = pause;
    }
    Ok(())
}
