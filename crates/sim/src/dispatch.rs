//! The life of a call, in the order in which PVE checks things: method, login, route, permission, node, parameters,
//! handler. Everything here is the same for all routes.

use serde_json::Value;

use crate::api;
use crate::apidoc;
use crate::auth;
use crate::call::{Call, Identity, Params};
use crate::error::{Answer, ApiError, Reply};
use crate::http::decode::Sent;
use crate::http::render::{Format, render};
use crate::http::{Request, Response, decode};
use crate::route::Route;
use crate::schema;
use crate::world::World;

/// A response, and what the request log wants to know about its request.
pub(crate) struct Handled {
    pub(crate) response: Response,
    pub(crate) path: String,
    pub(crate) params: Params,
    /// The port of the console that was asked for.
    pub(crate) console: Option<u16>,
}

/// Answers a request to the API.
pub(crate) fn handle(world: &mut World, request: &Request) -> Handled {
    let full_path = request.path();
    let mut params = Params::default();
    let mut console = None;
    let (path, response) = match split_prefix(&full_path) {
        _ if full_path == apidoc::PATH && request.method == "GET" => {
            (full_path, apidoc::response())
        }
        Ok((path, format)) => {
            let reply = serve(world, request, &path, &mut params);
            if let Ok(Answer::Console(port)) = &reply {
                console = port.parse().ok();
            }
            (path, render(reply, format))
        }
        Err(error) => (full_path, render(Err(error), Format::Json)),
    };
    Handled {
        response,
        path,
        params,
        console,
    }
}

/// Answers a request to the API with this data, whoever sent it and whatever it asks.
pub(crate) fn answer_with(request: &Request, data: Value) -> Handled {
    let full_path = request.path();
    let (path, format) = split_prefix(&full_path).unwrap_or((full_path, Format::Json));
    Handled {
        response: render(Ok(data.into()), format),
        path,
        params: decode::read(request)
            .map(|sent| sent.params)
            .unwrap_or_default(),
        console: None,
    }
}

/// Whether there is a route for this; what is not modelled answers as if PVE did not have it either.
pub(crate) fn is_modelled(method: &str, path: &str) -> bool {
    find_route(method, &segments(path)).is_some()
}

fn serve(world: &mut World, request: &Request, path: &str, seen: &mut Params) -> Reply {
    let method = request.method.as_str();
    if !matches!(method, "GET" | "POST" | "PUT" | "DELETE") {
        let message = format!("method '{method}' not available");
        return Err(ApiError::bare(501, &message));
    }
    decode::refuse_encoded(request)?;
    let found = find_route(method, &segments(path));
    let open = matches!(
        found,
        Some((
            Route {
                perm: crate::permission::Perm::World,
                ..
            },
            _
        ))
    );
    let who = if open {
        Identity::user("")
    } else {
        auth::identify(world, request)?
    };
    let Sent { params: sent, file } = decode::read(request)?;
    seen.clone_from(&sent);
    let (route, captures) = found.ok_or_else(|| ApiError::not_implemented(method, path))?;
    let params = merge(captures, &sent)?;
    // An uploaded file lives as long as its request.
    let name = file.as_ref().map(|(name, _)| name.clone());
    world.uploads.extend(file);
    let reply = run(world, route, who, &request.endpoint, params);
    name.map(|name| world.uploads.remove(&name));
    reply
}

/// Calls the API from inside it: what PVE's own bulk actions do.
pub(crate) fn call(
    world: &mut World,
    who: &Identity,
    endpoint: &str,
    (method, path): (&str, &str),
    sent: &Params,
) -> Reply {
    let found = find_route(method, &segments(path));
    let (route, captures) = found.ok_or_else(|| ApiError::not_implemented(method, path))?;
    let params = merge(captures, sent)?;
    run(world, route, who.clone(), endpoint, params)
}

/// The checks that every call passes before its handler, in PVE's order.
fn run(world: &mut World, route: &Route, who: Identity, endpoint: &str, params: Params) -> Reply {
    check_token(route, &who)?;
    route.perm.check(world, &who, &params)?;
    if route.proxied {
        check_node(world, endpoint, &params)?;
    }
    schema::verify(route.params.iter().chain(route.more), &params)?;
    let (endpoint, now) = (endpoint.to_owned(), world.now);
    (route.run)(
        world,
        &Call {
            who,
            endpoint,
            params,
            now,
        },
    )
}

/// Splits `/api2/json/nodes` into the path below and the format.
fn split_prefix(full: &str) -> Result<(String, Format), ApiError> {
    let Some((format, path)) = full.strip_prefix("/api2/").map(|rest| {
        let (format, path) = rest.split_once('/').unwrap_or((rest, ""));
        (format, format!("/{path}"))
    }) else {
        return Err(ApiError::unreadable(
            500,
            format!("no such file '{full}'\n"),
        ));
    };
    match format {
        "json" => Ok((path, Format::Json)),
        "extjs" => Ok((path, Format::ExtJs)),
        other => Err(ApiError::unreadable(
            501,
            format!("no formatter for uri {path}, {other}"),
        )),
    }
}

/// The parts of a path. Empty ones do not count: a trailing or doubled slash is harmless.
fn segments(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

fn find_route(method: &str, segments: &[&str]) -> Option<(&'static Route, Params)> {
    let routes = api::TABLES.iter().copied().flatten();
    routes
        .into_iter()
        .find_map(|route| Some((route, route.captures(method, segments)?)))
}

/// Adds what was sent to the captures. The same parameter in the path and elsewhere must agree.
fn merge(captures: Params, sent: &Params) -> Result<Params, ApiError> {
    let mut params = captures;
    for (name, value) in sent.iter() {
        match params.get(name) {
            Some(known) if known != value => {
                return Err(ApiError::param(
                    name,
                    "duplicate parameter (already defined in URI) with conflicting values!",
                ));
            }
            _ => params.set(name, value.clone()),
        }
    }
    Ok(params)
}

fn check_token(route: &Route, who: &Identity) -> Result<(), ApiError> {
    if route.token || who.token.is_none() {
        return Ok(());
    }
    let path = route.path;
    let detail = format!("URI '{path}' not available with API token, need proper ticket.\n");
    Err(ApiError::denied(Some(&detail)))
}

/// A call for another node is passed on to it, which fails if it is unknown or down.
fn check_node(world: &World, endpoint: &str, params: &Params) -> Result<(), ApiError> {
    let name = params.text("node").unwrap_or_default();
    if name == endpoint || name == "localhost" {
        return Ok(());
    }
    let Some(node) = world.nodes.get(name) else {
        return Err(ApiError::fail(format!(
            "hostname lookup '{name}' failed - failed to get address info for: {name}: Name or service not known"
        )));
    };
    match node.connect_error(world.now) {
        Some(reason) => Err(ApiError::bare(595, reason)),
        None => Ok(()),
    }
}
