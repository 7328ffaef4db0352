//! `POST snapshot`.

use super::Order;
use crate::api::nodes::guest::disk::{self, NewDisk};
use crate::api::nodes::guest::power::{in_task, spawn, work};
use crate::api::nodes::guest::progress::{duration, human, seconds_to_copy};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::config::Config;
use crate::world::feature::Feature;
use crate::world::guest::Kind::{self, Qemu};
use crate::world::guest::{Guest, Snapshot};
use crate::world::layout::Layout;
use crate::world::storage::Storage;
use crate::world::work::Job;

/// What a snapshot does not keep.
const NOT_KEPT: &[&str] = &["parent", "vmstate", "lock", "description"];
/// How long the guest agent is waited for.
const AGENT_PATIENCE: u64 = 3;

/// `POST snapshot`. Nearly everything that can be wrong shows in the task.
pub(in super::super) fn start(world: &mut World, call: &Call, kind: Kind) -> Reply {
    let order = Order::read(call, kind);
    let reserved = match kind {
        Kind::Qemu => order.name == "current" || order.name.eq_ignore_ascii_case("pending"),
        Kind::Lxc => order.name == "current" || order.name == "vzdump",
    };
    if reserved {
        let name = order.name.to_ascii_lowercase();
        return Err(ApiError::fail(format!(
            "unable to use snapshot name '{name}' (reserved name)"
        )));
    }
    if kind == Qemu {
        world.need_guest(kind, &order.node, order.vmid)?;
    }
    let description = call.text("description").unwrap_or_default().to_owned();
    let ram = call.flag("vmstate");
    let work = work(kind, "snapshot", order.vmid)
        .run(move |world, job| prepare(world, job, order, description, ram));
    spawn(world, call, work)
}

/// Locks the config, notes the snapshot as being prepared, and plans what takes time.
fn prepare(
    world: &mut World,
    job: &mut Job,
    order: Order,
    description: String,
    ram: bool,
) -> Result<(), String> {
    let (kind, vmid, now) = (order.kind, order.vmid, world.now);
    let guest = in_task(world, kind, &order.node, vmid)?.clone();
    check(world, &guest, &order)?;
    world.may_write_config(kind, &order.node, vmid)?;
    let mut snapshot = Snapshot {
        name: order.name.clone(),
        parent: guest.config.get("parent").map(str::to_owned),
        time: now,
        description,
        config: kept(&guest.config),
        vmstate: None,
        state: Some("prepare"),
    };
    let ram = ram && guest.is_running();
    if ram {
        save_ram(world, job, &order, &guest, &mut snapshot)?;
    }
    let guest_now = in_task(world, kind, &order.node, vmid)?;
    guest_now.config.set("lock", "snapshot");
    guest_now.snapshots.push(snapshot);
    let undo = order.clone();
    job.undo("received interrupt", move |world| take_back(world, &undo));
    job.unlock();
    log_disks(world, job, &order, &guest, ram);
    job.wait(1);
    job.then(move |world, _| commit(world, &order));
    Ok(())
}

fn check(world: &World, guest: &Guest, order: &Order) -> Result<(), String> {
    if guest.is_template() {
        return Err("you can't take a snapshot if it's a template".to_owned());
    }
    guest.check_lock()?;
    let name = &order.name;
    if guest.snapshot(name).is_some() {
        return Err(format!("snapshot name '{name}' already used"));
    }
    if !world.guest_has_feature(Feature::Snapshot, guest, None) {
        return Err("snapshot feature is not available".to_owned());
    }
    Ok(())
}

/// The part of a config that a snapshot keeps.
fn kept(config: &Config) -> Config {
    let keep = |key: &str| !NOT_KEPT.contains(&key) && !key.starts_with("unused");
    config.iter().filter(|(key, _)| keep(key)).collect()
}

/// Makes the volume for the RAM, and notes in the snapshot what its machine ran as.
fn save_ram(
    world: &mut World,
    job: &mut Job,
    order: &Order,
    guest: &Guest,
    snapshot: &mut Snapshot,
) -> Result<(), String> {
    let storage = state_storage(world, &guest.config);
    let volume = NewDisk {
        kind: Qemu,
        vmid: order.vmid,
        storage: storage.clone(),
        format: Some("raw".to_owned()),
        size: guest.max_memory() * 2 + (500 << 20),
        used: guest.max_memory() / 2,
        stem: Some(format!("vm-{}-state-{}", order.vmid, order.name)),
    };
    let (volid, line) = disk::allocate(world, &order.node, &volume)?;
    if let Some(line) = line {
        job.log(line);
    }
    job.log(format!("saving VM state and RAM using storage '{storage}'"));
    let seconds = seconds_to_copy(volume.used);
    for second in 0..seconds {
        let saved = human(volume.used / seconds * second, 2);
        job.log(format!("{saved} in {}", duration(second)));
        job.wait(1);
    }
    let (took, saved) = (duration(seconds), human(volume.used, 2));
    job.log(format!(
        "completed saving the VM state in {took}, saved {saved}"
    ));
    snapshot.vmstate = Some(volid);
    let nets = guest.config.iter().filter(|(key, _)| {
        let number = key.strip_prefix("net");
        number.is_some_and(|number| number.parse::<u8>().is_ok())
    });
    let mtus: Vec<String> = nets.map(|(key, _)| format!("{key}=1500")).collect();
    let cpu = "kvm64,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+lahf_lm,+sep";
    snapshot.config.set("runningmachine", "pc-i440fx-10.0");
    snapshot.config.set("runningcpu", cpu);
    if !mtus.is_empty() {
        snapshot.config.set("running-nets-host-mtu", mtus.join(","));
    }
    Ok(())
}

/// Where RAM is saved: where the config says, or beside a disk, on shared storage and in files if there is a choice.
pub(crate) fn state_storage(world: &World, config: &Config) -> String {
    if let Some(storage) = config.get("vmstatestorage") {
        return storage.to_owned();
    }
    let disks = config.drives().filter(|drive| !drive.is_cdrom());
    let used = disks.filter_map(|drive| world.storages.get_key_value(drive.storage()?));
    let best = used.max_by_key(|(_, storage)| {
        let in_files = storage.layout() == Layout::Files;
        (storage.shared, in_files)
    });
    best.map_or_else(|| "local".to_owned(), |(id, _)| id.clone())
}

/// What the log says while disks are snapshotted.
fn log_disks(world: &World, job: &mut Job, order: &Order, guest: &Guest, ram: bool) {
    let vmid = order.vmid;
    if guest.is_running() && !ram && guest.agent_enabled() && !guest.inside.agent {
        job.wait(AGENT_PATIENCE);
        job.log(format!(
            "QEMU Guest Agent is not running - VM {vmid} qga command 'guest-ping' failed - got timeout"
        ));
    }
    let disks = guest.config.drives().filter(|drive| {
        let unused = drive.key.starts_with("unused");
        !unused && !drive.is_cdrom()
    });
    for drive in disks {
        let storage = drive.storage().and_then(|id| world.storages.get(id));
        let layout = storage.map(Storage::layout);
        if order.kind == Qemu {
            job.log(format!(
                "snapshotting 'drive-{}' ({})",
                drive.key, drive.volume
            ));
            if layout == Some(Layout::Files) && guest.is_running() {
                job.log("internal qemu snapshot");
            }
        }
        if layout == Some(Layout::LvmThin) {
            let file = drive.volume.split(':').next_back().unwrap_or_default();
            job.log(format!(
                "  Logical volume \"snap_{file}_{}\" created.",
                order.name
            ));
        }
    }
}

fn commit(world: &mut World, order: &Order) -> Result<(), String> {
    let guest = in_task(world, order.kind, &order.node, order.vmid)?;
    if guest.config.get("lock") != Some("snapshot") {
        return Err("missing snapshot lock".to_owned());
    }
    let mut found = guest.snapshots.iter_mut();
    let snapshot = found.find(|snapshot| snapshot.name == order.name);
    snapshot.ok_or_else(|| order.missing())?.state = None;
    guest.config.remove("lock");
    guest.config.set("parent", &order.name);
    Ok(())
}

/// A snapshot that failed leaves nothing.
fn take_back(world: &mut World, order: &Order) {
    let Ok(guest) = in_task(world, order.kind, &order.node, order.vmid) else {
        return;
    };
    guest.config.remove("lock");
    let at = guest
        .snapshots
        .iter()
        .position(|snapshot| snapshot.name == order.name);
    let Some(state) = at.and_then(|at| guest.snapshots.remove(at).vmstate) else {
        return;
    };
    world.volumes.retain(|volume| volume.volid != state);
}
