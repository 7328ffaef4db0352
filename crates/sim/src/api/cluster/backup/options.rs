//! The options of a backup, which a job keeps and a single backup is given.

use crate::schema::{Param, flag, format, int, list, text};

/// The options.
pub(crate) const VZDUMP: &[Param] = &[
    flag("all").optional(),
    int("bwlimit").min(0).optional(),
    text("compress")
        .one_of(&["0", "1", "gzip", "lzo", "zstd"])
        .optional(),
    text("dumpdir").optional(),
    text("exclude").list_of(format::vmid).optional(),
    list("exclude-path").optional(),
    text("fleecing").optional(),
    int("ionice").min(0).max(8).optional(),
    int("lockwait").min(0).optional(),
    text("mailnotification")
        .one_of(&["always", "failure"])
        .optional(),
    text("mailto").optional(),
    int("maxfiles").min(1).optional(),
    text("mode")
        .one_of(&["snapshot", "suspend", "stop"])
        .optional(),
    text("notes-template")
        .longest(1024)
        .optional()
        .requires("storage"),
    text("notification-mode")
        .one_of(&["auto", "legacy-sendmail", "notification-system"])
        .optional(),
    text("pbs-change-detection-mode")
        .one_of(&["legacy", "data", "metadata"])
        .optional(),
    text("performance").optional(),
    int("pigz").optional(),
    text("pool").optional(),
    flag("protected").optional().requires("storage"),
    text("prune-backups").optional(),
    flag("quiet").optional(),
    flag("remove").optional(),
    text("script").optional(),
    flag("stdexcludes").optional(),
    flag("stop").optional(),
    int("stopwait").min(0).optional(),
    text("storage").is(format::storage_id).optional(),
    text("tmpdir").optional(),
    text("vmid").list_of(format::vmid).optional(),
    int("zstd").optional(),
];

/// Which options must not stand beside a list of guests: the first that does.
pub(crate) fn conflict(has: impl Fn(&str) -> bool) -> Option<&'static str> {
    let others = ["all", "exclude", "pool"];
    others.into_iter().find(|name| has(name) && has("vmid"))
}
