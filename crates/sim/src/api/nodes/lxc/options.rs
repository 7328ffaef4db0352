//! The options of a container: the keys of its config, as create and update take them.

use crate::schema::{Param, flag, int, number};

/// Options that are numbers in answers; what is not listed is text.
pub(super) const OPTIONS: &[Param] = &[
    flag("console").optional(),
    int("cores").min(1).max(8192).optional(),
    number("cpulimit").min(0).max(8192).optional(),
    int("cpuunits").min(0).max(500_000).optional(),
    flag("debug").optional(),
    int("memory").min(16).optional(),
    flag("onboot").optional(),
    flag("protection").optional(),
    int("swap").min(0).optional(),
    flag("template").optional(),
    int("tty").min(0).max(6).optional(),
    flag("unprivileged").optional(),
];
