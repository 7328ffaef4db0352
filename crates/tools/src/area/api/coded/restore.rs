//! A restore as PVE takes it: the backup, and the id that the guest gets. rollback_proxmox_vm takes the guest that the backup
//! is of, and another id only where it becomes a new guest.

use pve::{Request, Vmid};
use serde_json::json;

use crate::risk::flag;
use crate::tool::Object;
use crate::volume::backup_of;

type Arguments = Result<Object, &'static [&'static str]>;

/// The arguments for `POST /nodes/{node}/qemu` with an archive.
pub(super) fn vm(request: &Request) -> Arguments {
    restored(request, "archive", &["archive"])
}

/// The arguments for `POST /nodes/{node}/lxc` with restore: PVE takes the backup as ostemplate.
pub(super) fn container(request: &Request) -> Arguments {
    restored(request, "ostemplate", &["ostemplate"])
}

fn restored(request: &Request, archive: &str, left: &'static [&'static str]) -> Arguments {
    let backup = request
        .param(archive)
        .map(ToString::to_string)
        .unwrap_or_default();
    let Some(original) = backup_of(&backup) else {
        return Err(left);
    };
    let vmid = request.param("vmid").map(ToString::to_string);
    let Some(vmid) = vmid.and_then(|vmid| vmid.parse::<Vmid>().ok()) else {
        return Err(&["vmid"]);
    };
    let forces = request.param("force").map(ToString::to_string);
    let forces = forces.is_some_and(|force| flag(&force) != Some(false));
    let mut arguments = Object::new();
    arguments.insert("vmid".to_owned(), json!(original));
    arguments.insert("backup".to_owned(), json!(backup));
    match (forces, vmid == original) {
        // Over the very guest that it is a backup of.
        (true, true) => {}
        (true, false) => return Err(&["force"]),
        (false, _) => drop(arguments.insert("new_vmid".to_owned(), json!(vmid))),
    }
    Ok(arguments)
}
