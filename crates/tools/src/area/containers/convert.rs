//! convert_container_to_template

use pve::{GuestConfig, GuestKind, Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::area::power::{State, locked};
use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::spec::{Example, Risk, Spec, Toolset};
use crate::tool::Changes;
use crate::words;

/// Makes a stopped container a template for good: its disks become the read-only base of clones.
///
/// Afterwards it cannot be started; clone_container makes containers of it, linked or full. To keep it usable clone it
/// first. Refused: running, locked and protected containers, and those with snapshots (delete_container_snapshot). A
/// person confirms. Needs VM.Allocate. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ConvertContainer {
    /// The container's id.
    vmid: Vmid,
}

impl Changes for ConvertContainer {
    const SPEC: Spec = Spec {
        name: "convert_container_to_template",
        title: "Make a container a template",
        toolset: Toolset::Lxc,
        risk: Risk::Destroy,
        idempotent: false,
        takes_host: false,
        leasable: false,
        looks_inside: false,
        examples: &[Example {
            ask: "Make a template of the media container",
            args: r#"{"vmid": 203}"#,
        }],
    };

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cx = cx.only(GuestKind::Lxc, Self::SPEC.name);
        let guest = cx.guest(self.vmid, None, None).await?;
        guest.require_online()?;
        let config = guest.config().await?;
        let summary = format!("Make {} a template for good", guest.label());
        let mut plan = Plan::new(&Self::SPEC, &guest.cluster.name, Risk::Destroy, summary);
        guest.bind(&mut plan, &config);
        plan.blockers = blockers(&guest, &config).await?;
        plan.impact = impact(&guest, &config);
        let path = guest.at.acl_path();
        plan.needs = Needs::All(vec![
            Needs::on(&path, "VM.Audit"),
            Needs::on(&path, "VM.Allocate"),
        ]);
        plan.undo = Undo::Impossible {
            because: "a template stays one; clone_container makes a container of it".to_owned(),
        };
        plan.steps.push(step(&guest, &plan.summary));
        Ok(plan)
    }
}

/// What PVE would refuse.
async fn blockers(guest: &Guest, config: &GuestConfig) -> Result<Vec<Blocker>, Fault> {
    let label = guest.label();
    let mut blockers = Vec::new();
    if config.template() {
        blockers.push(Blocker::new(
            format!("{label} is a template already"),
            "clone_container makes a container of it",
        ));
    }
    if State::of(guest).await?.running {
        blockers.push(Blocker::new(
            format!("{label} is running"),
            "end it first with shutdown_container",
        ));
    }
    if let Some(lock) = config.lock() {
        blockers.push(locked(guest, &lock));
    }
    let snapshots = guest.pve().snapshots(&guest.at).await?;
    if !snapshots.is_empty() {
        let names: Vec<_> = snapshots.iter().map(|entry| entry.name.as_str()).collect();
        blockers.push(Blocker::new(
            format!("{label} has the snapshots {}", words::list(&names)),
            "delete them first with delete_container_snapshot",
        ));
    }
    Ok(blockers)
}

fn impact(guest: &Guest, config: &GuestConfig) -> Vec<Impact> {
    let mut all = vec![
        Impact::new(
            Effect::Changed,
            guest.at.kind.noun(),
            guest.at.vmid.to_string(),
        )
        .note("can be cloned, and never started again"),
    ];
    let disks = config.disks().into_iter().filter(|disk| !disk.is_unused());
    all.extend(disks.map(|disk| {
        Impact::new(Effect::Changed, "disk", disk.volume)
            .bytes(disk.size_bytes)
            .note(format!("{}; becomes a base image, read-only", disk.key))
    }));
    all
}

/// PVE names no task in its answer, and yet starts one.
fn step(guest: &Guest, says: &str) -> Step {
    let is_one = Check::guest(
        &guest.at,
        "config",
        format!("{} is a template", guest.label()),
        vec![Expect::Is("template".to_owned(), json!(1))],
    );
    Step::request(says, Request::post(guest.at.path("template")))
        .task(Trace::of(&guest.at, "template"))
        .after(is_one)
}
