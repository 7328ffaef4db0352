//! A VM from a template: cloned in full, set up, grown, started. Each is a step of one plan.

use pve::{NodeName, Request, Size, StorageId, StorageStatus, Vmid};

use super::place::{self, Content, Node};
use super::settings::Settings;
use super::space::{self, Limit};
use super::template::{BootDisk, Template};
use super::values::Tags;
use super::vm::CreateVm;
use super::{NewGuest, in_order};
use crate::area::clone::CloneVm;
use crate::context::Context;
use crate::fault::Fault;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Undo};
use crate::tool::Changes;
use crate::words;

impl CreateVm {
    /// The plan for a clone of a template, set up as the caller wants it.
    pub(super) async fn clone_of(self, cx: &Context, vmid: Vmid) -> Result<Plan, Fault> {
        self.check_arguments()?;
        if let Some(node) = &self.node {
            cx.node(node).await?;
        }
        let template = Template::find(cx, vmid).await?;
        let node = self.node.as_ref().unwrap_or(&template.guest.at.node);
        let figures = place::node(template.guest.pve(), node).await?;
        let storages = template.guest.pve().storages(node).await?;
        if let Some(storage) = &self.storage {
            place::named(&storages, storage, Content::Images, node)?;
        }
        let (mut plan, new) = self.cloned(cx, &template, node).await?;
        new.check_pool(template.guest.pve()).await?;
        let settings = Settings::of(&self, &template, &new, &mut plan).await?;
        let growth = self.growth(&mut plan, &template);
        self.check_fit_of_clone(&mut plan, &template, &storages, &figures);

        let mut needs = vec![std::mem::replace(&mut plan.needs, Needs::Nothing)];
        needs.extend(new.needs(&[]));
        needs.extend(settings.needs());
        needs.extend(growth.map(|_| new.need("VM.Config.Disk")));
        plan.needs = Needs::All(needs);
        let grow = growth.map(|(disk, size)| grow_step(&new, disk, size));
        let start = new.start.then(|| new.start_step());
        let cloned = std::mem::take(&mut plan.steps);
        plan.steps = in_order(
            cloned
                .into_iter()
                .chain(settings.step(&new))
                .chain(grow)
                .chain(start),
        );
        Ok(plan)
    }

    /// What comes with the template cannot be asked for beside it.
    fn check_arguments(&self) -> Result<(), Fault> {
        let given = [
            ("iso", self.iso.is_some()),
            ("bios", self.bios.is_some()),
            ("ostype", self.ostype.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((name, _)) => Err(Fault::bad_input(format!(
                "argument `{name}`: it does not go with template"
            ))
            .hint(format!(
                "leave {name} out, or template for a new VM with an empty disk"
            ))),
        }
    }

    /// The plan of the clone alone, as one of this tool.
    async fn cloned(
        &self,
        cx: &Context,
        template: &Template,
        node: &NodeName,
    ) -> Result<(Plan, NewGuest), Fault> {
        let source = &template.guest;
        let target = Some(node.clone()).filter(|node| *node != source.at.node);
        let clone = CloneVm::of_template(
            source.at.vmid,
            (self.vmid, &self.name),
            target,
            self.storage.clone(),
            self.pool.clone(),
        );
        let (mut plan, at) = clone
            .plan_from(cx, source, &template.config, "vmid")
            .await?;
        let new = self.new_guest(at);
        Self::SPEC.name.clone_into(&mut plan.tool);
        plan.summary = format!(
            "Create {} on {node} from the template {}",
            new.label(),
            source.label()
        );
        if let Some(made) = plan.targets.iter_mut().find(|target| target.at == new.at) {
            made.tags = new
                .tags
                .as_ref()
                .map_or_else(|| made.tags.clone(), Tags::words);
            plan.undo = Undo::deleting(made, new.start);
        }
        if let (Some(made), None) = (plan.impact.first_mut(), &self.node) {
            made.note = Some(format!("on {node}, where the template is"));
        }
        Ok((plan, new))
    }

    /// The storage that the disks of a clone end up on.
    pub(super) fn disks_on<'a>(&'a self, template: &'a Template) -> Option<&'a str> {
        let own = || Some(template.boot.as_ref()?.storage.as_str());
        self.storage
            .as_ref()
            .map(pve::StorageId::as_str)
            .or_else(own)
    }

    /// The disk to grow, and its size then.
    fn growth<'t>(&self, plan: &mut Plan, template: &'t Template) -> Option<(&'t BootDisk, Size)> {
        let wanted = self.disk_size?;
        let label = template.guest.label();
        let Some(disk) = &template.boot else {
            plan.blockers.push(Blocker::new(
                format!("{label} has no disk that could be grown"),
                "leave disk_size out",
            ));
            return None;
        };
        let now = words::size(disk.bytes);
        if wanted.bytes() < disk.bytes {
            plan.blockers.push(Blocker::new(
                format!("the disk of {label} has {now}, and disks do not shrink"),
                "send a larger disk_size, or leave it out",
            ));
        }
        if wanted.bytes() <= disk.bytes {
            return None;
        }
        let storage = self.disks_on(template).unwrap_or_default();
        plan.impact.push(
            Impact::new(
                Effect::Changed,
                "disk",
                format!("{} on {storage}", disk.slot),
            )
            .bytes(Some(wanted.bytes()))
            .note(format!("grown from {now}")),
        );
        Some((disk, wanted))
    }

    fn check_fit_of_clone(
        &self,
        plan: &mut Plan,
        template: &Template,
        storages: &[StorageStatus],
        node: &Node,
    ) {
        if template.guest.at.node != node.name {
            template.check_reach(plan, storages, &node.name);
            let wanted = self.storage.as_ref().map(StorageId::as_str);
            let is_wanted = |it: &&StorageStatus| Some(it.storage.as_str()) == wanted;
            if let Some(local) = storages.iter().find(is_wanted).filter(|it| !it.shared) {
                plan.blockers.push(Blocker::new(
                    format!("PVE clones to another node only onto what both share, and {} is not shared", local.storage),
                    "leave node or storage out",
                ));
            }
        }
        let own = |key: &str| template.config.number(key);
        if let Some(memory) = self.memory.map(u64::from).or_else(|| own("memory")) {
            space::check_memory(plan, node, memory, self.start, Limit::Hard);
        }
        let cores = self
            .cores
            .map(u64::from)
            .or_else(|| own("cores"))
            .unwrap_or(1);
        let sockets = self
            .sockets
            .map(u64::from)
            .or_else(|| own("sockets"))
            .unwrap_or(1);
        space::check_cpus(plan, node, cores.saturating_mul(sockets), self.start);
        let on = self.disks_on(template);
        let storage = storages
            .iter()
            .find(|storage| Some(storage.storage.as_str()) == on);
        if let (Some(storage), Some(disk)) = (storage, &template.boot) {
            let wanted = self.disk_size.map_or(0, Size::bytes).max(disk.bytes);
            space::check_disk(plan, storage, wanted);
        }
    }
}

fn grow_step(new: &NewGuest, disk: &BootDisk, size: Size) -> Step {
    let slot = &disk.slot;
    let grown = Check::guest(
        &new.at,
        "config",
        format!("{slot} of {} has {size}", new.label()),
        vec![Expect::Has(slot.clone(), vec![format!("size={size}")])],
    );
    let request = Request::put(new.at.path("resize"))
        .with("disk", slot)
        .with("size", size);
    Step::request(format!("Grow {slot} of {} to {size}", new.label()), request)
        .task(new.trace("resize"))
        .after(grown)
}
