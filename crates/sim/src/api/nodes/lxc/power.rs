//! Power of a container. Unlike a machine's, most of it is refused at once if the container is in the wrong state.

use super::volumes::realize_waiting;
use crate::api::nodes::guest::only_root;
use crate::api::nodes::guest::power::{
    ask_ha, check_start, in_task, spawn, start_now, stop_now, work,
};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Lxc;
use crate::world::node::Node;

/// Whether the container runs; PVE asks for its process, not for its config.
fn is_running(world: &World, call: &Call) -> bool {
    world
        .guest(Lxc, call.node(), call.vmid())
        .is_some_and(Guest::is_running)
}

fn need_running(world: &World, call: &Call, label: &str) -> Result<(), ApiError> {
    if is_running(world, call) {
        Ok(())
    } else {
        Err(ApiError::fail(format!(
            "{label} {} not running",
            call.vmid()
        )))
    }
}

fn need_stopped(world: &World, call: &Call) -> Result<(), ApiError> {
    if is_running(world, call) {
        Err(ApiError::fail(format!(
            "CT {} already running",
            call.vmid()
        )))
    } else {
        Ok(())
    }
}

pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    only_root(call, &["skiplock"])?;
    need_stopped(world, call)?;
    world.require_quorum()?;
    if world.ha_resource(Lxc, call.vmid()).is_some() {
        return ask_ha(world, call, Lxc, true);
    }
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let work = work(Lxc, "start", vmid).run(move |world, job| {
        let guest = in_task(world, Lxc, &node, vmid)?;
        check_start(guest)?;
        if let Some(warning) = nesting_warning(guest) {
            job.warn(warning);
        }
        job.wait(1);
        job.then(move |world, _| start_now(world, Lxc, &node, vmid));
        Ok(())
    });
    spawn(world, call, work)
}

pub(super) fn stop(world: &mut World, call: &Call) -> Reply {
    only_root(call, &["skiplock"])?;
    need_running(world, call, "CT")?;
    if world.ha_resource(Lxc, call.vmid()).is_some() {
        return ask_ha(world, call, Lxc, false);
    }
    go_down(world, call, "stop", 1)
}

pub(super) fn shutdown(world: &mut World, call: &Call) -> Reply {
    need_running(world, call, "CT")?;
    if world.ha_resource(Lxc, call.vmid()).is_some() {
        return ask_ha(world, call, Lxc, false);
    }
    go_down(world, call, "shutdown", 2)
}

fn go_down(world: &mut World, call: &Call, action: &str, seconds: u64) -> Reply {
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let work = work(Lxc, action, vmid).run(move |world, job| {
        in_task(world, Lxc, &node, vmid)?.check_lock()?;
        job.wait(seconds);
        job.then(move |world, _| {
            stop_now(world, Lxc, &node, vmid)?;
            realize_waiting(world, &node, vmid)
        });
        Ok(())
    });
    spawn(world, call, work)
}

pub(super) fn reboot(world: &mut World, call: &Call) -> Reply {
    // PVE itself says VM here.
    need_running(world, call, "VM")?;
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let work = work(Lxc, "reboot", vmid).wait(2).run(move |world, _| {
        in_task(world, Lxc, &node, vmid)?.check_lock()?;
        stop_now(world, Lxc, &node, vmid)?;
        realize_waiting(world, &node, vmid)?;
        start_now(world, Lxc, &node, vmid)
    });
    spawn(world, call, work)
}

/// Needs CRIU, which PVE does not install: without it the task fails.
pub(super) fn suspend(world: &mut World, call: &Call) -> Reply {
    need_running(world, call, "CT")?;
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let work = work(Lxc, "suspend", vmid).wait(1).run(move |world, _| {
        in_task(world, Lxc, &node, vmid)?.check_lock()?;
        let Some(there) = world.nodes.get_mut(&node).filter(|node| node.criu) else {
            return Err(failed_checkpoint(vmid, "-s"));
        };
        there.checkpoint = Some(vmid);
        stop_now(world, Lxc, &node, vmid)
    });
    spawn(world, call, work)
}

/// Goes on from what was written last, if that was this container.
pub(super) fn resume(world: &mut World, call: &Call) -> Reply {
    need_stopped(world, call)?;
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let work = work(Lxc, "resume", vmid).wait(1).run(move |world, _| {
        let there = world.nodes.get(&node);
        let is_kept = |node: &Node| node.criu && node.checkpoint == Some(vmid);
        if !there.is_some_and(is_kept) {
            return Err(failed_checkpoint(vmid, "-r --foreground"));
        }
        start_now(world, Lxc, &node, vmid)
    });
    spawn(world, call, work)
}

fn failed_checkpoint(vmid: u32, mode: &str) -> String {
    format!("command 'lxc-checkpoint -n {vmid} {mode} -D /var/lib/vz/dump' failed: exit code 1")
}

/// What a start says of a container whose systemd wants nesting and has none.
pub(crate) fn nesting_warning(guest: &Guest) -> Option<String> {
    let features = guest.config.get("features").unwrap_or_default();
    let version = match guest.config.get("ostype") {
        Some("debian" | "fedora" | "archlinux") => 257,
        Some("ubuntu") => 255,
        _ => return None,
    };
    let wanted = guest.inside.os && !features.contains("nesting=1");
    wanted.then(|| format!("Systemd {version} detected. You may need to enable nesting."))
}
