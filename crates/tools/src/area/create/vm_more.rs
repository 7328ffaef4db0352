//! What create_vm takes besides create_proxmox_vm, by PVE's own names. Most of them take what a new machine
//! takes anyhow.

use pve::{PropertyString, StorageId};
use serde::Deserialize;

use super::NewGuest;
use super::vm::CreateVm;
use crate::fault::Fault;
use crate::plan::Needs;
use crate::words;

/// Settings of a new machine that are sent on as they are.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct More {
    pub(super) cpu: Option<String>,
    pub(super) scsihw: Option<String>,
    pub(super) machine: Option<String>,
    pub(super) boot: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) onboot: Option<bool>,
    pub(super) description: Option<String>,
    /// A new disk: `local-lvm:32,ssd=1`.
    pub(super) scsi0: Option<String>,
}

impl More {
    /// What they take that the rest of a new machine does not.
    pub(super) fn needs(&self, new: &NewGuest) -> Vec<Needs> {
        let cpu = PropertyString::parse(self.cpu.as_deref().unwrap_or_default());
        let model = cpu.default_or("cputype");
        let custom = model.and_then(|model| model.strip_prefix("custom-"));
        // A mapping since 9.2; before it, whoever could see the nodes.
        let custom = custom.map(|name| {
            Needs::Any(vec![
                Needs::on(format!("/mapping/cpu/{name}"), "Mapping.Use"),
                Needs::on("/nodes", "Sys.Audit"),
            ])
        });
        let boot = self.boot.as_ref().map(|_| new.need("VM.Config.Disk"));
        custom.into_iter().chain(boot).collect()
    }
}

impl CreateVm {
    /// Moves `cdrom` to `iso`. Fails if both are sent and differ.
    pub(super) fn take_cdrom(&mut self) -> Result<(), Fault> {
        let Some(cdrom) = self.cdrom.take() else {
            return Ok(());
        };
        if self.iso.as_ref().is_some_and(|iso| *iso != cdrom) {
            return Err(Fault::bad_input("iso and cdrom name different images")
                .hint("send only one of them; both mean the image in the CD drive"));
        }
        self.iso = Some(cdrom);
        Ok(())
    }

    /// Takes from PVE's own words what is chosen and checked under a name of ours: where the disk goes and how large it is,
    /// and the image in the drive.
    pub(super) fn spell_out(&mut self) -> Result<(), Fault> {
        if let Some(iso) = &mut self.iso
            && let Some(image) = iso.strip_suffix(",media=cdrom")
        {
            *iso = image.to_owned();
        }
        let Some(text) = &self.more.scsi0 else {
            return Ok(());
        };
        let Some((storage, size)) = new_disk(text) else {
            let shown = words::clip(text, 60);
            let message = format!("argument `scsi0`: \"{shown}\" is no new disk");
            return Err(Fault::bad_input(message).hint(
                "send STORAGE:GIB, such as local-lvm:32; update_proxmox_vm attaches a disk that exists",
            ));
        };
        let wrong = |error: &dyn std::fmt::Display| {
            Fault::bad_input(format!("argument `scsi0`: {error}"))
                .hint("send STORAGE:GIB, such as local-lvm:32")
        };
        let storage: StorageId = storage.parse().map_err(|error| wrong(&error))?;
        let size = size.parse().map_err(|error| wrong(&error))?;
        if self.storage.is_some() || self.disk_size.is_some() {
            return Err(
                Fault::bad_input("scsi0 says where the disk goes and how large it is")
                    .hint("leave storage and disk_size out, or scsi0"),
            );
        }
        (self.storage, self.disk_size) = (Some(storage), Some(size));
        Ok(())
    }
}

/// The storage and the size of a disk that is yet to be made, and empty.
fn new_disk(text: &str) -> Option<(String, String)> {
    let drive = PropertyString::parse(text);
    let (storage, size) = drive.default_or("file")?.split_once(':')?;
    let is_size = !size.is_empty() && size.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_new = is_size && drive.get("import-from").is_none();
    is_new.then(|| (storage.to_owned(), size.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_disks_are_taken() {
        let new = |text| new_disk(text).map(|(storage, size)| format!("{storage} {size}"));
        assert_eq!(new("local-lvm:32,ssd=1").as_deref(), Some("local-lvm 32"));
        assert_eq!(new("file=tank:0.5").as_deref(), Some("tank 0.5"));
        for other in [
            "local-lvm:vm-101-disk-1",
            "/dev/sdb",
            "local-lvm:0,import-from=nas:import/x.qcow2",
            "none",
            "",
        ] {
            assert_eq!(new(other), None, "{other}");
        }
    }
}
