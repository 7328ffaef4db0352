//! Calls that are about every guest of a node, a storage or the cluster: what is destroyed with a storage is destroyed for
//! each guest that has something on it.

use pve::{GuestConfig, Method, NodeName};

use super::subject::Subject;
use crate::context::{Guest, stake};
use crate::fault::Fault;
use crate::plan::{Effect, Impact, Plan, Target};

/// What becomes of guests whose storage or disks go.
const LOST: (Effect, &str) = (Effect::Destroyed, "may have something there");
/// What becomes of guests that a node starts.
const STARTED: (Effect, &str) = (Effect::Changed, "is started");
/// How many guests a preview names.
const NAMED: usize = 20;

/// What a call takes with it.
enum Reach {
    /// Nothing beyond what it names.
    Named,
    /// Whatever guests have on the disks of this node.
    Disks(Option<NodeName>),
    /// The guests of a node that run, which are interrupted.
    Running(Option<NodeName>),
    /// The guests of a node, or all, which are moved: those that run, and with them those that do not.
    Moved(Option<NodeName>),
    /// The guests that do not run, which are started.
    Stopped,
    /// Those of a node; without force only what is marked to start at boot.
    StoppedOn { node: NodeName, forced: bool },
}

impl Reach {
    fn of(subject: &Subject<'_>) -> Self {
        let template = subject.found.method.path.as_str();
        // A list of nothing is no list to PVE: it means all of them.
        let named = subject.sent.names_any("vmid") || subject.sent.names_any("vms");
        match (subject.found.method.verb, template) {
            _ if named => Self::Named,
            (Method::Delete, "/nodes/{node}/storage/{storage}/prunebackups") => Self::Disks(None),
            (Method::Delete, path) if path.starts_with("/nodes/{node}/disks/") => {
                Self::Disks(subject.node())
            }
            (Method::Delete, path) if path.starts_with("/nodes/{node}/ceph/") => Self::Disks(None),
            (
                Method::Post,
                "/nodes/{node}/status" | "/nodes/{node}/stopall" | "/nodes/{node}/suspendall",
            ) => Self::Running(subject.node()),
            (Method::Post, "/nodes/{node}/migrateall") => Self::Moved(subject.node()),
            (Method::Post, "/cluster/bulk-action/guest/migrate") => Self::Moved(None),
            (Method::Post, "/nodes/{node}/startall") => {
                let forced = subject.sent.flag("force") == Some(true);
                let node = subject.node();
                node.map_or(Self::Stopped, |node| Self::StoppedOn { node, forced })
            }
            (Method::Post, "/cluster/bulk-action/guest/start") => Self::Stopped,
            (Method::Post, path) if path.starts_with("/cluster/bulk-action/guest/") => {
                Self::Running(None)
            }
            _ => Self::Named,
        }
    }
}

/// Makes the plan one about every guest that the call reaches.
pub(super) async fn settle(subject: &Subject<'_>, plan: &mut Plan) -> Result<(), Fault> {
    for declared in subject.declared {
        declared.bind(subject.cluster, plan).await?;
    }
    match Reach::of(subject) {
        Reach::Named => {}
        Reach::Disks(node) => {
            stake::bind(subject.guests_on(node.as_ref()), |_| true, LOST, plan).await;
        }
        Reach::Running(node) => {
            let mut guests = subject.guests_on(node.as_ref());
            guests.retain(|guest| guest.row.is_running());
            touched(&guests, (Effect::Interrupted, "are interrupted"), plan);
        }
        Reach::Moved(node) => {
            let guests = subject.guests_on(node.as_ref());
            let (running, others): (Vec<_>, _) =
                guests.into_iter().partition(|guest| guest.row.is_running());
            touched(&running, (Effect::Interrupted, "are interrupted"), plan);
            touched(&others, (Effect::Changed, "are moved"), plan);
        }
        Reach::Stopped => {
            let mut guests = subject.guests_on(None);
            guests.retain(is_startable);
            touched(&guests, (Effect::Changed, "are started"), plan);
        }
        Reach::StoppedOn { node, forced } => {
            let mut guests = subject.guests_on(Some(&node));
            guests.retain(is_startable);
            let at_boot = |config: &GuestConfig| {
                let at_boot = config.get("onboot").and_then(pve::lenient::as_bool);
                forced || at_boot == Some(true)
            };
            stake::bind(guests, at_boot, STARTED, plan).await;
        }
    }
    Ok(())
}

fn is_startable(guest: &Guest) -> bool {
    !guest.row.is_running() && !guest.is_template()
}

/// Their row tells enough: nothing of them is destroyed.
fn touched(guests: &[Guest], (effect, what): (Effect, &str), plan: &mut Plan) {
    for guest in guests {
        plan.targets.push(Target {
            at: guest.at.clone(),
            name: guest.name().to_owned(),
            pool: guest.row.pool.clone(),
            tags: guest.row.tags.clone(),
            protection: false,
            only_read: false,
        });
    }
    for guest in guests.iter().take(NAMED) {
        let kind = guest.at.kind.noun();
        plan.impact
            .push(Impact::new(effect, kind, guest.at.vmid.to_string()).note(guest.name()));
    }
    if guests.len() > NAMED {
        let more = guests.len() - NAMED;
        plan.warnings.push(format!("{more} more guests {what}"));
    }
}
