//! Settings of containers.

use super::vm::STARTUP;
use crate::risk::row::{Rule, is, properties, safe, setting};
use crate::risk::setting as judge;
use crate::spec::Risk;

/// Settings of a container, as they are sent when it is created and when it is changed.
pub(super) const SETTINGS: &[Rule] = &[
    safe(&[
        "arch",
        "console",
        "cores",
        "cpulimit",
        "cpuunits",
        "debug",
        "description",
        "hostname",
        "nameserver",
        "onboot",
        "ostype",
        "searchdomain",
        "swap",
        "timezone",
        "tty",
    ]),
    properties(&["startup"], &STARTUP),
    setting(&["memory"], judge::container_memory),
    setting(&["net[n]"], judge::card),
    setting(&["mp[n]", "rootfs"], judge::mount),
    setting(&["unused[n]"], judge::unused),
    setting(&["cmode"], judge::console_mode),
    setting(&["features"], judge::features),
    setting(&["protection"], judge::protection),
    setting(&["tags"], judge::tags),
    setting(&["template"], judge::template),
    setting(&["unprivileged"], judge::unprivileged),
    setting(&["entrypoint", "env"], judge::commands),
    setting(&["dev[n]", "hookscript"], judge::node_power),
    is(
        &["lock"],
        Risk::Grant,
        "locks or unlocks the container for PVE's own tasks",
    ),
];
