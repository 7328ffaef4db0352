//! `PUT resize` of a container's volume.

use super::rights::Change;
use super::update::check_digest;
use super::volumes::{Source, source, written};
use crate::api::nodes::guest::power::{in_task, spawn};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::require;
use crate::schema::MISSING;
use crate::world::World;
use crate::world::config::parse_size;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Lxc;
use crate::world::work::Work;

/// Volumes grow only.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    let (volid, size) = check(world, call)?;
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let key = call.text("disk").unwrap_or_default().to_owned();
    let work = Work::new("resize", vmid)
        .lock(Lxc, vmid)
        .wait(1)
        .run(move |world, job| {
            in_task(world, Lxc, &node, vmid)?.check_lock()?;
            world.may_write_config(Lxc, &node, vmid)?;
            let Some(volume) = world.volume_mut(&node, &volid) else {
                return Err(format!("volume '{volid}' does not exist"));
            };
            volume.size = size;
            let is_raw = volume.format == "raw";
            job.log("Image resized.");
            if is_raw {
                let blocks = size / 4096;
                job.log("resize2fs 1.47.2 (1-Jan-2025)");
                job.log(format!("The filesystem is now {blocks} (4k) blocks long."));
            }
            let guest = in_task(world, Lxc, &node, vmid)?;
            let value = guest.config.get(&key).unwrap_or_default();
            let value = written(&key, value, &volid, Some(size));
            guest.config.set(key, value);
            Ok(())
        });
    spawn(world, call, work)
}

/// Everything is checked before the task; answers the volume and its new size.
fn check(world: &World, call: &Call) -> Result<(String, u64), ApiError> {
    let (vmid, key) = (call.vmid(), call.text("disk").unwrap_or_default());
    let guest = world.need_guest(Lxc, call.node(), vmid)?;
    guest.check_lock().map_err(ApiError::fail)?;
    let change = Change {
        vmid,
        pool: None,
        old: &guest.config,
        unprivileged: guest.config.flag("unprivileged"),
    };
    // PVE takes the parameter's own name for that of an option, and options ask for VM.Config.Options.
    change.check_removed(world, call, &["disk"])?;
    check_digest(guest, call)?;
    let volid = volume_of(guest, key)?;
    let id = volid.split(':').next().unwrap_or_default();
    require(
        world,
        &call.who,
        &format!("/storage/{id}"),
        &["Datastore.AllocateSpace"],
    )?;
    let known = world.volume(call.node(), &volid);
    let size = known.map(|volume| volume.size).ok_or_else(|| {
        ApiError::fail(format!(
            "Could not determine current size of volume '{volid}'"
        ))
    })?;
    let text = call.text("size").unwrap_or_default();
    let given = parse_size(text.trim_start_matches('+')).unwrap_or_default();
    let new = if text.starts_with('+') {
        size.saturating_add(given)
    } else {
        given
    };
    match new {
        new if new < size => Err(ApiError::fail("unable to shrink disk size")),
        new if new == size => Err(ApiError::fail("disk is already at specified size")),
        new => Ok((volid, new)),
    }
}

/// The volume of a key that must be there.
///
/// # Errors
/// 500 with PVE's complaint about an empty value, or about what is no volume.
pub(super) fn volume_of(guest: &Guest, key: &str) -> Result<String, ApiError> {
    let Some(value) = guest.config.get(key) else {
        let missing = ["volume", "mp"]
            .iter()
            .filter(|name| key != "rootfs" || **name != "mp");
        let errors = missing.map(|name| ((*name).to_owned(), MISSING.to_owned()));
        return Err(ApiError {
            status: 500,
            message: "format error".to_owned(),
            ..ApiError::params(errors)
        });
    };
    match source(value) {
        Source::Volume(volid) => Ok(volid.to_owned()),
        _ => Err(ApiError::fail(format!(
            "unable to parse volume ID '{value}'"
        ))),
    }
}

/// Whether a text is a size, with a plus for "more by that much".
pub(super) fn is_growth(text: &str) -> bool {
    let number = text.strip_prefix('+').unwrap_or(text);
    number.starts_with(|first: char| first.is_ascii_digit()) && parse_size(number).is_some()
}
