//! A disk becomes another VM's.

use serde_json::json;

use super::{MoveDisk, Source};
use crate::area::power::locked;
use crate::context::{Guest, arguments};
use crate::fault::Fault;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::tool::Changes as _;
use crate::words;

pub(super) async fn plan(asked: &MoveDisk, source: &Source, target: &Guest) -> Result<Plan, Fault> {
    let guest = &source.guest;
    let key = asked.target_disk.as_deref().unwrap_or(&source.disk.key);
    check(source, target, key)?;
    let config = target.config().await?;
    if config.get(key).is_some() {
        let message = format!("{} has a {key} already", target.label());
        return Err(Fault::bad_input(message).hint("send a target_disk that it does not have"));
    }
    let summary = format!("Give {} to {} as {key}", source.label(), target.label());
    let mut plan = Plan::new(&MoveDisk::SPEC, &guest.cluster.name, summary.clone());
    guest.bind(&mut plan, &source.config);
    target.bind(&mut plan, &config);
    plan.needs = needs(source, target);
    plan.blockers = blockers(source, target);
    if let Some(lock) = config.lock() {
        plan.blockers.push(locked(target, &lock));
    }
    plan.impact = vec![
        Impact::new(Effect::Changed, "VM", guest.at.vmid.to_string())
            .note(format!("loses {}", source.disk.key)),
        Impact::new(Effect::Changed, "VM", target.at.vmid.to_string())
            .note(format!("gets it as {key}")),
        Impact::new(Effect::Changed, "disk", &source.disk.volume)
            .bytes(source.disk.size_bytes)
            .note("renamed for its new VM"),
    ];
    plan.undo = Undo::Call {
        tool: MoveDisk::SPEC.name.to_owned(),
        arguments: arguments([
            ("vmid", json!(target.at.vmid)),
            ("disk", json!(key)),
            ("target_vmid", json!(guest.at.vmid)),
            ("target_disk", json!(source.disk.key)),
        ]),
    };
    plan.steps.push(step(source, target, key, summary));
    Ok(plan)
}

/// What no state of the two VMs makes possible.
fn check(source: &Source, target: &Guest, key: &str) -> Result<(), Fault> {
    let guest = &source.guest;
    if guest.at.vmid == target.at.vmid {
        return Err(
            Fault::bad_input(format!("the disk is {}'s already", guest.label()))
                .hint("name another VM in target_vmid; update_proxmox_vm attaches an unused disk"),
        );
    }
    if guest.cluster.name != target.cluster.name || guest.at.node != target.at.node {
        return Err(Fault::bad_input(format!(
            "{} is on {}, {} on {}: a disk is given away on one node only",
            guest.label(),
            guest.at.node,
            target.label(),
            target.at.node
        ))
        .hint("migrate_proxmox_vm brings the two together"));
    }
    let stem = key.trim_end_matches(|c: char| c.is_ascii_digit());
    let known = [
        "scsi", "virtio", "sata", "ide", "unused", "efidisk", "tpmstate",
    ];
    if stem.len() == key.len() || !known.contains(&stem) {
        let shown = words::clip(key, 40);
        return Err(Fault::bad_input(format!("\"{shown}\" is no disk of a VM"))
            .hint("send target_disk such as scsi1, virtio0 or unused0"));
    }
    Ok(())
}

/// What PVE refuses as things are.
fn blockers(source: &Source, target: &Guest) -> Vec<Blocker> {
    let guest = &source.guest;
    let mut blockers = source.blockers();
    for it in [guest, target].into_iter().filter(|it| it.is_template()) {
        blockers.push(Blocker::new(
            format!("{} is a template, whose disks stay as they are", it.label()),
            "clone it with clone_proxmox_vm and use the clone",
        ));
    }
    if source.state.running && !source.disk.is_unused() {
        blockers.push(Blocker::new(
            format!("{} is running and uses {}", guest.label(), source.disk.key),
            "shut it down with stop_proxmox_vm, or detach the disk with update_proxmox_vm, first",
        ));
    }
    if !source.snapshots.is_empty() {
        blockers.push(Blocker::new(
            format!(
                "the snapshots {} need the disk",
                words::list(&source.snapshots)
            ),
            "delete them with delete_proxmox_vm_snapshot first",
        ));
    }
    blockers
}

fn needs(source: &Source, target: &Guest) -> Needs {
    let storage = source.disk.storage.as_deref().unwrap_or_default();
    let mut all = source.needs(storage);
    let path = target.at.acl_path();
    all.extend(["VM.Audit", "VM.Config.Disk"].map(|privilege| Needs::on(&path, privilege)));
    Needs::All(all)
}

fn step(source: &Source, target: &Guest, key: &str, says: String) -> Step {
    let (at, own) = (&source.guest.at, &source.disk.key);
    let request = source
        .request()
        .with("target-vmid", target.at.vmid)
        .with("target-disk", key);
    let gone = Check::guest(
        at,
        "config",
        format!("{} has no {own}", source.guest.label()),
        vec![Expect::Is(own.clone(), json!(null))],
    );
    let there = Check::guest(
        &target.at,
        "config",
        format!("{} has {key}", target.label()),
        vec![Expect::Not(key.to_owned(), json!(null))],
    );
    Step::request(says, request)
        // PVE lists the task under both VMs and disks together.
        .task(Trace {
            node: at.node.clone(),
            vmid: None,
            types: vec!["qmmove".to_owned()],
        })
        .after(gone.and(there))
}
