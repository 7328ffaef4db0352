//! start_proxmox_vm and stop_proxmox_vm: on one guest, or on many with one plan.
//!
//! [`which`] finds the guests, [`many`] reads them and makes one plan of what [`start`] or [`stop`] has in mind for each.

mod many;
mod start;
mod stop;
mod which;

use pve::GuestRef;

use crate::context::Guest;
use crate::fault::Fault;
use crate::plain::{Alias, alias};
use crate::plan::{Blocker, Needs};
use crate::spec::{Risk, Toolset};
use crate::tool::Change;

pub(super) use start::{StartVm, start_step};
pub(super) use stop::{StopVm, shutdown_step, stop_step};

/// Another name of stop_proxmox_vm, for one of the ways in which it stops a guest.
pub(super) const fn stopping(toolset: Toolset, name: &'static str, title: &'static str) -> Alias {
    alias(
        (toolset, Risk::Disrupt),
        name,
        title,
        &Change::<StopVm>::NEW,
    )
}

/// What power tools need to know of a guest.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) running: bool,
    /// Frozen in memory: PVE says running, QEMU says paused.
    pub(crate) paused: bool,
    /// HA starts and stops it, after PVE's task has ended.
    pub(super) managed: bool,
    pid: Option<u64>,
}

impl State {
    pub(crate) async fn of(guest: &Guest) -> Result<Self, Fault> {
        let status = guest.pve().guest_status(&guest.at).await?;
        Ok(Self {
            running: status.is_running(),
            paused: matches!(status.qmpstatus.as_deref(), Some("paused" | "suspended")),
            managed: status.is_ha_managed(),
            pid: status.pid,
        })
    }
}

fn power_needs(at: &GuestRef) -> Needs {
    Needs::All(vec![
        Needs::on(at.acl_path(), "VM.Audit"),
        Needs::on(at.acl_path(), "VM.PowerMgmt"),
    ])
}

/// The lock of a backup, a snapshot or a migration.
pub(super) fn locked(guest: &Guest, lock: &str) -> Blocker {
    Blocker::new(
        format!("{} is locked ({lock})", guest.label()),
        "wait until what holds the lock is done; get_proxmox_vm_status with include [\"tasks\"] shows it",
    )
}
