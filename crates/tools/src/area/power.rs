//! start_proxmox_vm and stop_proxmox_vm

use pve::{GuestKind, GuestRef, NodeName, Request, Vmid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::context::{Context, Guest, arguments, label};
use crate::fault::Fault;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::spec::{Example, Risk, Spec, Toolset};
use crate::tool::Changes;

/// Starts a stopped VM or container, resumes a paused VM, or wakes a hibernated one.
///
/// A guest that runs already is left alone and reported so. To restart a running guest use stop_proxmox_vm
/// with action reboot. Refused beforehand: templates, locked guests, guests on an offline node. Needs
/// VM.PowerMgmt. Waits until the guest is seen running; under HA the start is only queued by PVE, so it
/// can end as "running" here. That the operating system inside is up is not known. Undo: stop_proxmox_vm.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct StartVm {
    /// The guest's id.
    vmid: Vmid,
    /// Its node; looked up if left out.
    node: Option<NodeName>,
    /// Its kind; looked up if left out.
    vm_type: Option<GuestKind>,
}

impl Changes for StartVm {
    const SPEC: Spec = Spec {
        name: "start_proxmox_vm",
        title: "Start or resume a VM or container",
        toolset: Toolset::Core,
        risk: Risk::Change,
        idempotent: true,
        takes_host: true,
        leasable: false,
        examples: &[
            Example {
                ask: "Start staging",
                args: r#"{"vmid": 105}"#,
            },
            Example {
                ask: "Wake the paused kiosk",
                args: r#"{"vmid": 108, "vm_type": "qemu"}"#,
            },
            Example {
                ask: "Start the media container",
                args: r#"{"vmid": 203, "node": "pve3"}"#,
            },
        ],
    };

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = cx
            .guest(self.vmid, self.node.as_ref(), self.vm_type)
            .await?;
        guest.require_online()?;
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        let verb = if state.paused { "Resume" } else { "Start" };
        let mut plan = Plan::new(
            &Self::SPEC,
            &guest.cluster.name,
            Risk::Change,
            format!("{verb} {} on {}", guest.label(), guest.at.node),
        );
        guest.bind(&mut plan, &config);
        plan.needs = power_needs(&guest.at);
        if state.running && !state.paused {
            plan.summary = format!("{} is running already; nothing to do", guest.label());
            return Ok(plan);
        }
        if guest.is_template() {
            plan.blockers.push(Blocker::new(
                format!("{} is a template and cannot be started", guest.label()),
                "clone it with clone_proxmox_vm and start the clone",
            ));
        }
        // A hibernated VM is locked as suspended; starting is what wakes it.
        if let Some(lock) = config.lock().filter(|lock| lock != "suspended") {
            plan.blockers.push(locked(&guest, &lock));
        }
        plan.impact.push(Impact::new(
            Effect::Changed,
            guest.at.kind.noun(),
            guest.at.vmid.to_string(),
        ));
        plan.steps.push(if state.paused {
            resume_step(&guest)
        } else {
            start_step(&guest.at, guest.name(), state.managed)
        });
        plan.undo = Undo::Call {
            tool: "stop_proxmox_vm".to_owned(),
            arguments: arguments([("vmid", json!(self.vmid))]),
        };
        Ok(plan)
    }
}

/// How to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Action {
    #[default]
    Shutdown,
    Stop,
    Reboot,
    Reset,
    Suspend,
}

impl Action {
    fn verb(self) -> &'static str {
        match self {
            Self::Shutdown => "Shut down",
            Self::Stop => "Switch off",
            Self::Reboot => "Reboot",
            Self::Reset => "Reset",
            Self::Suspend => "Pause",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Shutdown => "status/shutdown",
            Self::Stop => "status/stop",
            Self::Reboot => "status/reboot",
            Self::Reset => "status/reset",
            Self::Suspend => "status/suspend",
        }
    }

    fn tasks(self, kind: GuestKind) -> Vec<String> {
        let name = match self {
            Self::Shutdown => "shutdown",
            Self::Stop => "stop",
            Self::Reboot => "reboot",
            Self::Reset => "reset",
            // PVE calls it suspend in the path, and so only the task that writes the memory to disk.
            Self::Suspend => "pause",
        };
        let own = match kind {
            GuestKind::Qemu => format!("qm{name}"),
            GuestKind::Lxc => format!("vz{name}"),
        };
        vec![own, "hastop".to_owned()]
    }
}

/// Shuts down, switches off, reboots, resets or pauses a running VM or container.
///
/// The default, action shutdown, asks the operating system inside to end and waits for it; with force it is
/// switched off if it has not ended within timeout. Use action stop only for a guest that does not react: it
/// is like pulling the plug, and what was not written is lost. reboot restarts cleanly; reset (VM only) is
/// the reset button; suspend (VM only) freezes it in memory, and start_proxmox_vm resumes it. To remove a
/// guest use delete_proxmox_vm. What runs inside is interrupted, so it asks for a confirmation first. Needs
/// VM.PowerMgmt. Waits until the new state is read back. Undo: start_proxmox_vm.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct StopVm {
    /// The guest's id.
    vmid: Vmid,
    /// How: clean (shutdown, reboot), hard (stop, reset), or frozen in memory (suspend).
    #[serde(default)]
    action: Action,
    /// With shutdown: switch it off if it has not ended within timeout.
    #[serde(default)]
    force: bool,
    /// With shutdown and reboot: seconds to give the guest. Left out: PVE's own default.
    #[schemars(range(min = 1, max = 3600))]
    timeout: Option<u32>,
    /// Its node; looked up if left out.
    node: Option<NodeName>,
    /// Its kind; looked up if left out.
    vm_type: Option<GuestKind>,
}

impl Changes for StopVm {
    const SPEC: Spec = Spec {
        name: "stop_proxmox_vm",
        title: "Shut down, stop, reboot, reset or pause a VM or container",
        toolset: Toolset::Core,
        risk: Risk::Disrupt,
        idempotent: false,
        takes_host: true,
        leasable: false,
        examples: &[
            Example {
                ask: "Shut down the web server",
                args: r#"{"vmid": 100}"#,
            },
            Example {
                ask: "Reboot the DNS container",
                args: r#"{"vmid": 200, "action": "reboot"}"#,
            },
            Example {
                ask: "Pull the plug on the desktop",
                args: r#"{"vmid": 110, "action": "stop"}"#,
            },
            Example {
                ask: "Pause the build VM",
                args: r#"{"vmid": 106, "action": "suspend"}"#,
            },
        ],
    };

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = cx
            .guest(self.vmid, self.node.as_ref(), self.vm_type)
            .await?;
        guest.require_online()?;
        self.check(&guest)?;
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        let summary = format!(
            "{} {} on {}",
            self.action.verb(),
            guest.label(),
            guest.at.node
        );
        let mut plan = Plan::new(&Self::SPEC, &guest.cluster.name, Risk::Disrupt, summary);
        guest.bind(&mut plan, &config);
        plan.needs = power_needs(&guest.at);
        if !state.running {
            plan.risk = Risk::Change;
            if matches!(self.action, Action::Shutdown | Action::Stop) {
                plan.summary = format!("{} is stopped already; nothing to do", guest.label());
            } else {
                plan.blockers.push(Blocker::new(
                    format!("{} is not running", guest.label()),
                    "start it with start_proxmox_vm",
                ));
            }
            return Ok(plan);
        }
        if let Some(lock) = config.lock() {
            plan.blockers.push(locked(&guest, &lock));
        }
        plan.impact.push(
            Impact::new(
                Effect::Interrupted,
                guest.at.kind.noun(),
                guest.at.vmid.to_string(),
            )
            .note(guest.name()),
        );
        if matches!(self.action, Action::Stop | Action::Reset) || self.force {
            plan.warnings
                .push("what the guest has not written to disk can be lost".to_owned());
        }
        plan.steps.push(self.step(&guest, &state));
        plan.undo = match self.action {
            Action::Reboot | Action::Reset => Undo::Impossible {
                because: "a restart has happened or it has not".to_owned(),
            },
            _ => Undo::Call {
                tool: "start_proxmox_vm".to_owned(),
                arguments: arguments([("vmid", json!(self.vmid))]),
            },
        };
        Ok(plan)
    }
}

impl StopVm {
    /// What the kind of guest, or the action, does not have.
    fn check(&self, guest: &Guest) -> Result<(), Fault> {
        let lxc = guest.at.kind == GuestKind::Lxc;
        let instead = match self.action {
            Action::Reset if lxc => "send action: \"reboot\"",
            Action::Suspend if lxc => "send action: \"shutdown\"",
            _ if self.force && self.action != Action::Shutdown => {
                "leave force out; it goes with action shutdown only"
            }
            _ if self.timeout.is_some()
                && !matches!(self.action, Action::Shutdown | Action::Reboot) =>
            {
                "leave timeout out; it goes with shutdown and reboot only"
            }
            _ => return Ok(()),
        };
        let what = format!(
            "{} cannot be told to {} like this",
            guest.label(),
            self.action.verb().to_lowercase()
        );
        Err(Fault::bad_input(what).hint(instead))
    }

    fn step(&self, guest: &Guest, state: &State) -> Step {
        let request = Request::post(guest.at.path(self.action.path()))
            .maybe("forceStop", self.force.then_some(true))
            .maybe("timeout", self.timeout);
        self.action.step(guest, state, request)
    }
}

impl Action {
    /// The step that does it, and what is then read back.
    fn step(self, guest: &Guest, state: &State, request: Request) -> Step {
        let is = |field: &str, value: &str| Expect::Is(field.to_owned(), json!(value));
        let (says, expect) = match self {
            Self::Shutdown | Self::Stop => ("is stopped", vec![is("status", "stopped")]),
            // The process behind the guest is a new one after a reboot.
            Self::Reboot => (
                "runs again",
                vec![
                    is("status", "running"),
                    Expect::Not("pid".to_owned(), json!(state.pid)),
                ],
            ),
            Self::Reset => ("is running", vec![is("status", "running")]),
            Self::Suspend => ("is paused", vec![is("qmpstatus", "paused")]),
        };
        let check = Check::guest(
            &guest.at,
            "status/current",
            format!("{} {says}", guest.label()),
            expect,
        );
        Step::request(format!("{} {}", self.verb(), guest.label()), request)
            .task(Trace {
                node: guest.at.node.clone(),
                vmid: guest.at.vmid,
                types: self.tasks(guest.at.kind),
            })
            .after(check.settles(state.managed))
    }
}

/// What power tools need to know of a guest.
#[derive(Debug)]
pub(super) struct State {
    pub(super) running: bool,
    /// Frozen in memory: PVE says running, QEMU says paused.
    pub(super) paused: bool,
    /// HA starts and stops it, after PVE's task has ended.
    pub(super) managed: bool,
    pid: Option<u64>,
}

impl State {
    pub(super) async fn of(guest: &Guest) -> Result<Self, Fault> {
        let status = guest.pve().guest_status(&guest.at).await?;
        Ok(Self {
            running: status.is_running(),
            paused: matches!(status.qmpstatus.as_deref(), Some("paused" | "suspended")),
            managed: status.is_ha_managed(),
            pid: status.pid,
        })
    }
}

/// Starts a guest and reads back that it runs.
pub(super) fn start_step(at: &GuestRef, name: &str, managed: bool) -> Step {
    let own = match at.kind {
        GuestKind::Qemu => "qmstart",
        GuestKind::Lxc => "vzstart",
    };
    let label = label(at, name);
    let runs = Check::guest(
        at,
        "status/current",
        format!("{label} is running"),
        vec![Expect::Is("status".to_owned(), json!("running"))],
    );
    Step::request(
        format!("Start {label}"),
        Request::post(at.path("status/start")),
    )
    .task(Trace {
        node: at.node.clone(),
        vmid: at.vmid,
        types: vec![own.to_owned(), "hastart".to_owned()],
    })
    .after(runs.settles(managed))
}

/// Switches a guest off, as a step of a larger plan.
pub(super) fn stop_step(guest: &Guest, state: &State) -> Step {
    let action = Action::Stop;
    action.step(guest, state, Request::post(guest.at.path(action.path())))
}

fn resume_step(guest: &Guest) -> Step {
    let runs = Check::guest(
        &guest.at,
        "status/current",
        format!("{} is running", guest.label()),
        vec![Expect::Is("qmpstatus".to_owned(), json!("running"))],
    );
    Step::request(
        format!("Resume {}", guest.label()),
        Request::post(guest.at.path("status/resume")),
    )
    .task(Trace {
        node: guest.at.node.clone(),
        vmid: guest.at.vmid,
        types: vec!["qmresume".to_owned()],
    })
    .after(runs)
}

fn power_needs(at: &GuestRef) -> Needs {
    Needs::All(vec![
        Needs::on(at.acl_path(), "VM.Audit"),
        Needs::on(at.acl_path(), "VM.PowerMgmt"),
    ])
}

/// The lock of a backup, a snapshot or a migration.
pub(super) fn locked(guest: &Guest, lock: &str) -> Blocker {
    Blocker::new(
        format!("{} is locked ({lock})", guest.label()),
        "wait until what holds the lock is done; get_proxmox_vm_status with include [\"tasks\"] shows it",
    )
}
