//! `/cluster/ha`: high availability.

pub mod groups;
pub mod resources;
pub mod rules;
pub mod status;

use crate::api::index;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::world::World;

pub(super) const AUDIT: Perm = Perm::On("/", &["Sys.Audit"]);
pub(super) const CONSOLE: Perm = Perm::On("/", &["Sys.Console"]);

/// The route that leads further.
pub const ROUTES: &[Route] = &[get("/cluster/ha", root).allow(AUDIT)];

fn root(_: &mut World, _: &Call) -> Reply {
    index("id", &["status", "resources", "groups", "rules"])
}

/// Fails as PVE does where a call changes the configuration of HA; `action` stands in front.
pub(super) fn lock(world: &World, action: &str) -> Result<(), ApiError> {
    if world.is_quorate() {
        Ok(())
    } else {
        Err(ApiError::fail(format!(
            "{action}: cfs-lock 'domain-ha' error: no quorum!"
        )))
    }
}
