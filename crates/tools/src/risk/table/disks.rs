//! Disks of a node.

use pve::Method::{Delete, Post, Put};

use crate::risk::row::{Row, Rule, on, row, safe};
use crate::spec::Risk::{Destroy, Grant};

const FORMAT: &[Rule] = &[
    on(&["add_storage"], Grant, "defines a storage on the disk"),
    safe(&[
        "ashift",
        "compression",
        "device",
        "devices",
        "draid-config",
        "filesystem",
        "name",
        "raidlevel",
    ]),
];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Post, &[
        "/nodes/{node}/disks/directory",
        "/nodes/{node}/disks/lvm",
        "/nodes/{node}/disks/lvmthin",
        "/nodes/{node}/disks/zfs",
    ], (Destroy, "formats disks: everything on them is lost"), &[FORMAT]),
    row(Delete, &[
        "/nodes/{node}/disks/directory/{name}",
        "/nodes/{node}/disks/lvm/{name}",
        "/nodes/{node}/disks/lvmthin/{name}",
        "/nodes/{node}/disks/zfs/{name}",
    ], (Destroy, "removes a storage of the node's disks, with everything on it"), &[
        &[safe(&["cleanup-config", "cleanup-disks", "volume-group"])],
    ]),
    row(Post, &["/nodes/{node}/disks/initgpt"], (Destroy, "replaces the partition table of a disk"), &[&[safe(&["disk", "uuid"])]]),
    row(Put, &["/nodes/{node}/disks/wipedisk"], (Destroy, "wipes a disk: everything on it is lost"), &[&[safe(&["disk"])]]),
];
