//! What is on a node besides its guests: services, packages that have an update, disks.

use std::collections::BTreeMap;

/// What can be set on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The domain that short names are looked up in; may be empty.
    pub search: String,
    /// Name servers, up to three.
    pub dns: Vec<String>,
    /// `Etc/UTC`, and no other time zone changes anything here.
    pub timezone: String,
    /// The text of `/etc/hosts`, if somebody wrote it; else it names the nodes.
    pub hosts: Option<String>,
    /// The options of the node, `description` and the like.
    pub config: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            search: String::new(),
            dns: Vec::new(),
            timezone: "Etc/UTC".to_owned(),
            hosts: None,
            config: BTreeMap::new(),
        }
    }
}

/// The services that PVE tells about, in the order of its lists.
pub const SERVICES: &[&str] = &[
    "chrony",
    "corosync",
    "cron",
    "ksmtuned",
    "lxcfs",
    "postfix",
    "proxmox-firewall",
    "pve-cluster",
    "pve-firewall",
    "pve-ha-crm",
    "pve-ha-lrm",
    "pve-lxc-syscalld",
    "pvedaemon",
    "pvefw-logger",
    "pveproxy",
    "pvescheduler",
    "pvestatd",
    "qmeventd",
    "spiceproxy",
    "sshd",
    "syslog",
    "systemd-journald",
    "systemd-timesyncd",
];

/// What systemd knows about one service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its description; that of an unknown unit is the unit's name.
    pub description: String,
    /// `enabled`, `disabled`, `static`, `masked`, `not-found`.
    pub unit: &'static str,
    /// `active`, `inactive`, `failed`.
    pub active: &'static str,
    /// `running`, `dead`, `failed`.
    pub state: &'static str,
}

impl Service {
    fn running(description: &str, unit: &'static str) -> Self {
        Self {
            description: description.to_owned(),
            unit,
            active: "active",
            state: "running",
        }
    }

    fn absent(name: &str) -> Self {
        Self {
            description: format!("{name}.service"),
            unit: "not-found",
            active: "inactive",
            state: "dead",
        }
    }

    /// Marks it as one that broke down.
    pub fn fail(&mut self) {
        (self.active, self.state) = ("failed", "failed");
    }

    /// Marks it as running, or as stopped in an orderly way.
    pub fn set_running(&mut self, running: bool) {
        (self.active, self.state) = if running {
            ("active", "running")
        } else {
            ("inactive", "dead")
        };
    }
}

/// The services of a node as the installer leaves them.
pub fn installed_services() -> BTreeMap<String, Service> {
    let described = |name: &str| match name {
        "chrony" => Some("chrony, an NTP client/server"),
        "corosync" => Some("Corosync Cluster Engine"),
        "cron" => Some("Regular background program processing daemon"),
        "ksmtuned" => Some("Kernel Samepage Merging (KSM) Tuning Daemon"),
        "lxcfs" => Some("FUSE filesystem for LXC"),
        "postfix" => Some("Postfix Mail Transport Agent"),
        "proxmox-firewall" => Some("Proxmox nftables firewall"),
        "pve-cluster" => Some("The Proxmox VE cluster filesystem"),
        "pve-firewall" => Some("Proxmox VE firewall"),
        "pve-ha-crm" => Some("PVE Cluster HA Resource Manager Daemon"),
        "pve-ha-lrm" => Some("PVE Local HA Resource Manager Daemon"),
        "pvedaemon" => Some("PVE API Daemon"),
        "pvefw-logger" => Some("Proxmox VE firewall logger"),
        "pveproxy" => Some("PVE API Proxy Server"),
        "pvescheduler" => Some("Proxmox VE scheduler"),
        "pvestatd" => Some("PVE Status Daemon"),
        "qmeventd" => Some("PVE Qemu Event Daemon"),
        "spiceproxy" => Some("PVE SPICE Proxy Server"),
        "sshd" => Some("OpenBSD Secure Shell server"),
        "systemd-journald" => Some("Journal Service"),
        _ => None,
    };
    let service = |name: &str| match (name, described(name)) {
        (_, None) => Service::absent(name),
        ("systemd-journald" | "pvefw-logger", Some(text)) => Service::running(text, "static"),
        (_, Some(text)) => Service::running(text, "enabled"),
    };
    let named = SERVICES
        .iter()
        .map(|name| ((*name).to_owned(), service(name)));
    named.collect()
}

/// An installed package that has a newer version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Its name.
    pub package: String,
    /// Its short description.
    pub title: String,
    /// The version installed.
    pub old: String,
    /// The version to come.
    pub new: String,
    /// Who made it: `Proxmox` or `Debian`.
    pub origin: String,
}

/// A physical disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Its name below `/dev`.
    pub device: String,
    /// Its model.
    pub model: String,
    /// Its vendor, as the bus tells it.
    pub vendor: String,
    /// Its serial number.
    pub serial: String,
    /// Bytes.
    pub size: u64,
    /// `nvme`, `ssd`, `hdd`.
    pub kind: DiskKind,
    /// What SMART says: `PASSED`, `FAILED!`.
    pub health: String,
    /// What is left of an SSD's life, in percent.
    pub life_left: Option<u64>,
    /// What it is used for: `LVM`, `ZFS`, `ext4`; `None` for an unused disk.
    pub used: Option<String>,
    /// Whether somebody gave it an empty partition table.
    pub gpt: bool,
}

impl Disk {
    /// The link to it that outlives another order of disks.
    pub fn link(&self) -> String {
        let bus = match self.kind {
            DiskKind::Nvme => "nvme",
            DiskKind::Ssd | DiskKind::Hdd => "ata",
        };
        let model = self.model.replace(' ', "_");
        format!("/dev/disk/by-id/{bus}-{model}_{}", self.serial)
    }

    /// Whether a path leads to it: its own, or the link, which PVE follows.
    pub fn is_at(&self, path: &str) -> bool {
        path.trim_start_matches("/dev/") == self.device || path == self.link()
    }
}

/// How a disk stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskKind {
    /// Flash on PCI Express.
    Nvme,
    /// Flash on SATA or SAS.
    Ssd,
    /// Turning platters, so many times a minute.
    Hdd,
}

impl DiskKind {
    /// PVE's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nvme => "nvme",
            Self::Ssd => "ssd",
            Self::Hdd => "hdd",
        }
    }
}
