//! What a tool may know of plans that were begun: how its caller's stand, and nothing that would let it begin or end one.

use std::fmt::Debug;

use futures_util::future::BoxFuture;

use crate::engine::Handle;
use crate::fault::Fault;

/// The plans that the caller began.
pub trait Begun: Debug + Send + Sync {
    /// How one stands. Another's is not found.
    fn look<'a>(&'a self, plan: &'a str) -> BoxFuture<'a, Result<Handle, Fault>>;
}
