//! From headers to an identity: login tickets with their token against cross-site requests, and API tokens.

use percent_encoding::percent_decode_str;

use crate::call::Identity;
use crate::error::ApiError;
use crate::http::Request;
use crate::world::World;

/// Finds out who sent a request.
///
/// # Errors
/// 401 with an empty body. PVE does not tell an unknown user from a wrong secret.
pub(crate) fn identify(world: &World, request: &Request) -> Result<Identity, ApiError> {
    let failed = || ApiError::unauthorized("Authentication failed!");
    if let Some(ticket) = ticket_of(request) {
        let user = world
            .signer
            .verify_ticket(&ticket, world.now)
            .ok_or_else(failed)?;
        let who = Identity::user(user);
        if !world.access.is_valid(&who, world.now) {
            return Err(failed());
        }
        check_csrf(world, request, user)?;
        return Ok(who);
    }
    match api_token_of(request) {
        Some(token) => token_identity(world, token).ok_or_else(failed),
        None => Err(ApiError::unauthorized("No ticket")),
    }
}

/// The ticket in the cookie, encoded or not, or in the `Authorization` header.
fn ticket_of(request: &Request) -> Option<String> {
    let cookies = request
        .header("cookie")
        .unwrap_or_default()
        .split(';')
        .map(str::trim);
    let mut sources = cookies.chain(request.header("authorization"));
    let ticket = sources.find_map(|text| text.strip_prefix("PVEAuthCookie="))?;
    Some(percent_decode_str(ticket).decode_utf8_lossy().into_owned())
}

/// What follows `PVEAPIToken=`; PVE takes a blank for the equals sign too.
fn api_token_of(request: &Request) -> Option<&str> {
    request
        .header("authorization")?
        .strip_prefix("PVEAPIToken")?
        .strip_prefix(['=', ' '])
}

fn token_identity(world: &World, text: &str) -> Option<Identity> {
    let (id, secret) = text.split_once('=')?;
    let who = Identity::parse(id);
    let known = world.access.token(&who)?;
    (known.secret == secret && world.access.is_valid(&who, world.now)).then_some(who)
}

/// Only requests that change something need it, and only with a ticket.
fn check_csrf(world: &World, request: &Request, user: &str) -> Result<(), ApiError> {
    let token = request.header("csrfpreventiontoken").unwrap_or_default();
    if request.method == "GET" || world.signer.verify_csrf(token, user, world.now) {
        return Ok(());
    }
    Err(ApiError::unauthorized(
        "Permission denied - invalid csrf token",
    ))
}
