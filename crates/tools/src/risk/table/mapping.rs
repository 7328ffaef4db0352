//! Mappings of devices and directories of the nodes, which guests get access to by name.

use pve::Method::{Delete, Post, Put};

use crate::risk::row::{Row, Rule, UNSETS, is, row, safe};
use crate::spec::Risk::{Change, Destroy, Disrupt, Grant};

const MAPPING: &[Rule] = &[
    is(
        &["map", "mdev"],
        Grant,
        "changes which devices or directories of a node guests have access to",
    ),
    is(
        &["live-migration-capable"],
        Disrupt,
        "VMs with the device can fail when they are migrated",
    ),
    safe(&["description", "digest", "id"]),
];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Post, &["/cluster/mapping/dir"], (Grant, "lets guests use a directory of a node"), &[MAPPING]),
    row(Post, &["/cluster/mapping/pci", "/cluster/mapping/usb"], (Grant, "lets guests use a device of a node"), &[MAPPING]),
    row(Put, &["/cluster/mapping/dir/{id}", "/cluster/mapping/pci/{id}", "/cluster/mapping/usb/{id}"],
        (Change, "changes a mapping"), &[MAPPING, &[UNSETS]]),
    row(Delete, &["/cluster/mapping/dir/{id}", "/cluster/mapping/pci/{id}", "/cluster/mapping/usb/{id}"],
        (Destroy, "deletes a mapping: guests that use it no longer start"), &[]),
];
