//! Whether it fits: room on the storage, memory and CPUs of the node.

use pve::StorageStatus;

use super::place::Node;
use crate::plan::{Blocker, Plan};
use crate::words;

/// Notes on a plan what a disk of this size means for its storage.
///
/// PVE looks only where it has to: a storage that sets space aside refuses what it has not got, a thin one takes any
/// size and runs full later.
pub(in super::super) fn check_disk(plan: &mut Plan, storage: &StorageStatus, bytes: u64) {
    let Some(free) = storage.avail.filter(|free| *free < bytes) else {
        return;
    };
    let (name, size, free) = (&storage.storage, words::size(bytes), words::size(free));
    if storage.kind.as_deref() == Some("lvm") {
        plan.blockers.push(Blocker::new(
            format!("storage {name} has {free} free, and {size} are set aside on it at once"),
            "send a smaller size or another storage",
        ));
    } else {
        plan.warnings.push(format!(
            "storage {name} has {free} free, less than the {size} of the disk; it may be refused, or run full later"
        ));
    }
}

/// Notes on a plan what so much memory means for the node: a VM that wants more than there is cannot start.
pub(in super::super) fn check_memory(
    plan: &mut Plan,
    node: &Node,
    mebibytes: u64,
    start: bool,
    limit: Limit,
) {
    let bytes = mebibytes.saturating_mul(1 << 20);
    let (name, size) = (&node.name, words::size(bytes));
    if let Some(all) = node.memory.filter(|all| *all < bytes) {
        let text = format!(
            "{name} has {} of memory in all, less than {size}",
            words::size(all)
        );
        match limit {
            Limit::Hard if start => plan.blockers.push(Blocker::new(
                format!("{text}; it would not start"),
                "send less memory or another node",
            )),
            Limit::Hard => plan.warnings.push(format!("{text}; it will not start")),
            Limit::Soft => plan.warnings.push(text),
        }
    } else if let Some(free) = node.free_memory.filter(|free| start && *free < bytes) {
        plan.warnings.push(format!(
            "{name} has {} of memory free, less than {size}",
            words::size(free)
        ));
    }
}

/// Whether a guest's memory is a machine that must be had (VM) or a bound that need not be reached (container).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Limit {
    Hard,
    Soft,
}

/// PVE starts no VM that has more CPUs than its node.
pub(in super::super) fn check_cpus(plan: &mut Plan, node: &Node, cpus: u64, start: bool) {
    let Some(all) = node.cpus.filter(|all| *all < cpus) else {
        return;
    };
    let text = format!(
        "{} has {all} CPUs, and PVE starts no VM with more ({cpus})",
        node.name
    );
    if start {
        plan.blockers
            .push(Blocker::new(text, "send fewer cores or sockets"));
    } else {
        plan.warnings.push(text);
    }
}
