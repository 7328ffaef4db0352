//! What a clone is given that its template has not: size of the machine, network, tags, cloud-init.

use pve::{Reader, Request};
use serde_json::{Value, json};

use super::NewGuest;
use super::network;
use super::template::Template;
use super::vm::CreateVm;
use crate::area::update::device::card_parts;
use crate::fault::Fault;
use crate::plan::{self, Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step};
use crate::words;

/// Keys of a configuration to be written, with what that takes.
#[derive(Default)]
pub(super) struct Settings {
    values: Vec<(&'static str, pve::Value)>,
    /// What is read back of them.
    expect: Vec<Expect>,
    needs: Vec<Needs>,
}

impl Settings {
    /// Of what the caller asked for. What is to be said about them goes into the plan, as do secrets.
    pub(super) async fn of(
        args: &CreateVm,
        template: &Template,
        new: &NewGuest,
        plan: &mut Plan,
    ) -> Result<Self, Fault> {
        let mut settings = Self::default();
        settings.machine(args, new);
        let plugs = args.card().is_any();
        if plugs {
            let pve = template.guest.pve();
            settings.network(args, template, new, pve, plan).await?;
        }
        let asked = args.cloud_init()?;
        if asked.is_empty() && args.cipassword.is_none() {
            return Ok(settings);
        }
        for (key, value) in asked {
            settings.set(key, value.clone(), is(key, value));
        }
        if let Some(password) = args.cipassword.clone() {
            // PVE shows that there is one, and never which.
            let is_set = Expect::Not("cipassword".to_owned(), Value::Null);
            settings.set("cipassword", plan.secret("cipassword", password), is_set);
        }
        if !template.has_cloud_init_drive() {
            settings.cloud_init_drive(args, template, new, plan);
        } else if !plugs {
            // Who may set the network may set these too.
            let either = ["VM.Config.Cloudinit", "VM.Config.Network"];
            let either = either.map(|privilege| new.need(privilege));
            settings.needs.push(Needs::Any(either.into()));
        }
        Ok(settings)
    }

    fn set(&mut self, key: &'static str, value: impl Into<pve::Value>, expect: Expect) {
        self.values.push((key, value.into()));
        self.expect.push(expect);
    }

    fn machine(&mut self, args: &CreateVm, new: &NewGuest) {
        if let Some(memory) = args.memory.map(|memory| memory.to_string()) {
            self.set("memory", memory.clone(), is("memory", memory));
            self.needs.push(new.need("VM.Config.Memory"));
        }
        for (key, value) in [("cores", args.cores), ("sockets", args.sockets)] {
            if let Some(value) = value {
                self.set(key, value, is(key, value));
            }
        }
        if args.cores.or(args.sockets).is_some() {
            self.needs.push(new.need("VM.Config.CPU"));
        }
        if let Some(tags) = &args.tags {
            // PVE sorts them.
            let only = Expect::Only("tags".to_owned(), tags.words());
            self.set("tags", tags.to_string(), only);
            self.needs.push(new.need("VM.Config.Options"));
        }
    }

    /// Plugs the card into another bridge or VLAN. It gets a new address, as every card of a clone does.
    async fn network(
        &mut self,
        args: &CreateVm,
        template: &Template,
        new: &NewGuest,
        pve: &Reader,
        plan: &mut Plan,
    ) -> Result<(), Fault> {
        let (model, own_bridge) = template.card();
        let card = args.card().of_vm(&model, own_bridge.as_deref())?;
        let bridge = network::bridge(pve, &new.at.node, &card).await?;
        let card = card.to_string();
        // PVE adds the address.
        let wanted = card_parts(&card).join(",");
        let has = Expect::Has("net0".to_owned(), plan::parts(&json!(wanted)));
        self.set("net0", card, has);
        let set = new.need("VM.Config.Network");
        self.needs.extend([set, bridge.needs]);
        plan.warnings.extend(bridge.warning);
        Ok(())
    }

    /// Adds the drive that cloud-init reads, where the template has none.
    fn cloud_init_drive(
        &mut self,
        args: &CreateVm,
        template: &Template,
        new: &NewGuest,
        plan: &mut Plan,
    ) {
        let (Some(slot), Some(storage)) = (template.free_slot(), args.disks_on(template)) else {
            plan.blockers.push(Blocker::new(
                format!(
                    "{} has no cloud-init drive and no room for one",
                    template.guest.label()
                ),
                "leave ciuser, cipassword, sshkeys, ip and gateway out",
            ));
            return;
        };
        // The slot was free, and PVE names the volume.
        let is_there = Expect::Not(slot.to_owned(), Value::Null);
        self.set(slot, format!("{storage}:cloudinit"), is_there);
        let drive = ["VM.Config.Cloudinit", "VM.Config.CDROM"];
        self.needs
            .extend(drive.map(|privilege| new.need(privilege)));
        plan.impact.push(
            Impact::new(Effect::Created, "disk", format!("{slot} on {storage}"))
                .note("cloud-init; the template has no such drive"),
        );
    }

    /// What writing them takes.
    pub(super) fn needs(&self) -> impl Iterator<Item = Needs> {
        self.needs.iter().cloned()
    }

    /// The step that writes them, if there are any. PVE does it in a task, which leaves a trace if the answer is lost.
    pub(super) fn step(self, new: &NewGuest) -> Option<Step> {
        let names: Vec<_> = self.values.iter().map(|(key, _)| *key).collect();
        if names.is_empty() {
            return None;
        }
        let written = Check::guest(
            &new.at,
            "config",
            format!("{} is set up", new.label()),
            self.expect,
        );
        let says = format!("Set {} of {}", words::list(&names), new.label());
        let mut request = Request::post(new.at.path("config"));
        for (key, value) in self.values {
            request = request.with(key, value);
        }
        let step = Step::request(says, request).task(new.trace("qmconfig"));
        Some(step.after(written))
    }
}

fn is(key: &str, value: impl Into<Value>) -> Expect {
    Expect::Is(key.to_owned(), value.into())
}
