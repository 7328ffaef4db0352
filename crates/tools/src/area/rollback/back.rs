//! Going back to a snapshot.

use pve::{Disk, GuestConfig, Request, SnapName, StorageStatus};
use serde_json::json;

use super::{RollbackVm, difference};
use crate::area::power::{State, locked};
use crate::area::snapshot::{Found, taken};
use crate::area::users::{self, Users};
use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::tool::Changes as _;
use crate::words;

pub(super) async fn plan(args: &RollbackVm, name: &SnapName, cx: &Context) -> Result<Plan, Fault> {
    let guest = cx.guest(args.vmid, args.node.as_ref(), None).await?;
    guest.require_online()?;
    let found = Found::named(&guest, name).await?;
    let config = guest.config().await?;
    let state = State::of(&guest).await?;
    let mut plan = Plan::new(
        &RollbackVm::SPEC,
        &guest.cluster.name,
        format!(
            "Take {} on {} back to its snapshot {name}, {}",
            guest.label(),
            guest.at.node,
            taken(&found.entry)
        ),
    );
    guest.bind(&mut plan, &config);
    plan.needs = needs(&guest, args.start);
    plan.blockers = blockers(&guest, &config, &found);
    newest_only(&mut plan, &guest, &found).await;
    plan.impact = impact(&guest, &config, &state, &found);
    plan.warnings
        .extend(warnings(&guest, &config, &state, &found, args.start));
    plan.steps
        .push(step(&guest, &config, &state, &found, args.start));
    plan.undo = Undo::Impossible {
        because: "what was written since the snapshot is gone; a backup_proxmox_vm or clone_proxmox_vm before it keeps the present state".to_owned(),
    };
    let users = Users::of(&guest, users::lost(&plan)).await?;
    users.keep_theirs(&mut plan);
    Ok(plan)
}

fn needs(guest: &Guest, start: bool) -> Needs {
    let path = guest.at.acl_path();
    let mut all = vec![
        Needs::on(&path, "VM.Audit"),
        Needs::Any(vec![
            Needs::on(&path, "VM.Snapshot.Rollback"),
            Needs::on(&path, "VM.Snapshot"),
        ]),
    ];
    if start {
        all.push(Needs::on(&path, "VM.PowerMgmt"));
    }
    Needs::All(all)
}

fn blockers(guest: &Guest, config: &GuestConfig, found: &Found) -> Vec<Blocker> {
    let mut blockers = Vec::new();
    if config.template() {
        blockers.push(Blocker::new(
            format!("{} is a template and cannot go back", guest.label()),
            "there is nothing to send instead",
        ));
    }
    if let Some(lock) = config.lock() {
        blockers.push(locked(guest, &lock));
    }
    if let Some(state) = &found.entry.snapstate {
        blockers.push(Blocker::new(
            format!(
                "the snapshot {} is incomplete (PVE marks it {state})",
                found.entry.name
            ),
            "choose another snapshot; delete_proxmox_vm_snapshot with force removes a broken one",
        ));
    }
    blockers
}

/// Some storages keep snapshots in a line, and go back to the end of it only.
async fn newest_only(plan: &mut Plan, guest: &Guest, found: &Found) {
    let newer: Vec<_> = found.newer().map(|entry| entry.name.as_str()).collect();
    if newer.is_empty() {
        return;
    }
    // What cannot be listed is as good as hidden.
    let storages = guest
        .pve()
        .storages(&guest.at.node)
        .await
        .unwrap_or_default();
    for disk in found.config.disks() {
        let Some(id) = &disk.storage else { continue };
        match storages.iter().find(|storage| storage.storage == *id) {
            Some(storage) if keeps_a_line(storage, &disk) => {
                plan.blockers.push(Blocker::new(
                    format!(
                        "{} is on {id} ({}), which goes back to the newest snapshot only, and {} newer than {}",
                        disk.key,
                        storage.kind.as_deref().unwrap_or_default(),
                        are(&newer),
                        found.entry.name
                    ),
                    format!(
                        "delete {} with delete_proxmox_vm_snapshot first, newest first; or copy the old state with clone_proxmox_vm and snapshot: \"{}\"",
                        words::list(&newer),
                        found.entry.name
                    ),
                ));
                return;
            }
            Some(_) => {}
            None => plan.warnings.push(format!(
                "could not be checked: whether {id} goes back past newer snapshots (Datastore.Audit on /storage/{id} is missing); if not, PVE refuses and nothing is lost"
            )),
        }
    }
}

/// ZFS of both sorts, and qcow2 on thick LVM, whose snapshots are a chain of volumes.
fn keeps_a_line(storage: &StorageStatus, disk: &Disk) -> bool {
    match storage.kind.as_deref() {
        Some("zfspool" | "zfs") => true,
        Some("lvm") => disk.is_qcow2(),
        _ => false,
    }
}

fn are(names: &[&str]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", words::list(names))
}

fn impact(guest: &Guest, config: &GuestConfig, state: &State, found: &Found) -> Vec<Impact> {
    let mut impact = Vec::new();
    if state.running {
        impact.push(
            Impact::new(
                Effect::Interrupted,
                guest.at.kind.noun(),
                guest.at.vmid.to_string(),
            )
            .note("switched off"),
        );
    }
    let now = config.disks();
    let then = found.config.disks();
    let since = found.entry.snaptime.map(words::past);
    let since = since.as_deref().unwrap_or("the snapshot");
    for disk in then.iter().filter(|disk| disk.storage.is_some()) {
        impact.push(
            Impact::new(Effect::Destroyed, "disk state", &disk.volume)
                .bytes(disk.size_bytes)
                .note(format!("{}: all written since {since}", disk.key)),
        );
    }
    let added = now
        .iter()
        .filter(|disk| !disk.is_unused() && !then.iter().any(|old| old.volume == disk.volume));
    for disk in added {
        impact.push(
            Impact::new(Effect::Kept, "disk", &disk.volume)
                .bytes(disk.size_bytes)
                .note(format!(
                    "{}: added since, stays as an unused disk",
                    disk.key
                )),
        );
    }
    impact.extend(
        found
            .newer()
            .map(|newer| Impact::new(Effect::Kept, "snapshot", &newer.name).note(taken(newer))),
    );
    impact
}

fn warnings(
    guest: &Guest,
    config: &GuestConfig,
    state: &State,
    found: &Found,
    start: bool,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if state.running {
        warnings.push(format!(
            "{} runs and is switched off without a shutdown",
            guest.label()
        ));
    }
    if found.entry.vmstate {
        warnings.push(
            "the memory was saved: it resumes as it ran then, clocks and connections included"
                .to_owned(),
        );
    } else if !start && state.running {
        warnings.push("it stays off afterwards; send start: true to start it".to_owned());
    }
    if state.managed {
        warnings.push("it is under HA, which may start it again by itself".to_owned());
    }
    if let Some(changes) = difference::between(config, &found.config, |_| false) {
        warnings.push(format!("the settings go back too: {changes}"));
    }
    warnings
}

fn step(guest: &Guest, config: &GuestConfig, state: &State, found: &Found, start: bool) -> Step {
    let name = &found.entry.name;
    // A guest whose memory was saved runs anyway, and PVE would refuse to start a running container.
    let start = start && !found.entry.vmstate;
    let request = Request::post(guest.at.path(&format!("snapshot/{name}/rollback")))
        .maybe("start", start.then_some(true));
    let mut expect = vec![
        Expect::Is("parent".to_owned(), json!(name)),
        Expect::Is("lock".to_owned(), json!(null)),
    ];
    // PVE tells a VM that it has been taken back by giving it a new generation id, if it has one.
    let generation = |config: &GuestConfig| config.text("vmgenid").filter(|id| id != "0");
    if let (Some(now), Some(_)) = (generation(config), generation(&found.config)) {
        expect.push(Expect::Not("vmgenid".to_owned(), json!(now)));
    }
    let mut back = Check::guest(
        &guest.at,
        "config",
        format!("{} builds on {name} and is unlocked", guest.label()),
        expect,
    );
    let runs = start || found.entry.vmstate;
    if runs || !state.managed {
        let word = if runs { "running" } else { "stopped" };
        let status = Check::guest(
            &guest.at,
            "status/current",
            format!("it is {word}"),
            vec![Expect::Is("status".to_owned(), json!(word))],
        );
        // The start is a task of its own.
        back = back.and(status.settles(runs));
    }
    Step::request(format!("Take {} back to {name}", guest.label()), request)
        .task(Trace::of(&guest.at, "rollback"))
        .after(back)
}
