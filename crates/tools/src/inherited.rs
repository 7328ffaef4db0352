//! Arguments that tools list because the tool of the same name in another Proxmox MCP server has them. The engine reads
//! them; a tool's own struct does not declare them.

use serde_json::{Value, json};

/// One such argument. Its name and schema are the same in every tool that lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InheritedArgument {
    /// `node`: the node that the guest is on.
    Node,
    /// `vm_type`: VM or container.
    VmType,
    /// `host`: the cluster.
    Host,
}

impl InheritedArgument {
    /// The arguments of a tool about one guest.
    pub const OF_GUEST: &'static [Self] = &[Self::Node, Self::VmType, Self::Host];

    /// The argument's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::VmType => "vm_type",
            Self::Host => "host",
        }
    }

    /// The argument's JSON Schema, with the description that a model reads.
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Node => json!({
                "type": "string",
                "description": "Node that the guest is on, e.g. \"pve1\". Found by vmid if left out; a wrong node is refused with the right one.",
            }),
            Self::VmType => json!({
                "type": "string", "enum": ["qemu", "lxc"],
                "description": "qemu: VM, lxc: container. Found by vmid if left out; a wrong type is refused.",
            }),
            Self::Host => json!({
                "type": "string",
                "description": "Limits the call to one configured cluster, by name or node address, e.g. \"pve1.lan\". Default: all.",
            }),
        }
    }

    /// The hint for a value that the argument can never have.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Node => {
                "send a node's name such as \"pve1\", or leave node out; the guest is found by its vmid"
            }
            Self::VmType => {
                "send vm_type: \"qemu\" for a VM or \"lxc\" for a container, or leave vm_type out; the guest is found by its vmid"
            }
            Self::Host => "send the name of a configured cluster, or leave host out",
        }
    }
}
