//! Who is at the other end of a request, and what it can do. Asked per request: 2026 clients have no session.

use std::sync::Arc;

use http::Extensions;
use http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio_util::sync::CancellationToken;
use tools::caller::Caller;
use tools::engine::Engine;

use crate::http::{ActsUntil, Admission, OnBehalf};
use crate::token::Holder;

/// Longest part of a client's own name that is kept.
const LONGEST_NAME: usize = 64;

/// One request's circumstances.
pub(super) type Context = RequestContext<RoleServer>;

/// Whether the request is of the 2026 protocol: no session, and every answer is all there is.
pub(super) fn is_stateless(ctx: &Context) -> bool {
    ctx.protocol_version()
        .is_some_and(|version| !version.has_initialize())
}

/// Whether the client can show its user a form.
pub(super) fn can_show_form(ctx: &Context) -> bool {
    ctx.client_capabilities()
        .and_then(|able| able.elicitation)
        // 2025-06-18 knew forms only, and wrote that as `elicitation: {}`.
        .is_some_and(|able| able.form.is_some() || able.url.is_none())
}

/// Whether the client follows tasks: then a change that goes on is answered with one.
pub(super) fn follows_tasks(ctx: &Context) -> bool {
    ctx.client_capabilities()
        .is_some_and(|able| able.supports_tasks())
}

/// Who calls: the holder of the token that it brought along or, where nobody is asked for one, the transport and the name
/// that the client gives itself. Confirmations and the audit trail are bound to it, so it is the same for a call and its
/// repetition with an answer.
pub(super) fn caller(ctx: &Context) -> Caller {
    let parts = ctx.extensions.get::<Parts>();
    if let Some(holder) = parts.and_then(|parts| holder(&parts.extensions)) {
        return holder.caller.clone();
    }
    let transport = if parts.is_some() { "http" } else { "stdio" };
    let name = ctx.client_info().map(|client| client.name);
    match name.map(|name| tools::words::clip(name.trim(), LONGEST_NAME)) {
        Some(name) if !name.is_empty() => Caller::unbound(format!("{transport}:{name}")),
        _ => Caller::unbound(transport),
    }
}

/// The name by which a caller is known, if they were asked who they are.
pub(super) fn known_as(ctx: &Context) -> Option<String> {
    let parts = ctx.extensions.get::<Parts>()?;
    holder(&parts.extensions).map(|holder| holder.caller.name.clone())
}

/// The engine that acts for the caller of a request, if that is not the server's own.
pub(super) fn on_behalf(ctx: &Context) -> Option<&Arc<Engine>> {
    let parts = ctx.extensions.get::<Parts>()?;
    acting_for(&parts.extensions)
}

/// Whose token a request of HTTP brought along.
pub(super) fn holder(request: &Extensions) -> Option<&Holder> {
    request.get()
}

/// The engine that acts by the token of PVE that it brought along.
pub(super) fn acting_for(request: &Extensions) -> Option<&Arc<Engine>> {
    request.get::<OnBehalf>().map(|OnBehalf(engine)| engine)
}

/// How the caller of this request was admitted; none where nobody has to be.
pub(super) fn admission(ctx: &Context) -> Option<Admission> {
    let parts = ctx.extensions.get::<Parts>()?;
    parts.extensions.get::<Admission>().cloned()
}

/// Cancelled when nobody may act any more as the caller of this request does: by a token of PVE of their own, or without one.
/// Never, where that is not decided by anybody.
pub(super) fn acts_until(ctx: &Context) -> CancellationToken {
    let parts = ctx.extensions.get::<Parts>();
    let until = parts.and_then(|parts| parts.extensions.get::<ActsUntil>());
    until.map(|ActsUntil(it)| it.clone()).unwrap_or_default()
}
