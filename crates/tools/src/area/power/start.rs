//! start_proxmox_vm

use pve::{GuestKind, GuestRef, Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::locked;
use super::many::{Order, Part, Seen, Sorted};
use super::which::Which;
use crate::context::{Context, Guest, label};
use crate::deed::{Deed, When};
use crate::fault::Fault;
use crate::need;
use crate::plan::{Blocker, Check, Effect, Expect, Plan, Step, Trace, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// What HA is told where it is to run a guest.
const STARTED: When = When::Is("state", &["started", "enabled"]);

/// Starts a stopped VM or container, resumes a paused VM, wakes a hibernated one, or many at once.
///
/// Many start side by side, in no startup order; each result is told. Those that run are left alone. To restart use
/// stop_proxmox_vm with action reboot. Refused: templates, locked guests, offline nodes. Needs VM.PowerMgmt. Waits
/// until each is seen running, not for the system inside; HA only queues it. Undo: stop_proxmox_vm.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct StartVm {
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
}

impl Changes for StartVm {
    const SPEC: Spec = Spec {
        name: "start_proxmox_vm",
        title: "Start or resume VMs and containers",
        toolset: Toolset::Core,
        risk: Risk::Change,
        idempotent: true,
        special: Special::NONE,
        needs: need::POWER,
        examples: &[
            Example {
                ask: "Start staging",
                args: r#"{"vmid": 105}"#,
            },
            Example {
                ask: "Wake the paused kiosk",
                args: r#"{"vmid": 108}"#,
            },
            Example {
                ask: "Start the media container",
                args: r#"{"vmid": 203}"#,
            },
            Example {
                ask: "Start staging, the media container and the backup helper",
                args: r#"{"vmids": [105, 203, 208]}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[
        Deed::post("/nodes/{}/{guest}/status/start"),
        Deed::post("/nodes/{}/{guest}/status/resume"),
        Deed::post("/nodes/{}/startall"),
        Deed::post("/cluster/bulk-action/guest/start"),
        Deed::post("/cluster/ha/resources").when(STARTED),
        // HA starts what it is told nothing about.
        Deed::post("/cluster/ha/resources").when(When::Lacks("state")),
        Deed::put("/cluster/ha/resources/{}").when(STARTED),
    ];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let which = Which {
            vmid: self.vmid,
            vmids: self.vmids,
            filter: self.filter,
            max: self.max,
        };
        let sorted = Sorted::of(&which, cx, |seen| Ok(part(seen))).await?;
        let undo = undo(&sorted);
        let mut plan = sorted.plan(&Order {
            spec: &Self::SPEC,
            verb: "Start",
            effect: Effect::Changed,
        });
        if !plan.steps.is_empty() {
            plan.undo = undo;
        }
        Ok(plan)
    }
}

/// The way back to what each was: off, or paused. There is none to hibernation, whose saved memory is used up.
fn undo(sorted: &Sorted) -> Undo {
    let (mut off, mut paused, mut hibernated) = (Vec::new(), Vec::new(), Vec::new());
    for seen in sorted.acting() {
        let was = if seen.state.paused {
            &mut paused
        } else if seen.config.lock().as_deref() == Some("suspended") {
            &mut hibernated
        } else {
            &mut off
        };
        was.push(seen.guest.at.vmid);
    }
    let mut arguments = sorted.same_guests();
    match (off.as_slice(), paused.as_slice(), hibernated.as_slice()) {
        ([], [], [_, ..]) => {
            let because = "the memory that hibernation saved is used up by waking; stop_proxmox_vm shuts down instead";
            return Undo::Impossible {
                because: because.to_owned(),
            };
        }
        (_, [], []) => {}
        ([], _, []) => drop(arguments.insert("action".to_owned(), json!("suspend"))),
        _ => {
            let because = [
                (off, "stop_proxmox_vm shuts down"),
                (paused, "stop_proxmox_vm with action suspend pauses"),
                (hibernated, "nothing hibernates again"),
            ];
            let text = |vmids: &[Vmid]| vmids.iter().map(ToString::to_string).collect::<Vec<_>>();
            let told = because.iter().filter(|(vmids, _)| !vmids.is_empty());
            let told: Vec<_> = told
                .map(|(vmids, how)| format!("{how} {}", words::list(&text(vmids))))
                .collect();
            return Undo::Impossible {
                because: format!("not by one call: {}", told.join("; ")),
            };
        }
    }
    Undo::Call {
        tool: "stop_proxmox_vm".to_owned(),
        arguments,
    }
}

/// What starting means for a guest as it is.
fn part(seen: &Seen) -> Part {
    let (guest, state) = (&seen.guest, &seen.state);
    if state.running && !state.paused {
        return Part::Already("running");
    }
    let mut blockers = Vec::new();
    if guest.is_template() {
        blockers.push(Blocker::new(
            format!("{} is a template and cannot be started", guest.label()),
            "clone it with clone_proxmox_vm and start the clone; a filter with status:stopped leaves templates out",
        ));
    }
    // A hibernated VM is locked as suspended; starting is what wakes it.
    if let Some(lock) = seen.config.lock().filter(|lock| lock != "suspended") {
        blockers.push(locked(guest, &lock));
    }
    let step = if state.paused {
        resume_step(guest)
    } else {
        start_step(&guest.at, guest.name(), state.managed)
    };
    Part::Act {
        step: Box::new(step),
        blockers,
    }
}

/// Starts a guest and reads back that it runs.
pub(crate) fn start_step(at: &GuestRef, name: &str, managed: bool) -> Step {
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
        vmid: Some(at.vmid),
        types: vec![own.to_owned(), "hastart".to_owned()],
    })
    .after(runs.settles(managed))
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
        vmid: Some(guest.at.vmid),
        types: vec!["qmresume".to_owned()],
    })
    .after(runs)
}
