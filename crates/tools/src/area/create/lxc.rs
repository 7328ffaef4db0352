//! create_proxmox_lxc

use pve::{
    DnsName, GuestKind, GuestRef, NodeName, PoolId, PropertyString, Request, Size, StorageId, Vmid,
};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::card::Asked;
use super::lxc_more::More;
use super::network::{self, Bridge, Vlan};
use super::place::{Content, Place, Wanted};
use super::space::{self, Limit};
use super::values::{SshKeys, Tags, secret};
use super::{NewGuest, in_order, media};
use crate::context::Context;
use crate::deed::{Deed, When};
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Blocker, Effect, Impact, Needs, Plan};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// Creates a container from an OS template.
///
/// For a VM use create_proxmox_vm, for a copy clone_proxmox_vm. What is left out is chosen, and the plan says why; a
/// wrong storage, bridge or template is refused with the right ones. Unprivileged with nesting by default; privileged
/// takes Sys.Modify on / and a person's yes. Needs VM.Allocate, VM.Config.*, Datastore.AllocateSpace, SDN.Use. Undo:
/// delete_proxmox_vm.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in super::super) struct CreateLxc {
    /// A DNS name.
    hostname: DnsName,
    /// Its id.
    vmid: Option<Vmid>,
    /// Its node.
    node: Option<NodeName>,
    /// Newest Debian if left out.
    ostemplate: Option<String>,
    /// In MiB.
    #[serde(default = "half_a_gibibyte")]
    #[schemars(range(min = 16))]
    memory: u32,
    /// Swap in MiB; 512 if left out (PVE's default).
    swap: Option<u32>,
    /// CPU cores.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    cores: u32,
    /// In GiB.
    #[serde(default = "eight")]
    #[schemars(default = "eight_gib")]
    rootfs_size: Size,
    /// For its disks.
    storage: Option<StorageId>,
    /// Root's password.
    #[serde(default, deserialize_with = "secret")]
    #[schemars(with = "Option<String>")]
    password: Option<SecretString>,
    /// One a line.
    ssh_public_keys: Option<SshKeys>,
    /// Default vmbr0.
    bridge: Option<String>,
    /// VLAN tag.
    vlan: Option<Vlan>,
    /// Instead of bridge and vlan, in PVE's form: "name=eth0,bridge=vmbr0,ip=dhcp".
    net0: Option<String>,
    /// dhcp or CIDR.
    ip: Option<String>,
    /// With a fixed ip.
    gateway: Option<String>,
    /// Privileged if false.
    #[serde(default = "yes")]
    unprivileged: bool,
    /// Containers inside; default as unprivileged.
    nesting: Option<bool>,
    /// Split by ";".
    tags: Option<Tags>,
    /// Its pool.
    pool: Option<PoolId>,
    /// Start it.
    #[serde(default)]
    start: bool,
    #[serde(default)]
    #[schemars(skip)]
    more: More,
}

fn half_a_gibibyte() -> u32 {
    512
}

fn one() -> u32 {
    1
}

fn eight() -> Size {
    Size::gib(8)
}

/// The same as the schema shows it.
fn eight_gib() -> u32 {
    8
}

fn yes() -> bool {
    true
}

/// The shortest password that PVE takes.
const SHORTEST_PASSWORD: usize = 5;

impl Changes for CreateLxc {
    const SPEC: Spec = Spec {
        name: "create_proxmox_lxc",
        title: "Create a container",
        toolset: Toolset::Core,
        risk: Risk::Grant,
        idempotent: false,
        special: Special::OF_HOST,
        needs: Need::All(&[
            need::SEES_GUEST,
            need::guest("VM.Allocate"),
            need::guest("VM.Config.CPU"),
            need::guest("VM.Config.Memory"),
            need::guest("VM.Config.Network"),
            need::guest("VM.Config.Disk"),
            need::storage("Datastore.AllocateSpace"),
            Need::May(&[
                need::guest("VM.Config.Options"),
                need::guest("VM.PowerMgmt"),
                Need::At(Risk::Grant, &Need::On("/", "Sys.Modify")),
                need::SEES_VOLUMES,
                need::NETWORK,
            ]),
        ]),
        examples: &[
            Example {
                ask: "A Debian container for a cache, running",
                args: r#"{"hostname": "cache", "ostemplate": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst", "storage": "local-lvm", "start": true}"#,
            },
            Example {
                ask: "Container 320 on pve2 with 20 GiB on tank, a password and a fixed address in VLAN 20",
                args: r#"{"node": "pve2", "vmid": 320, "hostname": "archive", "ostemplate": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst", "storage": "tank", "rootfs_size": 20, "password": "change-me", "vlan": 20, "ip": "192.168.20.5/24", "gateway": "192.168.20.1", "tags": "lab"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/lxc").when(When::Lacks("restore"))];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        self.check_password()?;
        let card = self.card()?;
        let place = self.place().find(cx).await?;
        let (pve, node) = (&place.cluster.pve, &place.node.name);
        let bridge = network::bridge(pve, node, &card).await?;
        let (vmid, free) = cx.free_vmid(&place.cluster, self.vmid, "vmid").await?;
        let new = NewGuest {
            at: GuestRef {
                vmid,
                node: node.clone(),
                kind: GuestKind::Lxc,
            },
            name: self.hostname.clone(),
            pool: self.pool.clone(),
            tags: self.tags.clone(),
            start: self.start,
        };
        new.check_pool(pve).await?;
        let why = place.why_node.clone();
        let mut plan = new.plan(&Self::SPEC, &place.cluster.name, free, why);
        self.impact(&mut plan, &place);
        self.check_fit(&mut plan, &place);
        self.more.look_at_disk(&mut plan, &place).await?;
        plan.needs = self.needs(&new, &place, &bridge).await?;
        plan.warnings.extend(bridge.warning);

        let mut request = self.request(&new, &place).with("net0", card.to_string());
        if let Some(password) = self.password {
            request = request.with("password", plan.secret("password", password));
        }
        let start = new.start.then(|| new.start_step());
        plan.steps = in_order([new.create_step(request)].into_iter().chain(start));
        Ok(plan)
    }
}

impl CreateLxc {
    fn check_password(&self) -> Result<(), Fault> {
        let too_short =
            |password: &SecretString| password.expose_secret().chars().count() < SHORTEST_PASSWORD;
        if self.password.as_ref().is_some_and(too_short) {
            return Err(Fault::bad_input(format!(
                "argument `password`: PVE takes no password of fewer than {SHORTEST_PASSWORD} characters"
            )));
        }
        Ok(())
    }

    fn place(&self) -> Wanted<'_> {
        Wanted {
            node: self.node.as_ref(),
            storage: self.storage(),
            content: Content::RootDir,
            medium: Some(media::Wanted {
                content: "vztmpl",
                noun: "container template",
                named: self.ostemplate.as_deref(),
            }),
        }
    }

    /// Where its root disk goes, if the caller says so.
    fn storage(&self) -> Option<&StorageId> {
        let rootfs = self.more.rootfs.as_ref().map(|disk| &disk.storage);
        rootfs.or(self.storage.as_ref())
    }

    fn rootfs_size(&self) -> Size {
        let rootfs = self.more.rootfs.as_ref().map(|disk| disk.size);
        rootfs.unwrap_or(self.rootfs_size)
    }

    fn features(&self) -> Option<&str> {
        let nests = self.nesting.unwrap_or(self.unprivileged);
        self.more.features().or(nests.then_some("nesting=1"))
    }

    fn impact(&self, plan: &mut Plan, place: &Place) {
        let disk = format!("rootfs on {}", place.storage.storage);
        plan.impact.push(
            Impact::new(Effect::Created, "disk", disk)
                .bytes(Some(self.rootfs_size().bytes()))
                .note(place.why_storage.clone().unwrap_or_default()),
        );
        if let Some(template) = &place.medium {
            plan.impact.push(
                Impact::new(Effect::Kept, "template", template.volid.clone())
                    .bytes(template.size)
                    .note(
                        template
                            .why
                            .clone()
                            .unwrap_or_else(|| "unpacked onto the disk".to_owned()),
                    ),
            );
        }
        let keys = self.ssh_public_keys.iter();
        plan.impact.extend(keys.flat_map(SshKeys::impact));
    }

    fn check_fit(&self, plan: &mut Plan, place: &Place) {
        space::check_disk(plan, &place.storage, self.rootfs_size().bytes());
        let memory = u64::from(self.memory);
        space::check_memory(plan, &place.node, memory, self.start, Limit::Soft);
        let is_root = place.cluster.pve.identity() == "root@pam";
        if !self.unprivileged && self.features().is_some() && !is_root {
            plan.blockers.push(Blocker::new(
                "only root@pam itself, not a token of it, may give a privileged container nesting",
                match self.more.features() {
                    Some(_) => "leave features out, or unprivileged",
                    None => "leave nesting out, or unprivileged",
                },
            ));
        } else if self.more.wants_root() && !is_root {
            plan.blockers.push(Blocker::new(
                "only root@pam itself, not a token of it, may give a container features other than nesting",
                "send features: \"nesting=1\", or leave features out",
            ));
        }
        if !self.unprivileged {
            // It hands out the node to whoever gets out of it.
            plan.warnings.push(
                "root inside a privileged container is root on the node if it gets out".to_owned(),
            );
        }
        if self.password.is_none() && self.ssh_public_keys.is_none() {
            plan.warnings.push(
                "without password and ssh_public_keys nobody can log in; the node's own pct enter works"
                    .to_owned(),
            );
        }
    }

    async fn needs(&self, new: &NewGuest, place: &Place, bridge: &Bridge) -> Result<Needs, Fault> {
        let storage = &place.storage.storage;
        let mut all = new.needs(&[
            "VM.Allocate",
            "VM.Audit",
            "VM.Config.CPU",
            "VM.Config.Memory",
            "VM.Config.Network",
            "VM.Config.Disk",
        ]);
        let tagged = new.tags.is_some().then_some("VM.Config.Options");
        let options = tagged.or(self.more.privilege());
        all.extend(options.map(|privilege| new.need(privilege)));
        // PVE 8 let everybody who creates containers create privileged ones.
        if !self.unprivileged && place.cluster.pve.version().await?.at_least(9, 0) {
            all.push(Needs::on("/", "Sys.Modify"));
        }
        all.push(Needs::on(
            format!("/storage/{storage}"),
            "Datastore.AllocateSpace",
        ));
        if let Some(disk) = &self.more.mp0 {
            let path = format!("/storage/{}", disk.storage);
            let space = Needs::on(path, "Datastore.AllocateSpace");
            if !all.contains(&space) {
                all.push(space);
            }
        }
        all.push(bridge.needs.clone());
        all.extend(
            place
                .medium
                .as_ref()
                .and_then(|medium| medium.needs(storage)),
        );
        Ok(Needs::All(all))
    }

    /// `name=eth0,bridge=vmbr0,firewall=1,tag=20,ip=dhcp`
    fn card(&self) -> Result<PropertyString, Fault> {
        let address = network::address(self.ip.as_deref(), self.gateway.as_deref())?;
        let asked = Asked {
            net0: self.net0.as_deref(),
            bridge: self.bridge.as_deref(),
            vlan: self.vlan,
        };
        asked.of_container(address.as_deref())
    }

    fn request(&self, new: &NewGuest, place: &Place) -> Request {
        let rootfs = match &self.more.rootfs {
            Some(disk) => disk.written(),
            None => format!("{}:{}", place.storage.storage, self.rootfs_size.in_gib()),
        };
        let request = Request::post(format!("/nodes/{}/lxc", new.at.node))
            .with("vmid", new.at.vmid)
            .with("hostname", &new.name)
            .maybe(
                "ostemplate",
                place.medium.as_ref().map(|medium| medium.volid.clone()),
            )
            .with("memory", self.memory)
            .maybe("swap", self.swap)
            .with("cores", self.cores)
            .with("rootfs", rootfs)
            .with("unprivileged", self.unprivileged)
            .maybe("features", self.features())
            .maybe(
                "ssh-public-keys",
                self.ssh_public_keys.as_ref().map(SshKeys::lines),
            )
            .maybe("tags", new.tags.as_ref().map(ToString::to_string))
            .maybe("pool", new.pool.as_ref());
        self.more.added_to(request)
    }
}
