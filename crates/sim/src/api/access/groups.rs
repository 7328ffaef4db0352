//! `/access/groups`.

use serde_json::{Value, json};

use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::Perm;
use crate::route::{Route, delete, get, post, put};
use crate::schema::{Param, format, text};
use crate::world::World;
use crate::world::access::{Group, Subject};

const GROUPID: Param = text("groupid").is(format::group_id);
const COMMENT: Param = text("comment").optional();
const ALLOCATE: Perm = Perm::On("/access/groups", &["Group.Allocate"]);

/// The routes of groups.
pub const ROUTES: &[Route] = &[
    get("/access/groups", list).allow(Perm::User),
    post("/access/groups", create)
        .allow(ALLOCATE)
        .params(&[GROUPID, COMMENT]),
    get("/access/groups/{groupid}", read)
        .allow(Perm::AnyOn(
            "/access/groups",
            &["Sys.Audit", "Group.Allocate"],
        ))
        .params(&[GROUPID]),
    put("/access/groups/{groupid}", update)
        .allow(ALLOCATE)
        .params(&[GROUPID, COMMENT]),
    delete("/access/groups/{groupid}", remove)
        .allow(ALLOCATE)
        .params(&[GROUPID]),
];

/// The groups that the caller may do something with.
fn list(world: &mut World, call: &Call) -> Reply {
    let privs = ["User.Modify", "Sys.Audit", "Group.Allocate"];
    let visible = world.access.groups.iter().filter(|(name, _)| {
        let path = format!("/access/groups/{name}");
        privs
            .iter()
            .any(|privilege| world.may(&call.who, &path, privilege))
    });
    let entries = visible.map(|(name, group)| {
        let users: Vec<&str> = group.members.iter().map(String::as_str).collect();
        let mut entry = json!({ "groupid": name, "users": users.join(",") });
        if let Some(comment) = &group.comment {
            entry["comment"] = json!(comment);
        }
        entry
    });
    Ok(entries.collect::<Value>().into())
}

fn name(call: &Call) -> &str {
    call.text("groupid").unwrap_or_default()
}

fn need<'a>(world: &'a mut World, call: &Call) -> Result<&'a mut Group, ApiError> {
    let group = world.access.groups.get_mut(name(call));
    group.ok_or_else(|| ApiError::fail(format!("group '{}' does not exist", name(call))))
}

fn read(world: &mut World, call: &Call) -> Reply {
    let group = need(world, call)?;
    let mut entry = json!({ "members": group.members });
    if let Some(comment) = &group.comment {
        entry["comment"] = json!(comment);
    }
    Ok(entry.into())
}

fn create(world: &mut World, call: &Call) -> Reply {
    let action = "create group failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    let name = name(call);
    if world.access.groups.contains_key(name) {
        return Err(ApiError::fail(format!(
            "{action}: group '{name}' already exists"
        )));
    }
    let comment = call.text("comment").filter(|text| !text.is_empty());
    let group = Group {
        comment: comment.map(str::to_owned),
        ..Group::default()
    };
    world.access.groups.insert(name.to_owned(), group);
    done()
}

fn update(world: &mut World, call: &Call) -> Reply {
    let action = "update group failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    let group = need(world, call).map_err(|error| error.during(action))?;
    if let Some(comment) = call.text("comment") {
        group.comment = Some(comment.to_owned());
    }
    done()
}

/// Removes a group with its rules; its members stay.
fn remove(world: &mut World, call: &Call) -> Reply {
    let action = "delete group failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    need(world, call).map_err(|error| error.during(action))?;
    let name = name(call);
    world.access.groups.remove(name);
    world
        .access
        .remove_rules(|subject| matches!(subject, Subject::Group(group) if group == name));
    done()
}
