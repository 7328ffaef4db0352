//! A disk is copied to another storage, and the VM goes on with the copy.

use pve::StorageId;
use serde_json::json;

use super::{Format, MoveDisk, Source};
use crate::area::create::space;
use crate::area::disk_moves::storage_for;
use crate::area::snapshot::unlocked;
use crate::area::users::{self, Users};
use crate::context::arguments;
use crate::fault::Fault;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::tool::Changes as _;
use crate::words;

pub(super) async fn plan(
    asked: &MoveDisk,
    storage: &StorageId,
    source: &Source,
) -> Result<Plan, Fault> {
    let guest = &source.guest;
    let there = storage_for(guest, storage, "images").await?;
    let from = source.disk.storage.as_deref().unwrap_or_default();
    let was = Format::of(&source.disk.volume);
    if from == storage.as_str() && asked.format.is_none_or(|format| format == was) {
        let message = format!(
            "{} is on {storage} already, as {}",
            source.label(),
            words::word(&was)
        );
        return Err(Fault::bad_input(message)
            .hint("name another storage, or another format to change it there"));
    }
    let original = if asked.delete_original {
        "destroy the original"
    } else {
        "keep the original as unused"
    };
    let summary = format!(
        "Move {} from {from} to {storage} and {original}",
        source.label()
    );
    let mut plan = Plan::new(&MoveDisk::SPEC, &guest.cluster.name, summary);
    guest.bind(&mut plan, &source.config);
    plan.needs = Needs::All(source.needs(storage.as_str()));
    plan.blockers = source.blockers();
    if source.state.running && source.disk.key == "tpmstate0" {
        plan.blockers.push(Blocker::new(
            format!(
                "{} is running, and a TPM's state moves only while it is off",
                guest.label()
            ),
            "shut it down with stop_proxmox_vm first",
        ));
    }
    plan.impact = impact(asked, source, storage);
    look_at_snapshots(asked, source, &mut plan);
    if let Some(bytes) = source.disk.size_bytes {
        space::check_disk(&mut plan, &there, bytes);
    }
    let mut back = arguments([
        ("vmid", json!(guest.at.vmid)),
        ("disk", json!(source.disk.key)),
        ("storage", json!(from)),
    ]);
    // Without one it would come back in the format that it was given.
    if asked.format.is_some() {
        back.insert("format".to_owned(), json!(was));
    }
    plan.undo = Undo::Call {
        tool: MoveDisk::SPEC.name.to_owned(),
        arguments: back,
    };
    plan.steps.push(step(asked, source, storage));
    let users = Users::of(guest, users::lost(&plan)).await?;
    users.keep_theirs(&mut plan);
    Ok(plan)
}

fn impact(asked: &MoveDisk, source: &Source, storage: &StorageId) -> Vec<Impact> {
    let disk = &source.disk;
    let copy = Impact::new(Effect::Created, "disk", format!("on {storage}"))
        .bytes(disk.size_bytes)
        .note(format!("{}: the copy", disk.key));
    let original = if asked.delete_original {
        Impact::new(Effect::Destroyed, "disk", &disk.volume).note("the original, once it is copied")
    } else {
        Impact::new(Effect::Kept, "disk", &disk.volume).note("the original, as an unused disk")
    };
    vec![copy, original.bytes(disk.size_bytes)]
}

fn look_at_snapshots(asked: &MoveDisk, source: &Source, plan: &mut Plan) {
    let names = words::list(&source.snapshots);
    match (source.snapshots.as_slice(), asked.delete_original) {
        ([], _) => {}
        (_, true) => plan.blockers.push(Blocker::new(
            format!("the snapshots {names} need the original"),
            "leave delete_original out, or delete them with delete_proxmox_vm_snapshot first",
        )),
        (_, false) => plan.warnings.push(format!(
            "the snapshots {names} stay with the original: going back to one brings that back"
        )),
    }
}

fn step(asked: &MoveDisk, source: &Source, storage: &StorageId) -> Step {
    let (at, key) = (&source.guest.at, &source.disk.key);
    let request = source
        .request()
        .with("storage", storage.clone())
        .maybe("format", asked.format.map(|format| words::word(&format)))
        .maybe("delete", asked.delete_original.then_some(true));
    // How the copy is called is PVE's choice.
    let was = source.config.text(key);
    let moved = Check::guest(
        at,
        "config",
        format!("{} is another volume than before", source.label()),
        vec![Expect::Not(key.clone(), json!(was))],
    );
    Step::request(format!("Move {} to {storage}", source.label()), request)
        .task(Trace::of(at, "move"))
        .after(moved.and(unlocked(&source.guest)))
}
