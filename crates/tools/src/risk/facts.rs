//! What was read about guests, to judge a request by.

use std::collections::{BTreeMap, BTreeSet};

use pve::{GuestConfig, Vmid};

/// What is known about guests. What is not known is taken at its worst.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The guests that an earlier step of the same plan creates, or the request itself.
    pub(crate) created: BTreeSet<Vmid>,
    /// Configurations that a guard of the plan holds still.
    pub(crate) configs: BTreeMap<Vmid, GuestConfig>,
    /// Guests that do not run.
    pub(crate) stopped: BTreeSet<Vmid>,
}

/// A fact that a judgement relies on: without it the risk would be higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fact {
    /// The guest does not run.
    Stopped(Vmid),
    /// The guest is configured as it was read.
    Config(Vmid),
    /// The guest is created by this very plan.
    CreatedByThisPlan(Vmid),
}
