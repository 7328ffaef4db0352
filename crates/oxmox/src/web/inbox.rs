//! What waits for a person, and their decisions.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::engine::Waiting;
use tools::tool::Rendered;

use super::Page;
use super::answer::{Answer, Failure, Json, sent};
use super::door::Person;
use crate::session::now;

/// All that waits.
pub(super) async fn list(
    State(page): State<Arc<Page>>,
    Extension(person): Extension<Person>,
) -> Answer {
    let waiting = page.engine.inbox(&person.caller).await?;
    let plans: Vec<_> = waiting.into_iter().map(shown).collect();
    Ok(Json(json!({ "plans": plans, "now": now() })))
}

/// A plan with all that a person has to know of it. The digest comes back with the decision.
fn shown(waiting: Waiting) -> Value {
    let Waiting {
        stored,
        preview,
        refusal,
        types_secret,
        can_lease,
    } = waiting;
    json!({
        "id": stored.id,
        "digest": stored.digest,
        "cluster": stored.plan.cluster,
        "caller": tools::clean::text(&stored.caller),
        "expires": stored.expires,
        "plan": preview,
        "types_secret": types_secret,
        "can_lease": can_lease,
        "may_not_approve": refusal.map(|fault| fault.to_string().replace("\nhint: ", ": ")),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decision {
    approve: bool,
    /// Of the plan that was shown.
    digest: String,
    /// Whether the approval also covers ten minutes of keys on this VM.
    #[serde(default)]
    lease: bool,
}

/// A decision on the plan that was shown.
pub(super) async fn decide(
    State(page): State<Arc<Page>>,
    Extension(person): Extension<Person>,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let Decision {
        approve,
        digest,
        lease,
    } = sent(&body)?;
    let decided = page.engine.decide(&id, &digest, approve, &person.caller);
    let stored = decided.await?;
    let leased = approve && lease && page.engine.lease_keys(&stored).await?;
    page.pulse.beat();
    Ok(Json(json!({
        "summary": tools::clean::text(&stored.plan.summary),
        "leased": leased,
    })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    /// Of the plan that was shown.
    digest: String,
}

/// The secret texts that a waiting plan would type, for a person who may approve it.
pub(super) async fn reveal(
    State(page): State<Arc<Page>>,
    Extension(person): Extension<Person>,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let Shown { digest } = sent(&body)?;
    let texts = page.engine.reveal(&id, &digest, &person.caller).await?;
    let texts: Vec<_> = texts.iter().map(ExposeSecret::expose_secret).collect();
    Ok(Json(json!({ "texts": texts })))
}

/// What became of a plan.
pub(super) async fn plan(
    State(page): State<Arc<Page>>,
    Extension(person): Extension<Person>,
    Path(id): Path<String>,
) -> Answer {
    let handle = page.engine.handle(&id).await?;
    if !person.caller.bounds.reach_cluster(&handle.outcome.cluster) {
        let error = format!("there is no plan {id}");
        return Err(Failure::new(StatusCode::NOT_FOUND, error));
    }
    let mut outcome = handle.outcome;
    // What lets whoever has it go on is the caller's alone, and so is what a program in a guest said.
    outcome.confirm = None;
    for step in &mut outcome.steps {
        step.result = None;
    }
    Ok(Json(json!({
        "outcome": Rendered::of(&outcome)?.data,
        "ended": handle.ended,
        // While it has not begun, whether that is for want of a yes.
        "approved": handle.approved,
        "doing": handle.doing.as_deref().map(tools::clean::text),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_that_approves_twice_is_none() {
        let read = |body: &'static str| sent::<Decision>(&Bytes::from_static(body.as_bytes()));
        assert!(read(r#"{"approve": true, "digest": "x"}"#).is_ok());
        for body in [
            r#"{"approve": false, "approve": true, "digest": "x"}"#,
            r#"{"approve": true, "digest": "x", "approve": true}"#,
            r#"{"approve": true, "digest": "x", "digest": "y"}"#,
            r#"{"approve": "true", "digest": "x"}"#,
        ] {
            assert!(read(body).is_err(), "{body}");
        }
    }
}
