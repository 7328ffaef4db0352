//! `/cluster/ha`: high availability.

pub mod resources;
pub mod rules;
pub mod status;

use crate::api::index;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::{format, text};
use crate::world::World;

pub(super) const AUDIT: Perm = Perm::On("/", &["Sys.Audit"]);
pub(super) const CONSOLE: Perm = Perm::On("/", &["Sys.Console"]);

/// The routes that lead further, and those of the groups that PVE 9 turned into rules.
pub const ROUTES: &[Route] = &[
    get("/cluster/ha", root).allow(AUDIT),
    get("/cluster/ha/groups", groups).allow(AUDIT),
    get("/cluster/ha/groups/{group}", group)
        .allow(AUDIT)
        .params(&[text("group").is(format::config_id)]),
];

fn root(_: &mut World, _: &Call) -> Reply {
    index("id", &["status", "resources", "groups", "rules"])
}

fn groups(_: &mut World, _: &Call) -> Reply {
    Err(ApiError::fail(
        "cannot index groups: ha groups have been migrated to rules",
    ))
}

fn group(_: &mut World, _: &Call) -> Reply {
    Err(ApiError::fail(
        "cannot read group: ha groups have been migrated to rules",
    ))
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
