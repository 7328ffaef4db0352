//! A VM with an empty disk.

use pve::{GuestKind, GuestRef, Request, Size};

use super::network::{self, Bridge};
use super::place::{Content, Place, Wanted};
use super::space::{self, Limit};
use super::vm::{Bios, CreateVm, OsType};
use super::vm_more::More;
use super::{NewGuest, in_order, media};
use crate::context::Context;
use crate::fault::Fault;
use crate::plan::{Effect, Impact, Needs, Plan};
use crate::tool::Changes;

const MEMORY: u32 = 2048;
const CORES: u32 = 2;
const DISK: Size = Size::gib(32);
/// PVE allots as much for a machine's UEFI variables, and for its TPM.
const STATE_BYTES: u64 = 4 << 20;

/// The hardware of a machine, from what the caller said and what goes with it.
struct Hardware {
    ostype: OsType,
    uefi: bool,
    tpm: bool,
    memory: u32,
    cores: u32,
    sockets: u32,
    disk: Size,
    /// The disk in PVE's own words, where the caller wrote it so.
    drive: Option<String>,
}

impl Hardware {
    fn of(args: &CreateVm) -> Self {
        let ostype = args.ostype.unwrap_or_default();
        let needs_uefi = ostype == OsType::Win11;
        Self {
            ostype,
            uefi: args.bios.map_or(needs_uefi, |bios| bios == Bios::Ovmf),
            tpm: needs_uefi,
            memory: args.memory.unwrap_or(MEMORY),
            cores: args.cores.unwrap_or(CORES),
            sockets: args.sockets.unwrap_or(1),
            disk: args.disk_size.unwrap_or(DISK),
            drive: args.more.scsi0.clone(),
        }
    }

    /// The slot of the disk: one that the installer can see without drivers of its own, unless the caller chose it.
    fn slot(&self) -> &'static str {
        if self.ostype.has_virtio() || self.drive.is_some() {
            "scsi0"
        } else {
            "sata0"
        }
    }

    fn card(&self) -> &'static str {
        if self.ostype.has_virtio() {
            "virtio"
        } else {
            "e1000"
        }
    }

    /// What else gets a small volume of its own.
    fn state_volumes(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let uefi = (
            "efidisk0",
            "1,efitype=4m,pre-enrolled-keys=1",
            "UEFI variables",
        );
        let tpm = ("tpmstate0", "1,version=v2.0", "TPM");
        let all = [(self.uefi, uefi), (self.tpm, tpm)];
        all.into_iter()
            .filter_map(|(has, volume)| has.then_some(volume))
            .collect()
    }

    fn request(&self, request: Request, storage: &str, more: &More) -> Request {
        let options = if self.ostype.has_virtio() {
            ",discard=on,iothread=1"
        } else {
            ",discard=on"
        };
        let disk = self.drive.clone();
        let disk = disk.unwrap_or_else(|| format!("{storage}:{}{options}", self.disk.in_gib()));
        let or = |chosen: &Option<String>, usual: &str| {
            chosen.clone().unwrap_or_else(|| usual.to_owned())
        };
        let mut request = request
            .with("memory", self.memory.to_string())
            .with("cores", self.cores)
            .with("sockets", self.sockets)
            // Without it PVE gives a processor that current distributions refuse to run on.
            .with("cpu", or(&more.cpu, "x86-64-v2-AES"))
            .with("ostype", self.ostype.word())
            .with("scsihw", or(&more.scsihw, "virtio-scsi-single"))
            .with(self.slot(), disk)
            .maybe("boot", more.boot.as_ref())
            .maybe("agent", more.agent.as_ref())
            .maybe("onboot", more.onboot)
            .maybe("description", more.description.as_ref());
        if self.uefi {
            request = request.with("bios", "ovmf");
        }
        let machine = self.uefi.then_some("q35");
        request = request.maybe("machine", more.machine.as_deref().or(machine));
        for (slot, value, _) in self.state_volumes() {
            request = request.with(slot, format!("{storage}:{value}"));
        }
        request
    }
}

impl CreateVm {
    /// The plan for a new machine, with what the caller left out chosen.
    pub(super) async fn blank(mut self, cx: &Context) -> Result<Plan, Fault> {
        self.spell_out()?;
        let cloud_init = self.cloud_init()?;
        let hardware = Hardware::of(&self);
        let card = self.card().of_vm(hardware.card(), None)?;
        let place = self.place().find(cx).await?;
        let bridge = network::bridge(&place.cluster.pve, &place.node.name, &card).await?;
        let (vmid, free) = cx.free_vmid(&place.cluster, self.vmid, "vmid").await?;
        let at = GuestRef {
            vmid,
            node: place.node.name.clone(),
            kind: GuestKind::Qemu,
        };
        let new = self.new_guest(at);
        new.check_pool(&place.cluster.pve).await?;
        let why = place.why_node.clone();
        let mut plan = new.plan(&Self::SPEC, &place.cluster.name, free, why);
        let with_cloud_init = !cloud_init.is_empty() || self.cipassword.is_some();
        impact(&mut plan, &hardware, &place, with_cloud_init);
        self.check_fit(&mut plan, &hardware, &place);
        plan.needs = needs(&new, &place, &bridge, &self.more);
        plan.warnings.extend(bridge.warning);

        let storage = &place.storage.storage;
        let request = Request::post(format!("/nodes/{}/qemu", new.at.node))
            .with("vmid", vmid)
            .with("name", &new.name);
        let mut request = hardware
            .request(request, storage, &self.more)
            .with("net0", card.to_string())
            .maybe(
                "ide2",
                place
                    .medium
                    .as_ref()
                    .map(|iso| format!("{},media=cdrom", iso.volid)),
            )
            .maybe(
                "ide0",
                with_cloud_init.then(|| format!("{storage}:cloudinit")),
            );
        for (key, value) in cloud_init {
            request = request.with(key, value);
        }
        if let Some(password) = self.cipassword {
            request = request.with("cipassword", plan.secret("cipassword", password));
        }
        request = request
            .maybe("tags", new.tags.as_ref().map(ToString::to_string))
            .maybe("pool", new.pool.as_ref());
        let start = new.start.then(|| new.start_step());
        plan.steps = in_order([new.create_step(request)].into_iter().chain(start));
        Ok(plan)
    }

    fn place(&self) -> Wanted<'_> {
        Wanted {
            node: self.node.as_ref(),
            storage: self.storage.as_ref(),
            content: Content::Images,
            medium: self.iso.as_deref().map(|iso| media::Wanted {
                content: "iso",
                noun: "ISO image",
                named: Some(iso),
            }),
        }
    }

    pub(super) fn new_guest(&self, at: GuestRef) -> NewGuest {
        NewGuest {
            at,
            name: self.name.clone(),
            pool: self.pool.clone(),
            tags: self.tags.clone(),
            start: self.start,
        }
    }

    fn check_fit(&self, plan: &mut Plan, hardware: &Hardware, place: &Place) {
        space::check_disk(plan, &place.storage, hardware.disk.bytes());
        let memory = u64::from(hardware.memory);
        space::check_memory(plan, &place.node, memory, self.start, Limit::Hard);
        let cpus = u64::from(hardware.cores) * u64::from(hardware.sockets);
        space::check_cpus(plan, &place.node, cpus, self.start);
        if self.start && place.medium.is_none() {
            plan.warnings.push(
                "the disk is empty and there is no ISO: it will find nothing to boot".to_owned(),
            );
        }
    }
}

fn impact(plan: &mut Plan, hardware: &Hardware, place: &Place, cloud_init: bool) {
    let storage = &place.storage.storage;
    let disk = |slot: &str| Impact::new(Effect::Created, "disk", format!("{slot} on {storage}"));
    let why = place.why_storage.clone().unwrap_or_default();
    plan.impact.push(
        disk(hardware.slot())
            .bytes(Some(hardware.disk.bytes()))
            .note(why),
    );
    for (slot, _, what) in hardware.state_volumes() {
        plan.impact
            .push(disk(slot).bytes(Some(STATE_BYTES)).note(what));
    }
    if cloud_init {
        plan.impact
            .push(disk("ide0").bytes(Some(STATE_BYTES)).note("cloud-init"));
    }
    if let Some(iso) = &place.medium {
        plan.impact.push(
            Impact::new(Effect::Kept, "ISO image", iso.volid.clone())
                .bytes(iso.size)
                .note("in the CD drive"),
        );
    }
}

/// PVE asks for what each setting takes. Drives take nothing more than room on their storage while a machine is new.
fn needs(new: &NewGuest, place: &Place, bridge: &Bridge, more: &More) -> Needs {
    let storage = &place.storage.storage;
    let mut all = new.needs(&[
        "VM.Allocate",
        "VM.Audit",
        "VM.Config.Options",
        "VM.Config.CPU",
        "VM.Config.Memory",
        "VM.Config.HWType",
        "VM.Config.Network",
    ]);
    all.push(Needs::on(
        format!("/storage/{storage}"),
        "Datastore.AllocateSpace",
    ));
    all.push(bridge.needs.clone());
    all.extend(more.needs(new));
    all.extend(place.medium.as_ref().and_then(|iso| iso.needs(storage)));
    Needs::All(all)
}
