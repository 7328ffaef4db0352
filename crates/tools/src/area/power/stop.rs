//! stop_proxmox_vm

use pve::{GuestKind, Request, Vmid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::many::{Order, Part, Seen, Sorted};
use super::which::Which;
use super::{State, locked};
use crate::context::{Context, Guest};
use crate::deed::{Deed, When};
use crate::fault::Fault;
use crate::need;
use crate::plan::{Blocker, Check, Effect, Expect, Plan, Step, Trace, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// What HA is told where it is to end a guest.
const STOPPED: When = When::Is("state", &["stopped", "disabled"]);

/// Shuts down, switches off, reboots, resets or pauses a running VM or container, or many at once.
///
/// shutdown asks the system inside to end; stop pulls the plug and loses what was not written, so only for a guest that
/// does not react. reset and suspend (freeze in memory) are for VMs. Many stop side by side, in no startup order; each
/// result is told. To remove a guest use delete_proxmox_vm. Needs VM.PowerMgmt. Waits and reads back. Undo:
/// start_proxmox_vm.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct StopVm {
    /// One guest's id.
    vmid: Option<Vmid>,
    /// Several guests' ids.
    #[schemars(with = "Option<Vec<i64>>")]
    vmids: Option<Vec<Vmid>>,
    /// Guests that match, as in list_proxmox_resources.
    filter: Option<String>,
    /// Guests at most; default 20.
    #[schemars(with = "Option<i64>")]
    max: Option<usize>,
    /// How it is stopped.
    #[serde(default)]
    action: Action,
    /// With shutdown: switch off after timeout.
    #[serde(default)]
    force: bool,
    /// Seconds for shutdown or reboot.
    #[schemars(range(min = 1, max = 3600))]
    timeout: Option<u32>,
}

impl Changes for StopVm {
    const SPEC: Spec = Spec {
        name: "stop_proxmox_vm",
        title: "Shut down, stop, reboot, reset or pause VMs and containers",
        toolset: Toolset::Core,
        risk: Risk::Disrupt,
        idempotent: false,
        special: Special::NONE,
        needs: need::POWER,
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
            Example {
                ask: "Shut down the proxy, grafana and the desktop",
                args: r#"{"vmids": [201, 207, 110]}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[
        Deed::post("/nodes/{}/{guest}/status/shutdown"),
        Deed::post("/nodes/{}/{guest}/status/stop"),
        Deed::post("/nodes/{}/{guest}/status/reboot"),
        Deed::post("/nodes/{}/{guest}/status/reset"),
        Deed::post("/nodes/{}/{guest}/status/suspend"),
        Deed::post("/nodes/{}/{guest}/agent/shutdown"),
        Deed::post("/nodes/{}/{guest}/agent/suspend-disk"),
        Deed::post("/nodes/{}/{guest}/agent/suspend-hybrid"),
        Deed::post("/nodes/{}/{guest}/agent/suspend-ram"),
        Deed::agent(&["shutdown", "suspend-disk", "suspend-hybrid", "suspend-ram"]),
        Deed::post("/nodes/{}/stopall"),
        Deed::post("/nodes/{}/suspendall"),
        // A node that is shut down stops its guests first.
        Deed::post("/nodes/{}/status"),
        Deed::post("/cluster/bulk-action/guest/shutdown"),
        Deed::post("/cluster/bulk-action/guest/suspend"),
        Deed::post("/cluster/ha/resources").when(STOPPED),
        Deed::put("/cluster/ha/resources/{}").when(STOPPED),
    ];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let how = How {
            action: self.action,
            force: self.force,
            timeout: self.timeout,
        };
        let which = Which {
            vmid: self.vmid,
            vmids: self.vmids,
            filter: self.filter,
            max: self.max,
        };
        let sorted = Sorted::of(&which, cx, |seen| how.part(seen)).await?;
        let undo = match self.action {
            Action::Reboot | Action::Reset => Undo::Impossible {
                because: "a restart has happened or it has not".to_owned(),
            },
            _ => Undo::Call {
                tool: "start_proxmox_vm".to_owned(),
                arguments: sorted.same_guests(),
            },
        };
        let mut plan = sorted.plan(&Order {
            spec: &Self::SPEC,
            verb: self.action.verb(),
            effect: Effect::Interrupted,
        });
        if plan.steps.is_empty() {
            return Ok(plan);
        }
        plan.undo = undo;
        if matches!(self.action, Action::Stop | Action::Reset) || self.force {
            let warning = "what a guest has not written to disk can be lost";
            plan.warnings.push(warning.to_owned());
        }
        Ok(plan)
    }
}

/// How the guests of a call are stopped.
struct How {
    action: Action,
    force: bool,
    timeout: Option<u32>,
}

impl How {
    /// What stopping like this means for a guest as it is.
    fn part(&self, seen: &Seen) -> Result<Part, Fault> {
        let (guest, state) = (&seen.guest, &seen.state);
        self.check(guest)?;
        if !state.running {
            return Ok(match self.action {
                Action::Shutdown | Action::Stop => Part::Already("stopped"),
                _ => Part::Impossible(Blocker::new(
                    format!("{} is not running", guest.label()),
                    "start it with start_proxmox_vm, or leave it out; a filter with status:running does",
                )),
            });
        }
        let lock = seen.config.lock();
        let request = Request::post(guest.at.path(self.action.path()))
            .maybe("forceStop", self.force.then_some(true))
            .maybe("timeout", self.timeout);
        Ok(Part::Act {
            step: Box::new(self.action.step(guest, state, request)),
            blockers: lock.iter().map(|lock| locked(guest, lock)).collect(),
        })
    }

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
        let own = match (kind, self) {
            // PVE calls it so where the memory stays in memory; its qmsuspend goes to disk.
            (GuestKind::Qemu, Self::Suspend) => "qmpause".to_owned(),
            (GuestKind::Qemu, _) => format!("qm{name}"),
            (GuestKind::Lxc, _) => format!("vz{name}"),
        };
        vec![own, "hastop".to_owned()]
    }

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
                vmid: Some(guest.at.vmid),
                types: self.tasks(guest.at.kind),
            })
            .after(check.settles(state.managed))
    }
}

/// Switches a guest off, as a step of a larger plan.
pub(crate) fn stop_step(guest: &Guest, state: &State) -> Step {
    let action = Action::Stop;
    action.step(guest, state, Request::post(guest.at.path(action.path())))
}

/// Shuts a guest down cleanly, as a step of a larger plan.
pub(crate) fn shutdown_step(guest: &Guest, state: &State) -> Step {
    let action = Action::Shutdown;
    action.step(guest, state, Request::post(guest.at.path(action.path())))
}
