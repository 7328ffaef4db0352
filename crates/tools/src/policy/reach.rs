//! The guests that a plan reaches without naming them: rights on a path hold for all below it, a backup job of a pool is
//! about its guests. Rules about those guests hold, whichever tool sends it.

use std::sync::Arc;

use pve::{Method, Request, Vmid};
use serde_json::Value;

use super::Policy;
use crate::context::{Cluster, Context, Guest};
use crate::fault::Fault;
use crate::plan::{Plan, Target, parts};

/// Which guests.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reach {
    /// All of them, but for these, and only on this node if one is named.
    All {
        without: Vec<Vmid>,
        on: Option<String>,
    },
    Named(Vec<Vmid>),
    /// Those of a pool and of the pools in it.
    Pool(String),
    /// Those of any pool.
    Pools,
}

impl Policy {
    /// Makes a plan one about the guests that it reaches, too. Nothing becomes of them by that: rules look at them, and what
    /// they order comes on top of what holds for the plan itself.
    pub(crate) async fn reach(&self, plan: &mut Plan, cx: &Context) -> Result<(), Fault> {
        let looks_at_guests = self.rules.iter().any(|rule| {
            let by = [&rule.node, &rule.pool, &rule.tag, &rule.vmid];
            by.into_iter().any(Option::is_some)
        });
        let cluster = cx.clusters.iter().find(|it| it.name == plan.cluster);
        let (true, Some(cluster)) = (looks_at_guests, cluster) else {
            return Ok(());
        };
        let mut reached = Vec::new();
        for request in plan.requests() {
            reached.extend(of(&request));
            if let Some(job) = job(&request) {
                reached.extend(standing(cluster, job).await?);
            }
        }
        if reached.is_empty() {
            return Ok(());
        }
        for guest in Guest::all_among(cluster, &cluster.pve.resources().await?) {
            let is_target = plan.targets.iter().any(|it| it.at == guest.at);
            if !is_target && reached.iter().any(|reach| reach.holds(&guest)) {
                plan.targets.push(from_outside(&guest));
            }
        }
        Ok(())
    }
}

/// As its row tells: nothing of it is destroyed, so that nothing protects it.
fn from_outside(guest: &Guest) -> Target {
    Target {
        at: guest.at.clone(),
        name: guest.name().to_owned(),
        pool: guest.row.pool.clone(),
        tags: guest.row.tags.clone(),
        protection: false,
        only_read: true,
    }
}

impl Reach {
    fn holds(&self, guest: &Guest) -> bool {
        let pool = guest.row.pool.as_deref();
        match self {
            Self::All { without, on } => {
                let there = on.as_ref().is_none_or(|on| guest.at.node.as_str() == on);
                there && !without.contains(&guest.at.vmid)
            }
            Self::Named(vmids) => vmids.contains(&guest.at.vmid),
            Self::Pool(name) => pool.is_some_and(|pool| {
                let below = pool.strip_prefix(name.as_str());
                below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
            }),
            Self::Pools => pool.is_some(),
        }
    }
}

/// What one request reaches.
fn of(request: &Request) -> Option<Reach> {
    let text = |name: &str| request.param(name).map(ToString::to_string);
    let node = || {
        request
            .path
            .strip_prefix("/nodes/")?
            .strip_suffix("/vzdump")
    };
    if request.path == "/access/acl" {
        let propagates = text("propagate").is_none_or(|it| it != "0");
        return rights_on(&text("path")?, propagates);
    }
    match (request.method, request.path.as_str()) {
        (Method::Post, "/cluster/backup") => saved(&text, text("node")),
        (Method::Put, path) if path.starts_with("/cluster/backup/") => saved(&text, text("node")),
        (Method::Post, _) => saved(&text, Some(node()?.to_owned())),
        _ => None,
    }
}

/// Whom rights on a path of the access tree are about.
fn rights_on(path: &str, propagates: bool) -> Option<Reach> {
    let all = Reach::All {
        without: Vec::new(),
        on: None,
    };
    let words: Vec<_> = path.split('/').filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [] | ["vms"] => propagates.then_some(all),
        ["vms", vmid, ..] => Some(Reach::Named(ids(vmid))),
        ["pool"] => propagates.then_some(Reach::Pools),
        ["pool", name @ ..] => Some(Reach::Pool(name.join("/"))),
        _ => None,
    }
}

/// Whom a backup is of.
fn saved(text: &dyn Fn(&str) -> Option<String>, on: Option<String>) -> Option<Reach> {
    let listed = |name: &str| text(name).map(|list| ids(&list)).unwrap_or_default();
    let (named, without) = (listed("vmid"), listed("exclude"));
    let pool = text("pool").filter(|pool| !pool.is_empty());
    let is_all = text("all").is_some_and(|all| all != "0");
    // Who only says which guests are left out means all the others.
    let but_for = text("exclude").is_some() && pool.is_none() && named.is_empty();
    if is_all || but_for {
        return Some(Reach::All { without, on });
    }
    match pool {
        Some(pool) => Some(Reach::Pool(pool)),
        None => (!named.is_empty()).then_some(Reach::Named(named)),
    }
}

/// The path of a backup job that is changed or deleted.
fn job(request: &Request) -> Option<&str> {
    let is_job = request.path.starts_with("/cluster/backup/");
    (is_job && matches!(request.method, Method::Put | Method::Delete)).then_some(&request.path)
}

/// Whom a job has been about so far. One that cannot be read could be about anybody, and is not changed.
async fn standing(cluster: &Arc<Cluster>, path: &str) -> Result<Option<Reach>, Fault> {
    let job: Result<Value, _> = cluster.pve.get(path.to_owned()).await;
    let job = job.map_err(|error| {
        let fault = Fault::from(error);
        Fault {
            message: format!(
                "rules of oxmox go by guests, and which this job is about cannot be read: {}",
                fault.message
            ),
            ..fault
        }
    })?;
    let text = |name: &str| job.get(name).and_then(pve::lenient::as_text);
    Ok(saved(&text, text("node")))
}

fn ids(list: &str) -> Vec<Vmid> {
    let words = parts(&Value::String(list.to_owned()));
    words.iter().filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_reach_what_is_below_their_path() {
        let named = |vmid: &str| Some(Reach::Named(ids(vmid)));
        assert_eq!(rights_on("/vms/100", false), named("100"));
        assert_eq!(rights_on("//vms//100/", true), named("100"));
        assert_eq!(
            rights_on("/pool/a/b", true),
            Some(Reach::Pool("a/b".to_owned()))
        );
        assert!(matches!(rights_on("/", true), Some(Reach::All { .. })));
        assert!(matches!(rights_on("/vms", true), Some(Reach::All { .. })));
        assert_eq!(rights_on("/", false), None);
        assert_eq!(rights_on("/storage/nas", true), None);
        assert_eq!(rights_on("/pool", true), Some(Reach::Pools));
        assert_eq!(rights_on("/pool", false), None);
        let acl = |propagate| {
            let acl = Request::put("/access/acl").with("path", "/vms");
            of(&acl.with("propagate", propagate))
        };
        assert!(matches!(acl("1"), Some(Reach::All { .. })));
        assert_eq!(acl("0"), None);
    }

    #[test]
    fn a_job_that_is_changed_reaches_whom_it_saves_then() {
        let named = Some(Reach::Named(ids("100")));
        let put = |path: &str| of(&Request::put(path).with("vmid", "100"));
        assert_eq!(put("/cluster/backup/nightly"), named);
        assert_eq!(put("/cluster/options"), None);
        assert_eq!(of(&Request::delete("/cluster/backup/nightly")), None);
        let nightly = Some("/cluster/backup/nightly");
        assert_eq!(job(&Request::put("/cluster/backup/nightly")), nightly);
        assert_eq!(job(&Request::delete("/cluster/backup/nightly")), nightly);
        assert_eq!(job(&Request::post("/cluster/backup/nightly")), None);
        assert_eq!(job(&Request::put("/cluster/options")), None);
    }

    #[test]
    fn a_backup_of_all_leaves_out_what_it_excludes() {
        let request = Request::post("/cluster/backup")
            .with("all", true)
            .with("exclude", "100,101");
        let Some(Reach::All { without, on: None }) = of(&request) else {
            panic!("{:?}", of(&request));
        };
        assert_eq!(without, ids("100 101"));
        let others = Request::post("/cluster/backup").with("exclude", "100,101");
        assert_eq!(of(&others), of(&request), "exclude alone means all others");
        let pool = others.with("pool", "prod");
        assert_eq!(of(&pool), Some(Reach::Pool("prod".to_owned())));
        let one = Request::post("/nodes/pve1/vzdump").with("vmid", "105");
        assert_eq!(of(&one), Some(Reach::Named(ids("105"))));
        assert_eq!(
            of(&Request::post("/nodes/pve1/stopall").with("all", true)),
            None
        );
    }
}
