//! The parameters of storage definitions.

use super::kinds;
use crate::schema::common::{DIGEST, NODE, PRUNE_BACKUPS, STORAGE};
use crate::schema::{Param, Properties, flag, format, int, number, properties, text};

static LIMITS: Properties = properties(&[
    number("clone").min(0).optional(),
    number("default").min(0).optional(),
    number("migration").min(0).optional(),
    number("move").min(0).optional(),
    number("restore").min(0).optional(),
]);

pub(super) const TYPE: Param = text("type").one_of(kinds::NAMES);

/// What a new storage takes besides [`CHANGEABLE`].
pub(super) const FIXED: &[Param] = &[
    STORAGE,
    TYPE,
    text("authsupported").optional(),
    text("base").is(format::volume_id).optional(),
    text("datastore").optional(),
    text("export").is(path).optional(),
    text("iscsiprovider").optional(),
    text("path").is(path).optional(),
    text("portal").optional(),
    text("share").optional(),
    text("target").optional(),
    text("thinpool").optional(),
    text("vgname").optional(),
];

/// What an update takes besides [`CHANGEABLE`].
pub(super) const UPDATE: &[Param] = &[
    STORAGE,
    DIGEST,
    text("delete")
        .list_of(format::config_id)
        .longest(4096)
        .optional(),
];

/// What can be changed later.
pub(super) const CHANGEABLE: &[Param] = &[
    text("blocksize").optional(),
    text("bwlimit").properties(&LIMITS).optional(),
    text("comstar_hg").optional(),
    text("comstar_tg").optional(),
    text("content").list_of(format::content).optional(),
    text("content-dirs").optional(),
    flag("create-base-path").optional(),
    flag("create-subdirs").optional(),
    text("data-pool").optional(),
    flag("disable").optional(),
    text("domain").longest(256).optional(),
    text("encryption-key").optional(),
    text("fingerprint").matching(is_fingerprint).optional(),
    text("format")
        .one_of(&["raw", "qcow2", "subvol", "vmdk"])
        .optional(),
    text("fs-name").is(format::config_id).optional(),
    flag("fuse").optional(),
    text("is_mountpoint").optional(),
    text("keyring").optional(),
    flag("krbd").optional(),
    text("lio_tpg").optional(),
    text("master-pubkey").optional(),
    int("max-protected-backups").min(-1).optional(),
    flag("mkdir").optional(),
    text("monhost").optional(),
    text("mountpoint").is(path).optional(),
    text("namespace").optional(),
    flag("nocow").optional(),
    Param {
        name: "nodes",
        ..NODE.list_of(format::node)
    }
    .optional(),
    flag("nowritecache").optional(),
    text("options").optional(),
    text("password").longest(256).optional(),
    text("pool").optional(),
    int("port").min(1).max(65535).optional(),
    text("preallocation")
        .one_of(&["off", "metadata", "falloc", "full"])
        .optional(),
    PRUNE_BACKUPS,
    flag("saferemove").optional(),
    int("saferemove-stepsize")
        .one_of(&["1", "2", "4", "8", "16", "32"])
        .optional(),
    text("saferemove_throughput").optional(),
    text("server").is(server).optional(),
    flag("shared").optional(),
    flag("skip-cert-verification").optional(),
    text("smbversion")
        .one_of(&["default", "2.0", "2.1", "3", "3.0", "3.11"])
        .optional(),
    flag("snapshot-as-volume-chain").optional(),
    flag("sparse").optional(),
    text("subdir").is(path).optional(),
    flag("tagged_only").optional(),
    text("username").optional(),
    text("zfs-base-path").is(path).optional(),
];

/// `pve-storage-path`.
fn path(text: &str) -> Result<(), String> {
    let word = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '/' | '-' | '_' | '.' | '@' | '(' | ')' | ' ' | '+' | ',')
    };
    if text.starts_with('/') && text.chars().all(word) {
        Ok(())
    } else {
        Err("value does not look like a valid absolute path".to_owned())
    }
}

/// `pve-storage-server`.
fn server(text: &str) -> Result<(), String> {
    let known = crate::schema::network::ip(text).is_ok() || format::dns_name(text).is_ok();
    if known {
        Ok(())
    } else {
        Err("value does not look like a valid server name or IP address".to_owned())
    }
}

fn is_fingerprint(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let hex = |part: &&str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    parts.len() == 32 && parts.iter().all(hex)
}
