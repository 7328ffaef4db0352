//! The toolset `lxc`: containers under the names of other Proxmox MCP servers. What core's tools do with care is theirs by
//! another name; what only containers have is here.

mod checkpoint;
mod convert;
mod life;
mod move_volume;
mod power;
mod show;
mod snapshots;
mod update;

use crate::tool::{Change, Tool};

/// What shows containers.
pub(super) const SHOW: &[&dyn Tool] = show::TOOLS;
/// What switches them on and off.
pub(super) const POWER: &[&dyn Tool] = power::TOOLS;
/// What makes, copies, moves and removes them.
pub(super) const LIFE: &[&dyn Tool] = life::TOOLS;
/// What changes their settings.
pub(super) const UPDATE: &[&dyn Tool] = update::TOOLS;
/// What keeps states of them.
pub(super) const SNAPSHOTS: &[&dyn Tool] = snapshots::TOOLS;
/// What only containers have, or only here.
pub(super) const OWN: &[&dyn Tool] = &[
    &Change::<checkpoint::SuspendContainer>::NEW,
    &Change::<checkpoint::ResumeContainer>::NEW,
    &Change::<convert::ConvertContainer>::NEW,
    &Change::<move_volume::MoveVolume>::NEW,
];
