//! What each option of a config asks of the one who sets it.

use crate::api::nodes::guest::access::check_bridge;
use crate::api::nodes::qemu::drive::{Spec, is_drive};
use crate::call::Identity;
use crate::error::ApiError;
use crate::permission;
use crate::world::World;
use crate::world::config::property;

/// A caller, and the machine whose config is meant. The pool counts for a machine that is only being made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    pub(crate) who: &'a Identity,
    pub(crate) vmid: u32,
    pub(crate) pool: Option<&'a str>,
}

const CPU: &[&str] = &[
    "cores",
    "cpu",
    "runningcpu",
    "cpulimit",
    "cpuunits",
    "numa",
    "smp",
    "sockets",
    "vcpus",
];
const MEMORY: &[&str] = &["memory", "balloon", "shares", "allow-ksm"];
const HARDWARE: &[&str] = &[
    "acpi",
    "hotplug",
    "kvm",
    "machine",
    "runningmachine",
    "scsihw",
    "smbios1",
    "tablet",
    "vga",
    "watchdog",
    "audio0",
    "rng0",
];
const GENERAL: &[&str] = &[
    "agent",
    "autostart",
    "bios",
    "description",
    "keyboard",
    "localtime",
    "migrate_downtime",
    "migrate_speed",
    "name",
    "onboot",
    "ostype",
    "protection",
    "reboot",
    "startdate",
    "startup",
    "tdf",
    "template",
];
const DISK: &[&str] = &["boot", "bootdisk", "vmstatestorage"];
/// The options that a cloud-init drive is made from, beside the network.
pub(crate) const CLOUDINIT: &[&str] = &[
    "cicustom",
    "cipassword",
    "citype",
    "ciuser",
    "ciupgrade",
    "nameserver",
    "searchdomain",
    "sshkeys",
];

fn family(key: &str) -> &str {
    key.trim_end_matches(|c: char| c.is_ascii_digit())
}

impl Owner<'_> {
    /// Requires privileges on the machine or on its pool-to-be, and names the first that is missing.
    pub(crate) fn require(&self, world: &World, privs: &[&str]) -> Result<(), ApiError> {
        let on_pool = self.pool.is_some_and(|pool| {
            let path = format!("/pool/{pool}");
            privs.iter().all(|name| world.may(self.who, &path, name))
        });
        if on_pool {
            return Ok(());
        }
        let path = format!("/vms/{}", self.vmid);
        privs
            .iter()
            .try_for_each(|name| permission::require(world, self.who, &path, &[*name]))
    }

    fn require_any(&self, world: &World, privs: &[&str]) -> Result<(), ApiError> {
        let on_pool = self.pool.is_some_and(|pool| {
            let path = format!("/pool/{pool}");
            privs.iter().any(|name| world.may(self.who, &path, name))
        });
        if on_pool {
            return Ok(());
        }
        permission::require_any(world, self.who, &format!("/vms/{}", self.vmid), privs)
    }

    /// Checks options by their names alone. Drives, ports and passed-through devices are checked by value elsewhere.
    pub(crate) fn check_options<'k>(
        &self,
        world: &World,
        keys: impl IntoIterator<Item = &'k str>,
    ) -> Result<(), ApiError> {
        if self.who.is_root() {
            return Ok(());
        }
        keys.into_iter()
            .try_for_each(|key| self.check_option(world, key))
    }

    fn check_option(&self, world: &World, key: &str) -> Result<(), ApiError> {
        let by_value = ["unused", "serial", "usb", "hostpci", "virtiofs"];
        if is_drive(key) || by_value.contains(&family(key)) || key == "tags" {
            return Ok(());
        }
        if CPU.contains(&key) || family(key) == "numa" {
            return self.require(world, &["VM.Config.CPU"]);
        }
        if MEMORY.contains(&key) {
            return self.require(world, &["VM.Config.Memory"]);
        }
        if HARDWARE.contains(&key) {
            return self.require(world, &["VM.Config.HWType"]);
        }
        if GENERAL.contains(&key) {
            self.require(world, &["VM.Config.Options"])?;
            // It changes how the node boots.
            return match key {
                "startup" => permission::require(world, self.who, "/", &["Sys.Modify"]),
                _ => Ok(()),
            };
        }
        if DISK.contains(&key) {
            return self.require(world, &["VM.Config.Disk"]);
        }
        if CLOUDINIT.contains(&key) || family(key) == "ipconfig" {
            return self.require_any(world, &["VM.Config.Cloudinit", "VM.Config.Network"]);
        }
        match (key, family(key)) {
            ("freeze", _) => self.require(world, &["VM.PowerMgmt"]),
            ("running-nets-host-mtu", _) | (_, "net") => {
                self.require(world, &["VM.Config.Network"])
            }
            ("vmstate", _) => self.require(world, &["VM.Config.Disk", "VM.PowerMgmt"]),
            _ => Err(ApiError::fail(format!("only root can set '{key}' config"))),
        }
    }

    /// Checks an option whose rights depend on its value.
    pub(crate) fn check_value(
        &self,
        world: &World,
        key: &str,
        value: &str,
    ) -> Result<(), ApiError> {
        match family(key) {
            _ if self.who.is_root() => Ok(()),
            _ if is_drive(key) => self.check_drive(world, key, value),
            "tags" => self.require(world, &["VM.Config.Options"]),
            // The bridge that a card leaves counts as well as the one that it goes to.
            "net" => check_bridge(world, self.who, value),
            "unused" => self.require(world, &["VM.Config.Disk"]),
            "serial" if value == "socket" => self.require(world, &["VM.Config.HWType"]),
            "serial" => Err(only_root(key, "real devices")),
            "usb" => self.check_usb(world, key, value),
            "hostpci" => self.check_pci(world, key, value),
            "virtiofs" => {
                self.require(world, &["VM.Config.Disk"])?;
                let mapping = value.split(',').next().unwrap_or_default();
                let mapping = mapping.strip_prefix("dirid=").unwrap_or(mapping);
                self.use_mapping(world, &format!("dir/{mapping}"))
            }
            _ if key == "rng0" && value.contains("/dev/hwrng") => self.use_mapping(world, "hwrng"),
            _ => Ok(()),
        }
    }

    fn check_drive(&self, world: &World, key: &str, value: &str) -> Result<(), ApiError> {
        let drive = Spec::parse(key, value);
        match drive {
            Some(drive) if drive.is_cloudinit() => {
                self.require(world, &["VM.Config.Cloudinit", "VM.Config.CDROM"])
            }
            Some(drive) if drive.is_cdrom() => self.require(world, &["VM.Config.CDROM"]),
            _ => self.require(world, &["VM.Config.Disk"]),
        }
    }

    fn check_usb(&self, world: &World, key: &str, value: &str) -> Result<(), ApiError> {
        self.require(world, &["VM.Config.HWType"])?;
        match property(value, "mapping") {
            Some(mapping) => self.use_mapping(world, &format!("usb/{mapping}")),
            None if value.to_ascii_lowercase().contains("spice") => Ok(()),
            None => Err(only_root(key, "real devices")),
        }
    }

    fn check_pci(&self, world: &World, key: &str, value: &str) -> Result<(), ApiError> {
        match property(value, "mapping") {
            Some(mapping) => {
                self.use_mapping(world, &format!("pci/{mapping}"))?;
                self.require(world, &["VM.Config.HWType"])
            }
            None => Err(only_root(key, "non-mapped devices")),
        }
    }

    fn use_mapping(&self, world: &World, mapping: &str) -> Result<(), ApiError> {
        let path = format!("/mapping/{mapping}");
        permission::require(world, self.who, &path, &["Mapping.Use"])
    }
}

fn only_root(key: &str, what: &str) -> ApiError {
    ApiError::fail(format!("only root can set '{key}' config for {what}"))
}
