//! What has to be known before a disk moves, whether a VM's or a container's.

use pve::{GuestConfig, Request, StorageId, StorageStatus};

use crate::context::Guest;
use crate::fault::{Fault, Kind};
use crate::words;

/// The storage, if it is on the guest's node and takes such disks: "images" of VMs, "rootdir" of containers.
pub(super) async fn storage_for(
    guest: &Guest,
    storage: &StorageId,
    content: &str,
) -> Result<StorageStatus, Fault> {
    let node = &guest.at.node;
    let mut storages = guest.pve().storages(node).await?;
    // One that belongs to other nodes is listed, too.
    storages.retain(|it| it.enabled && it.active && it.holds(content));
    if let Some(at) = storages
        .iter()
        .position(|it| it.storage == storage.as_str())
    {
        return Ok(storages.swap_remove(at));
    }
    let names: Vec<_> = storages.iter().map(|it| it.storage.as_str()).collect();
    let whose = guest.at.kind.noun();
    let message = format!("there is no storage {storage} that takes disks of {whose}s on {node}");
    Err(
        Fault::new(Kind::NotFound, message).hint(match names.as_slice() {
            [] => format!(
                "none is to be seen; the token needs Datastore.AllocateSpace on /storage/{storage}"
            ),
            names => format!(
                "those that do are {}; others take Datastore.AllocateSpace on /storage/{storage} to be seen",
                words::list(names)
            ),
        }),
    )
}

/// The snapshots whose settings name the volume.
pub(super) async fn snapshots_holding(guest: &Guest, volume: &str) -> Result<Vec<String>, Fault> {
    let mut holding = Vec::new();
    for entry in guest.pve().snapshots(&guest.at).await? {
        let name = pve::encode_segment(&entry.name);
        let read = Request::get(guest.at.path(&format!("snapshot/{name}/config")));
        let then: GuestConfig = guest.pve().get(read).await?;
        if then.volumes().iter().any(|(_, named)| named == volume) {
            holding.push(entry.name);
        }
    }
    Ok(holding)
}
