//! What virtual machines and containers have in common below `/nodes/{node}/qemu` and `/nodes/{node}/lxc`. The tables
//! of the two kinds name these handlers and add their own.

pub(crate) mod access;
mod clone;
pub(crate) mod config;
mod destroy;
pub(crate) mod disk;
mod feature;
pub(crate) mod figures;
pub(crate) mod migrate;
pub(crate) mod numbered;
pub(crate) mod pending;
pub(crate) mod power;
pub(crate) mod progress;
mod routes;
pub(crate) mod snapshot;
mod template;

pub(crate) use routes::ROUTES;

use serde_json::Value;

use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::world::World;
use crate::world::guest::Kind;

/// May look at the guest.
pub(crate) const AUDIT: Perm = Perm::On("/vms/{vmid}", &["VM.Audit"]);
/// May start and stop the guest.
pub(crate) const POWER: Perm = Perm::On("/vms/{vmid}", &["VM.PowerMgmt"]);

/// The guests of one kind on a node, as far as the caller may see them.
pub(crate) fn list(world: &mut World, call: &Call, kind: Kind) -> Reply {
    let here = world
        .guests
        .values()
        .filter(|guest| guest.kind == kind && guest.node == call.node());
    let visible =
        here.filter(|guest| world.may(&call.who, &format!("/vms/{}", guest.vmid), "VM.Audit"));
    let detail = if call.flag("full") {
        figures::Detail::Full
    } else {
        figures::Detail::List
    };
    let entries = visible.map(|guest| figures::of(world, guest, detail));
    Ok(entries.collect::<Value>().into())
}

/// `status/current` of a guest.
pub(crate) fn current(world: &mut World, call: &Call, kind: Kind) -> Reply {
    let guest = world.need_guest(kind, call.node(), call.vmid())?;
    Ok(figures::of(world, guest, figures::Detail::Current).into())
}

/// Fails if an option that PVE keeps for `root@pam` was sent by anybody else.
pub(crate) fn only_root(call: &Call, names: &[&str]) -> Result<(), ApiError> {
    let sent = names.iter().find(|name| call.params.has(name));
    match sent {
        Some(name) if !call.who.is_root() => {
            Err(ApiError::param(name, "Only root may use this option."))
        }
        _ => Ok(()),
    }
}

/// Fails if a task holds the guest. PVE waits ten seconds for it and then says the same.
pub(crate) fn free_now(world: &World, kind: Kind, vmid: u32) -> Result<(), ApiError> {
    if world.tasks.holds(kind, vmid) {
        let file = kind.lock_file(vmid);
        return Err(ApiError::fail(format!(
            "can't lock file '{file}' - got timeout"
        )));
    }
    Ok(())
}

/// Tags as PVE keeps them after an update: sorted, in lower case, each once. None at all read back as a blank.
pub(crate) fn unique_tags(text: &str) -> String {
    let tags = crate::call::split_list(text).map(str::to_ascii_lowercase);
    let tags: std::collections::BTreeSet<String> = tags.collect();
    if tags.is_empty() {
        return " ".to_owned();
    }
    tags.into_iter().collect::<Vec<_>>().join(";")
}
