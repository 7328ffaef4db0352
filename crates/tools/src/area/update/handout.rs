//! Which settings of a guest that comes to be hand out power, by what they say alone. For one that is there
//! [`super::verdict`] judges them, by the same table.

use pve::GuestKind;

use super::device::Drive;
use super::edit::canonical;
use super::impact::GRANTS;
use super::keys::{self, Takes};
use super::needs::is_bare;

/// Whether this value of a setting hands out power: over the guest by credentials and commands, over its node by scripts,
/// directories, paths and devices.
pub(in crate::area) fn hands_out_power(kind: GuestKind, name: &str, value: &str) -> bool {
    let name = canonical(kind, name);
    let Ok(key) = keys::find(kind, name) else {
        return false;
    };
    GRANTS.contains(&name) || is_over_node(key.takes, value)
}

fn is_over_node(takes: Takes, value: &str) -> bool {
    match takes {
        Takes::Root | Takes::Device("dir") => true,
        Takes::Device(sort) => is_bare(sort, value),
        Takes::Drive | Takes::Mount => is_of_node(&Drive::parse(value)),
        _ => false,
    }
}

/// Whether a drive is, or is made of, a path of the node.
fn is_of_node(drive: &Drive) -> bool {
    let source = drive.get("import-from");
    drive.is_path() || source.is_some_and(|source| source.starts_with('/'))
}
