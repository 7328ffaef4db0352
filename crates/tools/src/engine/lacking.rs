//! What the token lacks for a plan, said before a person is asked and before anything is sent.

use pve::Reader;

use super::Engine;
use crate::fault::{Fault, Kind};
use crate::plan::Plan;
use crate::preview::{lacked, missing_privileges};

impl Engine {
    /// Whether a plan is worth a person's yes: not if it is bound to be refused. Where PVE has the last word, they are told what
    /// the token lacks.
    pub(super) async fn worth_asking(&self, plan: &mut Plan) -> Result<(), Fault> {
        let pve = &self.cluster(&plan.cluster)?.pve;
        // Where it cannot be read, nothing is known: the last look before the first step asks again.
        let missing = lacked(&plan.needs, pve).await.unwrap_or_default();
        if missing.is_empty() {
            return Ok(());
        }
        if must_be_held(plan) {
            return Err(refusal(&missing));
        }
        plan.warnings.push(format!(
            "{LACKS}{}, so that PVE will refuse it",
            missing.join(", ")
        ));
        Ok(())
    }
}

/// How the warning begins.
const LACKS: &str = "the token lacks ";

/// Whether the token lacked the same for both: a question that says otherwise is out of date.
pub(super) fn is_the_same(one: &Plan, other: &Plan) -> bool {
    let lacks = |warning: &&String| warning.starts_with(LACKS);
    let (one, other) = (one.warnings.iter(), other.warnings.iter());
    one.filter(lacks).eq(other.filter(lacks))
}

/// The same at the last moment.
pub(super) async fn refuse(plan: &Plan, pve: &Reader) -> Result<(), Fault> {
    if !must_be_held(plan) {
        return Ok(());
    }
    let missing = missing_privileges(plan, pve).await;
    if missing.is_empty() {
        return Ok(());
    }
    Err(refusal(&missing))
}

/// What takes several steps, or destroys something on its way, must not get stuck half-way for a privilege that was known to be
/// missing: PVE looks at some of them only when its task has begun. Nor is a file sent for nothing.
fn must_be_held(plan: &Plan) -> bool {
    plan.steps.len() > 1 || plan.destroys() || plan.uploads().next().is_some()
}

fn refusal(missing: &[String]) -> Fault {
    let message = format!("{LACKS}{}; nothing was sent", missing.join(", "));
    Fault::new(Kind::Forbidden, message)
        .hint("a person can give it more: `oxmox setup` with another --level, or a role in PVE; `oxmox doctor` shows what it has")
}
