//! Volumes that no guest uses, as far as the storages and the resource list tell.

use pve::{Vmid, Volume};

use super::finding;
use super::services::Replicas;
use crate::area::ops::code::Code;
use crate::area::ops::estate::Estate;
use crate::area::ops::report::{Gap, Report, Subject};
use crate::area::ops::volumes::Shelf;
use crate::words;

const CODE: &[Code] = &[Code::DiskOrphaned];

/// Volumes whose guest is gone, or is on another node. Whether a guest's own configuration names them is looked at where
/// guests are looked at one by one.
pub(super) fn orphaned(
    estate: &Estate,
    shelves: &[Shelf],
    replicas: &Replicas,
    report: &mut Report,
) {
    for shelf in shelves.iter().filter(|shelf| shelf.disks) {
        match &shelf.volumes {
            Ok(volumes) => {
                note_hidden(estate, shelf, report);
                for volume in &volumes.disks {
                    judge(estate, shelf, volume, replicas, report);
                }
            }
            Err(gap) => report.missed(CODE, gap.clone()),
        }
    }
}

/// PVE lists disks only of guests whose disks the token may configure, unless it may do everything on the storage.
fn note_hidden(estate: &Estate, shelf: &Shelf, report: &mut Report) {
    let everything = estate.held.has(&shelf.path(), "Datastore.Allocate")
        || estate.held.has("/vms", "VM.Config.Disk");
    if !everything {
        report.missed(CODE, Gap::lacks("Datastore.Allocate", &shelf.path()));
    }
}

fn judge(
    estate: &Estate,
    shelf: &Shelf,
    volume: &Volume,
    replicas: &Replicas,
    report: &mut Report,
) {
    let Some(owner) = volume.vmid else { return };
    let size = || words::size(volume.size.unwrap_or_default());
    let what = match estate.guests.get(&owner) {
        Some(guest) => {
            let elsewhere = guest.node.as_ref().filter(|node| **node != shelf.node);
            match elsewhere {
                Some(home) if !shelf.shared && !replicas.contains(owner, &shelf.node) => {
                    format!(
                        "{} on {}, but guest {owner} is on {home}",
                        size(),
                        shelf.node
                    )
                }
                _ => return,
            }
        }
        None if estate.held.has(&format!("/vms/{owner}"), "VM.Audit") => {
            format!("{} on {}; there is no guest {owner}", size(), shelf.node)
        }
        None => return report.missed(CODE, Gap::lacks("VM.Audit", "/vms")),
    };
    report.found(orphan(estate, shelf, volume, owner, what));
}

/// The finding about a volume; the largest come first.
pub(super) fn orphan(
    estate: &Estate,
    shelf: &Shelf,
    volume: &Volume,
    owner: Vmid,
    what: String,
) -> crate::area::ops::report::Finding {
    let subject = Subject::Volume {
        volid: volume.volid.clone(),
        node: shelf.node.clone(),
        owner,
    };
    finding(estate, Code::DiskOrphaned, subject, what).weighing(volume.size.unwrap_or_default())
}
