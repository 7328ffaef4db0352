//! A node of the cluster.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::Time;
use crate::world::World;
use crate::world::acme::Certificate;
use crate::world::host::{Disk, Service, Settings, Update};

/// How long the last known state of a lost node's guests and storages is still shown.
const STATE_KEPT: Duration = Duration::from_mins(5);
/// How long a reboot takes.
const REBOOT: Duration = Duration::from_mins(2);
/// How long packets to a lost node vanish before the network says that it is gone.
const SILENCE: Duration = Duration::from_secs(30);

/// The bridge that every node has.
pub const BRIDGE: &str = "vmbr0";

/// One node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its number in the cluster.
    pub id: u32,
    /// Its address in the cluster's network.
    pub ip: String,
    /// Processors.
    pub cpus: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of the root disk.
    pub disk: u64,
    /// When it booted.
    pub boot: Time,
    /// Since when it has been unreachable.
    pub down_since: Option<Time>,
    /// SHA-256 of its certificate, filled in when the simulator listens.
    pub fingerprint: String,
    /// That certificate, likewise.
    pub certificate: String,
    /// When its certificate ends, where that is not two years after it was made.
    pub certificate_end: Option<Time>,
    /// The certificate that its web interface shows in place of the cluster's own.
    pub ordered: Option<Certificate>,
    /// When a reboot under way ends.
    pub back_at: Option<Time>,
    /// What can be set on it.
    pub settings: Settings,
    /// Network interfaces that are configured and not applied yet, by name.
    pub planned_interfaces: BTreeMap<String, serde_json::Value>,
    /// Its services by name.
    pub services: BTreeMap<String, Service>,
    /// Packages that have an update.
    pub updates: Vec<Update>,
    /// Its physical disks.
    pub disks: Vec<Disk>,
    /// Whether somebody installed CRIU, which PVE does not.
    pub criu: bool,
    /// The container whose memory was written to disk last; all of them are written to the same place.
    pub checkpoint: Option<u32>,
}

impl Node {
    /// Whether it answers.
    pub fn is_online(&self) -> bool {
        self.down_since.is_none()
    }

    /// Whether the state of its guests is still known: up, or down for less than five minutes.
    pub fn state_known(&self, now: Time) -> bool {
        self.down_since
            .is_none_or(|since| now.since(since) < STATE_KEPT)
    }

    /// Why a connection to it fails at this moment; `None` if it does not.
    pub fn connect_error(&self, now: Time) -> Option<&'static str> {
        let silent = now.since(self.down_since?) < SILENCE;
        Some(if silent {
            "Connection timed out"
        } else {
            "No route to host"
        })
    }

    /// Seconds since it booted.
    pub fn uptime(&self, now: Time) -> u64 {
        now.since(self.boot).as_secs()
    }

    /// The router of its network: the first address.
    pub fn gateway(&self) -> String {
        let network = self.ip.rsplit_once('.').map_or("", |(network, _)| network);
        format!("{network}.1")
    }

    /// Bytes of memory in use: a steady tenth.
    pub fn memory_used(&self) -> u64 {
        self.memory / 10
    }

    /// Bytes of the root disk in use: a steady tenth.
    pub fn disk_used(&self) -> u64 {
        self.disk / 10
    }
}

impl World {
    /// Whether guests can be connected to a bridge of that name: the one of every node, or a virtual network.
    pub fn has_bridge(&self, name: &str) -> bool {
        name == BRIDGE || self.sdn_vnets.contains_key(name)
    }

    /// Takes a node off the network, or brings it back freshly booted.
    pub fn set_online(&mut self, name: &str, online: bool) {
        let now = self.now;
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        if online == node.is_online() {
            return;
        }
        node.down_since = (!online).then_some(now);
        if online {
            node.boot = now;
            let lost = self.guests.values_mut().filter(|guest| guest.node == name);
            lost.for_each(super::guest::Guest::stop);
        }
    }

    /// Shuts a node down in an orderly way: its guests first. With `reboot` it comes back by itself.
    pub fn power_off(&mut self, name: &str, reboot: bool) {
        for guest in self.guests.values_mut().filter(|guest| guest.node == name) {
            guest.stop();
        }
        self.set_online(name, false);
        if let Some(node) = self.nodes.get_mut(name) {
            node.back_at = reboot.then_some(self.now + REBOOT);
        }
    }

    /// Brings nodes back whose reboot ends by `until`, with the guests that start on boot.
    pub(super) fn finish_reboots(&mut self, until: Time) {
        let due = |node: &&mut Node| node.back_at.is_some_and(|at| at <= until);
        let mut back = Vec::new();
        for node in self.nodes.values_mut().filter(due) {
            node.back_at = None;
            back.push(node.name.clone());
        }
        for name in back {
            self.set_online(&name, true);
            let starting = |guest: &&mut super::guest::Guest| {
                guest.node == name && guest.config.flag("onboot") && !guest.is_template()
            };
            let mut pid = self.next_pid;
            for guest in self.guests.values_mut().filter(starting) {
                pid += 1;
                guest.start(until, pid);
            }
            self.next_pid = pid;
        }
    }

    /// Whether the state of what is on that node is still known.
    pub fn state_known(&self, node: &str) -> bool {
        self.nodes
            .get(node)
            .is_some_and(|node| node.state_known(self.now))
    }
}
