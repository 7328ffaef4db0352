//! Calls that are about every guest of a node, a storage or the cluster: what is destroyed with a storage is destroyed for
//! each guest that has something on it.

use futures_util::{StreamExt as _, stream};
use pve::{GuestConfig, Method, NodeName};

use super::subject::Subject;
use crate::context::{Guest, READS};
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Impact, Plan, Target};
use crate::words;

/// How many configurations are read at most; the guests beyond count as unreadable.
const MOST: usize = 1000;
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
        let named = subject.params.contains_key("vmid") || subject.params.contains_key("vms");
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
            let uses = |config: &GuestConfig| {
                let mut disks = config.disks().into_iter();
                disks.any(|disk| disk.storage.as_deref() == Some(&storage))
            };
            lost(subject, None, uses, plan).await;
        }
        Reach::Disks(node) => lost(subject, node.as_ref(), |_| true, plan).await,
        Reach::Running(node) => interrupted(subject, node.as_ref(), plan),
    }
    Ok(())
}

/// Every guest that has something there is a target, so that one that is protected stands in the way.
async fn lost(
    subject: &Subject<'_>,
    node: Option<&NodeName>,
    uses: impl Fn(&GuestConfig) -> bool,
    plan: &mut Plan,
) {
    let mut guests = subject.guests_on(node);
    let mut unread = guests.split_off(guests.len().min(MOST));
    let read = async |guest: Guest| {
        let config = guest.config().await;
        (guest, config)
    };
    let mut reads = stream::iter(guests).map(read).buffered(READS);
    let mut named = Vec::new();
    while let Some((guest, config)) = reads.next().await {
        match config {
            Ok(config) if uses(&config) => {
                named.push(guest.label());
                plan.targets.push(guest.target(&config));
            }
            Ok(_) => {}
            Err(_) => unread.push(guest),
        }
    }
    for label in named.iter().take(NAMED) {
        plan.impact
            .push(Impact::new(Effect::Destroyed, "guest", label).note("may have something there"));
    }
    if !unread.is_empty() {
        let labels: Vec<_> = unread.iter().take(5).map(Guest::label).collect();
        plan.blockers.push(Blocker::new(
            format!(
                "whether {} guests have something there cannot be read, such as {}",
                unread.len(),
                words::list(&labels)
            ),
            "try again when all nodes answer, with a token that has VM.Audit on /vms",
        ));
    }
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
