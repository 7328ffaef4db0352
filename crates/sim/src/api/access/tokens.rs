//! `/access/users/{userid}/token`: API tokens.

use serde_json::{Value, json};

use super::USERID;
use super::users::{need, token_details, token_entry};
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::Perm;
use crate::route::{Route, delete, get, post, put};
use crate::schema::{Param, flag, format, int, text};
use crate::world::World;
use crate::world::access::{Subject, Token};

const TOKENID: Param = text("tokenid").matching(format::is_token_name);
const ALLOWED: Perm = Perm::Either(&[Perm::OwnUser, Perm::GroupOfUser(&["User.Modify"])]);
const COMMENT: Param = text("comment").optional();
const EXPIRE: Param = int("expire").min(0).optional();
const PRIVSEP: Param = flag("privsep").optional();

/// The routes of tokens.
pub const ROUTES: &[Route] = &[
    get("/access/users/{userid}/token", list)
        .allow(ALLOWED)
        .params(&[USERID]),
    get("/access/users/{userid}/token/{tokenid}", read)
        .allow(ALLOWED)
        .params(&[USERID, TOKENID]),
    post("/access/users/{userid}/token/{tokenid}", create)
        .allow(ALLOWED)
        .params(&[USERID, TOKENID, COMMENT, EXPIRE, PRIVSEP]),
    put("/access/users/{userid}/token/{tokenid}", update)
        .allow(ALLOWED)
        .params(&[
            USERID,
            TOKENID,
            COMMENT,
            EXPIRE,
            PRIVSEP,
            text("delete").list_of(format::config_id).optional(),
        ]),
    delete("/access/users/{userid}/token/{tokenid}", remove)
        .allow(ALLOWED)
        .params(&[USERID, TOKENID]),
];

fn names(call: &Call) -> (&str, &str) {
    let text = |name| call.text(name).unwrap_or_default();
    (text("userid"), text("tokenid"))
}

fn token<'a>(world: &'a mut World, call: &Call) -> Result<&'a mut Token, ApiError> {
    let (user, name) = names(call);
    let token = need(world, user)?.tokens.get_mut(name);
    token.ok_or_else(|| ApiError::fail(format!("no such token '{name}' for user '{user}'")))
}

fn list(world: &mut World, call: &Call) -> Reply {
    let tokens = need(world, names(call).0)?.tokens.iter();
    let entries = tokens.map(|(id, token)| token_entry(id, token));
    Ok(entries.collect::<Value>().into())
}

fn read(world: &mut World, call: &Call) -> Reply {
    Ok(token_details(token(world, call)?).into())
}

/// Makes a token and tells its secret, this once. What was sent comes back as the text it was.
fn create(world: &mut World, call: &Call) -> Reply {
    let (user, name) = names(call);
    if need(world, user)?.tokens.contains_key(name) {
        return Err(ApiError::param("tokenid", "Token already exists."));
    }
    world.lock_file("generating token failed: ", "user_cfg")?;
    let secret = world.new_uuid();
    let comment = call.text("comment").filter(|text| !text.is_empty());
    let token = Token {
        secret: secret.clone(),
        privsep: call.text("privsep") != Some("0"),
        expire: call.int("expire").unwrap_or_default(),
        comment: comment.map(str::to_owned),
    };
    need(world, user)?.tokens.insert(name.to_owned(), token);
    let privsep = call.text("privsep").map_or(json!(1), |sent| json!(sent));
    let mut info = json!({ "privsep": privsep });
    for key in ["expire", "comment"] {
        if let Some(sent) = call.text(key).filter(|text| !text.is_empty()) {
            info[key] = json!(sent);
        }
    }
    Ok(json!({ "info": info, "value": secret, "full-tokenid": format!("{user}!{name}") }).into())
}

fn update(world: &mut World, call: &Call) -> Reply {
    token(world, call)?;
    let action = "updating token info failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    let gone = call.params.list("delete");
    if let Some(key) = gone.iter().find(|key| **key != "comment") {
        let error = ApiError::param("delete", format!("unknown option '{key}'"));
        return Err(error.during(action));
    }
    let token = token(world, call)?;
    if let Some(privsep) = call.text("privsep") {
        token.privsep = privsep == "1";
    }
    if let Some(expire) = call.int("expire") {
        token.expire = expire;
    }
    if let Some(comment) = call.text("comment") {
        token.comment = Some(comment.to_owned()).filter(|text| !text.is_empty());
    }
    if !gone.is_empty() {
        token.comment = None;
    }
    Ok(token_details(token).into())
}

fn remove(world: &mut World, call: &Call) -> Reply {
    token(world, call)?;
    world.lock_file("deleting token failed: ", "user_cfg")?;
    let (user, name) = names(call);
    need(world, user)?.tokens.remove(name);
    let gone = Subject::Token(format!("{user}!{name}"));
    world.access.remove_rules(|subject| *subject == gone);
    done()
}
