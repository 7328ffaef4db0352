//! A backup that a caller chose, and the guest's configuration inside it.

use pve::{Disk, GuestConfig, GuestKind, NodeName, Reader, Request, Vmid};
use serde_json::Value;

use crate::area::backup::is_included;
use crate::area::backups::{Backup, Backups};
use crate::fault::{Fault, Kind};
use crate::words;

/// How many backups a fault names.
const NAMED: usize = 5;

/// A backup and what it holds.
#[derive(Debug)]
pub(super) struct Saved {
    pub(super) backup: Backup,
    pub(super) kind: GuestKind,
    /// The guest's configuration at that time.
    pub(super) config: GuestConfig,
}

impl Saved {
    /// The backup of a guest that is `wanted`: a volid, or `latest`. Those of another kind are of an earlier guest that
    /// had its id, and do not count.
    pub(super) async fn choose(
        pve: &Reader,
        node: &NodeName,
        vmid: Vmid,
        kind: Option<GuestKind>,
        wanted: &str,
    ) -> Result<Self, Fault> {
        let mut all = match wanted.split_once(':') {
            Some((storage, _)) => Backups::on(pve, node, vmid, storage).await,
            None => Backups::of(pve, node, vmid).await,
        };
        all.found
            .retain(|backup| kind.is_none() || backup.kind().is_none() || backup.kind() == kind);
        let chosen = all
            .found
            .iter()
            .find(|backup| wanted == "latest" || backup.volid == wanted)
            .cloned();
        let Some(backup) = chosen else {
            return Err(no_such(vmid, wanted, &all));
        };
        let Some(kind) = backup.kind().or(kind) else {
            return Err(Fault::bad_input(format!(
                "whether {} is of a VM or a container is not known",
                backup.volid
            ))
            .hint("send vm_type: \"qemu\" or \"lxc\""));
        };
        let request = Request::get(format!("/nodes/{node}/vzdump/extractconfig"))
            .with("volume", backup.volid.as_str());
        let text: String = pve.get(request).await?;
        Ok(Self {
            backup,
            kind,
            config: parse(&text),
        })
    }

    /// The disks that a restore makes. A container's mount points are all made anew, those that were left out of the
    /// backup as empty ones.
    pub(super) fn disks(&self) -> Vec<Disk> {
        let mut disks = self.config.disks();
        disks.retain(|disk| {
            let comes = self.kind == GuestKind::Lxc || self.holds(disk);
            !disk.is_unused() && disk.storage.is_some() && comes
        });
        disks
    }

    /// Whether what was on a disk is in the backup.
    pub(super) fn holds(&self, disk: &Disk) -> bool {
        is_included(self.kind, &self.config, disk)
    }

    /// "nas:backup/… (taken …, 2.2 GiB: notes)"
    pub(super) fn label(&self) -> String {
        let Backup { volid, notes, .. } = &self.backup;
        let size = self
            .backup
            .size
            .map(|size| format!(", {}", words::size(size)));
        let notes = notes
            .as_deref()
            .filter(|notes| !notes.trim().is_empty())
            .map(|notes| format!(": {}", words::clip(notes, 60)));
        format!(
            "{volid} ({}{}{})",
            self.backup.taken(),
            size.unwrap_or_default(),
            notes.unwrap_or_default()
        )
    }
}

/// A configuration file as PVE writes it: `key: value` lines, then sections of snapshots and pending changes.
fn parse(text: &str) -> GuestConfig {
    text.lines()
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key.trim().to_owned(), Value::from(value.trim())))
        .collect()
}

fn no_such(vmid: Vmid, wanted: &str, all: &Backups) -> Fault {
    let message = if wanted == "latest" {
        format!("no backup of guest {vmid} was found")
    } else {
        format!(
            "there is no backup {} of guest {vmid}",
            words::clip(wanted, 120)
        )
    };
    let message = if all.unchecked.is_empty() {
        message
    } else {
        format!("{message}; not looked at: {}", all.unchecked.join("; "))
    };
    let fault = Fault::new(Kind::NotFound, message);
    let known: Vec<_> = all
        .found
        .iter()
        .take(NAMED)
        .map(|backup| format!("{} ({})", backup.volid, backup.taken()))
        .collect();
    if known.is_empty() {
        return fault.hint(
            "send backup: \"latest\", or a volid that get_proxmox_vm_status with include [\"backups\"] shows; a token sees the backups of storages where it has Datastore.AllocateSpace",
        );
    }
    fault.hint(format!("the newest there are {}", words::list(&known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_present_part_of_a_configuration_counts() {
        let config = parse(
            "#notes: of a person\nname: web\nnet0: virtio=BC:24:11:00:00:01,bridge=vmbr0\n\n[snap]\nname: old\n",
        );
        assert_eq!(config.name().as_deref(), Some("web"));
        assert_eq!(config.nets()[0].mac.as_deref(), Some("BC:24:11:00:00:01"));
        assert_eq!(config.values().len(), 2);
    }
}
