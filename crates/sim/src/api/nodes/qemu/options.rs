//! The options of a virtual machine: the keys of its config, as create and update take them.

use crate::schema::{Param, flag, int, number};

/// Options that are numbers in answers; what is not listed is text.
pub(super) const OPTIONS: &[Param] = &[
    flag("acpi").optional(),
    flag("allow-ksm").optional(),
    flag("autostart").optional(),
    int("balloon").min(0).optional(),
    flag("ciupgrade").optional(),
    int("cores").min(1).optional(),
    number("cpulimit").min(0).max(128).optional(),
    int("cpuunits").min(1).max(262_144).optional(),
    flag("freeze").optional(),
    flag("keephugepages").optional(),
    flag("kvm").optional(),
    flag("localtime").optional(),
    number("migrate_downtime").min(0).optional(),
    int("migrate_speed").min(0).optional(),
    flag("numa").optional(),
    flag("onboot").optional(),
    flag("protection").optional(),
    flag("reboot").optional(),
    int("shares").min(0).max(50_000).optional(),
    int("smp").min(1).optional(),
    int("sockets").min(1).optional(),
    flag("tablet").optional(),
    flag("tdf").optional(),
    flag("template").optional(),
    int("vcpus").min(1).optional(),
];
