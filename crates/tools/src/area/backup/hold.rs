//! How a guest is held still for its backup: what it notices of that, and in what state its disks are caught.

use pve::{GuestConfig, GuestKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::area::power::State;
use crate::area::quiesce::{self, By};
use crate::area::snapshot::can_snapshot;
use crate::context::Guest;
use crate::fault::Fault;
use crate::plan::{Effect, Impact, Plan};

/// How the guest is held still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum Mode {
    #[default]
    Snapshot,
    Suspend,
    Stop,
}

/// What becomes of a guest for its backup.
pub(super) struct Hold {
    /// What it notices, if anything.
    interruption: Option<&'static str>,
    /// In what state its disks get into the backup.
    pub(super) caught: &'static str,
    /// Whether PVE does it in another mode than the one that was asked for.
    falls_back: bool,
}

impl Hold {
    /// What the mode means for this guest as it is.
    pub(super) async fn of(
        mode: Mode,
        guest: &Guest,
        config: &GuestConfig,
        state: &State,
    ) -> Result<Self, Fault> {
        let container = guest.at.kind == GuestKind::Lxc;
        let falls_back =
            state.running && container && mode == Mode::Snapshot && !can_snapshot(guest).await?;
        let mode = if falls_back { Mode::Suspend } else { mode };
        let (interruption, caught) = match mode {
            _ if !state.running => (None, "the guest is off"),
            Mode::Stop if container => (
                Some("shut down for as long as the backup takes, then started again"),
                "taken while it is shut down",
            ),
            Mode::Stop => (
                Some("shut down, and started again as soon as the backup has begun"),
                "taken as it was shut down",
            ),
            Mode::Suspend if container => (
                Some("paused while what changed during the first copy is copied again"),
                "files as they are while it is paused",
            ),
            Mode::Suspend => (
                Some("paused until the backup has begun"),
                "disks as after a power cut: a paused VM's agent freezes nothing",
            ),
            Mode::Snapshot => {
                let caught = quiesce::file_systems(guest, config, state, By::Backup);
                (None, caught.await)
            }
        };
        Ok(Self {
            interruption,
            caught,
            falls_back,
        })
    }

    /// Tells what the guest notices.
    pub(super) fn show(&self, plan: &mut Plan, guest: &Guest) {
        if self.falls_back {
            plan.warnings.push(format!(
                "not all disks of {} have snapshots, so PVE falls back to suspend mode",
                guest.label()
            ));
        }
        let Some(how) = self.interruption else {
            return;
        };
        plan.impact.push(
            Impact::new(
                Effect::Interrupted,
                guest.at.kind.noun(),
                guest.at.vmid.to_string(),
            )
            .note(how),
        );
    }
}
