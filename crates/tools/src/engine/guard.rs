//! The last look before the first step: is the world still the one that the plan was made for?

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use pve::{GuestConfig, GuestRef, Identity, Reader, Request, Vmid};
use serde_json::Value;

use super::consent::Frozen;
use super::record::Attempt;
use super::{Call, Engine, Reply, Talk, lacking};
use crate::context::{Cluster, READS, label};
use crate::fault::{Fault, Kind};
use crate::hold::{Held, Thing};
use crate::plan::{Fingerprints, Guard, Plan, Target, rows_of};
use crate::registry::Extras;
use crate::tool::Tool;

/// What the guests that a plan makes are known by, as they were first seen after the step that made them.
#[derive(Default)]
pub(super) struct Made(BTreeMap<Vmid, Identity>);

/// Why the steps that are left must not be sent.
pub(super) struct Halt {
    pub(super) fault: Fault,
    /// The guest is another one by now.
    pub(super) stranger: bool,
}

/// Whatever it is that was found, or could not be read: what is left was not sent for it.
impl<E: Into<Fault>> From<E> for Halt {
    fn from(fault: E) -> Self {
        let mut fault = fault.into();
        fault.message.push_str("; it was not sent");
        Self {
            fault,
            stranger: false,
        }
    }
}

/// Why a plan may not be sent as it is.
enum Broken {
    /// It must not be sent at all.
    Conflict(Fault),
    /// It could be made anew, but this is not as it was.
    Changed(String),
}

impl Engine {
    /// Applies a plan whose guards hold. If only the configuration changed since a person saw it, they get a new preview
    /// that says so, and decide again.
    pub(super) async fn guarded(
        self: &Arc<Self>,
        frozen: Frozen,
        tool: &'static dyn Tool,
        call: &Call,
        extras: &Extras,
        attempt: &Arc<Attempt>,
        talk: &dyn Talk,
    ) -> Result<Reply, Fault> {
        let holds = match hold(&frozen.plan, attempt.held()) {
            Ok(()) => self.check_guards(&frozen.plan).await,
            taken => taken,
        };
        match holds {
            Ok(()) => self.apply(frozen, extras, attempt, talk).await,
            Err(Broken::Conflict(fault)) => Err(fault),
            Err(Broken::Changed(what)) if frozen.shown.is_none() => Err(changed_fault(&what)),
            Err(Broken::Changed(what)) => {
                let (plan, _) = self.plan(tool, call, attempt.held(), talk).await?;
                self.ask_again(plan, &what, call, attempt).await
            }
        }
    }

    /// Refuses a plan that must not be made anew either: its guest is another one, or not where it was.
    pub(super) async fn no_conflict(&self, plan: &Plan) -> Result<(), Fault> {
        match self.check_guards(plan).await {
            Err(Broken::Conflict(fault)) => Err(fault),
            Ok(()) | Err(Broken::Changed(_)) => Ok(()),
        }
    }

    async fn check_guards(&self, plan: &Plan) -> Result<(), Broken> {
        let cluster = self.cluster(&plan.cluster).map_err(Broken::Conflict)?;
        cluster
            .require_supported()
            .await
            .map_err(Broken::Conflict)?;
        let pve = &cluster.pve;
        let several = plan.guards.len() > 1;
        let checks: Vec<_> = plan
            .guards
            .iter()
            .map(|guard| check(pve, guard, several))
            .collect();
        let () = stream::iter(checks).buffered(READS).try_collect().await?;
        if let Some(what) = self.changed_file(plan).await {
            return Err(Broken::Changed(what));
        }
        lacking::refuse(plan, pve).await.map_err(Broken::Conflict)
    }

    /// Between the steps of a plan: is it still this guest, and may it still be destroyed? Its configuration may have
    /// changed by the plan's own steps. A guest that the plan made must be the one that it made.
    pub(super) async fn still_the_same(&self, plan: &Plan, made: &mut Made) -> Result<(), Halt> {
        let pve = &self.cluster(&plan.cluster)?.pve;
        for target in plan.made() {
            made.is_still(target, &pve.guest_config(&target.at).await?)?;
        }
        for guard in &plan.guards {
            let Guard::SameGuest {
                at, identity, name, ..
            } = guard
            else {
                continue;
            };
            let now = wherever_it_is(pve, at).await?;
            if let Some(difference) = identity.difference(&Identity::of(at.kind, &now)) {
                return Err(another(at.vmid, &difference));
            }
            let protected = Target {
                at: at.clone(),
                name: name.clone(),
                pool: None,
                tags: now.tags(),
                protection: now.protection(),
                only_read: false,
            };
            let of_this = |target: &&Target| target.at == *at;
            let only_read = plan
                .targets
                .iter()
                .find(of_this)
                .is_some_and(|it| it.only_read);
            if plan.destroys() && !only_read && protected.is_protected() {
                let why = format!("{} has been protected meanwhile", label(at, name));
                return Err(stopped(why));
            }
        }
        Ok(())
    }

    /// Right before the first step of one guest of many: is it as it was planned for? The look at all of them may be
    /// minutes old by then.
    pub(super) async fn still_as_planned(&self, plan: &Plan, index: usize) -> Result<(), Halt> {
        let Some(Guard::SameGuest {
            at,
            identity,
            name,
            config,
        }) = plan.guard_of_one_among_many(index)
        else {
            return Ok(());
        };
        let pve = &self.cluster(&plan.cluster)?.pve;
        let now = match pve.guest_config(at).await {
            Err(error) if error.is_missing_object() => {
                let gone = format!("{} is not on node {} any more", label(at, name), at.node);
                return Err(stopped(gone));
            }
            config => config?,
        };
        if let Some(difference) = identity.difference(&Identity::of(at.kind, &now)) {
            return Err(another(at.vmid, &difference));
        }
        let changed = config.changed(&Fingerprints::of(&now));
        if changed.is_empty() {
            return Ok(());
        }
        let changed = changed.join(", ");
        Err(stopped(format!("changed since it was planned: {changed}")))
    }

    /// The cluster of a plan.
    pub(super) fn cluster(&self, name: &str) -> Result<&Cluster, Fault> {
        let found = self.clusters.iter().find(|cluster| cluster.name == name);
        found.map(AsRef::as_ref).ok_or_else(|| {
            Fault::new(
                Kind::Conflict,
                format!("the cluster {name} is not configured any more"),
            )
        })
    }
}

impl Made {
    /// Whether the guest under the id is the one that was made: named as it was to be, with the marks it first had.
    fn is_still(&mut self, target: &Target, now: &GuestConfig) -> Result<(), Halt> {
        let (vmid, name) = (target.at.vmid, now.name().unwrap_or_default());
        if !target.name.is_empty() && name != target.name {
            let name = crate::clean::line(&name);
            return Err(another(vmid, &format!("its name is {name:?}")));
        }
        let marks = Identity::of(target.at.kind, now);
        let first = self.0.entry(vmid).or_insert_with(|| marks.clone());
        let difference = first.difference(&marks);
        difference.map_or(Ok(()), |difference| Err(another(vmid, &difference)))
    }
}

/// Holds what a plan makes, before the last look at whether it is there: what another call of this process is just making
/// cannot be seen yet.
fn hold(plan: &Plan, held: &Held) -> Result<(), Broken> {
    let Some(taken) = plan.makes_once().find(|thing| !held.take(thing.clone())) else {
        return Ok(());
    };
    let chosen_by_us = plan.guards.iter().any(|guard| match guard {
        Guard::NextVmid(vmid) => Thing::guest(&plan.cluster, *vmid) == taken,
        _ => false,
    });
    if chosen_by_us {
        return Err(Broken::Changed(format!("{taken} is not free any more")));
    }
    let message = format!("another call is just making {taken}; nothing was sent");
    Err(Broken::Conflict(Fault::new(Kind::Conflict, message).hint(
        "choose another one, or look what became of it when that call has ended",
    )))
}

fn another(vmid: Vmid, difference: &str) -> Halt {
    let why = format!("the vmid {vmid} now belongs to another guest ({difference})");
    Halt {
        stranger: true,
        ..stopped(why)
    }
}

fn stopped(why: String) -> Halt {
    Fault::new(Kind::Conflict, why).into()
}

/// The configuration of a guest that a step of the plan itself may have moved to another node. That it is the same guest
/// is for its identity to show.
async fn wherever_it_is(pve: &Reader, at: &GuestRef) -> Result<GuestConfig, Fault> {
    match pve.guest_config(at).await {
        Err(error) if error.is_missing_object() => match pve.find_guest(at.vmid).await? {
            Some(guest) if guest.at != *at => Ok(pve.guest_config(&guest.at).await?),
            _ => Err(error.into()),
        },
        config => Ok(config?),
    }
}

/// Whether a guard holds. Of several guests, the one that changed is named.
async fn check(pve: &Reader, guard: &Guard, several: bool) -> Result<(), Broken> {
    match guard {
        Guard::VmidFree(vmid) | Guard::NextVmid(vmid) => {
            let request = Request::get("/cluster/nextid").with("vmid", *vmid);
            match (pve.get::<Value>(request).await, guard) {
                (Ok(_), _) => Ok(()),
                (Err(error), Guard::NextVmid(_)) if error.status() == Some(400) => Err(
                    Broken::Changed(format!("the vmid {vmid} is not free any more")),
                ),
                (Err(error), _) if error.status() == Some(400) => Err(Broken::Conflict(
                    Fault::new(
                        Kind::Conflict,
                        format!("the vmid {vmid} has been taken meanwhile; nothing was sent"),
                    )
                    .hint("choose another id; list_proxmox_resources shows the taken ones"),
                )),
                (Err(error), _) => Err(Broken::Conflict(error.into())),
            }
        }
        Guard::Stopped(at) => {
            let status: Value = pve
                .get(Request::get(at.path("status/current")))
                .await
                .map_err(|error| Broken::Conflict(error.into()))?;
            if crate::risk::is_stopped(&status) {
                Ok(())
            } else {
                Err(Broken::Changed(format!("{} is running now", label(at, ""))))
            }
        }
        Guard::SameRows {
            says,
            read,
            fields,
            rows,
        } => {
            let now = pve.list::<Value>(read.clone()).await;
            let now = now.map_err(|error| Broken::Conflict(error.into()))?;
            if rows_of(&now, fields) == *rows {
                Ok(())
            } else {
                Err(Broken::Changed(says.clone()))
            }
        }
        Guard::SameGuest {
            at,
            identity,
            name,
            config,
        } => {
            let now = match pve.guest_config(at).await {
                Ok(now) => now,
                Err(error) if error.is_missing_object() => {
                    return Err(Broken::Conflict(
                        Fault::new(
                            Kind::Conflict,
                            format!(
                                "{} is not on node {} any more; nothing was sent",
                                label(at, name),
                                at.node
                            ),
                        )
                        .hint("get_proxmox_vm_status tells where it is; plan again"),
                    ));
                }
                Err(error) => return Err(Broken::Conflict(error.into())),
            };
            if let Some(difference) = identity.difference(&Identity::of(at.kind, &now)) {
                return Err(Broken::Conflict(
                    Fault::new(
                        Kind::Conflict,
                        format!("the vmid {} now belongs to another guest ({difference}); nothing was sent", at.vmid),
                    )
                    .hint("the id was given away and reused; look at the guest that has it now and plan again"),
                ));
            }
            let mut changed = config.changed(&Fingerprints::of(&now));
            if several {
                for key in &mut changed {
                    *key = format!("{key} of {}", label(at, name));
                }
            }
            if changed.is_empty() {
                Ok(())
            } else {
                Err(Broken::Changed(changed.join(", ")))
            }
        }
    }
}

fn changed_fault(what: &str) -> Fault {
    Fault::new(
        Kind::Conflict,
        format!("changed while this was planned: {what}; nothing was sent"),
    )
    .hint("make the same call again")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(name: &str, uuid: &str) -> GuestConfig {
        let values = json!({"name": name, "smbios1": format!("uuid={uuid}"), "cores": 2});
        serde_json::from_value(values).unwrap()
    }

    #[test]
    fn a_guest_that_was_made_is_known_by_name_and_marks() {
        let target = Target {
            at: GuestRef {
                vmid: "300".parse().unwrap(),
                node: "pve1".parse().unwrap(),
                kind: pve::GuestKind::Qemu,
            },
            name: "web".to_owned(),
            pool: None,
            tags: Vec::new(),
            protection: false,
            only_read: false,
        };
        let mut made = Made::default();
        assert!(made.is_still(&target, &config("other", "a")).is_err());
        assert!(made.is_still(&target, &config("web", "a")).is_ok());
        assert!(made.is_still(&target, &config("web", "a")).is_ok());
        let halt = made.is_still(&target, &config("web", "b")).err().unwrap();
        assert!(halt.stranger);
        let fault = halt.fault;
        assert!(
            fault.message.contains("smbios uuid was a, now b"),
            "{fault}"
        );
    }
}
