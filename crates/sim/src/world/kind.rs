//! The two kinds of guests, and how their names and paths differ.

/// A virtual machine or a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A virtual machine.
    Qemu,
    /// A container.
    Lxc,
}

impl Kind {
    /// As in paths and answers: `qemu`, `lxc`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Qemu => "qemu",
            Self::Lxc => "lxc",
        }
    }

    /// As in messages: `VM`, `CT`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Qemu => "VM",
            Self::Lxc => "CT",
        }
    }

    /// What task types begin with: `qmstart`, `vzstart`.
    pub const fn task_prefix(self) -> &'static str {
        match self {
            Self::Qemu => "qm",
            Self::Lxc => "vz",
        }
    }

    /// The directory of config files below a node's.
    const fn directory(self) -> &'static str {
        match self {
            Self::Qemu => "qemu-server",
            Self::Lxc => "lxc",
        }
    }

    /// A config file as messages name it.
    pub fn config_file(self, node: &str, vmid: u32) -> String {
        format!("nodes/{node}/{}/{vmid}.conf", self.directory())
    }

    /// The file whose lock a change of the guest takes.
    pub fn lock_file(self, vmid: u32) -> String {
        match self {
            Self::Qemu => format!("/var/lock/qemu-server/lock-{vmid}.conf"),
            Self::Lxc => format!("/run/lock/lxc/pve-config-{vmid}.lock"),
        }
    }
}
