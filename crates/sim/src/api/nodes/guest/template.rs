//! `template`: turns a guest into a template, for good. Its disks become base images.

use crate::api::nodes::guest::free_now;
use crate::api::nodes::guest::power::{in_task, spawn, work};
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::world::World;
use crate::world::feature::Feature;
use crate::world::guest::{Guest, Kind};
use crate::world::layout::Layout;
use crate::world::work::Job;

/// `POST template`. A machine answers with the task; a container has one too but answers nothing.
pub(super) fn start(world: &mut World, call: &Call, kind: Kind) -> Reply {
    let (node, vmid) = (call.node().to_owned(), call.vmid());
    let only = call.text("disk").map(str::to_owned);
    let guest = world.need_guest(kind, &node, vmid)?;
    if kind == Kind::Lxc {
        free_now(world, kind, vmid)?;
    }
    check(guest, only.is_some()).map_err(ApiError::fail)?;
    let work = work(kind, "template", vmid)
        .run(move |world, job| convert(world, job, kind, &node, vmid, only.as_deref()));
    let upid = spawn(world, call, work)?;
    match kind {
        Kind::Qemu => Ok(upid),
        Kind::Lxc => done(),
    }
}

fn check(guest: &Guest, one_disk: bool) -> Result<(), String> {
    let label = guest.kind.label();
    guest.check_lock()?;
    if !guest.snapshots.is_empty() {
        return Err(format!(
            "unable to create template, because {label} contains snapshots"
        ));
    }
    if guest.is_template() && !one_disk {
        return Err("you can't convert a template to a template".to_owned());
    }
    if guest.is_running() {
        let owner = match guest.kind {
            Kind::Qemu => "VM",
            Kind::Lxc => "the CT",
        };
        return Err(format!(
            "you can't convert a {label} to template if {owner} is running"
        ));
    }
    Ok(())
}

fn convert(
    world: &mut World,
    job: &mut Job,
    kind: Kind,
    node: &str,
    vmid: u32,
    only: Option<&str>,
) -> Result<(), String> {
    let guest = in_task(world, kind, node, vmid)?.clone();
    check(&guest, only.is_some())?;
    world.may_write_config(kind, node, vmid)?;
    let disks = guest.config.drives().filter(|drive| {
        let chosen = only.is_none_or(|key| key == drive.key);
        chosen && !drive.is_cdrom() && !drive.key.starts_with("unused")
    });
    let (able, unable): (Vec<_>, Vec<_>) =
        disks.partition(|drive| world.has_feature(Feature::Template, kind, drive.volume, false));
    if let Some(drive) = unable.first().filter(|_| kind == Kind::Lxc) {
        return Err(format!(
            "Template feature is not available for '{}'",
            drive.volume
        ));
    }
    for drive in able {
        let base = make_base(world, job, node, drive.volume);
        let guest = in_task(world, kind, node, vmid)?;
        guest
            .config
            .set(drive.key, format!("{base},{}", drive.options));
    }
    in_task(world, kind, node, vmid)?
        .config
        .set("template", "1");
    Ok(())
}

/// Renames a disk to a base image, and answers its new volume id.
fn make_base(world: &mut World, job: &mut Job, node: &str, volid: &str) -> String {
    let (head, file) = volid.split_at(volid.rfind(['/', ':']).map_or(0, |at| at + 1));
    let renamed = match file.strip_prefix("subvol-") {
        Some(rest) => format!("basevol-{rest}"),
        None => file.replacen("vm-", "base-", 1),
    };
    let base = format!("{head}{renamed}");
    if let Some(volume) = world.volume_mut(node, volid) {
        base.clone_into(&mut volume.volid);
    }
    let storage = volid
        .split(':')
        .next()
        .and_then(|id| world.storages.get(id));
    if let Some(storage) = storage.filter(|storage| storage.layout() == Layout::LvmThin) {
        let group = storage.props.get("vgname").map_or("", String::as_str);
        job.log(format!(
            "  Renamed \"{file}\" to \"{renamed}\" in volume group \"{group}\""
        ));
        job.log(format!("  Logical volume {group}/{renamed} changed."));
    }
    base
}
