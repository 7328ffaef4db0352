//! create_proxmox_vm

use pve::{DnsName, NodeName, PoolId, Size, StorageId, Vmid};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

use super::card::Asked;
use super::network::{self, Vlan};
use super::values::{Line, SshKeys, Tags, secret};
use super::vm_more::More;
use crate::context::Context;
use crate::deed::{Deed, When};
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::Plan;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// Creates a VM, from a cloud-init template or with an empty disk and an optional ISO.
///
/// With template it is cloned in full, set up, grown and started, a step each; a failed step leaves what was made. For
/// a plain copy use clone_proxmox_vm, for a container create_proxmox_lxc. What is left out is chosen, and the plan says
/// why; a wrong storage, bridge or ISO is refused with the right ones. Needs VM.Allocate, VM.Config.*,
/// Datastore.AllocateSpace, SDN.Use, with template VM.Clone. Undo: delete_proxmox_vm.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in super::super) struct CreateVm {
    /// A DNS name.
    pub(super) name: DnsName,
    /// Its id.
    pub(super) vmid: Option<Vmid>,
    /// Its node.
    pub(super) node: Option<NodeName>,
    /// The VM template to clone.
    pub(super) template: Option<Vmid>,
    /// MiB. Default 2048.
    #[schemars(range(min = 16))]
    pub(super) memory: Option<u32>,
    /// Default 2.
    #[schemars(range(min = 1))]
    pub(super) cores: Option<u32>,
    /// Default 1.
    #[schemars(range(min = 1))]
    pub(super) sockets: Option<u32>,
    /// GiB. Default 32.
    pub(super) disk_size: Option<Size>,
    /// For its disks.
    pub(super) storage: Option<StorageId>,
    /// ISO image in the CD drive, e.g. "local:iso/debian.iso".
    pub(super) iso: Option<String>,
    /// Same as iso.
    pub(super) cdrom: Option<String>,
    /// Default vmbr0.
    pub(super) bridge: Option<String>,
    /// VLAN tag.
    pub(super) vlan: Option<Vlan>,
    /// Instead of bridge and vlan, in PVE's form: "virtio,bridge=vmbr0,tag=20".
    pub(super) net0: Option<String>,
    /// Default l26.
    #[schemars(with = "Option<String>")]
    pub(super) ostype: Option<OsType>,
    /// Default seabios.
    pub(super) bios: Option<Bios>,
    /// Split by ";".
    pub(super) tags: Option<Tags>,
    /// Its pool.
    pub(super) pool: Option<PoolId>,
    /// Cloud-init user.
    pub(super) ciuser: Option<Line>,
    /// Cloud-init password.
    #[serde(default, deserialize_with = "secret")]
    #[schemars(with = "Option<String>")]
    pub(super) cipassword: Option<SecretString>,
    /// Public keys, one a line.
    pub(super) sshkeys: Option<SshKeys>,
    /// Cloud-init: dhcp or CIDR.
    pub(super) ip: Option<String>,
    /// With a fixed ip.
    pub(super) gateway: Option<String>,
    /// Start it.
    #[serde(default)]
    pub(super) start: bool,
    /// Not listed: what goes by other names only in create_vm.
    #[serde(default)]
    #[schemars(skip)]
    pub(super) more: More,
}

/// What PVE tunes the machine for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OsType {
    #[default]
    L26,
    L24,
    Win11,
    Win10,
    Win8,
    Win7,
    Wvista,
    W2k8,
    W2k3,
    W2k,
    Wxp,
    Solaris,
    Other,
}

impl OsType {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::L26 => "l26",
            Self::L24 => "l24",
            Self::Win11 => "win11",
            Self::Win10 => "win10",
            Self::Win8 => "win8",
            Self::Win7 => "win7",
            Self::Wvista => "wvista",
            Self::W2k8 => "w2k8",
            Self::W2k3 => "w2k3",
            Self::W2k => "w2k",
            Self::Wxp => "wxp",
            Self::Solaris => "solaris",
            Self::Other => "other",
        }
    }

    /// Only Linux brings the drivers for paravirtual disks and cards on its installation media.
    pub(super) fn has_virtio(self) -> bool {
        self == Self::L26
    }
}

/// The firmware.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Bios {
    Seabios,
    Ovmf,
}

impl Changes for CreateVm {
    const SPEC: Spec = Spec {
        name: "create_proxmox_vm",
        title: "Create a VM",
        toolset: Toolset::Core,
        risk: Risk::Change,
        idempotent: false,
        special: Special::OF_HOST,
        needs: Need::All(&[
            need::SEES_GUEST,
            need::guest("VM.Allocate"),
            Need::May(&[
                Need::May(need::SETTINGS),
                need::guest("VM.Clone"),
                need::guest("VM.PowerMgmt"),
                Need::On("/mapping/cpu/{name}", "Mapping.Use"),
                Need::On("/nodes", "Sys.Audit"),
                need::storage("Datastore.AllocateSpace"),
                need::SEES_VOLUMES,
                need::NETWORK,
            ]),
        ]),
        examples: &[
            Example {
                ask: "A VM to install Debian on",
                args: r#"{"name": "app1", "storage": "local-lvm", "iso": "nas:iso/debian-13.1.0-amd64-netinst.iso", "memory": 4096}"#,
            },
            Example {
                ask: "A web server from the Debian template, with my key and a fixed address, started",
                args: r#"{"name": "app2", "template": 900, "cores": 4, "disk_size": 40, "ciuser": "admin", "sshkeys": "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBGk2mB9x0fYdQ7pLr1cVtS4uW8zN3oHjK5eXaTqRyIbMvCwEdFgLhPiUsJnAoZxQkWtYvBmCrDeSfGuHlOpK me@laptop", "ip": "192.168.1.50/24", "gateway": "192.168.1.1", "tags": "web", "start": true}"#,
            },
            Example {
                ask: "A Windows 11 VM on pve2 in VLAN 20",
                args: r#"{"node": "pve2", "vmid": 310, "name": "office", "ostype": "win11", "storage": "local-lvm", "disk_size": 80, "vlan": 20}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/qemu").when(When::Lacks("archive"))];

    async fn plan(mut self, cx: &Context) -> Result<Plan, Fault> {
        self.take_cdrom()?;
        let keys = self.sshkeys.clone();
        let mut plan = match self.template {
            Some(template) => self.clone_of(cx, template).await,
            None => self.blank(cx).await,
        }?;
        plan.impact.extend(keys.iter().flat_map(SshKeys::impact));
        Ok(plan)
    }
}

impl CreateVm {
    /// The network card that is asked for.
    pub(super) fn card(&self) -> Asked<'_> {
        Asked {
            net0: self.net0.as_deref(),
            bridge: self.bridge.as_deref(),
            vlan: self.vlan,
        }
    }

    /// The settings that cloud-init reads, as a request takes them; the password is apart.
    pub(super) fn cloud_init(&self) -> Result<Vec<(&'static str, String)>, Fault> {
        let mut settings = Vec::new();
        if let Some(user) = &self.ciuser {
            settings.push(("ciuser", user.as_str().to_owned()));
        }
        if let Some(keys) = &self.sshkeys {
            // PVE wants them encoded once more than the form that carries them.
            settings.push(("sshkeys", pve::encode_value(&keys.lines())));
        }
        if let Some(address) = network::address(self.ip.as_deref(), self.gateway.as_deref())? {
            settings.push(("ipconfig0", address));
        }
        Ok(settings)
    }
}
