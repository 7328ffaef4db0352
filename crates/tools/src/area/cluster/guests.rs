//! What is done to many guests at once.

use super::migrate::MigrateGuests;
use crate::area::power::{StartVm, stopping};
use crate::plain::{Alias, Arg, alias, list};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&START, &SHUTDOWN, &Change::<MigrateGuests>::NEW];

const GUESTS: Arg = list("vms", "Their ids, as 105,203.")
    .sent_as("vmids")
    .required();

const START: Alias = alias(
    (Toolset::Cluster, Risk::Change),
    "bulk_start_guests",
    "Start several guests",
    &Change::<StartVm>::NEW,
)
.says(
    "Starts several VMs and containers, wherever they are; those that run are left alone.\n\nThe same as start_proxmox_vm with vmids, which also takes a filter. They start side by side, in no startup order, and each result is told. Refused: templates, locked guests, offline nodes. Needs VM.PowerMgmt on each guest. Undo: bulk_shutdown_guests.",
)
.takes(&[GUESTS])
.idempotent()
.examples(&[Example {
    ask: "Start 105 and 203",
    args: r#"{"vms": "105,203"}"#,
}]);

const SHUTDOWN: Alias = stopping(
    Toolset::Cluster,
    "bulk_shutdown_guests",
    "Shut down several guests",
)
.says(
    "Asks the systems of several VMs and containers to shut down, wherever they are; what they serve is interrupted.\n\nThe same as stop_proxmox_vm with vmids, which can also switch off what does not react. Each result is told. It asks for a confirmation. Needs VM.PowerMgmt on each guest. Undo: bulk_start_guests.",
)
.takes(&[GUESTS])
.with(&[("action", "\"shutdown\"")])
.examples(&[Example {
    ask: "Shut down 201 and 207",
    args: r#"{"vms": "201,207"}"#,
}]);
