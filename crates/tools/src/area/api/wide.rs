//! Guests that a request interrupts, starts or takes data from without naming them: a node's, or all.

use pve::{Method, NodeName};

use super::subject::Subject;
use crate::context::{Guest, stake};
use crate::plan::{Effect, Impact, Plan};

/// The line for guests whose disks may go.
const LOST: (Effect, &str) = (Effect::Destroyed, "may have something there");
/// How many guests a preview names.
const NAMED: usize = 20;

/// Which guests a request is about.
enum Reach {
    /// Those that it names.
    Named,
    /// Those of a node, or all: their disks may go.
    Disks(Option<NodeName>),
    /// Those of a node, or all, that run: they are interrupted.
    Running(Option<NodeName>),
    /// Those of a node, or all: they are moved, whether they run or not.
    Moved(Option<NodeName>),
    /// Those that do not run: they are started.
    Stopped,
}

impl Reach {
    fn of(subject: &Subject<'_>) -> Self {
        let template = subject.found.method.path.as_str();
        // A list of nothing is no list to PVE: it means all of them.
        let named = subject.sent.names_any("vmid") || subject.sent.names_any("vms");
        match (subject.found.method.verb, template) {
            _ if named => Self::Named,
            (Method::Delete, path) if path.starts_with("/nodes/{node}/disks/") => {
                Self::Disks(subject.node())
            }
            (Method::Delete, path) if path.starts_with("/nodes/{node}/ceph/") => Self::Disks(None),
            (Method::Post, "/nodes/{node}/status" | "/nodes/{node}/suspendall") => {
                Self::Running(subject.node())
            }
            (Method::Post, "/nodes/{node}/migrateall") => Self::Moved(subject.node()),
            (Method::Post, "/cluster/bulk-action/guest/migrate") => Self::Moved(None),
            (Method::Post, "/cluster/bulk-action/guest/start") => Self::Stopped,
            (Method::Post, path) if path.starts_with("/cluster/bulk-action/guest/") => {
                Self::Running(None)
            }
            _ => Self::Named,
        }
    }
}

/// Lists the guests in the preview. Those whose disks may go become targets, which the engine cannot find by the request.
pub(super) async fn show(subject: &Subject<'_>, plan: &mut Plan) {
    match Reach::of(subject) {
        Reach::Named => {}
        Reach::Disks(node) => {
            stake::bind(subject.guests_on(node.as_ref()), |_| true, LOST, plan).await;
        }
        Reach::Running(node) => {
            let mut guests = subject.guests_on(node.as_ref());
            guests.retain(|guest| guest.row.is_running());
            list(&guests, (Effect::Interrupted, "are interrupted"), plan);
        }
        Reach::Moved(node) => {
            let guests = subject.guests_on(node.as_ref());
            let (running, others): (Vec<_>, Vec<_>) =
                guests.into_iter().partition(|guest| guest.row.is_running());
            list(&running, (Effect::Interrupted, "are interrupted"), plan);
            list(&others, (Effect::Changed, "are moved"), plan);
        }
        Reach::Stopped => {
            let mut guests = subject.guests_on(None);
            guests.retain(|guest| !guest.row.is_running() && !guest.is_template());
            list(&guests, (Effect::Changed, "are started"), plan);
        }
    }
}

fn list(guests: &[Guest], (effect, what): (Effect, &str), plan: &mut Plan) {
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
