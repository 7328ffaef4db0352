//! The toolset `cluster`: what concerns all nodes together.

mod acme;
mod certificate;
mod corosync;
mod guests;
mod join;
mod messages;
mod migrate;
mod overview;
mod replication;
mod settings;

use crate::plain::Need;

pub(super) use acme::TOOLS as ACME;
pub(super) use corosync::TOOLS as COROSYNC;
pub(super) use guests::TOOLS as GUESTS;
pub(super) use messages::TOOLS as MESSAGES;
pub(super) use overview::TOOLS as OVERVIEW;
pub(super) use replication::TOOLS as REPLICATION;
pub(super) use settings::TOOLS as SETTINGS;

const AUDIT: Need = Need::On("/", "Sys.Audit");
