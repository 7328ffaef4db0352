//! A guest then and now.

use pve::Identity;

use crate::baseline::{Kept, Setup};
use crate::words;

/// Settings named in one line.
const NAMED: usize = 4;

/// Why the guest that bears a number is another one than before; `None` if it is the same. A rollback or a moved disk
/// does not make it another.
pub(super) fn replaced(before: &Identity, now: &Identity) -> Option<String> {
    match (before, now) {
        (Identity::Vm { .. }, Identity::Vm { .. }) => lasting(before).difference(&lasting(now)),
        (
            Identity::Container { macs, rootfs },
            Identity::Container {
                macs: new_macs,
                rootfs: new_rootfs,
            },
        ) => {
            let shares_mac = macs.is_empty() || macs.iter().any(|mac| new_macs.contains(mac));
            let another = rootfs != new_rootfs && !shares_mac;
            another.then(|| "its root volume and its MAC addresses are others".to_owned())
        }
        _ => before.difference(now),
    }
}

/// The marks of a VM that a rollback leaves alone.
fn lasting(identity: &Identity) -> Identity {
    match identity.clone() {
        Identity::Vm { uuid, ctime, .. } => Identity::Vm {
            uuid,
            vmgenid: None,
            ctime,
        },
        container @ Identity::Container { .. } => container,
    }
}

/// Settings that differ, as "memory 2048 -> 4096".
pub(super) fn settings(before: &Setup, now: &Setup) -> Vec<String> {
    let keys = before.settings.keys();
    let new = now
        .settings
        .keys()
        .filter(|key| !before.settings.contains_key(*key));
    keys.chain(new)
        .filter(|key| before.settings.get(*key) != now.settings.get(*key))
        .map(|key| {
            let show = |setup: &Setup| match setup.settings.get(key) {
                Some(value) => words::clip(value, 60),
                None => "unset".to_owned(),
            };
            format!("{} {} -> {}", words::clip(key, 30), show(before), show(now))
        })
        .collect()
}

/// What the resource list alone shows.
pub(super) fn place(before: &Kept, node: &str, name: &str) -> Vec<String> {
    let mut changes = Vec::new();
    if before.at.node.as_str() != node {
        changes.push(format!("node {} -> {node}", before.at.node));
    }
    if before.name != name && !name.is_empty() {
        let (old, new) = (words::clip(&before.name, 40), words::clip(name, 40));
        changes.push(format!("name {old} -> {new}"));
    }
    changes
}

/// The first few of them on one line.
pub(super) fn line(changes: &[String]) -> String {
    if changes.len() <= NAMED {
        return changes.join("; ");
    }
    let rest = changes.len() - NAMED;
    format!("{}; {rest} more", changes[..NAMED].join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(uuid: &str, vmgenid: &str) -> Identity {
        Identity::Vm {
            uuid: Some(uuid.to_owned()),
            vmgenid: Some(vmgenid.to_owned()),
            ctime: Some(1),
        }
    }

    fn container(mac: &str, rootfs: &str) -> Identity {
        Identity::Container {
            macs: vec![mac.to_owned()],
            rootfs: Some(rootfs.to_owned()),
        }
    }

    #[test]
    fn a_rollback_or_a_moved_disk_makes_no_other_guest() {
        assert_eq!(replaced(&vm("a", "1"), &vm("a", "2")), None);
        assert!(replaced(&vm("a", "1"), &vm("b", "1")).is_some());
        let moved = replaced(&container("m", "lvm:1"), &container("m", "zfs:1"));
        assert_eq!(moved, None);
        assert!(replaced(&container("m", "lvm:1"), &container("n", "zfs:1")).is_some());
        assert!(replaced(&vm("a", "1"), &container("m", "lvm:1")).is_some());
    }
}
