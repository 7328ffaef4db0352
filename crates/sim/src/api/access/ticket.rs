//! `/access/ticket`: login and renewal; and `/access/vncticket`.

use serde_json::{Map, Value, json};

use crate::call::{Call, Identity, split_list};
use crate::error::{ApiError, Reply, done};
use crate::permission;
use crate::world::World;
use crate::world::factor::Factor;

/// `GET /access/ticket`: exists for login forms, answers nothing.
pub(super) fn form(_: &mut World, _: &Call) -> Reply {
    done()
}

/// `POST /access/ticket`. With `path` and `privs` it only verifies, and gives no ticket.
pub(super) fn login(world: &mut World, call: &Call) -> Reply {
    let name = call.text("username").unwrap_or_default();
    let user = match call.text("realm") {
        Some(realm) => format!("{name}@{realm}"),
        None => name.to_owned(),
    };
    let password = call.text("password").unwrap_or_default();
    match call.text("tfa-challenge") {
        Some(challenge) => second_factor(world, &user, challenge, password)?,
        None if !authenticates(world, &user, password) => return Err(ApiError::login_failed()),
        None => {
            if let Some(half_way) = first_factor(world, call, &user)? {
                return Ok(half_way.into());
            }
        }
    }
    let who = Identity::user(&user);
    let mut answer = json!({ "username": user, "cap": capabilities(world, &who) });
    if let (Some(path), Some(privs)) = (call.text("path"), call.text("privs")) {
        let privs: Vec<&str> = split_list(privs).collect();
        permission::require(world, &who, path, &privs).map_err(|_| ApiError::login_failed())?;
    } else {
        answer["ticket"] = json!(world.signer.ticket(&user, world.now));
        answer["CSRFPreventionToken"] = json!(world.signer.csrf(&user, world.now));
    }
    if world.may(&who, "/", "Sys.Audit") {
        answer["clustername"] = json!(world.name);
    }
    Ok(answer.into())
}

/// `POST /access/vncticket`: whether a ticket for a console is good, which terminals ask before they let anybody in.
pub(super) fn verify_vnc(world: &mut World, call: &Call) -> Reply {
    let text = |name: &str| call.text(name).unwrap_or_default();
    let (who, path) = (Identity::parse(text("authid")), text("path"));
    let genuine = world
        .signer
        .verify_vnc_ticket(text("vncticket"), &who, path, call.now);
    let privs = call.params.list("privs");
    let allowed = permission::require(world, &who, path, &privs).is_ok();
    if genuine && allowed && !privs.is_empty() {
        done()
    } else {
        Err(ApiError::login_failed())
    }
}

/// After the password: what a user with a second factor gets instead of a ticket, unless the code came along.
fn first_factor(world: &mut World, call: &Call, user: &str) -> Result<Option<Value>, ApiError> {
    let now = world.now;
    let is_ticket = (call.text("password"))
        .is_some_and(|password| world.signer.verify_ticket(password, now).is_some());
    let known = world.access.users.get_mut(user);
    let Some(factors) = known
        .map(|known| &mut known.factors)
        .filter(|factors| !factors.is_empty() && !is_ticket)
    else {
        return Ok(None);
    };
    if let Some(code) = call.text("otp") {
        let good = factors.iter_mut().any(|factor| factor.accepts(code, now));
        return good.then_some(None).ok_or_else(ApiError::login_failed);
    }
    let challenge: Map<String, Value> = factors.iter().map(Factor::challenge).collect();
    let challenge = Value::from(challenge).to_string();
    Ok(Some(json!({
        "username": user,
        "NeedTFA": 1,
        "ticket": world.signer.half_ticket(user, &challenge, now),
        "CSRFPreventionToken": world.signer.csrf(user, now),
    })))
}

/// The answer to what the half-way ticket asks for, in the place of a password.
fn second_factor(
    world: &mut World,
    user: &str,
    challenge: &str,
    answer: &str,
) -> Result<(), ApiError> {
    let now = world.now;
    let genuine = world.signer.verify_half_ticket(challenge, user, now);
    let enabled = world.access.is_valid(&Identity::user(user), now);
    let known = world.access.users.get_mut(user);
    let accepted = known.is_some_and(|known| {
        known
            .factors
            .iter_mut()
            .any(|factor| factor.accepts(answer, now))
    });
    (genuine && enabled && accepted)
        .then_some(())
        .ok_or_else(ApiError::login_failed)
}

/// A password, or a ticket in its place: one's own, or that of `root@pam`.
fn authenticates(world: &World, user: &str, password: &str) -> bool {
    let Some(known) = world.access.users.get(user) else {
        return false;
    };
    let by_ticket = world
        .signer
        .verify_ticket(password, world.now)
        .is_some_and(|owner| owner == user || owner == "root@pam");
    let by_password = known
        .password
        .as_deref()
        .is_some_and(|right| right == password);
    (by_ticket || by_password) && world.access.is_valid(&Identity::user(user), world.now)
}

/// What the web interface wants to know: all privileges a user has anywhere, by area.
fn capabilities(world: &World, who: &Identity) -> Value {
    let areas: [(&str, &[&str]); 7] = [
        ("vms", &["VM."]),
        ("storage", &["Datastore."]),
        ("access", &["User.", "Group."]),
        ("nodes", &["Sys."]),
        ("sdn", &["SDN."]),
        ("mapping", &["Mapping."]),
        ("dc", &["Sys.Audit", "Sys.Modify", "SDN."]),
    ];
    let general = [
        "/",
        "/nodes",
        "/access/groups",
        "/vms",
        "/storage",
        "/sdn",
        "/mapping",
    ];
    let paths = general
        .into_iter()
        .chain(world.access.acl.iter().map(|rule| rule.path.as_str()));
    let mut caps: Map<String, Value> = areas
        .iter()
        .map(|(area, _)| ((*area).to_owned(), json!({})))
        .collect();
    for name in paths.flat_map(|path| world.privileges(who, path).into_keys()) {
        for (area, prefixes) in areas {
            let modify = name == "Permissions.Modify" && area != "dc";
            if modify || prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                caps[area][&name] = json!(1);
            }
        }
    }
    caps.into()
}
