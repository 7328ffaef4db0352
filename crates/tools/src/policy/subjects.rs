//! The guests that a plan is about without binding them: rules, bounds and protection hold for all of them, whichever tool
//! planned it.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use pve::Vmid;
use serde_json::Value;

use super::{Policy, ha};
use crate::caller::Bounds;
use crate::context::{Cluster, Context, Guest, READS};
use crate::fault::Fault;
use crate::plan::{Blocker, Plan, Target};
use crate::risk::{Subject, Use, Which, of_job, subjects};

impl Policy {
    /// Makes every guest that the plan is about one of its targets. Nothing is read where nobody asks: no rule or bound
    /// goes by guests, and nothing of another guest is destroyed.
    pub(crate) async fn find_subjects(&self, plan: &mut Plan, cx: &Context) -> Result<(), Fault> {
        let found = cx.clusters.iter().find(|it| it.name == plan.cluster);
        let Some(cluster) = found.cloned() else {
            return Ok(());
        };
        let mut all: Vec<Subject> = plan.requests().flat_map(|it| subjects(&it)).collect();
        let destroys = all.iter().any(|it| it.use_ == Use::Destroys) && plan.destroys();
        if !self.goes_by_guests() && !destroys {
            return Ok(());
        }
        for path in jobs(&all) {
            all.extend(standing(&cluster, &path).await?);
        }
        all.extend(ha::kept(&cluster.pve, &all).await?);
        all.retain(|subject| !is_known(subject, plan));
        if all.is_empty() {
            return Ok(());
        }
        let rows = cluster.pve.resources().await?;
        let mut unseen = Vec::new();
        for guest in Guest::all_among(&cluster, &rows) {
            let about = all.iter().filter(|subject| selects(subject, &guest));
            let Some(use_) = about.map(|subject| subject.use_).max() else {
                continue;
            };
            if plan.targets.iter().all(|target| target.at != guest.at) {
                unseen.push((guest, use_));
            }
        }
        add(plan, unseen).await;
        Ok(())
    }

    /// Whether a rule or a bound tells guests apart.
    fn goes_by_guests(&self) -> bool {
        let by_rule = self.rules.iter().any(|rule| {
            let by = [&rule.node, &rule.pool, &rule.tag, &rule.vmid];
            by.into_iter().any(Option::is_some)
        });
        by_rule || self.bounds.go_by_guests()
    }
}

/// Adds guests to a plan's targets. Of those that lose something the configuration is read, since PVE's protection flag
/// stands there alone; one that cannot be read blocks the plan.
async fn add(plan: &mut Plan, guests: Vec<(Guest, Use)>) {
    let reads = stream::iter(guests).map(|(guest, use_)| async move {
        let config = match use_ {
            Use::Destroys => Some(guest.config().await),
            Use::Reads | Use::Changes => None,
        };
        (guest, use_, config)
    });
    let mut reads = reads.buffered(READS);
    while let Some((guest, use_, config)) = reads.next().await {
        match config {
            Some(Ok(config)) => plan.targets.push(guest.target(&config)),
            Some(Err(_)) => plan.blockers.push(Blocker::new(
                format!("whether {} is protected cannot be read", guest.label()),
                "try again when its node answers, with a token that has VM.Audit on it",
            )),
            None => plan.targets.push(Target {
                at: guest.at.clone(),
                name: guest.name().to_owned(),
                pool: guest.row.pool.clone(),
                tags: guest.row.tags.clone(),
                protection: false,
                only_read: use_ == Use::Reads,
            }),
        }
    }
}

/// Whether the plan binds the one guest of a subject already.
fn is_known(subject: &Subject, plan: &Plan) -> bool {
    match subject.which {
        Which::One(vmid) => plan.targets.iter().any(|target| target.at.vmid == vmid),
        _ => false,
    }
}

fn selects(subject: &Subject, guest: &Guest) -> bool {
    let pool = guest.row.pool.as_deref();
    match &subject.which {
        Which::One(vmid) => *vmid == guest.at.vmid,
        Which::All { without, on } => {
            let is_there = on.as_ref().is_none_or(|on| guest.at.node.as_str() == on);
            is_there && !without.contains(&guest.at.vmid)
        }
        Which::Pool(name) => pool.is_some_and(|pool| {
            let below = pool.strip_prefix(name.as_str());
            below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        }),
        Which::AnyPool => pool.is_some(),
        Which::Unknown(_) | Which::Job(_) | Which::HaRule(_) | Which::HaGroup(_) => false,
    }
}

fn jobs(all: &[Subject]) -> Vec<String> {
    let jobs = all.iter().filter_map(|subject| match &subject.which {
        Which::Job(path) => Some(path.clone()),
        _ => None,
    });
    jobs.collect()
}

/// Whom a backup job has been about so far. One that cannot be read could be about anybody, and is not changed.
async fn standing(cluster: &Arc<Cluster>, path: &str) -> Result<Vec<Subject>, Fault> {
    let job: Result<Value, _> = cluster.pve.get(path.to_owned()).await;
    let job = job.map_err(|error| {
        let fault = Fault::from(error);
        Fault {
            message: format!(
                "which guests this backup job is about cannot be read: {}",
                fault.message
            ),
            ..fault
        }
    })?;
    let field = |name: &str| job.get(name).and_then(pve::lenient::as_text);
    Ok(of_job(&field))
}

/// Why a plan is about guests that a bounded caller may not reach, or that nobody can tell.
pub(crate) fn beyond(bounds: &Bounds, plan: &Plan) -> Option<String> {
    let is_bound = |vmid: Vmid| plan.targets.iter().any(|target| target.at.vmid == vmid);
    let all = plan.requests().flat_map(|request| subjects(&request));
    let all: Vec<_> = all.collect();
    all.iter().find_map(|subject| match &subject.which {
        Which::One(vmid) if is_bound(*vmid) || bounds.reach_vmid(*vmid) => None,
        Which::One(vmid) => Some(format!("guest {vmid}")),
        Which::All { .. } => Some("all guests of a node or of the cluster".to_owned()),
        Which::AnyPool => Some("the guests of all pools".to_owned()),
        Which::Pool(name) => (!bounds.reach_pool(name)).then(|| format!("the pool {name}")),
        Which::Unknown(what) => Some(format!("{what}, whose guest its name does not tell")),
        Which::Job(_) => Some("a backup job".to_owned()),
        Which::HaRule(_) => Some("an HA rule".to_owned()),
        Which::HaGroup(_) => Some("an HA group".to_owned()),
    })
}
