//! Ceph on the nodes: what it consists of, how it stands, and the few changes that other servers have tools for. They belong
//! to the toolsets of the paths that they use, `cluster` and `nodes`.

mod osd;
mod pools;
mod show;
mod whole;

use crate::plain::Need;
use crate::tool::{Change, Tool};

/// Ceph as a whole.
pub(super) const CLUSTER: &[&dyn Tool] = whole::TOOLS;
/// Its parts, as a node tells them.
pub(super) const NODES: &[&dyn Tool] = show::TOOLS;
/// What is made.
pub(super) const MAKE: &[&dyn Tool] = &[&pools::CREATE, &Change::<osd::CreateOsd>::NEW];

/// What reading takes.
const AUDIT: Need = Need::Any(&[Need::On("/", "Sys.Audit"), Need::On("/", "Datastore.Audit")]);
