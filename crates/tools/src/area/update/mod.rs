//! update_proxmox_vm: any setting of a guest, disks that grow, cloud-init.
//!
//! `keys` and `table` know the settings, `edit` and `value` what is asked for, `plug` when it takes effect, `verdict` what
//! it means, `others` which other guests it concerns, `needs` what it takes, `fit` whether there is so much, `steps` and
//! `grow` what is sent, `undo` how it is taken back.

pub(super) mod device;
mod edit;
mod fit;
mod grow;
mod impact;
mod keys;
mod needs;
mod others;
mod plug;
mod steps;
mod subject;
mod table;
mod undo;
mod value;

use std::collections::BTreeMap;

use pve::{GuestConfig, GuestKind, Identity, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::power::locked;
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Blocker, Needs, Plan};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use edit::{Edit, Settings};
use grow::Growth;
use keys::Takes;
use subject::Subject;

const NAME: &str = "update_proxmox_vm";

/// Changes any setting of a VM or container (memory, cores, disks, network, boot, cloud-init, tags, notes) and grows
/// disks.
///
/// get_proxmox_vm_status shows what is set; for power use stop_proxmox_vm. The answer says what waits for a restart.
/// Deleting a disk's key detaches it, deleting unusedN destroys that volume. A changed card keeps its MAC. Asks first
/// if it interrupts, detaches, destroys or sets credentials. Needs VM.Config.* for what it changes,
/// Datastore.AllocateSpace for disks. Waits and reads back. Undo: this tool with the old values; a grown disk stays.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct UpdateVm {
    /// The guest's id.
    vmid: Vmid,
    /// By PVE's names: {"memory": 4096, "net0": "virtio,bridge=vmbr0,tag=20", "scsi1": "local-lvm:8"}.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    set: Settings,
    /// Names of settings to remove.
    #[serde(default)]
    delete: Vec<String>,
    /// New size per disk, or what to add: {"scsi0": "+8G"}.
    #[serde(default)]
    grow: BTreeMap<String, String>,
    /// Write the VM's cloud-init drive anew.
    #[serde(default)]
    regenerate_cloudinit: bool,
}

impl Changes for UpdateVm {
    const SPEC: Spec = Spec {
        name: NAME,
        title: "Change settings of a VM or container",
        toolset: Toolset::Core,
        risk: Risk::Grant,
        idempotent: false,
        special: Special::NONE,
        needs: Need::All(&[
            need::SEES_GUEST,
            Need::AtLeastOne(&[
                Need::AtLeastOne(need::SETTINGS),
                need::guest("VM.PowerMgmt"),
                need::guest("VM.Allocate"),
            ]),
            Need::May(&[
                Need::At(Risk::Grant, &Need::On("/", "Sys.Modify")),
                Need::At(Risk::Grant, &Need::On("/", "Sys.Console")),
                Need::On("/nodes", "Sys.Audit"),
                need::storage("Datastore.AllocateSpace"),
                need::storage("Datastore.Audit"),
                Need::At(Risk::Destroy, &need::storage("Datastore.Allocate")),
                need::guest("VM.Clone"),
                Need::On("/mapping/{sort}/{name}", "Mapping.Use"),
                Need::On("/mapping/hwrng", "Mapping.Use"),
                need::NETWORK,
            ]),
        ]),
        examples: &[
            Example {
                ask: "Give staging 4 GiB and 4 cores",
                args: r#"{"vmid": 105, "set": {"memory": 4096, "cores": 4}}"#,
            },
            Example {
                ask: "Double the memory of the web server, tag it, and add 8 GiB to its disk",
                args: r#"{"vmid": 100, "set": {"memory": 8192, "tags": ["prod", "web", "public"]}, "grow": {"scsi0": "+8G"}}"#,
            },
            Example {
                ask: "Give the CI runner a fixed address and a new user",
                args: r#"{"vmid": 111, "set": {"ciuser": "deploy", "ipconfig0": "ip=192.168.1.30/24,gw=192.168.1.1"}, "regenerate_cloudinit": true}"#,
            },
            Example {
                ask: "More memory for the DNS container, and no start order",
                args: r#"{"vmid": 200, "set": {"memory": 1024}, "delete": ["startup"]}"#,
            },
            Example {
                ask: "Put the web server into VLAN 20 and give it a second disk",
                args: r#"{"vmid": 100, "set": {"net0": "virtio,bridge=vmbr0,tag=20", "scsi1": "local-lvm:8"}}"#,
            },
            Example {
                ask: "Detach the data disk of the backup helper",
                args: r#"{"vmid": 208, "delete": ["mp0"], "grow": {"rootfs": "12G"}}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[
        Deed::post("/nodes/{}/{guest}/config"),
        Deed::put("/nodes/{}/{guest}/config"),
        Deed::put("/nodes/{}/{guest}/resize"),
        Deed::put("/nodes/{}/{guest}/cloudinit"),
    ];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = cx.guest(self.vmid, None, None).await?;
        let mut subject = Subject::of(guest).await?;
        self.check(&subject)?;
        let edits = edit::all(&subject, self.set, &self.delete)?;
        let growths = grow::all(&subject, &self.grow, &edits)?;
        let regenerates = self.regenerate_cloudinit;
        one_identity(&subject, &edits, growths.len() + usize::from(regenerates))?;
        let mut plan = Plan::new(
            &Self::SPEC,
            &subject.guest.cluster.name,
            summary(&subject, &edits, &growths, regenerates),
        );
        let impact = edits.iter().map(|edit| impact::impact(&subject, edit));
        plan.impact = impact.flatten().collect();
        plan.warnings = impact::warnings(&subject, &edits, regenerates);
        subject.guest.bind(&mut plan, &subject.config);
        plan.blockers = blockers(&subject, &edits);
        others::look(cx, &subject, &edits, &mut plan).await?;
        subject.measure(&mut plan.impact).await;
        subject.look_at_bridges(&edits, &mut plan).await?;
        let (storages, missing) = subject.look_at_storages(&edits).await;
        plan.blockers.extend(missing);
        fit::check(&subject, &edits, &storages, &mut plan).await;
        plan.impact
            .extend(growths.iter().map(|growth| growth.impact(&storages)));
        plan.warnings.extend(
            growths
                .iter()
                .filter_map(|growth| growth.warning(&storages)),
        );
        plan.needs = all_needs(&subject, &edits, &growths, regenerates);
        add_steps(&mut plan, &subject, &edits, &growths, regenerates);
        let (undo, left) = undo::of(&subject, &edits, &growths, regenerates);
        plan.undo = undo;
        plan.warnings.extend(left);
        Ok(plan)
    }
}

impl UpdateVm {
    /// What makes no sense whatever the settings are.
    fn check(&self, subject: &Subject) -> Result<(), Fault> {
        if self.regenerate_cloudinit && subject.guest.at.kind == GuestKind::Lxc {
            return Err(Fault::bad_input("a container has no cloud-init drive")
                .hint("leave regenerate_cloudinit out; set hostname, nameserver and net0 of a container"));
        }
        if self.regenerate_cloudinit && subject.cloudinit_drive().is_none() {
            return Err(Fault::bad_input(format!(
                "{} has no cloud-init drive",
                subject.guest.label()
            ))
            .hint(
                "attach one first: update_proxmox_vm with set {\"ide2\": \"<storage>:cloudinit\"}",
            ));
        }
        let nothing = self.set.is_empty() && self.delete.is_empty() && self.grow.is_empty();
        if nothing && !self.regenerate_cloudinit {
            return Err(Fault::bad_input("nothing to change was sent")
                .hint("send set, delete, grow or regenerate_cloudinit"));
        }
        Ok(())
    }
}

/// A guest is known by some of its settings. If one of those changes, the steps after it could not tell it from a stranger.
fn one_identity(subject: &Subject, edits: &[Edit], further_steps: usize) -> Result<(), Fault> {
    let mut values = subject.config.values().clone();
    for edit in edits {
        match edit.text() {
            // PVE gives a card without an address one.
            Some(text) if edit.spec.takes == Takes::Card => {
                let card = format!("{text},hwaddr=new");
                drop(values.insert(edit.key.clone(), Value::String(card)));
            }
            Some(text) => drop(values.insert(edit.key.clone(), Value::String(text.to_owned()))),
            None => drop(values.remove(&edit.key)),
        }
    }
    let kind = subject.guest.at.kind;
    let after: GuestConfig = values.into_iter().collect();
    let before = Identity::of(kind, &subject.config);
    let marked = edits.iter().any(|edit| {
        matches!(edit.spec.takes, Takes::Card | Takes::Mount)
            || matches!(edit.key.as_str(), "smbios1" | "vmgenid")
    });
    if further_steps > 0 && marked && before.difference(&Identity::of(kind, &after)).is_some() {
        return Err(Fault::bad_input(
            "this changes what the guest is known by, which is not done together with other steps",
        )
        .hint("send set and delete in one call, then grow or regenerate_cloudinit in a second"));
    }
    Ok(())
}

fn summary(subject: &Subject, edits: &[Edit], growths: &[Growth], regenerates: bool) -> String {
    let mut parts = Vec::new();
    if !edits.is_empty() {
        parts.push(format!("change {}", steps::named(edits)));
    }
    parts.extend(growths.iter().map(Growth::says));
    if regenerates {
        parts.push("write the cloud-init drive anew".to_owned());
    }
    let label = subject.guest.label();
    if parts.is_empty() {
        return format!("{label} is configured so already; nothing to do");
    }
    format!("On {label}: {}", parts.join(", "))
}

/// What PVE would refuse, said before anything is sent.
fn blockers(subject: &Subject, edits: &[Edit]) -> Vec<Blocker> {
    let mut blockers = subject.attached_twice(edits);
    if let Some(lock) = subject.config.lock() {
        blockers.push(locked(&subject.guest, &lock));
    }
    if subject.running && edits.iter().any(impact::becomes_template) {
        blockers.push(Blocker::new(
            format!("{} runs, and a template never does", subject.guest.label()),
            "shut it down with stop_proxmox_vm first",
        ));
    }
    let who = subject.guest.pve().identity();
    for edit in edits {
        if let Err(what) = needs::of(subject, edit)
            && who != "root@pam"
        {
            blockers.push(Blocker::new(
                format!("PVE lets only root@pam itself change {what}, not {who}"),
                "a person can change it on the node, or leave it out",
            ));
        }
    }
    if subject.config.protection() && edits.iter().any(|edit| edit.spec.takes == Takes::Mount) {
        blockers.push(Blocker::new(
            format!(
                "{} has PVE's protection flag, which keeps its volumes as they are",
                subject.guest.label()
            ),
            "leave them out; what becomes of its volumes is for a person to decide",
        ));
    }
    blockers
}

/// Each privilege once; a choice of which one part is needed anyhow is no choice.
fn all_needs(subject: &Subject, edits: &[Edit], growths: &[Growth], regenerates: bool) -> Needs {
    let edited = edits
        .iter()
        .filter_map(|edit| needs::of(subject, edit).ok());
    let grown = growths
        .iter()
        .map(|growth| needs::grow(subject, &growth.storage));
    let cloudinit = regenerates.then(|| vec![subject.needs("VM.Config.Cloudinit")]);
    let (choices, plain): (Vec<_>, Vec<_>) = edited
        .chain(grown)
        .chain(cloudinit)
        .flatten()
        .partition(|need| matches!(need, Needs::Any(_)));
    let mut all = vec![subject.needs("VM.Audit")];
    for need in plain.into_iter().chain(choices) {
        let settled = match &need {
            Needs::Any(parts) => parts.iter().any(|part| all.contains(part)),
            _ => false,
        };
        if !settled && !all.contains(&need) {
            all.push(need);
        }
    }
    let above = all.clone();
    all.retain(|need| !above.iter().any(|other| covers(other, need)));
    Needs::All(all)
}

/// Whether a privilege on a path comes with the same one further up: on a VLAN with that on its bridge.
fn covers(above: &Needs, below: &Needs) -> bool {
    match (above, below) {
        (
            Needs::Has { privilege, path },
            Needs::Has {
                privilege: same,
                path: longer,
            },
        ) => privilege == same && longer.starts_with(&format!("{path}/")),
        _ => false,
    }
}

/// The configuration first: of all that can fail, a grown disk is what cannot be taken back. The digest goes with the first
/// write; the later ones come after changes of our own.
fn add_steps(
    plan: &mut Plan,
    subject: &Subject,
    edits: &[Edit],
    growths: &[Growth],
    regenerates: bool,
) {
    let mut all = Vec::new();
    if !edits.is_empty() {
        all.push(steps::config(plan, subject, edits));
    }
    for growth in growths {
        let digest = subject.config.digest().filter(|_| all.is_empty());
        all.push(growth.step(subject, digest));
    }
    if regenerates {
        all.push(steps::cloudinit(subject));
    }
    plan.steps = (0..)
        .zip(all)
        .map(|(group, step)| step.group(group))
        .collect();
}
