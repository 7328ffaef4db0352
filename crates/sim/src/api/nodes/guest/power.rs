//! Power: what start, stop and the like share between the two kinds.

use serde_json::json;

use crate::api::nodes::guest::access::is_network_device;
use crate::call::{Call, Identity};
use crate::error::Reply;
use crate::world::World;
use crate::world::config::property;
use crate::world::guest::{Guest, Kind, no_config_file};
use crate::world::ha::service_id;
use crate::world::work::Work;

/// Starts a task on the guest's node and answers its UPID.
pub(crate) fn spawn(world: &mut World, call: &Call, work: Work) -> Reply {
    Ok(json!(world.start_task(&call.who, call.node(), work)).into())
}

/// A task of the guest's kind on the guest, holding its lock: `qmstart`, `vzstart`.
pub(crate) fn work(kind: Kind, action: &str, vmid: u32) -> Work {
    Work::new(format!("{}{action}", kind.task_prefix()), vmid).lock(kind, vmid)
}

/// The guest inside a task.
///
/// # Errors
/// The text most tasks end with when there is no such guest.
pub(crate) fn in_task<'a>(
    world: &'a mut World,
    kind: Kind,
    node: &str,
    vmid: u32,
) -> Result<&'a mut Guest, String> {
    world
        .guest_mut(kind, node, vmid)
        .ok_or_else(|| no_config_file(kind, node, vmid))
}

/// Checks that hold for a start of either kind, in the words of its task.
pub(crate) fn check_start(guest: &Guest) -> Result<(), String> {
    guest.check_lock()?;
    if guest.is_template() {
        let label = match guest.kind {
            Kind::Qemu => "vm",
            Kind::Lxc => "CT",
        };
        return Err(format!("you can't start a {label} if it's a template"));
    }
    if guest.is_running() {
        return Err(format!(
            "{} {} already running",
            guest.kind.label(),
            guest.vmid
        ));
    }
    Ok(())
}

/// Starts the guest at this moment of a task.
pub(crate) fn start_now(
    world: &mut World,
    kind: Kind,
    node: &str,
    vmid: u32,
) -> Result<(), String> {
    let (now, pid) = (world.now, world.new_pid());
    let guest = world.guests.get(&vmid);
    if let Some(error) = guest.and_then(|guest| too_many_cpus(world, node, guest)) {
        return Err(error);
    }
    let guest = in_task(world, kind, node, vmid)?;
    if kind == Kind::Lxc && has_twin_devices(guest) {
        return Err(format!("startup for container '{vmid}' failed"));
    }
    guest.start(now, pid);
    Ok(())
}

/// What QEMU's command line cannot be made for: a machine with more CPUs than the node has.
pub(crate) fn too_many_cpus(world: &World, node: &str, guest: &Guest) -> Option<String> {
    let cpus = world.nodes.get(node)?.cpus;
    (guest.kind == Kind::Qemu && cpus < guest.places_for_cpus())
        .then(|| format!("MAX {cpus} vcpus allowed per VM on this node"))
}

/// Whether two network devices of a container shall have the same name inside: LXC cannot make the second.
fn has_twin_devices(guest: &Guest) -> bool {
    let devices = guest
        .config
        .iter()
        .filter(|(key, _)| is_network_device(key));
    let mut names: Vec<&str> = devices
        .filter_map(|(_, value)| property(value, "name"))
        .collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    names.len() < all
}

/// Stops the guest at this moment of a task.
pub(crate) fn stop_now(world: &mut World, kind: Kind, node: &str, vmid: u32) -> Result<(), String> {
    in_task(world, kind, node, vmid)?.stop();
    Ok(())
}

/// The request to HA that takes the place of a start or stop of a managed guest: its task ends once the request is
/// queued, and HA acts a little later in a task of its own.
pub(crate) fn ask_ha(world: &mut World, call: &Call, kind: Kind, start: bool) -> Reply {
    let vmid = call.vmid();
    let (action, state) = if start {
        ("start", "started")
    } else {
        ("stop", "stopped")
    };
    let work = Work::new(format!("ha{action}"), vmid)
        .log(format!(
            "Requesting HA {action} for {} {vmid}",
            kind.label()
        ))
        .wait(1)
        .run(move |world, _| {
            world.request_ha_state(kind, vmid, state);
            follow_ha(world, kind, vmid);
            Ok(())
        });
    spawn(world, call, work)
}

/// Lets HA bring a guest to the state it was asked for, in a task of its own.
pub(crate) fn follow_ha(world: &mut World, kind: Kind, vmid: u32) {
    let Some(guest) = world.guests.get(&vmid).filter(|_| !world.ha_frozen) else {
        return;
    };
    let sid = service_id(kind, vmid);
    let Some(resource) = world.ha_resources.get(&sid) else {
        return;
    };
    let start = match world.ha_service(&sid, resource).requested {
        "started" => true,
        "ignored" => return,
        _ => false,
    };
    if start == guest.is_running() {
        return;
    }
    let node = guest.node.clone();
    let action = if start { "start" } else { "stop" };
    let reaction = self::work(kind, action, vmid).wait(5).run({
        let node = node.clone();
        move |world, _| {
            if start {
                start_now(world, kind, &node, vmid)
            } else {
                stop_now(world, kind, &node, vmid)
            }
        }
    });
    world.start_task(&Identity::user("root@pam"), &node, reaction);
}
