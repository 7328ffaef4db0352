//! Parameters that many routes share.

use super::{Param, Properties, flag, format, int, properties, text};

/// The node in the path.
pub const NODE: Param = text("node").is(format::node);

/// The guest in the path.
pub const VMID: Param = int("vmid").is(format::vmid).min(100).max(999_999_999);

/// Skips the check for a lock; for `root@pam` itself only.
pub const SKIPLOCK: Param = flag("skiplock").optional();

/// The digest of the config a change was made for.
pub const DIGEST: Param = text("digest").longest(64).optional();

/// The name of a snapshot.
pub const SNAPNAME: Param = text("snapname").is(format::config_id).longest(40);

/// The storage in the path.
pub const STORAGE: Param = text("storage").is(format::storage_id);

static RETENTION: Properties = properties(&[
    flag("keep-all").optional(),
    int("keep-last").min(0).optional(),
    int("keep-hourly").min(0).optional(),
    int("keep-daily").min(0).optional(),
    int("keep-weekly").min(0).optional(),
    int("keep-monthly").min(0).optional(),
    int("keep-yearly").min(0).optional(),
]);

/// Which backups to keep: `keep-last=3`.
pub const PRUNE_BACKUPS: Param = text("prune-backups").properties(&RETENTION).optional();
