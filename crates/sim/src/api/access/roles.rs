//! `/access/roles`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::api::bit;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::{Perm, is_known};
use crate::route::{Route, delete, get, post, put};
use crate::schema::{Param, flag, format, text};
use crate::world::World;
use crate::world::access::Role;
use crate::world::roles::as_of;

const ROLEID: Param = text("roleid").is(format::role_id);
const PRIVS: Param = text("privs").list_of(format::privilege).optional();
const MODIFY: Perm = Perm::On("/access", &["Sys.Modify"]);

/// The routes of roles.
pub const ROUTES: &[Route] = &[
    get("/access/roles", list).allow(Perm::User),
    post("/access/roles", create)
        .allow(MODIFY)
        .params(&[ROLEID, PRIVS]),
    get("/access/roles/{roleid}", read)
        .allow(Perm::User)
        .params(&[ROLEID]),
    put("/access/roles/{roleid}", update)
        .allow(MODIFY)
        .params(&[ROLEID, PRIVS, flag("append").optional().requires("privs")]),
    delete("/access/roles/{roleid}", remove)
        .allow(MODIFY)
        .params(&[ROLEID]),
];

fn list(world: &mut World, _: &Call) -> Reply {
    let entry = |(name, role): (&String, &Role)| {
        let privs: Vec<_> = held(world, role).into_iter().collect();
        json!({ "roleid": name, "privs": privs.join(","), "special": bit(role.special) })
    };
    let roles = world.access.roles.iter();
    Ok(roles.map(entry).collect::<Value>().into())
}

fn name(call: &Call) -> &str {
    call.text("roleid").unwrap_or_default()
}

fn sent_privs(world: &World, call: &Call) -> Result<BTreeSet<String>, ApiError> {
    let privs = call.params.list("privs");
    let mut unknown = privs.iter();
    if let Some(name) = unknown.find(|name| !is_known(name, world.is_before_9())) {
        let text = format!("invalid format - invalid privilege '{name}'\n");
        return Err(ApiError::param("privs", text));
    }
    Ok(privs.into_iter().map(str::to_owned).collect())
}

/// What a role holds in the release that this is.
fn held(world: &World, role: &Role) -> BTreeSet<String> {
    as_of(role.privs.clone(), world.is_before_9())
}

fn need<'a>(world: &'a mut World, call: &Call) -> Result<&'a mut Role, ApiError> {
    let role = world.access.roles.get_mut(name(call));
    role.ok_or_else(|| ApiError::fail(format!("role '{}' does not exist", name(call))))
}

fn read(world: &mut World, call: &Call) -> Reply {
    let role = need(world, call)?.clone();
    let privs = held(world, &role).into_iter();
    let privs: Map<_, _> = privs.map(|name| (name, json!(1))).collect();
    Ok(Value::from(privs).into())
}

fn create(world: &mut World, call: &Call) -> Reply {
    let name = name(call);
    if name.to_ascii_uppercase().starts_with("PVE") {
        return Err(ApiError::param(
            "roleid",
            "cannot use role ID starting with the (case-insensitive) 'PVE' namespace",
        ));
    }
    let privs = sent_privs(world, call)?;
    let action = "create role failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    if world.access.roles.contains_key(name) {
        return Err(ApiError::fail(format!(
            "{action}: role '{name}' already exists"
        )));
    }
    let role = Role {
        privs,
        special: false,
    };
    world.access.roles.insert(name.to_owned(), role);
    done()
}

/// The built-in roles stay as they are.
fn check_own(world: &World, call: &Call, verb: &str) -> Result<(), ApiError> {
    let name = name(call);
    match world.access.roles.get(name) {
        Some(role) if role.special => Err(ApiError::fail(format!(
            "auto-generated role '{name}' cannot be {verb}"
        ))),
        _ => Ok(()),
    }
}

fn update(world: &mut World, call: &Call) -> Reply {
    let privs = sent_privs(world, call)?;
    check_own(world, call, "modified")?;
    let action = "update role failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    let role = need(world, call).map_err(|error| error.during(action))?;
    if !call.flag("append") {
        role.privs.clear();
    }
    role.privs.extend(privs);
    done()
}

/// Removes a role. PVE drops rules that name a role it does not know when it next reads its file.
fn remove(world: &mut World, call: &Call) -> Reply {
    check_own(world, call, "deleted")?;
    let action = "delete role failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    need(world, call).map_err(|error| error.during(action))?;
    let name = name(call);
    world.access.roles.remove(name);
    world.access.acl.retain(|rule| rule.role != name);
    done()
}
