//! Parameters that many routes share.

use super::{Param, flag, format, int, text};

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
