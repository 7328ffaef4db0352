//! The news that tools/list would answer something else: once what the tokens may do is known, tools that are of no use to
//! them are left out. Only sessions of 2025 hear of it; later clients ask again by themselves.

use std::sync::OnceLock;

use rmcp::{Peer, RoleServer};
use tokio_util::task::AbortOnDropHandle;

use super::Server;

/// What tells one session. Ends with it.
#[derive(Default)]
pub(super) struct Teller(OnceLock<AbortOnDropHandle<()>>);

impl Server {
    /// Tells this session of every change from now on.
    pub(super) fn tell_of_tools(&self, peer: Peer<RoleServer>) {
        let mut changes = self.shared.engine.rights().changes();
        self.teller.0.get_or_init(|| {
            AbortOnDropHandle::new(tokio::spawn(async move {
                while changes.changed().await.is_ok() {
                    if peer.notify_tool_list_changed().await.is_err() {
                        return;
                    }
                }
            }))
        });
    }
}
