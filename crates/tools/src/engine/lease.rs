//! One approval that covers the keys and text of several calls: on one VM, for one caller, for ten minutes.

use pve::Method;

use super::Engine;
use crate::fault::Fault;
use crate::plan::{Action, Guard, Plan, Step, Target};
use crate::store::{Store, StoredPlan};

/// Seconds that a lease lasts.
const LEASE: i64 = 10 * 60;

impl Engine {
    /// Whether a lease of this caller covers a plan. Protection is read from the plan, which is as new as the call.
    pub(super) async fn is_leased(&self, plan: &Plan, caller: &str) -> Result<bool, Fault> {
        let Some(guest) = leased_guest(plan) else {
            return Ok(false);
        };
        let store = self.store().await?;
        store.has_lease(caller, &guest, self.now()).await
    }

    /// Lets an approval cover the keys that come after it.
    pub(super) async fn lease(&self, caller: &str, guest: &str) {
        // The approval of this very plan holds, whatever becomes of the lease.
        if let Ok(store) = self.store().await {
            let _ = store.grant_lease(caller, guest, self.now() + LEASE).await;
        }
    }
}

/// Lets the approval of a stored plan cover ten minutes of keys. False: it is no plan that a lease covers.
pub async fn lease_with(store: &Store, stored: &StoredPlan, now: i64) -> Result<bool, Fault> {
    let Some(guest) = leased_guest(&stored.plan) else {
        return Ok(false);
    };
    let lease = store.grant_lease(&stored.caller, &guest, now + LEASE);
    lease.await.map(|()| true)
}

/// The guest whose keys one approval may cover: this very one, not another that gets its number. None for a plan that does
/// anything but press keys on one VM, for a text that is secret, and for a protected guest.
pub fn leased_guest(plan: &Plan) -> Option<String> {
    let name = plan.proper.as_deref().unwrap_or(&plan.tool);
    let tool = crate::registry::all().find(|tool| tool.spec().name == name)?;
    let [Target { at, .. }] = plan.targets.as_slice() else {
        return None;
    };
    let is_covered = tool.spec().special.leasable
        && !plan.raw
        && !plan.targets[0].is_protected()
        && plan.steps.iter().all(presses_keys);
    let identity = plan.guards.iter().find_map(|guard| match guard {
        Guard::SameGuest {
            at: guarded,
            identity,
            ..
        } if guarded == at => serde_json::to_string(identity).ok(),
        _ => None,
    })?;
    is_covered.then(|| format!("{}/{}/{identity}", plan.cluster, at.vmid))
}

/// Whether a step presses keys on a VM's console, and nothing of it is secret.
fn presses_keys(step: &Step) -> bool {
    match &step.action {
        Action::Keys(keys) => !keys.typed.is_secret(),
        Action::Request(request) => {
            request.method == Method::Put && request.path.ends_with("/sendkey")
        }
        _ => false,
    }
}
