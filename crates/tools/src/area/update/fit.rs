//! Whether the node has what a guest is to get.

use pve::{GuestKind, StorageStatus};

use super::Subject;
use super::device::{ABSURD, Drive};
use super::edit::Edit;
use crate::area::create::{place, space};
use crate::plan::{Blocker, Plan};

/// Notes on a plan what the node and its storages are too small for. PVE takes nearly all of it; the guest then does not
/// start, or a disk runs full.
pub(super) async fn check(
    subject: &Subject,
    edits: &[Edit],
    storages: &[StorageStatus],
    plan: &mut Plan,
) {
    for edit in edits.iter().filter(|edit| edit.is_drive()) {
        disk(edit, storages, plan);
    }
    let changes = |key: &str| edits.iter().any(|edit| edit.key == key);
    if !["memory", "cores", "sockets"].into_iter().any(changes) {
        return;
    }
    // What the token may not see is not held against the change.
    let Ok(node) = place::node(subject.guest.pve(), &subject.guest.at.node).await else {
        return;
    };
    let after = |key: &str| -> Option<u64> {
        let edit = edits.iter().find(|edit| edit.key == key);
        let text = match edit {
            Some(edit) => edit.text().map(str::to_owned),
            None => subject.config.text(key),
        };
        text?.trim_start_matches("current=").parse().ok()
    };
    let is_vm = subject.guest.at.kind == GuestKind::Qemu;
    if let Some(memory) = after("memory").filter(|_| changes("memory")) {
        let limit = if is_vm {
            space::Limit::Hard
        } else {
            space::Limit::Soft
        };
        space::check_memory(plan, &node, memory, false, limit);
    }
    if is_vm && (changes("cores") || changes("sockets")) {
        let cores = after("cores").unwrap_or(1);
        let cpus = cores.saturating_mul(after("sockets").unwrap_or(1));
        space::check_cpus(plan, &node, cpus, false);
    }
}

fn disk(edit: &Edit, storages: &[StorageStatus], plan: &mut Plan) {
    let drive = edit.text().map(Drive::parse);
    let Some((bytes, drive)) = drive.and_then(|drive| Some((drive.new_size()?, drive))) else {
        return;
    };
    if bytes >= ABSURD {
        plan.blockers.push(Blocker::new(
            format!("`{}` asks for a disk larger than any", edit.key),
            "the number is in GiB: \"local-lvm:8\"",
        ));
        return;
    }
    let on = drive.storage();
    if let Some(storage) = storages.iter().find(|it| on == Some(it.storage.as_str())) {
        space::check_disk(plan, storage, bytes);
    }
}
