//! `status/suspend` with `todisk`: the RAM is saved to a volume and the machine stops; its next start goes on from there.

use crate::api::nodes::guest::disk::{self, NewDisk};
use crate::api::nodes::guest::power::{in_task, spawn, stop_now, work};
use crate::api::nodes::guest::snapshot::state_storage;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::require;
use crate::world::World;
use crate::world::guest::Kind::Qemu;
use crate::world::work::Job;

/// Starts the task for a machine that runs.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    if world.ha_resource(Qemu, vmid).is_some() {
        return Err(ApiError::fail("Cannot suspend HA managed VM to disk"));
    }
    let path = format!("/vms/{vmid}");
    require(world, &call.who, &path, &["VM.Config.Disk"])?;
    let guest = world.need_guest(Qemu, &node, vmid)?;
    if guest
        .config
        .iter()
        .any(|(key, _)| key.starts_with("hostpci"))
    {
        return Err(ApiError::fail(
            "cannot suspend VM to disk due to passed-through PCI device(s), which lack the possibility to save/restore \
             their internal state",
        ));
    }
    let storage = match call.text("statestorage") {
        Some(storage) => storage.to_owned(),
        None => state_storage(world, &guest.config),
    };
    let path = format!("/storage/{storage}");
    require(world, &call.who, &path, &["Datastore.AllocateSpace"])?;
    let work = work(Qemu, "suspend", vmid)
        .run(move |world, job| hibernate(world, job, (&node, vmid), &storage));
    spawn(world, call, work)
}

/// The machine is locked as `suspending` while its RAM is saved, and as `suspended` from then on.
fn hibernate(
    world: &mut World,
    job: &mut Job,
    (node, vmid): (&str, u32),
    storage: &str,
) -> Result<(), String> {
    let day = world.now.to_string();
    let day = day.split(' ').next().unwrap_or_default();
    let guest = in_task(world, Qemu, node, vmid)?;
    guest.check_lock()?;
    let size = guest.max_memory() * 2 + (500 << 20);
    let volume = NewDisk {
        kind: Qemu,
        vmid,
        storage: storage.to_owned(),
        format: Some("raw".to_owned()),
        size,
        used: size,
        stem: Some(format!("vm-{vmid}-state-suspend-{day}")),
    };
    let (volid, line) = disk::allocate(world, node, &volume)?;
    let guest = in_task(world, Qemu, node, vmid)?;
    guest.config.set("vmstate", &volid);
    guest.config.set("lock", "suspending");
    let nets = guest
        .config
        .iter()
        .filter(|(key, _)| key.starts_with("net"));
    let mtus: Vec<String> = nets.map(|(key, _)| format!("{key}=1500")).collect();
    guest.config.set("runningmachine", "pc-i440fx-10.0");
    guest.config.set(
        "runningcpu",
        "kvm64,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+lahf_lm,+sep",
    );
    if !mtus.is_empty() {
        guest.config.set("running-nets-host-mtu", mtus.join(","));
    }
    if let Some(line) = line {
        job.log(line);
    }
    job.wait(2);
    job.log("State saved, quitting");
    let node = node.to_owned();
    job.then(move |world, _| {
        let guest = in_task(world, Qemu, &node, vmid)?;
        guest.config.set("lock", "suspended");
        stop_now(world, Qemu, &node, vmid)
    });
    Ok(())
}
