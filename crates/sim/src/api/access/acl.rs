//! `/access/acl`: who has which role where.

use serde_json::{Value, json};

use crate::api::bit;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::{Perm, require_modify};
use crate::route::{Route, get, put};
use crate::schema::{flag, format, text};
use crate::world::World;
use crate::world::access::{Rule, Subject};

/// The routes of access rules.
pub const ROUTES: &[Route] = &[
    get("/access/acl", list).allow(Perm::User),
    put("/access/acl", update)
        .allow(Perm::Modify("{path}"))
        .params(&[
            text("path"),
            text("roles").list_of(format::role_id),
            flag("delete").optional(),
            text("groups").list_of(format::group_id).optional(),
            flag("propagate").optional(),
            text("tokens").list_of(format::token_id).optional(),
            text("users").list_of(format::user_id).optional(),
        ]),
];

/// All rules for those who may audit, else those on paths whose rules the caller may change.
fn list(world: &mut World, call: &Call) -> Reply {
    let audit = world.may(&call.who, "/access", "Sys.Audit");
    let visible = world
        .access
        .acl
        .iter()
        .filter(|rule| audit || require_modify(world, &call.who, &rule.path).is_ok());
    let entries = visible.map(|rule| {
        let (kind, ugid) = match &rule.subject {
            Subject::User(name) => ("user", name),
            Subject::Group(name) => ("group", name),
            Subject::Token(name) => ("token", name),
        };
        json!({
            "path": rule.path,
            "type": kind,
            "ugid": ugid,
            "roleid": rule.role,
            "propagate": bit(rule.propagate),
        })
    });
    Ok(entries.collect::<Value>().into())
}

fn update(world: &mut World, call: &Call) -> Reply {
    let kinds = ["users", "groups", "tokens"];
    if kinds.iter().all(|name| call.params.list(name).is_empty()) {
        let text = "either 'users', 'groups' or 'tokens' is required.";
        let errors = kinds.map(|name| (name.to_owned(), text.to_owned()));
        return Err(ApiError::params(errors));
    }
    let sent = call.text("path").unwrap_or_default();
    let path = normalized(sent);
    if path.is_empty() || (!call.flag("delete") && !is_known_path(&path)) {
        return Err(ApiError::param(
            "path",
            format!("invalid ACL path '{sent}'"),
        ));
    }
    let action = "ACL update failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    let mut rules = Vec::new();
    for role in call.params.list("roles") {
        may_hand_out(world, call, &path, role).map_err(|error| error.during(action))?;
        let subjects = subjects(world, call).map_err(|error| error.during(action))?;
        rules.extend(subjects.into_iter().map(|subject| Rule {
            path: path.clone(),
            subject,
            role: role.to_owned(),
            propagate: call.text("propagate") != Some("0"),
        }));
    }
    for rule in rules {
        world.access.acl.retain(|known| {
            (&known.path, &known.subject, &known.role) != (&rule.path, &rule.subject, &rule.role)
        });
        if !call.flag("delete") {
            world.access.acl.push(rule);
        }
    }
    done()
}

/// Whom the call is about. All of them must exist.
fn subjects(world: &World, call: &Call) -> Result<Vec<Subject>, ApiError> {
    let access = &world.access;
    let missing = |text: String| Err(ApiError::fail(text));
    let mut found = Vec::new();
    for group in call.params.list("groups") {
        if !access.groups.contains_key(group) {
            return missing(format!("group '{group}' does not exist"));
        }
        found.push(Subject::Group(group.to_owned()));
    }
    for user in call.params.list("users") {
        if !access.users.contains_key(user) {
            return missing(format!("user '{user}' does not exist"));
        }
        found.push(Subject::User(user.to_owned()));
    }
    for token in call.params.list("tokens") {
        let (user, name) = token.split_once('!').unwrap_or_default();
        match access.users.get(user) {
            None => return missing(format!("no such user ('{user}')")),
            Some(known) if !known.tokens.contains_key(name) => {
                return missing(format!("no such token '{name}' for user '{user}'"));
            }
            Some(_) => found.push(Subject::Token(token.to_owned())),
        }
    }
    Ok(found)
}

/// Who may not change rules in general may hand out no more than he has.
fn may_hand_out(world: &World, call: &Call, path: &str, role: &str) -> Result<(), ApiError> {
    let Some(wanted) = world.access.roles.get(role) else {
        return Err(ApiError::fail(format!("role '{role}' does not exist")));
    };
    let own = world.privileges(&call.who, path);
    if own.contains_key("Permissions.Modify") {
        return Ok(());
    }
    let delete = call.flag("delete");
    let verb = if delete { "remove" } else { "add" };
    let refused = |why: &str| {
        let text = format!("Cannot {verb} role '{role}'{why}");
        Err(ApiError::param("role", text))
    };
    let propagate = call.text("propagate") != Some("0") && !delete;
    for name in &wanted.privs {
        match own.get(name) {
            None => {
                return refused(" - requires 'Permissions.Modify' or superset of privileges.");
            }
            Some(false) if propagate => {
                return refused(
                    " with propagation - requires 'Permissions.Modify' or propagated superset of privileges.",
                );
            }
            Some(_) => {}
        }
    }
    if role == "NoAccess" {
        return refused(" - requires 'Permissions.Modify'");
    }
    Ok(())
}

/// The path with single slashes and a leading one; empty if it has characters no path has.
fn normalized(path: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
    if path.is_empty() || !path.chars().all(word) {
        return String::new();
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/"))
}

/// Whether rights can be given on a path. What it names need not exist.
fn is_known_path(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let is_vmid = |text: &str| {
        text.len() >= 3 && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
    };
    let depth = match parts.as_slice() {
        [] => return true,
        ["vms", id] => return is_vmid(id),
        ["access", "groups" | "realm", ..]
        | ["mapping", ..]
        | ["sdn", "controllers" | "dns" | "fabrics" | "ipams", ..] => 3,
        ["sdn", "zones", ..] => 5,
        ["pool", ..] => 4,
        ["nodes" | "storage", ..] => 2,
        ["access" | "sdn" | "vms"] => 1,
        _ => 0,
    };
    parts.len() <= depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_rules_may_be_on() {
        for path in ["/", "/vms", "/vms/12345", "/pool/a/b", "/access/realm/pve"] {
            assert!(is_known_path(path), "{path}");
        }
        for path in ["/bogus", "/vms/99", "/vms/x", "/nodes/a/b", "/access/users"] {
            assert!(!is_known_path(path), "{path}");
        }
    }

    #[test]
    fn slashes_are_evened_out() {
        assert_eq!(normalized("//vms//100/"), "/vms/100");
        assert_eq!(normalized("vms"), "/vms");
        assert_eq!(normalized("/vms/{x}"), "");
    }
}
