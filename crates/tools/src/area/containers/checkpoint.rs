//! suspend_container and resume_container: a container's memory written to the node's disk, and read back.
//!
//! PVE has both, calls them experimental, and leaves the work to CRIU, which it does not install.

use pve::{GuestConfig, GuestKind, Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::area::power::{State, locked};
use crate::context::{Context, Guest, arguments};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset, Wants};
use crate::tool::Changes;

/// What is said with either.
const EXPERIMENTAL: &str = "PVE calls this experimental: it takes CRIU on the node, which PVE does not install; without it the task fails and \
     nothing changes";

/// Writes the memory of a running container to its node's disk and ends it; resume_container goes on from there.
///
/// Experimental in PVE: it takes CRIU, which PVE does not install, and often fails. Prefer shutdown_container. One such
/// state is kept per node. Refused: stopped, locked and HA-managed containers. It asks for a confirmation. Needs
/// VM.PowerMgmt. Undo: resume_container.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SuspendContainer {
    /// The container's id.
    vmid: Vmid,
}

impl Changes for SuspendContainer {
    const SPEC: Spec = Spec {
        name: "suspend_container",
        title: "Suspend a container to disk",
        toolset: Toolset::Lxc,
        risk: Risk::Disrupt,
        idempotent: false,
        special: Special {
            wants: &[Wants::Criu],
            ..Special::NONE
        },
        needs: need::POWER,
        examples: &[Example {
            ask: "Suspend the MQTT container",
            args: r#"{"vmid": 206}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/lxc/{}/status/suspend")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let there = There::of(self.vmid, cx, &Self::SPEC).await?;
        let summary = format!("Suspend {} to the disk of its node", there.guest.label());
        Ok(there.plan(&Self::SPEC, &SUSPEND, summary))
    }
}

/// Starts a container again from the memory that suspend_container wrote to its node's disk.
///
/// Experimental in PVE: it takes CRIU, and fails where nothing was written; start_container starts it afresh. Refused:
/// running and locked containers, templates. Waits until it is seen running. Needs VM.PowerMgmt. Undo:
/// suspend_container.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ResumeContainer {
    /// The container's id.
    vmid: Vmid,
}

impl Changes for ResumeContainer {
    const SPEC: Spec = Spec {
        name: "resume_container",
        title: "Resume a suspended container",
        toolset: Toolset::Lxc,
        risk: Risk::Change,
        idempotent: false,
        special: Special {
            wants: &[Wants::Criu],
            ..Special::NONE
        },
        needs: need::POWER,
        examples: &[Example {
            ask: "Resume the media container",
            args: r#"{"vmid": 203}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/lxc/{}/status/resume")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let there = There::of(self.vmid, cx, &Self::SPEC).await?;
        let summary = format!("Resume {} from the disk of its node", there.guest.label());
        Ok(there.plan(&Self::SPEC, &RESUME, summary))
    }
}

/// One of the two ways.
struct Way {
    /// As PVE calls it, in its path and its task.
    name: &'static str,
    /// Whether the container runs before; afterwards it is the other way round.
    from_running: bool,
    effect: Effect,
    back: &'static str,
}

const SUSPEND: Way = Way {
    name: "suspend",
    from_running: true,
    effect: Effect::Interrupted,
    back: "resume_container",
};

const RESUME: Way = Way {
    name: "resume",
    from_running: false,
    effect: Effect::Changed,
    back: "suspend_container",
};

/// The container as it is.
struct There {
    guest: Guest,
    config: GuestConfig,
    state: State,
}

impl There {
    async fn of(vmid: Vmid, cx: &Context, spec: &Spec) -> Result<Self, Fault> {
        let cx = cx.only(GuestKind::Lxc, spec.name);
        let guest = cx.guest(vmid, None, None).await?;
        guest.require_online()?;
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        Ok(Self {
            guest,
            config,
            state,
        })
    }

    fn plan(self, spec: &Spec, way: &Way, summary: String) -> Plan {
        let at = &self.guest.at;
        let mut plan = Plan::new(spec, &self.guest.cluster.name, summary);
        self.guest.bind(&mut plan, &self.config);
        plan.blockers = self.blockers(way);
        plan.warnings.push(EXPERIMENTAL.to_owned());
        plan.impact.push(
            Impact::new(way.effect, at.kind.noun(), at.vmid.to_string()).note(self.guest.name()),
        );
        plan.needs = Needs::All(vec![
            Needs::on(at.acl_path(), "VM.Audit"),
            Needs::on(at.acl_path(), "VM.PowerMgmt"),
        ]);
        plan.undo = Undo::Call {
            tool: way.back.to_owned(),
            arguments: arguments([("vmid", json!(at.vmid))]),
        };
        plan.steps.push(self.step(way, &plan.summary));
        plan
    }

    fn blockers(&self, way: &Way) -> Vec<Blocker> {
        let label = self.guest.label();
        let mut blockers = Vec::new();
        if self.guest.is_template() {
            blockers.push(Blocker::new(
                format!("{label} is a template, which never runs"),
                "clone it with clone_container and start the clone",
            ));
        }
        match (way.from_running, self.state.running) {
            (true, false) => blockers.push(Blocker::new(
                format!("{label} is not running"),
                "there is nothing to suspend; start_container starts it",
            )),
            (false, true) => blockers.push(Blocker::new(
                format!("{label} is running"),
                "there is nothing to resume; get_container_status shows it",
            )),
            _ => {}
        }
        if let Some(lock) = self.config.lock() {
            blockers.push(locked(&self.guest, &lock));
        }
        if self.state.managed {
            blockers.push(Blocker::new(
                format!("HA starts and stops {label}, and knows nothing of suspended containers"),
                "use shutdown_container or start_container",
            ));
        }
        blockers
    }

    fn step(&self, way: &Way, says: &str) -> Step {
        let at = &self.guest.at;
        let status = |runs: bool| {
            let word = if runs { "running" } else { "stopped" };
            Check::guest(
                at,
                "status/current",
                format!("{} is {word}", self.guest.label()),
                vec![Expect::Is("status".to_owned(), json!(word))],
            )
        };
        Step::request(
            says,
            Request::post(at.path(&format!("status/{}", way.name))),
        )
        .task(Trace::of(at, way.name))
        .after(status(!way.from_running))
        .otherwise(status(way.from_running))
    }
}
