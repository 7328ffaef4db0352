//! In what state the disks of a running guest are caught. No call of PVE has a switch for it: PVE freezes a container by
//! itself, and asks a VM's guest agent to, where the VM's agent option lets it.

use pve::{GuestConfig, GuestKind, Request};
use serde_json::Value;

use super::power::State;
use crate::context::Guest;

/// What catches the disks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Snapshot,
    Backup,
}

/// What PVE does to the file systems of a guest that runs on meanwhile.
pub(super) async fn file_systems(
    guest: &Guest,
    config: &GuestConfig,
    state: &State,
    by: By,
) -> &'static str {
    const NO_AGENT: &str = "disks as after a power cut: no guest agent answers";
    if guest.at.kind == GuestKind::Lxc {
        return "its processes are frozen for the moment, what they wrote is flushed";
    }
    if state.paused {
        return "disks as after a power cut: it is paused";
    }
    if !config.agent_enabled() {
        return NO_AGENT;
    }
    if freezing_is_off(guest, config, by).await {
        return "disks as after a power cut: the agent option says not to freeze";
    }
    let info = Request::get(guest.at.path("agent/info"));
    match guest.pve().get::<Value>(info).await {
        Ok(_) => "the guest agent freezes the file systems for the moment",
        Err(error) if error.missing_privilege().is_some() => {
            "the file systems are frozen for the moment if the guest agent answers"
        }
        Err(_) => NO_AGENT,
    }
}

/// The option has had three names; under its first, PVE before 9.1 took it to be about backups alone.
async fn freezing_is_off(guest: &Guest, config: &GuestConfig, by: By) -> bool {
    let agent = config.properties("agent").unwrap_or_default();
    let is_off = |name| matches!(agent.get(name), Some("0" | "no" | "off" | "false"));
    if is_off("freeze-fs") || is_off("guest-fsfreeze") {
        return true;
    }
    let for_backups_alone = || async {
        let version = guest.cluster.version().await;
        version.is_ok_and(|version| !version.at_least(9, 1))
    };
    is_off("freeze-fs-on-backup") && (by == By::Backup || !for_backups_alone().await)
}
