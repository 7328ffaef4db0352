//! What a tool may know of plans that were begun: how its caller's stand, and nothing that would let it begin or end one.

use std::fmt::Debug;

use futures_util::future::BoxFuture;
use pve::Vmid;

use crate::engine::Handle;
use crate::fault::Fault;

/// The plans that the caller began.
pub trait Begun: Debug + Send + Sync {
    /// How one stands. Another's is not found.
    fn look<'a>(&'a self, plan: &'a str) -> BoxFuture<'a, Result<Handle, Fault>>;

    /// The one that may have made the guest of this id, if there is one of which it is not known how it ended.
    fn may_have_made<'a>(
        &'a self,
        cluster: &'a str,
        vmid: Vmid,
    ) -> BoxFuture<'a, Result<Option<Unended>, Fault>>;
}

/// A plan that was begun, and of which nobody has seen the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unended {
    /// What get_proxmox_task finds it by.
    pub id: String,
    /// What it was to do.
    pub summary: String,
}
