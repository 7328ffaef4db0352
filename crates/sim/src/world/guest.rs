//! A guest of either kind: configuration, snapshots, power. What differs in names and paths is in [`Kind`].

use std::collections::BTreeMap;

use crate::clock::Time;
use crate::error::ApiError;
use crate::world::agent::Agent;
use crate::world::config::{Config, property};
use crate::world::display::Display;
use crate::world::node::Node;
use crate::world::outside::Outside;
use crate::world::tty::Terminals;
use crate::world::{World, digest_of};

pub use crate::world::kind::Kind;

/// Whether a guest runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// It does not.
    Stopped,
    /// It does.
    Running {
        /// Since when.
        since: Time,
        /// Its main process.
        pid: u32,
        /// Paused: its status is still `running`.
        paused: bool,
    },
}

/// What lives inside a guest, as far as the outside notices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// An operating system that reacts to a shutdown request. A VM with a blank disk has none.
    pub os: bool,
    /// The QEMU guest agent runs.
    pub agent: bool,
}

/// One snapshot.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its name.
    pub name: String,
    /// The one it was taken after.
    pub parent: Option<String>,
    /// When.
    pub time: Time,
    /// Free text.
    pub description: String,
    /// The config of that moment.
    pub config: Config,
    /// The volume with the RAM, if it was saved.
    pub vmstate: Option<String>,
    /// `prepare` or `delete` while a task is at it, or after that task failed.
    pub state: Option<&'static str>,
}

/// A guest.
#[derive(Clone, Debug)]
pub struct Guest {
    /// Its id.
    pub vmid: u32,
    /// VM or container.
    pub kind: Kind,
    /// Where its config file is.
    pub node: String,
    /// The config.
    pub config: Config,
    /// Changes that wait for a restart; `None` deletes the key.
    pub pending: BTreeMap<String, Option<String>>,
    /// What the cloud-init drive was made with, where the config says otherwise by now; `None` if it had no such value.
    pub cloudinit: BTreeMap<String, Option<String>>,
    /// Snapshots in the order they were taken.
    pub snapshots: Vec<Snapshot>,
    /// Whether it runs.
    pub power: Power,
    /// What is inside.
    pub inside: Inside,
    /// The agent inside, as far as one runs.
    pub agent: Agent,
    /// When it will have gone down, if somebody inside asked for that.
    pub off_at: Option<Time>,
    /// Key combinations sent to a VM's keyboard since it started, oldest first: `shift-a`, `ret`.
    pub keys: Vec<String>,
    /// What a VM shows.
    pub display: Display,
    /// A real display that is shown instead.
    pub outside: Option<Outside>,
    /// Its terminals.
    pub terminals: Terminals,
}

impl Guest {
    /// A stopped guest.
    pub fn new(vmid: u32, kind: Kind, node: &str, config: Config) -> Self {
        Self {
            vmid,
            kind,
            node: node.to_owned(),
            config,
            pending: BTreeMap::new(),
            cloudinit: BTreeMap::new(),
            snapshots: Vec::new(),
            power: Power::Stopped,
            inside: Inside::default(),
            agent: Agent::default(),
            off_at: None,
            keys: Vec::new(),
            display: Display::default(),
            outside: None,
            terminals: Terminals::default(),
        }
    }

    /// Whether it runs, paused or not.
    pub fn is_running(&self) -> bool {
        self.power != Power::Stopped
    }

    /// `running` or `stopped`.
    pub fn status(&self) -> &'static str {
        if self.is_running() {
            "running"
        } else {
            "stopped"
        }
    }

    /// QEMU's own view: also `paused`.
    pub fn qmp_status(&self) -> &'static str {
        match self.power {
            Power::Running { paused: true, .. } => "paused",
            Power::Running { .. } => "running",
            Power::Stopped => "stopped",
        }
    }

    /// Whether it is a template.
    pub fn is_template(&self) -> bool {
        self.config.flag("template")
    }

    /// Its name or host name, or what PVE shows without one.
    pub fn name(&self) -> String {
        let (key, unnamed) = match self.kind {
            Kind::Qemu => ("name", "VM "),
            Kind::Lxc => ("hostname", "CT"),
        };
        let given = self.config.get(key).map(str::to_owned);
        given.unwrap_or_else(|| format!("{unnamed}{}", self.vmid))
    }

    /// Seconds it has been running.
    pub fn uptime(&self, now: Time) -> u64 {
        match self.power {
            Power::Running { since, .. } => now.since(since).as_secs(),
            Power::Stopped => 0,
        }
    }

    /// Bytes of memory it may use.
    pub fn max_memory(&self) -> u64 {
        let text = self.config.get("memory").unwrap_or("512");
        let mebibytes = property(text, "current")
            .unwrap_or(text)
            .parse::<u64>()
            .unwrap_or(512);
        mebibytes.saturating_mul(1 << 20)
    }

    /// Processors it may use. A container without a limit has those of its node.
    pub fn cpus(&self, node: Option<&Node>) -> u64 {
        match self.kind {
            Kind::Qemu => {
                let plugged = self.config.int("vcpus");
                plugged.unwrap_or_else(|| self.places_for_cpus())
            }
            Kind::Lxc => self
                .config
                .int("cores")
                .unwrap_or_else(|| node.map_or(1, |node| node.cpus)),
        }
    }

    /// Processors that a machine has places for, whether they are plugged in or not.
    pub(crate) fn places_for_cpus(&self) -> u64 {
        let count = |key| self.config.int(key).unwrap_or(1);
        count("sockets").saturating_mul(count("cores"))
    }

    /// The size of the disk that counts as the guest's: a VM's first boot disk, a container's root.
    pub fn max_disk(&self) -> u64 {
        let boot_disk = match self.kind {
            Kind::Lxc => self.config.drive("rootfs"),
            Kind::Qemu => {
                let order = self
                    .config
                    .get("boot")
                    .and_then(|boot| property(boot, "order"));
                let mut keys = order.into_iter().flat_map(|order| order.split(';'));
                keys.find_map(|key| self.config.drive(key).filter(|drive| !drive.is_cdrom()))
            }
        };
        boot_disk.map_or(0, |drive| drive.size())
    }

    /// Whether the config turns the guest agent on.
    pub fn agent_enabled(&self) -> bool {
        let agent = self.config.get("agent").unwrap_or("0");
        agent
            .split(',')
            .next()
            .is_some_and(|first| first == "1" || first == "enabled=1")
    }

    /// The digest of its config file, snapshots included.
    pub fn digest(&self) -> String {
        let pending = self
            .pending
            .iter()
            .map(|(key, value)| format!("[PENDING] {key}: {value:?}\n"));
        let snapshots = self.snapshots.iter().map(|snapshot| {
            let Snapshot {
                name,
                description,
                config,
                ..
            } = snapshot;
            format!("[{name}] {description}\n{}", config.to_text())
        });
        let parts: Vec<String> = pending.chain(snapshots).collect();
        digest_of(&(self.config.to_text() + &parts.concat()))
    }

    /// Fails if the config holds a lock, in the words of a task.
    ///
    /// # Errors
    /// `VM is locked (backup)`.
    pub fn check_lock(&self) -> Result<(), String> {
        match self.config.get("lock") {
            Some(lock) => Err(format!("{} is locked ({lock})", self.kind.label())),
            None => Ok(()),
        }
    }

    /// The snapshot of that name.
    pub fn snapshot(&self, name: &str) -> Option<&Snapshot> {
        self.snapshots.iter().find(|snapshot| snapshot.name == name)
    }

    /// Notes a volume as unused, unless a config or snapshot still names it.
    pub fn add_unused(&mut self, volid: &str) {
        if self.volumes().contains(&volid) {
            return;
        }
        let free = (0..256).map(|index| format!("unused{index}"));
        let key = free.into_iter().find(|key| self.config.get(key).is_none());
        if let Some(key) = key {
            self.config.set(key, volid);
        }
    }

    /// Every volume that config and snapshots name.
    pub fn volumes(&self) -> Vec<&str> {
        let configs = std::iter::once(&self.config)
            .chain(self.snapshots.iter().map(|snapshot| &snapshot.config));
        let drives = configs
            .flat_map(Config::drives)
            .filter(|drive| drive.storage().is_some());
        let states = self
            .snapshots
            .iter()
            .filter_map(|snapshot| snapshot.vmstate.as_deref());
        let mut volumes: Vec<&str> = drives.map(|drive| drive.volume).chain(states).collect();
        volumes.sort_unstable();
        volumes.dedup();
        volumes
    }

    /// Notes a change that the cloud-init drive does not know yet, or forgets one that was taken back.
    pub fn record_cloudinit(&mut self, key: &str, old: Option<&str>, new: Option<&str>) {
        let known = self.cloudinit.get(key);
        if known.is_some_and(|known| known.as_deref() == new) {
            self.cloudinit.remove(key);
        } else if known.is_none() && old != new {
            self.cloudinit
                .insert(key.to_owned(), old.map(str::to_owned));
        }
    }

    /// Starts it now.
    pub fn start(&mut self, now: Time, pid: u32) {
        self.keys.clear();
        self.display = Display::default();
        self.terminals = Terminals::default();
        self.agent.reset();
        self.off_at = None;
        self.cloudinit.clear();
        self.power = Power::Running {
            since: now,
            pid,
            paused: false,
        };
    }

    /// Stops it and makes pending changes real. The disk of a drive that goes stays as an unused one.
    pub fn stop(&mut self) {
        self.power = Power::Stopped;
        self.off_at = None;
        for (key, value) in std::mem::take(&mut self.pending) {
            let drive = self.config.drive(&key).filter(|drive| !drive.is_cdrom());
            let disk =
                drive.filter(|drive| drive.storage().is_some() && !key.starts_with("unused"));
            let disk = disk.map(|drive| drive.volume.to_owned());
            match value {
                Some(value) => self.config.store(&key, &value),
                None => drop(self.config.remove(&key)),
            }
            if let Some(disk) = disk {
                self.config.add_unused(&disk);
            }
        }
        self.config.forget_unused_in_use();
    }
}

impl World {
    /// The guest with this id, if it is of this kind and on this node; PVE looks nowhere else.
    pub fn guest(&self, kind: Kind, node: &str, vmid: u32) -> Option<&Guest> {
        self.guests
            .get(&vmid)
            .filter(|guest| guest.kind == kind && guest.node == node)
    }

    /// Like [`World::guest`], to change it.
    pub fn guest_mut(&mut self, kind: Kind, node: &str, vmid: u32) -> Option<&mut Guest> {
        self.guests
            .get_mut(&vmid)
            .filter(|guest| guest.kind == kind && guest.node == node)
    }

    /// The guest, or the error most calls give when there is none.
    ///
    /// # Errors
    /// `Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist`.
    pub fn need_guest(&self, kind: Kind, node: &str, vmid: u32) -> Result<&Guest, ApiError> {
        self.guest(kind, node, vmid)
            .ok_or_else(|| ApiError::fail(no_config_file(kind, node, vmid)))
    }
}

impl World {
    /// Fails as a task does that cannot write a config because there is no quorum.
    ///
    /// # Errors
    /// `unable to open file '/etc/pve/nodes/pve1/qemu-server/710.conf.tmp.1915' - Permission denied`.
    pub fn may_write_config(&mut self, kind: Kind, node: &str, vmid: u32) -> Result<(), String> {
        if self.is_quorate() {
            return Ok(());
        }
        let (file, pid) = (kind.config_file(node, vmid), self.new_pid());
        Err(format!(
            "unable to open file '/etc/pve/{file}.tmp.{pid}' - Permission denied"
        ))
    }
}

/// The message of most calls for a guest that is not there.
pub fn no_config_file(kind: Kind, node: &str, vmid: u32) -> String {
    let file = kind.config_file(node, vmid);
    format!("Configuration file '{file}' does not exist")
}

/// The message of those calls that look for a VM differently.
pub fn no_vm_on_node(node: &str, vmid: u32) -> String {
    format!("unable to find configuration file for VM {vmid} on node '{node}'")
}
