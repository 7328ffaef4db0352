//! Writes a change down: first everything becomes pending, then what can be done is done.

use std::collections::BTreeSet;

use super::images::{self, Place};
use super::request::Change;
use super::rights::Owner;
use crate::api::nodes::qemu::drive::{Spec, is_drive};
use crate::api::nodes::qemu::one_line;
use crate::call::split_list;
use crate::error::ApiError;
use crate::world::World;
use crate::world::config::property;
use crate::world::guest::Kind::Qemu;
use crate::world::guest::{Guest, no_config_file};

/// A machine in the course of a change.
pub(super) struct Edit<'w> {
    pub(super) world: &'w mut World,
    pub(super) node: &'w str,
    pub(super) vmid: u32,
    pub(super) force: bool,
    owner: Owner<'w>,
    log: &'w mut Vec<String>,
    /// The boot order, as far as it is a list of devices.
    order: Vec<String>,
    /// The options this change touches; only these are hot-plugged.
    pub(super) modified: BTreeSet<String>,
}

/// Carries a change out. Like PVE it goes option by option: what came before an error stays.
///
/// # Errors
/// What PVE answers, or ends the task with.
pub(super) fn run(
    world: &mut World,
    node: &str,
    vmid: u32,
    change: &Change,
    log: &mut Vec<String>,
) -> Result<(), ApiError> {
    world
        .may_write_config(Qemu, node, vmid)
        .map_err(ApiError::fail)?;
    let mut edit = Edit {
        order: boot_order(world.need_guest(Qemu, node, vmid)?),
        world,
        node,
        vmid,
        force: change.force,
        owner: Owner {
            who: &change.who,
            vmid,
            pool: None,
        },
        log,
        modified: BTreeSet::new(),
    };
    for key in &change.delete {
        edit.delete(key)?;
    }
    for (key, value) in &change.set {
        edit.set(change, key, value)?;
    }
    edit.tidy()?;
    edit.plug()
}

fn boot_order(guest: &Guest) -> Vec<String> {
    let boot = guest.config.get("boot").unwrap_or_default();
    let order = property(boot, "order").unwrap_or_default();
    split_list(order).map(str::to_owned).collect()
}

fn print_order(devices: &[String]) -> String {
    match devices {
        [] => " ".to_owned(),
        devices => format!("order={}", devices.join(";")),
    }
}

impl Edit<'_> {
    pub(super) fn guest(&mut self) -> Result<&mut Guest, ApiError> {
        let missing = || ApiError::fail(no_config_file(Qemu, self.node, self.vmid));
        self.world
            .guest_mut(Qemu, self.node, self.vmid)
            .ok_or_else(missing)
    }

    fn delete(&mut self, key: &str) -> Result<(), ApiError> {
        let guest = self.guest()?;
        let waiting = guest.pending.get(key).cloned().flatten();
        let Some(value) = guest.config.get(key).map(str::to_owned).or(waiting.clone()) else {
            self.log.push(format!(
                "cannot delete '{key}' - not set in current configuration!"
            ));
            return Ok(());
        };
        let protected = guest.config.flag("protection");
        self.modified.insert(key.to_owned());
        if key.starts_with("unused") {
            return self.destroy_unused(key, &value, protected);
        }
        if is_drive(key) && protected {
            return Err(protected_error(&format!("can't remove drive '{key}'")));
        }
        self.owner.check_value(self.world, key, &value)?;
        if let Some(waiting) = waiting.filter(|_| is_drive(key)) {
            self.set_aside(key, &waiting)?;
        }
        self.leave_boot_order(key)?;
        let guest = self.guest()?;
        match key {
            // These need no restart in any case.
            "tags" | "vmstate" => {
                guest.pending.remove(key);
                guest.config.remove(key);
            }
            _ => {
                guest.pending.insert(key.to_owned(), None);
            }
        }
        if key == "vmstate" {
            self.free(&value)?;
        }
        Ok(())
    }

    /// Removes a device from the boot order.
    fn leave_boot_order(&mut self, key: &str) -> Result<(), ApiError> {
        if !self.order.iter().any(|device| device == key) {
            return Ok(());
        }
        self.order.retain(|device| device != key);
        self.change_boot_order()
    }

    fn change_boot_order(&mut self) -> Result<(), ApiError> {
        let order = print_order(&self.order);
        self.guest()?.pending.insert("boot".to_owned(), Some(order));
        self.modified.insert("boot".to_owned());
        Ok(())
    }

    fn destroy_unused(&mut self, key: &str, value: &str, protected: bool) -> Result<(), ApiError> {
        let volid = value.split(',').next().unwrap_or_default();
        if protected {
            return Err(protected_error(&format!(
                "can't remove unused disk '{volid}'"
            )));
        }
        self.owner.check_value(self.world, key, value)?;
        self.guest()?.pending.remove(key);
        self.destroy(key, volid)?;
        self.guest()?.config.remove(key);
        Ok(())
    }

    /// Destroys a volume of the machine's own; others are only forgotten.
    pub(super) fn destroy(&mut self, key: &str, volid: &str) -> Result<(), ApiError> {
        if !self.owns(volid) {
            return Ok(());
        }
        let id = volid.split(':').next().unwrap_or_default();
        let path = format!("/storage/{id}");
        let privs = ["Datastore.AllocateSpace"];
        crate::permission::require(self.world, self.owner.who, &path, &privs)?;
        let guest = self.guest()?;
        let elsewhere = guest
            .config
            .drives()
            .any(|drive| drive.key != key && drive.volume == volid);
        let in_snapshot = guest
            .snapshots
            .iter()
            .flat_map(|snapshot| snapshot.config.drives())
            .any(|drive| drive.volume == volid);
        if elsewhere || in_snapshot {
            return Err(ApiError::fail(format!(
                "unable to delete '{volid}' - volume is still in use (snapshot?)"
            )));
        }
        self.free(volid)
    }

    fn free(&mut self, volid: &str) -> Result<(), ApiError> {
        self.world
            .free_volume(self.node, volid)
            .map_err(ApiError::fail)?;
        Ok(())
    }

    fn owns(&self, volid: &str) -> bool {
        let name = self.world.parse_volid(volid);
        name.is_ok_and(|name| name.owner == Some(self.vmid))
    }

    /// Keeps the disk of a drive as unused. A cloud-init drive goes, and other media are just taken out.
    pub(super) fn set_aside(&mut self, key: &str, value: &str) -> Result<(), ApiError> {
        let Some(drive) = Spec::parse(key, value) else {
            return Ok(());
        };
        if drive.is_cloudinit() {
            self.free(drive.file())?;
            self.guest()?.cloudinit.clear();
        } else if !drive.is_cdrom() && self.owns(drive.file()) {
            self.guest()?.config.add_unused(drive.file());
        }
        Ok(())
    }

    fn set(&mut self, change: &Change, key: &str, value: &str) -> Result<(), ApiError> {
        self.modified.insert(key.to_owned());
        let guest = self.guest()?;
        let waiting = guest.pending.get(key).cloned().flatten();
        if waiting.as_deref() == Some(value) {
            return Ok(());
        }
        if let Some(old) = guest.config.get(key).map(str::to_owned) {
            self.owner.check_value(self.world, key, &old)?;
        }
        self.owner.check_value(self.world, key, value)?;
        let value = if is_drive(key) {
            self.set_drive(key, value, waiting.as_deref())?
        } else {
            self.stored(change, key, value)?
        };
        one_line(key, &value).map_err(ApiError::fail)?;
        let guest = self.guest()?;
        if key == "cipassword" {
            guest.pending.remove(key);
            guest.config.set(key, value);
        } else {
            guest.pending.insert(key.to_owned(), Some(value));
        }
        Ok(())
    }

    fn set_drive(
        &mut self,
        key: &str,
        value: &str,
        waiting: Option<&str>,
    ) -> Result<String, ApiError> {
        let guest = self.guest()?;
        let template = guest.is_template();
        let old = guest.config.get(key).map(str::to_owned);
        check_tpm_version(key, old.as_deref(), value)?;
        self.check_one_cloudinit(key, value)?;
        if let Some(waiting) = waiting {
            self.set_aside(key, waiting)?;
        }
        let place = Place {
            node: self.node,
            vmid: self.vmid,
            template,
        };
        let made = images::make(self.world, place, key, value, self.log).map_err(ApiError::fail)?;
        let medium =
            Spec::parse(key, value).is_some_and(|drive| drive.is_cdrom() && !drive.is_cloudinit());
        if medium && !self.order.is_empty() && !self.order.iter().any(|device| device == key) {
            self.order.push(key.to_owned());
            self.change_boot_order()?;
        }
        Ok(made)
    }

    /// A machine has one cloud-init drive.
    fn check_one_cloudinit(&mut self, key: &str, value: &str) -> Result<(), ApiError> {
        let is_cloudinit = |key: &str, value: &str| {
            Spec::parse(key, value).is_some_and(|drive| drive.is_cloudinit())
        };
        if !is_cloudinit(key, value) {
            return Ok(());
        }
        let guest = self.guest()?;
        let waiting = guest.pending.iter();
        let waiting = waiting.filter_map(|(key, value)| Some((key.as_str(), value.as_deref()?)));
        let mut all = guest.config.iter().chain(waiting);
        match all.find(|(other, value)| *other != key && is_cloudinit(other, value)) {
            Some((other, _)) => Err(ApiError::fail(format!(
                "{key} - cloud-init drive is already attached at '{other}'"
            ))),
            None => Ok(()),
        }
    }

    /// The value as the config will hold it.
    fn stored(&mut self, change: &Change, key: &str, value: &str) -> Result<String, ApiError> {
        match key {
            "tags" => Ok(unique_tags(value)),
            "cipassword" => Ok(encrypted(value)),
            "boot" => self.checked_order(change, value),
            _ => Ok(value.to_owned()),
        }
    }

    fn checked_order(&mut self, change: &Change, value: &str) -> Result<String, ApiError> {
        let Some(order) = property(value, "order") else {
            return Ok(value.to_owned());
        };
        let guest = self.guest()?;
        for device in split_list(order) {
            let there = guest.config.get(device).is_some()
                || matches!(guest.pending.get(device), Some(Some(_)))
                || change.set.contains_key(device);
            if !there || change.delete.iter().any(|key| key == device) {
                return Err(ApiError::fail(format!(
                    "invalid bootorder: device '{device}' does not exist'"
                )));
            }
        }
        let devices: Vec<String> = split_list(order).map(str::to_owned).collect();
        Ok(print_order(&devices))
    }

    /// Forgets pending changes that change nothing.
    fn tidy(&mut self) -> Result<(), ApiError> {
        let Guest {
            config, pending, ..
        } = self.guest()?;
        pending.retain(|key, value| match value {
            Some(value) => config.get(key) != Some(value),
            None => config.get(key).is_some(),
        });
        config.forget_unused_in_use();
        Ok(())
    }
}

fn protected_error(what: &str) -> ApiError {
    ApiError::fail(format!("{what} - protection mode enabled"))
}

fn check_tpm_version(key: &str, old: Option<&str>, new: &str) -> Result<(), ApiError> {
    let (Some(old), Some(new)) = (
        old.and_then(|old| Spec::parse(key, old)),
        Spec::parse(key, new),
    ) else {
        return Ok(());
    };
    let version = |drive: &Spec| drive.get("version").unwrap_or("v1.2").to_owned();
    if key == "tpmstate0" && old.file() == new.file() && version(&old) != version(&new) {
        return Err(ApiError::fail(
            "cannot change TPM state version after creation",
        ));
    }
    Ok(())
}

/// Tags sorted, in lower case, each once; none at all read back as a blank.
fn unique_tags(text: &str) -> String {
    let tags: BTreeSet<String> = split_list(text).map(str::to_lowercase).collect();
    let tags: Vec<String> = tags.into_iter().collect();
    match tags.join(";") {
        none if none.is_empty() => " ".to_owned(),
        tags => tags,
    }
}

/// A password as a hash, unless it is one.
fn encrypted(password: &str) -> String {
    let hashed = ["$1$", "$5$", "$6$", "$2a$", "$2y$"];
    if hashed.iter().any(|start| password.starts_with(start)) {
        return password.to_owned();
    }
    let digest = crate::world::digest_of(password);
    format!("$5$simulated${digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_sorted_lowered_and_unique() {
        assert_eq!(unique_tags("b;a;b,c D"), "a;b;c;d");
        assert_eq!(unique_tags(""), " ");
    }
}
