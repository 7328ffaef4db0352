//! bulk_migrate_guests: a plan of migrate_proxmox_vm for each guest, made into one.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use pve::{GuestKind, NodeName, ResourceKind, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::area::migrate::{self, MigrateVm};
use crate::context::{Context, Guest, READS, arguments};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::plan::{Effect, Impact, Needs, Plan, Undo, parts};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Changes, Object};
use crate::words;

/// Guests that a call moves at most.
const MOST: usize = 20;
/// Guests that move at the same time.
const AT_ONCE: usize = 4;

/// Moves several VMs and containers to one node, four at a time; after one fails no more are sent.
///
/// Each as migrate_proxmox_vm does it: running VMs move online, running containers only with online true, which
/// restarts them; what stands in the way of any is named beforehand. It waits until all are seen there. Interrupting
/// asks for a confirmation. Needs VM.Migrate and VM.Audit on each guest. Undo: the same call with the old node.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct MigrateGuests {
    /// The node they go to.
    target: NodeName,
    /// Their ids, as 105,203.
    vms: String,
    /// Restart running containers for it.
    #[serde(default)]
    online: bool,
    /// Copy local disks of running VMs.
    #[serde(default)]
    with_local_disks: bool,
}

impl Changes for MigrateGuests {
    const SPEC: Spec = Spec {
        name: "bulk_migrate_guests",
        title: "Move several guests to a node",
        toolset: Toolset::Cluster,
        risk: Risk::Disrupt,
        idempotent: false,
        special: Special::NONE,
        needs: migrate::NEEDS,
        examples: &[
            Example {
                ask: "Move staging and the CI runner to pve3",
                args: r#"{"target": "pve3", "vms": "105,111"}"#,
            },
            Example {
                ask: "Move vpn and mqtt to pve2, a restart is fine",
                args: r#"{"target": "pve2", "vms": "204,206", "online": true}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[
        Deed::post("/nodes/{}/migrateall"),
        Deed::post("/cluster/bulk-action/guest/migrate"),
    ];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let (cluster, _) = cx.node(&self.target).await?;
        let here = Context {
            clusters: vec![cluster.clone()],
            ..cx.clone()
        };
        let guests = here.guests(&self.vmids()?).await?;
        let (there, moving): (Vec<_>, Vec<_>) = guests
            .into_iter()
            .partition(|guest| guest.at.node == self.target);
        let each: Vec<_> = moving
            .iter()
            .map(|guest| self.plan_of(guest, &here))
            .collect();
        let plans: Vec<Plan> = stream::iter(each).buffered(READS).try_collect().await?;
        let mut plan = self.joined(&cluster.name, &moving, plans);
        for guest in &there {
            plan.impact.push(
                Impact::new(
                    Effect::Kept,
                    guest.at.kind.noun(),
                    guest.at.vmid.to_string(),
                )
                .note(format!("{}; on {} already", guest.name(), self.target)),
            );
        }
        plan.warnings
            .extend(self.too_small(&cluster.pve, &moving).await);
        Ok(plan)
    }
}

impl MigrateGuests {
    fn vmids(&self) -> Result<Vec<Vmid>, Fault> {
        let mut vmids = BTreeSet::new();
        for word in parts(&json!(self.vms)) {
            let vmid: Vmid = word.parse().map_err(|error| {
                Fault::bad_input(format!("argument `vms`: {error}"))
                    .hint("send ids separated by commas, such as 105,203")
            })?;
            vmids.insert(vmid);
        }
        match vmids.len() {
            0 => Err(Fault::bad_input("argument `vms`: it names no guest")
                .hint("send ids separated by commas, such as 105,203")),
            many if many > MOST => Err(Fault::bad_input(format!(
                "argument `vms`: {many} guests are more than {MOST}"
            ))
            .hint("send fewer, and the others in a second call")),
            _ => Ok(vmids.into_iter().collect()),
        }
    }

    /// The plan for one of them. What is wrong with it says whom it is about.
    async fn plan_of(&self, guest: &Guest, cx: &Context) -> Result<Plan, Fault> {
        let restart = self.online && guest.at.kind == GuestKind::Lxc;
        let one =
            MigrateVm::one_of_several(guest.at.vmid, &self.target, restart, self.with_local_disks);
        let mut plan = Box::pin(one.plan(cx)).await.map_err(|fault| Fault {
            message: named(guest, &fault.message),
            ..fault
        })?;
        for warning in &mut plan.warnings {
            *warning = named(guest, warning);
        }
        for blocker in &mut plan.blockers {
            blocker.because = named(guest, &blocker.because);
            blocker.instead = blocker.instead.replace("restart: true", "online: true");
        }
        Ok(plan)
    }

    fn joined(&self, cluster: &str, moving: &[Guest], plans: Vec<Plan>) -> Plan {
        let ids: Vec<_> = moving.iter().map(|it| it.at.vmid.to_string()).collect();
        let summary = match ids.as_slice() {
            [] => format!("All of them are on {} already; nothing to do", self.target),
            _ => format!(
                "Move {} ({}) to {}",
                words::count(ids.len(), "guest"),
                words::list(&ids),
                self.target
            ),
        };
        let mut all = Plan::new(&MigrateVm::SPEC, cluster, summary).called(Self::SPEC.name);
        let mut needs = Vec::new();
        for (group, plan) in plans.into_iter().enumerate() {
            let group = u16::try_from(group / AT_ONCE).unwrap_or(u16::MAX);
            let steps = plan.steps.into_iter();
            all.steps.extend(steps.map(|step| step.group(group)));
            all.guards.extend(plan.guards);
            all.impact.extend(plan.impact);
            all.warnings.extend(plan.warnings);
            all.blockers.extend(plan.blockers);
            needs.push(plan.needs);
            for target in plan.targets {
                if all.targets.iter().all(|known| known.at != target.at) {
                    all.targets.push(target);
                }
            }
        }
        all.needs = Needs::All(needs);
        if !moving.is_empty() {
            all.undo = self.undo(moving);
        }
        all
    }

    /// Back to where they were, which takes that to be one node.
    fn undo(&self, moving: &[Guest]) -> Undo {
        let mut from: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for guest in moving {
            let node = guest.at.node.as_str();
            from.entry(node)
                .or_default()
                .push(guest.at.vmid.to_string());
        }
        let told = from
            .iter()
            .map(|(node, ids)| format!("{} came from {node}", words::list(ids)));
        let told: Vec<_> = told.collect();
        match from.into_iter().next() {
            Some((node, ids)) if told.len() == 1 => Undo::Call {
                tool: Self::SPEC.name.to_owned(),
                arguments: self.back(node, &ids),
            },
            _ => Undo::Impossible {
                because: format!("not by one call: {}", told.join(", ")),
            },
        }
    }

    fn back(&self, node: &str, ids: &[String]) -> Object {
        let mut back = arguments([("target", json!(node)), ("vms", json!(ids.join(",")))]);
        for (name, said) in [
            ("online", self.online),
            ("with_local_disks", self.with_local_disks),
        ] {
            if said {
                back.insert(name.to_owned(), json!(true));
            }
        }
        back
    }

    /// Each may fit and all of them not. What the token may not see is not held against them.
    async fn too_small(&self, pve: &pve::Reader, moving: &[Guest]) -> Option<String> {
        let rows = pve.resources().await.ok()?;
        let node = rows.iter().find(|row| {
            row.kind == ResourceKind::Node && row.node.as_ref() == Some(&self.target)
        })?;
        let free = node.maxmem?.saturating_sub(node.mem?);
        let running = moving.iter().filter(|guest| guest.row.is_running());
        let wanted = words::total(running.filter_map(|guest| guest.row.resource.maxmem));
        (wanted > free).then(|| {
            format!(
                "together they may use {} of memory, and {} has {} left",
                words::size(wanted),
                self.target,
                words::size(free)
            )
        })
    }
}

/// A sentence that says which guest it is about.
fn named(guest: &Guest, text: &str) -> String {
    let label = guest.label();
    if text.contains(&label) {
        text.to_owned()
    } else {
        format!("{label}: {text}")
    }
}
