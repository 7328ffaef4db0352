//! What a tool declares about itself, and nothing about how it works.

use serde::{Deserialize, Serialize};

use crate::inherited::InheritedArgument;
use crate::need::Need;

/// How much a call can cost. Ordered: a later one is worse.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Risk {
    /// Nothing changes.
    Read,
    /// Something is added or altered; nothing that runs is interrupted, nothing is lost.
    Change,
    /// A running guest or service is interrupted.
    Disrupt,
    /// A volume, snapshot, backup or configuration is removed or overwritten.
    Destroy,
    /// Power is handed out: users, tokens, commands inside a guest, credentials put into it.
    Grant,
}

impl Risk {
    /// The word used in text, rules and the audit trail.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Change => "change",
            Self::Disrupt => "disrupt",
            Self::Destroy => "destroy",
            Self::Grant => "grant",
        }
    }
}

/// A named group of tools that is switched on or off as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Toolset {
    /// What an operator does in a day; on by default.
    Core,
    /// How the whole estate does: history, digest, findings, drift.
    Ops,
    /// VMs in detail: what their guest agents do.
    Qemu,
    /// Terminals of containers, and of VMs with a serial port.
    Console,
    /// Nodes in detail: network, services, logs, tasks, disks, updates.
    Nodes,
    /// Containers in detail.
    Lxc,
    /// Storages: definitions, content, disks made into storages.
    Storage,
    /// The cluster itself: options, replication, notifications, mappings, Ceph, certificates.
    Cluster,
    /// Who may do what: users, groups, roles, tokens, realms.
    Access,
    /// Backup jobs, and what backups hold.
    Backup,
    /// Firewalls of cluster, nodes and guests.
    Firewall,
    /// High availability.
    Ha,
    /// Pools of guests and storages.
    Pools,
    /// Software-defined networks.
    Sdn,
    /// Names of another server's tools that do what the core does, and the community's scripts.
    Homelab,
    /// Three tools that find, preview and call all the others, for clients that can afford no long list.
    Lean,
}

impl Toolset {
    /// Every toolset, in the order of the documentation.
    pub const ALL: &[Self] = &[
        Self::Core,
        Self::Ops,
        Self::Qemu,
        Self::Console,
        Self::Nodes,
        Self::Lxc,
        Self::Storage,
        Self::Cluster,
        Self::Access,
        Self::Backup,
        Self::Firewall,
        Self::Ha,
        Self::Pools,
        Self::Sdn,
        Self::Homelab,
        Self::Lean,
    ];

    /// Whether its tools have the names and arguments of another server's, so that its callers send what it takes for
    /// "left out".
    pub fn is_inherited(self) -> bool {
        !matches!(self, Self::Core | Self::Ops | Self::Console | Self::Lean)
    }

    /// The name as written after `--toolsets`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Ops => "ops",
            Self::Qemu => "qemu",
            Self::Console => "console",
            Self::Nodes => "nodes",
            Self::Lxc => "lxc",
            Self::Storage => "storage",
            Self::Cluster => "cluster",
            Self::Access => "access",
            Self::Backup => "backup",
            Self::Firewall => "firewall",
            Self::Ha => "ha",
            Self::Pools => "pools",
            Self::Sdn => "sdn",
            Self::Homelab => "homelab",
            Self::Lean => "lean",
        }
    }

    /// The toolset of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|set| set.word() == word)
    }
}

/// One call that works on the demo world. Examples are documentation and test at once: every sweep runs them.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// What a person would have asked for.
    pub ask: &'static str,
    /// The arguments, as JSON.
    pub args: &'static str,
}

/// What a tool takes that not every cluster has, and that no privilege gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Somebody who logs in with a password: PVE lets no API token do it.
    Login,
    /// A PVE before 9, which has no more what it is about.
    Before9,
    /// CRIU, which PVE does not install.
    Criu,
    /// A node that is in no cluster.
    NoCluster,
}

/// A tool's declaration. Its description and parameters come from the doc comments of its arguments struct.
#[derive(Debug)]
pub struct Spec {
    /// `verb_noun`; see [`crate::registry`] for the verbs.
    pub name: &'static str,
    /// For people, in lists and dialogs.
    pub title: &'static str,
    /// The group that switches it on.
    pub toolset: Toolset,
    /// The worst that any arguments can do. The plan holds what *these* arguments do.
    pub risk: Risk,
    /// Whether a second identical call changes nothing more.
    pub idempotent: bool,
    /// What it has that most tools do not.
    pub special: Special,
    /// The privileges that its calls take; exactly which of them, a plan says.
    pub needs: Need,
    /// At least one, the plainest first.
    pub examples: &'static [Example],
}

impl Spec {
    /// Whether this group switches it on.
    pub fn is_in(&self, toolset: Toolset) -> bool {
        self.toolset == toolset || self.special.also_in == Some(toolset)
    }

    /// Whether it works only where there is this.
    pub fn wants(&self, what: Wants) -> bool {
        self.special.wants.contains(&what)
    }
}

/// What few tools have. Those that have nothing of it say [`Special::NONE`].
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and few tools have any"
)]
pub struct Special {
    /// Arguments that it lists besides its own because another Proxmox MCP server's tool of this name has them.
    pub inherited: &'static [InheritedArgument],
    /// Accepts `host` as a synonym of `cluster` without listing it.
    pub accepts_host: bool,
    /// Whether a person may let one yes cover a run of such calls on one guest for a few minutes: key presses, and nothing
    /// else.
    pub leasable: bool,
    /// A read that shows what is inside a guest: its screen, its files. The audit trail says who looked.
    pub looks_inside: bool,
    /// A second group that switches it on.
    pub also_in: Option<Toolset>,
    /// Whatever its arguments, it does what its risk says: of no use to callers who may not do that.
    pub always: bool,
    /// Its examples work only where there is all of this, which the demo world with a token has not.
    pub wants: &'static [Wants],
}

impl Special {
    /// Whether calls may send `host`.
    pub fn takes_host(&self) -> bool {
        self.accepts_host || self.inherited.contains(&InheritedArgument::Host)
    }

    /// Nothing special.
    pub const NONE: Self = Self {
        inherited: &[],
        accepts_host: false,
        leasable: false,
        looks_inside: false,
        also_in: None,
        always: false,
        wants: &[],
    };

    /// Nothing but the inherited arguments of a tool about one guest.
    pub const OF_GUEST: Self = Self {
        inherited: InheritedArgument::OF_GUEST,
        ..Self::NONE
    };

    /// Nothing but the inherited argument `host`.
    pub const OF_HOST: Self = Self {
        inherited: &[InheritedArgument::Host],
        ..Self::NONE
    };

    /// Nothing but that its risk holds whatever the arguments.
    pub const ALWAYS: Self = Self {
        always: true,
        ..Self::NONE
    };
}
