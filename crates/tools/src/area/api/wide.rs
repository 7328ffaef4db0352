//! Calls that are about every guest of a node, a storage or the cluster: what is destroyed with a storage is destroyed for
//! each guest that has something on it.

use pve::{GuestConfig, Method, NodeName};

use super::subject::Subject;
use crate::context::stake::{self, has_disk_on};
use crate::fault::Fault;
use crate::plan::{Effect, Impact, Plan, Target};

/// What becomes of guests whose storage or disks go.
const LOST: (Effect, &str) = (Effect::Destroyed, "may have something there");
/// How many guests a preview names.
const NAMED: usize = 20;

/// What a call takes with it.
enum Reach {
    /// Nothing beyond what it names.
    Named,
    /// Whatever guests have on this storage.
    Storage(String),
    /// Whatever guests have on the disks of this node.
    Disks(Option<NodeName>),
    /// The guests of a node, which are interrupted.
    Running(Option<NodeName>),
}

impl Reach {
    fn of(subject: &Subject<'_>) -> Self {
        let template = subject.found.method.path.as_str();
        let storage = || subject.found.capture("storage").map(str::to_owned);
        let named = subject.sent.has("vmid") || subject.sent.has("vms");
        match (subject.found.method.verb, template) {
            (Method::Delete, "/storage/{storage}") => storage().map_or(Self::Named, Self::Storage),
            (Method::Delete, "/nodes/{node}/storage/{storage}/prunebackups") if !named => {
                Self::Disks(None)
            }
            (Method::Delete, path) if path.starts_with("/nodes/{node}/disks/") => {
                Self::Disks(subject.node())
            }
            (Method::Delete, path) if path.starts_with("/nodes/{node}/ceph/") => Self::Disks(None),
            (
                Method::Post,
                "/nodes/{node}/status"
                | "/nodes/{node}/stopall"
                | "/nodes/{node}/suspendall"
                | "/nodes/{node}/migrateall",
            ) if !named => Self::Running(subject.node()),
            (Method::Post, path)
                if path.starts_with("/cluster/bulk-action/guest/")
                    && !path.ends_with("/start")
                    && !named =>
            {
                Self::Running(None)
            }
            _ => Self::Named,
        }
    }
}

/// Makes the plan one about every guest that the call reaches.
pub(super) async fn settle(subject: &Subject<'_>, plan: &mut Plan) -> Result<(), Fault> {
    match Reach::of(subject) {
        Reach::Named => {}
        Reach::Storage(storage) => {
            let uses = |config: &GuestConfig| has_disk_on(config, &storage);
            stake::bind(subject.guests_on(None), uses, LOST, plan).await;
        }
        Reach::Disks(node) => {
            stake::bind(subject.guests_on(node.as_ref()), |_| true, LOST, plan).await;
        }
        Reach::Running(node) => interrupted(subject, node.as_ref(), plan),
    }
    Ok(())
}

/// Their row tells enough: nothing of them is destroyed.
fn interrupted(subject: &Subject<'_>, node: Option<&NodeName>, plan: &mut Plan) {
    let running = subject.guests_on(node).into_iter();
    let running: Vec<_> = running.filter(|guest| guest.row.is_running()).collect();
    for guest in &running {
        plan.targets.push(Target {
            at: guest.at.clone(),
            name: guest.name().to_owned(),
            pool: guest.row.pool.clone(),
            tags: guest.row.tags.clone(),
            protection: false,
            only_read: false,
        });
    }
    for guest in running.iter().take(NAMED) {
        let kind = guest.at.kind.noun();
        plan.impact.push(
            Impact::new(Effect::Interrupted, kind, guest.at.vmid.to_string()).note(guest.name()),
        );
    }
    if running.len() > NAMED {
        plan.warnings.push(format!(
            "{} more guests are interrupted",
            running.len() - NAMED
        ));
    }
}
