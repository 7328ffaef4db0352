//! A disk is copied to another storage.

use pve::{Request, StorageId};
use serde_json::json;

use super::{MoveVolume, Source};
use crate::area::create::space;
use crate::area::disk_moves::storage_for;
use crate::area::snapshot::unlocked;
use crate::area::users::{self, Users};
use crate::context::arguments;
use crate::fault::Fault;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::tool::Changes;
use crate::words;

pub(super) async fn plan(
    source: &Source,
    storage: &StorageId,
    delete: bool,
) -> Result<Plan, Fault> {
    let guest = &source.guest;
    let original = if delete {
        "and destroy the original"
    } else {
        "and keep the original unused"
    };
    let summary = format!("Move {} to storage {storage} {original}", source.label());
    let spec = &MoveVolume::SPEC;
    let mut plan = Plan::new(spec, &guest.cluster.name, summary);
    guest.bind(&mut plan, &source.config);
    plan.blockers = blockers(source, delete).await?;
    let there = storage_for(guest, storage, "rootdir").await?;
    if let Some(bytes) = source.bytes {
        space::check_disk(&mut plan, &there, bytes);
    }
    plan.impact = impact(source, storage, delete);
    let path = guest.at.acl_path();
    plan.needs = Needs::All(vec![
        Needs::on(&path, "VM.Audit"),
        Needs::on(&path, "VM.Config.Disk"),
        Needs::on(format!("/storage/{storage}"), "Datastore.AllocateSpace"),
    ]);
    plan.undo = Undo::Call {
        tool: spec.name.to_owned(),
        arguments: arguments([
            ("vmid", json!(guest.at.vmid)),
            ("volume", json!(source.key)),
            ("storage", json!(source.storage)),
        ]),
    };
    plan.steps
        .push(step(source, storage, delete, &plan.summary));
    let users = Users::of(guest, users::lost(&plan)).await?;
    users.keep_theirs(&mut plan);
    Ok(plan)
}

async fn blockers(source: &Source, delete: bool) -> Result<Vec<Blocker>, Fault> {
    let mut blockers = source.blockers();
    blockers.extend(source.is_running());
    if source.is_unused() {
        blockers.push(Blocker::new(
            format!(
                "{} is attached nowhere, and PVE copies only disks in use",
                source.label()
            ),
            "attach it first with update_proxmox_vm, or send target_vmid",
        ));
    }
    if delete {
        let holding = source.snapshots().await?;
        if !holding.is_empty() {
            blockers.push(Blocker::new(
                format!(
                    "the original is part of the snapshots {}, which it would take along",
                    words::list(&holding)
                ),
                "leave delete_original out, or delete them with delete_container_snapshot",
            ));
        }
    }
    Ok(blockers)
}

fn impact(source: &Source, storage: &StorageId, delete: bool) -> Vec<Impact> {
    let copy = format!("{} on {storage}", source.key);
    let (effect, note) = if delete {
        (Effect::Destroyed, "the original, once it is copied")
    } else {
        (Effect::Kept, "the original, as unusedN")
    };
    vec![
        Impact::new(Effect::Created, "disk", copy)
            .bytes(source.bytes)
            .note(format!("copy of {}", source.volume)),
        Impact::new(effect, "disk", &source.volume)
            .bytes(source.bytes)
            .note(note),
    ]
}

/// PVE names the copy, so what can be told beforehand is that it is another volume.
fn step(source: &Source, storage: &StorageId, delete: bool, says: &str) -> Step {
    let at = &source.guest.at;
    let request = Request::post(at.path("move_volume"))
        .with("volume", source.key.as_str())
        .with("storage", storage)
        .with("delete", delete)
        .maybe("digest", source.config.digest());
    let moved = Check::guest(
        at,
        "config",
        format!("{} is another volume", source.label()),
        vec![Expect::Not(source.key.clone(), json!(source.value))],
    );
    Step::request(says, request)
        .task(Trace {
            node: at.node.clone(),
            vmid: Some(at.vmid),
            types: vec!["move_volume".to_owned()],
        })
        .after(moved.and(unlocked(&source.guest)))
}
