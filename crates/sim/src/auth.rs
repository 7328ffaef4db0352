//! From headers to an identity: login tickets with their token against cross-site requests, and API tokens.

use percent_encoding::percent_decode_str;

use crate::call::Identity;
use crate::error::ApiError;
use crate::http::Request;
use crate::permission::require;
use crate::world::World;

/// Finds out who sent a request, and whether they may upload if that is what it does.
///
/// # Errors
/// 401 or 403 with an empty body. PVE does not tell an unknown user from a wrong secret.
pub(crate) fn identify(world: &World, request: &Request) -> Result<Identity, ApiError> {
    let who = known_sender(world, request)?;
    if let Some(storage) = upload_target(request) {
        let path = format!("/storage/{storage}");
        require(world, &who, &path, &["Datastore.AllocateTemplate"])
            .map_err(|error| ApiError::bare(error.status, &error.message))?;
    }
    Ok(who)
}

/// The storage that a request uploads to. The form of a browser cannot send a token against cross-site requests, so
/// uploads need none, and the right to upload is checked before anything is read.
fn upload_target(request: &Request) -> Option<String> {
    let path = request.path();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts[..] {
        ["api2", _, "nodes", _, "storage", storage, "upload"] if request.method == "POST" => {
            Some(storage.to_owned())
        }
        _ => None,
    }
}

fn known_sender(world: &World, request: &Request) -> Result<Identity, ApiError> {
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

/// The token that a request names.
pub(crate) fn named_token(request: &Request) -> Option<String> {
    let (id, _) = api_token_of(request)?.split_once('=')?;
    Some(id.to_owned())
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
    if request.method == "GET"
        || upload_target(request).is_some()
        || world.signer.verify_csrf(token, user, world.now)
    {
        return Ok(());
    }
    Err(ApiError::unauthorized(
        "Permission denied - invalid csrf token",
    ))
}
