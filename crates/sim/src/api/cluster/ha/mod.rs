//! `/cluster/ha`: high availability.

pub mod resources;
pub mod rules;
pub mod status;

use crate::api::index;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, delete, get, post, put};
use crate::schema::common::DIGEST;
use crate::schema::{Param, flag, format, text};
use crate::world::World;

const GROUP: Param = text("group").is(format::config_id);
pub(super) const AUDIT: Perm = Perm::On("/", &["Sys.Audit"]);
pub(super) const CONSOLE: Perm = Perm::On("/", &["Sys.Console"]);

/// The routes that lead further, and those of the groups that PVE 9 turned into rules.
pub const ROUTES: &[Route] = &[
    get("/cluster/ha", root).allow(AUDIT),
    get("/cluster/ha/groups", groups).allow(AUDIT),
    get("/cluster/ha/groups/{group}", |_, _| refuse_group("read"))
        .allow(AUDIT)
        .params(&[GROUP]),
    post("/cluster/ha/groups", |_, _| refuse_group("create"))
        .allow(CONSOLE)
        .params(&[
            GROUP,
            text("nodes").list_of(format::ha_node),
            text("comment").longest(4096).optional(),
            flag("nofailback").optional(),
            flag("restricted").optional(),
            text("type").one_of(&["group"]).optional(),
        ]),
    put("/cluster/ha/groups/{group}", |_, _| refuse_group("update"))
        .allow(CONSOLE)
        .params(&[
            GROUP,
            text("nodes").list_of(format::ha_node).optional(),
            text("comment").longest(4096).optional(),
            text("delete")
                .list_of(format::config_id)
                .longest(4096)
                .optional(),
            DIGEST,
            flag("nofailback").optional(),
            flag("restricted").optional(),
        ]),
    delete("/cluster/ha/groups/{group}", |_, _| refuse_group("delete"))
        .allow(CONSOLE)
        .params(&[GROUP]),
];

fn root(_: &mut World, _: &Call) -> Reply {
    index("id", &["status", "resources", "groups", "rules"])
}

fn groups(_: &mut World, _: &Call) -> Reply {
    Err(ApiError::fail(
        "cannot index groups: ha groups have been migrated to rules",
    ))
}

fn refuse_group(verb: &str) -> Reply {
    Err(ApiError::fail(format!(
        "cannot {verb} group: ha groups have been migrated to rules"
    )))
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
