//! `/cluster/ha/groups`: the nodes that resources prefer, up to version 8. Version 9 has turned them into rules.

use serde_json::{Value, json};

use super::{AUDIT, CONSOLE, lock};
use crate::api::section;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::route::{Route, delete, get, post, put};
use crate::schema::common::DIGEST;
use crate::schema::{Param, flag, format, text};
use crate::world::{Section, World};

const GROUP: Param = text("group").is(format::config_id);

/// What a group may have besides its nodes.
const OPTIONS: &[Param] = &[
    text("comment").longest(4096).optional(),
    flag("nofailback").optional(),
    flag("restricted").optional(),
];

/// The routes of groups.
pub const ROUTES: &[Route] = &[
    get("/cluster/ha/groups", list).allow(AUDIT),
    get("/cluster/ha/groups/{group}", read)
        .allow(AUDIT)
        .params(&[GROUP]),
    post("/cluster/ha/groups", create)
        .allow(CONSOLE)
        .params(&[
            GROUP,
            text("nodes").list_of(format::ha_node),
            text("type").one_of(&["group"]).optional(),
        ])
        .and(OPTIONS),
    put("/cluster/ha/groups/{group}", update)
        .allow(CONSOLE)
        .params(&[
            GROUP,
            text("nodes").list_of(format::ha_node).optional(),
            text("delete")
                .list_of(format::config_id)
                .longest(4096)
                .optional(),
            DIGEST,
        ])
        .and(OPTIONS),
    delete("/cluster/ha/groups/{group}", remove)
        .allow(CONSOLE)
        .params(&[GROUP]),
];

/// Fails as version 9 does.
fn require_groups(world: &World, verb: &str) -> Result<(), ApiError> {
    if world.is_before_9() {
        return Ok(());
    }
    Err(ApiError::fail(format!(
        "cannot {verb}: ha groups have been migrated to rules"
    )))
}

fn name(call: &Call) -> &str {
    call.text("group").unwrap_or_default()
}

fn to_json(world: &World, name: &str, group: &Section) -> Value {
    let mut entry = section::to_json(group, &["nofailback", "restricted"]);
    entry.insert("group".to_owned(), json!(name));
    entry.insert(
        "digest".to_owned(),
        json!(section::digest(&world.ha_groups)),
    );
    entry.into()
}

fn list(world: &mut World, _: &Call) -> Reply {
    require_groups(world, "index groups")?;
    let groups = world.ha_groups.iter();
    let entries = groups.map(|(name, group)| to_json(world, name, group));
    Ok(entries.collect::<Value>().into())
}

fn read(world: &mut World, call: &Call) -> Reply {
    require_groups(world, "read group")?;
    let name = name(call);
    match world.ha_groups.get(name) {
        Some(group) => Ok(to_json(world, name, group).into()),
        None => Err(ApiError::fail(format!("no such ha group '{name}'"))),
    }
}

fn create(world: &mut World, call: &Call) -> Reply {
    require_groups(world, "create group")?;
    world.require_quorum()?;
    let action = "create ha group failed";
    lock(world, action)?;
    let name = name(call);
    if world.ha_groups.contains_key(name) {
        return Err(ApiError::fail(format!(
            "{action}: ha group ID '{name}' already defined"
        )));
    }
    let group = Section {
        kind: "group".to_owned(),
        props: section::sent(call, &["group", "type"]),
    };
    world.ha_groups.insert(name.to_owned(), group);
    done()
}

fn update(world: &mut World, call: &Call) -> Reply {
    require_groups(world, "update group")?;
    let action = "update ha group failed";
    lock(world, action)?;
    let fail = |error: &str| ApiError::fail(format!("{action}: {error}"));
    section::check_digest(&world.ha_groups, call).map_err(|error| fail(&error.message))?;
    let name = name(call);
    let Some(group) = world.ha_groups.get_mut(name) else {
        return Err(fail(&format!("no such ha group '{name}'")));
    };
    let mut changed = group.clone();
    changed
        .props
        .extend(section::sent(call, &["group", "digest", "delete"]));
    let optional: Vec<&str> = OPTIONS.iter().map(|param| param.name).collect();
    section::delete_sent(&mut changed, call, &optional).map_err(|error| fail(&error))?;
    *group = changed;
    done()
}

/// Removes a group that no resource is in. One that is not there is no error.
fn remove(world: &mut World, call: &Call) -> Reply {
    require_groups(world, "delete group")?;
    let action = "delete ha group failed";
    lock(world, action)?;
    let name = name(call);
    let mut resources = world.ha_resources.iter();
    let user = resources.find(|(_, it)| it.props.get("group").is_some_and(|group| group == name));
    if let Some((sid, _)) = user {
        return Err(ApiError::fail(format!(
            "{action}: ha group is used by service '{sid}'"
        )));
    }
    world.ha_groups.remove(name);
    done()
}
