//! startall_node and stopall_node

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use pve::{GuestConfig, GuestKind, NodeName, Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::context::{Cluster, Context, Guest, READS};
use crate::deed::Deed;
use crate::fault::{Fault, Kind};
use crate::need::{self, Need};
use crate::plan::{Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::preview;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// On all guests, or on each that is named.
const NEEDS: Need = Need::Any(&[
    need::POWER,
    Need::All(&[
        Need::On("/vms", "VM.Audit"),
        Need::On("/vms", "VM.PowerMgmt"),
    ]),
]);

/// Starts the guests of a node in their order: those marked to start at boot, or with force the others, too.
///
/// Use it after maintenance. Guests under HA are left alone unless they are named. For a few guests start_proxmox_vm is
/// better. It waits until all of them run; one that fails is told. Needs VM.Audit and VM.PowerMgmt on /vms, or on each
/// guest that is named. Undo: stopall_node with the same ids.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct StartAll {
    /// The node.
    node: NodeName,
    /// Those too that do not start at boot.
    #[serde(default)]
    force: bool,
    /// Only these ids, separated by commas.
    vms: Option<String>,
}

/// Shuts the running guests of a node down in their order; those that do not end in time are killed.
///
/// Use it before maintenance; migrate_proxmox_vm moves a guest instead, stop_proxmox_vm stops a single one. Guests under
/// HA are left alone unless they are named. Needs VM.Audit and VM.PowerMgmt on /vms, or on each guest that is named.
/// Undo: startall_node with force and the same ids.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct StopAll {
    /// The node.
    node: NodeName,
    /// Only these ids, separated by commas.
    vms: Option<String>,
    /// Kill those that do not end in time; true.
    force_stop: Option<bool>,
    /// Seconds that each gets; 180.
    #[schemars(range(max = 7200))]
    timeout: Option<u32>,
}

impl Changes for StartAll {
    const SPEC: Spec = Spec {
        name: "startall_node",
        title: "Start a node's guests",
        toolset: Toolset::Nodes,
        risk: Risk::Change,
        idempotent: true,
        special: Special::NONE,
        needs: NEEDS,
        examples: &[Example {
            ask: "Start staging and whatever else I name on pve1",
            args: r#"{"node": "pve1", "force": true, "vms": "105"}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/startall")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let all = Herd::on(cx, &self.node, self.vms.as_deref()).await?;
        let starts = |(guest, config): &(Guest, GuestConfig)| {
            let at_boot = config.get("onboot").and_then(pve::lenient::as_bool);
            !guest.row.is_running() && (self.force || at_boot == Some(true))
        };
        let (herd, left) = all.split(starts);
        let left = left.iter().filter(|(guest, _)| !guest.row.is_running());
        let waiting = left.count();
        herd.require_some("start", waiting)?;
        let request = Request::post(format!("/nodes/{}/startall", self.node))
            .with("force", true)
            .with("vms", herd.ids());
        let mut plan = herd.plan(&Self::SPEC, Effect::Changed, "Start");
        if waiting > 0 {
            plan.warnings.push(format!(
                "left alone, because not marked to start at boot: {}; force starts them too",
                words::count(waiting, "guest")
            ));
        }
        plan.undo = herd.back("stopall_node", &[]);
        plan.steps
            .push(herd.step(&plan.summary, request, "startall", "running"));
        Ok(plan)
    }
}

impl Changes for StopAll {
    const SPEC: Spec = Spec {
        name: "stopall_node",
        title: "Stop a node's guests",
        toolset: Toolset::Nodes,
        risk: Risk::Disrupt,
        idempotent: true,
        special: Special::NONE,
        needs: NEEDS,
        examples: &[
            Example {
                ask: "Shut everything on pve3 down",
                args: r#"{"node": "pve3"}"#,
            },
            Example {
                ask: "Shut web and db down, and kill neither",
                args: r#"{"node": "pve1", "vms": "100,101", "force_stop": false, "timeout": 300}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/stopall")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let all = Herd::on(cx, &self.node, self.vms.as_deref()).await?;
        let (herd, _) = all.split(|(guest, _)| guest.row.is_running());
        herd.require_some("stop", 0)?;
        let request = Request::post(format!("/nodes/{}/stopall", self.node))
            .with("vms", herd.ids())
            .maybe("force-stop", self.force_stop)
            .maybe("timeout", self.timeout.map(i64::from));
        let mut plan = herd.plan(&Self::SPEC, Effect::Interrupted, "Stop");
        if self.force_stop != Some(false) {
            let seconds = self.timeout.unwrap_or(180);
            plan.warnings.push(format!(
                "a guest that has not ended after {seconds} s is killed"
            ));
        }
        plan.undo = herd.back("startall_node", &[("force", true)]);
        plan.steps
            .push(herd.step(&plan.summary, request, "stopall", "stopped"));
        Ok(plan)
    }
}

/// The guests of a node that a call is about, with their configurations.
struct Herd {
    cluster: Arc<Cluster>,
    node: NodeName,
    /// Whether the caller named them.
    named: bool,
    guests: Vec<(Guest, GuestConfig)>,
}

impl Herd {
    async fn on(cx: &Context, node: &NodeName, vms: Option<&str>) -> Result<Self, Fault> {
        let cluster = cx.online_node(node).await?;
        let here = Context {
            clusters: vec![cluster.clone()],
            ..cx.clone()
        };
        let guests = match vms.filter(|vms| !vms.trim().is_empty()) {
            Some(vms) => named(&here, node, vms).await?,
            None => every(&here, node).await?,
        };
        let guests = stream::iter(guests).map(read).buffered(READS);
        Ok(Self {
            node: node.clone(),
            named: vms.is_some_and(|vms| !vms.trim().is_empty()),
            guests: guests.try_collect().await?,
            cluster,
        })
    }

    fn split(
        self,
        wanted: impl Fn(&(Guest, GuestConfig)) -> bool,
    ) -> (Self, Vec<(Guest, GuestConfig)>) {
        let (guests, others) = self.guests.into_iter().partition(wanted);
        (Self { guests, ..self }, others)
    }

    fn require_some(&self, verb: &str, waiting: usize) -> Result<(), Fault> {
        if !self.guests.is_empty() {
            return Ok(());
        }
        let message = format!("there is nothing to {verb} on node {}", self.node);
        let hint = if waiting > 0 {
            format!(
                "not marked to start at boot: {}; force starts them too",
                words::count(waiting, "stopped guest")
            )
        } else {
            "list_proxmox_resources with node:NAME in its filter shows its guests".to_owned()
        };
        Err(Fault::new(Kind::Conflict, message).hint(hint))
    }

    fn ids(&self) -> String {
        let ids: Vec<_> = self
            .guests
            .iter()
            .map(|(guest, _)| guest.at.vmid.to_string())
            .collect();
        ids.join(",")
    }

    fn plan(&self, spec: &Spec, effect: Effect, verb: &str) -> Plan {
        let count = words::count(self.guests.len(), "guest");
        let summary = format!("{verb} {count} on node {}", self.node);
        let mut plan = Plan::new(spec, &self.cluster.name, summary);
        let mut needs = Vec::new();
        for (guest, config) in &self.guests {
            guest.bind(&mut plan, config);
            let kind = guest.at.kind.noun();
            plan.impact
                .push(Impact::new(effect, kind, guest.at.vmid.to_string()).note(guest.name()));
            if self.named {
                let path = guest.at.acl_path();
                needs.extend(["VM.Audit", "VM.PowerMgmt"].map(|name| Needs::on(&path, name)));
            }
        }
        if !self.named {
            needs.extend(["VM.Audit", "VM.PowerMgmt"].map(|name| Needs::on("/vms", name)));
        }
        plan.needs = Needs::All(needs);
        plan
    }

    fn back(&self, tool: &str, besides: &[(&str, bool)]) -> Undo {
        let named = [("node", json!(self.node)), ("vms", json!(self.ids()))];
        let besides = besides.iter().map(|(name, value)| (*name, json!(value)));
        Undo::Call {
            tool: tool.to_owned(),
            arguments: named
                .into_iter()
                .chain(besides)
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        }
    }

    fn step(&self, says: &str, request: Request, task: &str, status: &str) -> Step {
        let trace = Trace {
            node: self.node.clone(),
            vmid: None,
            types: vec![task.to_owned()],
        };
        let mut step = Step::request(says, request).task(trace);
        let checks = [GuestKind::Qemu, GuestKind::Lxc].map(|kind| self.check(kind, status));
        step.after = checks.into_iter().flatten().reduce(Check::and);
        step
    }

    /// All of a kind have this status, by the node's own list.
    fn check(&self, kind: GuestKind, status: &str) -> Option<Check> {
        let of_kind = self
            .guests
            .iter()
            .filter(|(guest, _)| guest.at.kind == kind);
        let expect: Vec<_> = of_kind
            .map(|(guest, _)| {
                let is = Expect::Is("status".to_owned(), json!(status));
                Expect::Row("vmid".to_owned(), json!(guest.at.vmid), vec![is])
            })
            .collect();
        (!expect.is_empty()).then(|| Check {
            expect,
            settles: true,
            ..Check::list(
                Request::get(format!("/nodes/{}/{kind}", self.node)),
                format!("all of these {}s are {status}", kind.noun()),
                Expect::Free,
            )
        })
    }
}

async fn read(guest: Guest) -> Result<(Guest, GuestConfig), Fault> {
    let config = guest.config().await?;
    Ok((guest, config))
}

/// Those that the caller named; all must be on the node.
async fn named(cx: &Context, node: &NodeName, vms: &str) -> Result<Vec<Guest>, Fault> {
    let mut vmids = Vec::new();
    for word in vms.split([',', ';', ' ']).filter(|word| !word.is_empty()) {
        let vmid: Vmid = word
            .parse()
            .map_err(|error| Fault::bad_input(format!("argument `vms`: {error}")))?;
        vmids.push(vmid);
    }
    vmids.sort_unstable();
    vmids.dedup();
    let guests = cx.guests(&vmids).await?;
    for guest in &guests {
        if guest.at.node != *node {
            let message = format!(
                "{} is on node {}, not on {node}",
                guest.label(),
                guest.at.node
            );
            return Err(Fault::bad_input(message).hint("leave it out of vms, or name its node"));
        }
        if guest.is_template() {
            let message = format!("{} is a template and never runs", guest.label());
            return Err(Fault::bad_input(message).hint("leave it out of vms"));
        }
    }
    Ok(guests)
}

/// All that PVE would take: no templates, and none under HA. What the token cannot see could not be shown to whoever
/// decides, so that it has to see everything.
async fn every(cx: &Context, node: &NodeName) -> Result<Vec<Guest>, Fault> {
    let sees = Needs::on("/vms", "VM.Audit");
    for cluster in &cx.clusters {
        if !preview::missing(&sees, &cluster.pve).await.is_empty() {
            let message = format!("the token may not see all guests of node {node}");
            return Err(Fault::new(Kind::Forbidden, message)
                .hint("it needs VM.Audit on /vms; or name the guests in vms"));
        }
    }
    cx.guests_that(|row| row.node.as_ref() == Some(node) && !row.template && row.hastate.is_none())
        .await
}
