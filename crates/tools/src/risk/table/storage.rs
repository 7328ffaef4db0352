//! Definitions of storages, and the volumes and files on them.

use pve::Method::{Delete, Get, Post, Put};

use super::backup::retention;
use crate::risk::row::{Finding, Row, Rule, UNSETS, by, found, is, off, on, row, safe};
use crate::spec::Risk::{Change, Destroy, Disrupt, Grant};

/// Settings that say where the data is, who serves it, and how it is written.
const DEFINITION: &[&str] = &[
    "blocksize",
    "comstar_hg",
    "comstar_tg",
    "content-dirs",
    "create-base-path",
    "create-subdirs",
    "data-pool",
    "domain",
    "encryption-key",
    "fingerprint",
    "fs-name",
    "fuse",
    "is_mountpoint",
    "keyring",
    "krbd",
    "lio_tpg",
    "master-pubkey",
    "mkdir",
    "monhost",
    "mountpoint",
    "namespace",
    "nocow",
    "nowritecache",
    "options",
    "password",
    "pool",
    "port",
    "server",
    "server2",
    "shared",
    "skip-cert-verification",
    "smbversion",
    "snapshot-as-volume-chain",
    "sparse",
    "subdir",
    "tagged_only",
    "transport",
    "username",
    "zfs-base-path",
];

/// Further settings of that kind, which can only be set when a storage is defined.
const FIXED: &[&str] = &[
    "authsupported",
    "base",
    "datastore",
    "export",
    "iscsiprovider",
    "path",
    "portal",
    "share",
    "target",
    "thinpool",
    "vgname",
    "volume",
];

/// A change of a definition that is in use.
const REDEFINITION: &[Rule] = &[
    is(
        DEFINITION,
        Grant,
        "changes where the storage's data is, or who can read it",
    ),
    is(
        &["content"],
        Disrupt,
        "guests and backup jobs can lose the storage",
    ),
    is(
        &["nodes"],
        Disrupt,
        "guests and backup jobs on other nodes lose the storage",
    ),
    on(
        &["disable"],
        Disrupt,
        "guests and backup jobs lose the storage",
    ),
    by(&["prune-backups"], retention),
    is(
        &["maxfiles"],
        Destroy,
        "older backups on the storage are deleted",
    ),
    is(
        &["max-protected-backups"],
        Destroy,
        "changes how many backups of a guest can be protected",
    ),
    is(
        &["saferemove", "saferemove_throughput", "saferemove-stepsize"],
        Destroy,
        "changes how the data of removed volumes is wiped",
    ),
    safe(&["bwlimit", "digest", "format", "preallocation"]),
];

/// A new definition is a grant whatever it says.
const NEW_DEFINITION: &[Rule] = &[
    safe(DEFINITION),
    safe(FIXED),
    safe(&[
        "bwlimit",
        "content",
        "disable",
        "format",
        "max-protected-backups",
        "maxfiles",
        "nodes",
        "preallocation",
        "prune-backups",
        "saferemove",
        "saferemove-stepsize",
        "saferemove_throughput",
        "storage",
        "type",
    ]),
];

const FILE: &[Rule] = &[
    by(&["content"], kind),
    safe(&[
        "checksum",
        "checksum-algorithm",
        "compression",
        "filename",
        "url",
    ]),
    off(
        &["verify-certificates"],
        Grant,
        "downloads from a server whose certificate is not verified",
    ),
    is(&["tmpfilename"], Grant, "copies a file of the node"),
];

/// A file of this kind that is put on a storage.
fn kind(content: &str) -> Option<Finding> {
    match content {
        "iso" | "vztmpl" | "import" => None,
        _ => found(Grant, "the file can be a script that runs on the node"),
    }
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Post, &["/storage"], (Grant, "defines a storage: guests' data and files of the node can be reached through it"), &[NEW_DEFINITION]),
    row(Put, &["/storage/{storage}"], (Change, "changes the definition of a storage"), &[REDEFINITION, &[UNSETS]]),
    row(Delete, &["/storage/{storage}"], (Destroy, "removes the definition of a storage"), &[]),
    row(Post, &["/nodes/{node}/storage/{storage}/content"], (Change, "creates a volume"), &[
        &[safe(&["filename", "format", "size", "vmid"])],
    ]),
    row(Post, &["/nodes/{node}/storage/{storage}/content/{volume}"], (Change, "copies a volume"), &[
        &[safe(&["target", "target_node"])],
    ]),
    row(Put, &["/nodes/{node}/storage/{storage}/content/{volume}"], (Change, "changes the notes or the protection of a volume"), &[
        &[safe(&["notes"]), off(&["protected"], Destroy, "the backup is no longer protected from deletion")],
    ]),
    row(Delete, &["/nodes/{node}/storage/{storage}/content/{volume}"], (Destroy, "deletes a volume or file"), &[
        &[safe(&["delay"])],
    ]),
    row(Post, &["/nodes/{node}/storage/{storage}/download-url"], (Change, "the node downloads a file from a server that the caller names"), &[FILE]),
    row(Post, &["/nodes/{node}/storage/{storage}/oci-registry-pull"], (Change, "the node downloads an image from a registry that the caller names"), &[
        &[safe(&["filename", "reference"])],
    ]),
    row(Post, &["/nodes/{node}/storage/{storage}/upload"], (Change, "uploads a file"), &[FILE]),
    row(Get, &["/nodes/{node}/storage/{storage}/file-restore/list", "/nodes/{node}/storage/{storage}/file-restore/download"],
        (Grant, "reads files of a guest from a backup"), &[&[safe(&["filepath", "tar", "volume"])]]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_images_and_templates_are_harmless_files() {
        for harmless in ["iso", "vztmpl", "import"] {
            assert_eq!(kind(harmless), None, "{harmless}");
        }
        for other in ["", "snippets", "ISO", "iso,snippets", "backup"] {
            assert_eq!(kind(other).map(|it| it.risk), Some(Grant), "{other}");
        }
    }
}
