//! The toolset `nodes`: the machines that a cluster is made of, with their hardware, network, services, logs and tasks.

pub(super) mod about;
mod bulk;
pub(super) mod hardware;
pub(super) mod logs;
pub(super) mod network;
pub(super) mod power;
mod service;
mod stop_task;

use crate::plain::Need;

/// What shows a node.
const AUDIT: Need = Need::On("/nodes/{node}", "Sys.Audit");
/// What shows what only those may see who may look at everything.
const AUDIT_ALL: Need = Need::On("/", "Sys.Audit");
/// What shows a node's logs.
const SYSLOG: Need = Need::On("/nodes/{node}", "Sys.Syslog");
/// What changes a node.
const MODIFY: Need = Need::On("/nodes/{node}", "Sys.Modify");
