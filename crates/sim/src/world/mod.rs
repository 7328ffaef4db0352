//! The state of a cluster: plain data and the rules that belong to it. Nothing here knows HTTP or a route.
//!
//! One file per noun: [`access`] (users and rights), [`guest`] and [`config`], [`node`], [`storage`], [`task`].
//! Configurations that PVE keeps as sections of a file (backup jobs, HA resources, ...) are [`Section`]s here too.

pub mod access;
pub mod acme;
pub mod agent;
pub mod ceph;
pub mod config;
pub mod console;
pub mod display;
pub mod factor;
pub mod feature;
pub mod firewall;
pub mod guest;
pub mod ha;
pub mod host;
pub mod keys;
mod kind;
pub mod layout;
pub mod neighbour;
pub mod node;
pub mod outside;
pub mod removal;
pub mod retention;
pub mod roles;
pub mod sdn;
pub mod shell;
pub mod storage;
pub mod task;
pub mod ticket;
pub mod tty;
pub mod upid;
pub mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::clock::Time;
use crate::error::ApiError;
use crate::http::Received;
use access::Access;
use acme::Account;
use console::Console;
use firewall::{Firewall, Scope};
use guest::Guest;
use neighbour::Neighbour;
use node::Node;
use storage::{Storage, Volume};
use task::Tasks;
use ticket::Signer;

/// A whole cluster.
#[derive(Debug)]
pub struct World {
    /// The cluster's name.
    pub name: String,
    /// The release of PVE that every node runs: `9.1.8`.
    pub version: String,
    /// The present moment. Moved by [`World::advance`] only.
    pub now: Time,
    /// Nodes by name.
    pub nodes: BTreeMap<String, Node>,
    /// Guests of both kinds by id.
    pub guests: BTreeMap<u32, Guest>,
    /// Storage definitions by id.
    pub storages: BTreeMap<String, Storage>,
    /// Storages whose server does not answer (a fault to inject).
    pub silent_storages: BTreeSet<String>,
    /// Every volume of every storage.
    pub volumes: Vec<Volume>,
    /// Users, roles, rights.
    pub access: Access,
    /// Pools by name.
    pub pools: BTreeMap<String, Pool>,
    /// Backup jobs by id.
    pub backup_jobs: Sections,
    /// Replication jobs by id (`103-0`).
    pub replication_jobs: Sections,
    /// HA resources by service id (`vm:102`).
    pub ha_resources: Sections,
    /// HA rules by id.
    pub ha_rules: Sections,
    /// HA groups by name, up to version 8.
    pub ha_groups: Sections,
    /// External metric servers by id.
    pub metric_servers: Sections,
    /// SDN zones that run, by id.
    pub sdn_zones: Sections,
    /// SDN networks that run, by id.
    pub sdn_vnets: Sections,
    /// Subnets of SDN networks that run, by id (`lab-10.0.0.0-24`).
    pub sdn_subnets: Sections,
    /// SDN controllers that run, by id.
    pub sdn_controllers: Sections,
    /// What of SDN was configured and not applied.
    pub sdn_pending: sdn::Pending,
    /// Firewall configurations, as far as somebody wrote them.
    pub firewalls: BTreeMap<Scope, Firewall>,
    /// Ceph, where it is installed.
    pub ceph: Option<ceph::Ceph>,
    /// Container templates that can be downloaded.
    pub appliances: Vec<String>,
    /// `datacenter.cfg`.
    pub options: BTreeMap<String, String>,
    /// Running and finished tasks.
    pub tasks: Tasks,
    /// Quorum is lost although enough nodes are up (a fault to inject).
    pub quorum_lost: bool,
    /// HA takes requests but carries none out (a fault to inject).
    pub ha_frozen: bool,
    /// Services that the HA manager has given up (a fault to inject).
    pub ha_errors: BTreeSet<String>,
    /// Replication jobs that do not run as they should, by id (a fault to inject).
    pub replication_trouble: BTreeMap<String, ReplicationTrouble>,
    /// Consoles that wait for their client.
    pub consoles: Vec<Console>,
    /// The certificate of the cluster's own authority, filled in when the simulator listens.
    pub certificate: String,
    /// Signs tickets.
    pub signer: Signer,
    /// The node is in no cluster, and could join this one.
    pub alone: Option<Neighbour>,
    /// Accounts at certificate authorities, by name.
    pub acme_accounts: BTreeMap<String, Account>,
    /// Files that a request has brought and its handler may take, by the name they have on the node.
    pub uploads: BTreeMap<String, Received>,
    next_pid: u32,
    seed: u64,
}

/// A pool of guests and storages.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    /// Free text.
    pub comment: Option<String>,
    /// Its guests. PVE accepts ids that do not exist.
    pub guests: BTreeSet<u32>,
    /// Its storages.
    pub storages: BTreeSet<String>,
}

/// A replication job that has stopped working.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicationTrouble {
    /// When it last worked.
    pub last_sync: Time,
    /// How often it failed since; 0 if it was not even tried.
    pub fail_count: u32,
    /// What went wrong the last time.
    pub error: String,
}

/// One section of a config file: a type and properties, all of them text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// `vzdump`, `local`, `vm`, `node-affinity`, ...
    pub kind: String,
    /// Its properties.
    pub props: BTreeMap<String, String>,
}

/// Sections by id.
pub type Sections = BTreeMap<String, Section>;

impl World {
    /// Whether its release is older than version 9.
    pub fn is_before_9(&self) -> bool {
        self.version.starts_with("8.") || self.version.starts_with("7.")
    }

    /// A cluster without nodes, with a fresh installation's users and roles.
    pub fn empty(name: &str, now: Time) -> Self {
        Self {
            name: name.to_owned(),
            version: "9.1.8".to_owned(),
            now,
            nodes: BTreeMap::new(),
            guests: BTreeMap::new(),
            storages: BTreeMap::new(),
            silent_storages: BTreeSet::new(),
            volumes: Vec::new(),
            access: Access::fresh(),
            pools: BTreeMap::new(),
            backup_jobs: Sections::new(),
            replication_jobs: Sections::new(),
            ha_resources: Sections::new(),
            ha_rules: Sections::new(),
            ha_groups: Sections::new(),
            metric_servers: Sections::new(),
            sdn_zones: Sections::new(),
            sdn_vnets: Sections::new(),
            sdn_subnets: Sections::new(),
            sdn_controllers: Sections::new(),
            sdn_pending: sdn::Pending::new(),
            firewalls: BTreeMap::new(),
            ceph: None,
            appliances: Vec::new(),
            options: BTreeMap::new(),
            tasks: Tasks::default(),
            quorum_lost: false,
            ha_frozen: false,
            ha_errors: BTreeSet::new(),
            replication_trouble: BTreeMap::new(),
            consoles: Vec::new(),
            certificate: String::new(),
            signer: Signer::new(name),
            alone: None,
            acme_accounts: BTreeMap::new(),
            uploads: BTreeMap::new(),
            next_pid: 1000,
            seed: 0,
        }
    }

    /// Lets time pass: everything that falls due on the way happens, in order.
    pub fn advance(&mut self, span: Duration) {
        let until = self.now + span;
        self.run_tasks(until);
        self.finish_reboots(until);
        self.now = until;
        let down = |guest: &&mut Guest| guest.off_at.is_some_and(|at| at <= until);
        self.guests.values_mut().filter(down).for_each(Guest::stop);
    }

    /// Whether a majority of the nodes is up.
    pub fn is_quorate(&self) -> bool {
        let online = self.nodes.values().filter(|node| node.is_online()).count();
        !self.quorum_lost && online * 2 > self.nodes.len()
    }

    /// Fails as PVE does where a call checks for quorum first.
    ///
    /// # Errors
    /// 500 without quorum.
    pub fn require_quorum(&self) -> Result<(), ApiError> {
        if self.is_quorate() {
            Ok(())
        } else {
            Err(ApiError::fail("cluster not ready - no quorum?"))
        }
    }

    /// Fails as PVE does where a call changes a cluster-wide file, e.g. `user_cfg`.
    ///
    /// # Errors
    /// 500 without quorum; `action` stands in front, e.g. `create pool failed: `.
    pub fn lock_file(&self, action: &str, file: &str) -> Result<(), ApiError> {
        if self.is_quorate() {
            Ok(())
        } else {
            Err(ApiError::fail(format!(
                "{action}cfs-lock 'file-{file}' error: no quorum!"
            )))
        }
    }

    /// A process id that was not used before.
    pub fn new_pid(&mut self) -> u32 {
        self.next_pid += 1;
        self.next_pid
    }

    /// 16 bytes that differ each time, the same in every run of the same world.
    pub fn random(&mut self) -> [u8; 16] {
        self.seed += 1;
        let digest = Sha256::digest(format!("{}:{}", self.name, self.seed));
        std::array::from_fn(|at| digest[at])
    }

    /// A UUID for `smbios1`, `vmgenid` and token secrets.
    pub fn new_uuid(&mut self) -> String {
        let hex = hex(&self.random());
        format!(
            "{}-{}-4{}-8{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[13..16],
            &hex[17..20],
            &hex[20..]
        )
    }

    /// A MAC address with PVE's prefix.
    pub fn new_mac(&mut self) -> String {
        let [a, b, c, ..] = self.random();
        format!("BC:24:11:{a:02X}:{b:02X}:{c:02X}")
    }
}

/// The digest of a config file: opaque, 40 hex digits, another one after every change.
pub fn digest_of(text: &str) -> String {
    hex(&Sha256::digest(text)[..20])
}

/// Two digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}
