//! The other guests that use a volume. PVE goes by the volume's name alone: it removes one that another guest's
//! configuration names, too, and says nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use pve::{GuestConfig, NodeName, Resource, ResourceKind, Vmid};

use crate::context::{Cluster, Guest, READS};
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Impact, Plan};
use crate::volume::{is_same, owner, storage};
use crate::words;

/// How many guests that could not be read a warning names.
const NAMED: usize = 5;
/// How many configurations are read at most, a few seconds' worth; those of the guests beyond count as unreadable.
const MOST: usize = 1000;

/// What to send instead of another guest's disk.
pub(super) const OWN_DISK: &str =
    "name a volume of this guest, or a new disk such as \"local-lvm:8\"";

/// The guests beside one that use one of some volumes.
#[derive(Default)]
pub(super) struct Users {
    uses: Vec<Use>,
    /// Those whose configurations could not be read.
    unread: Vec<Guest>,
}

struct Use {
    guest: Guest,
    config: GuestConfig,
    key: String,
    volume: String,
}

/// The volumes that a plan removes or takes back to what they were.
pub(super) fn lost(plan: &Plan) -> BTreeSet<String> {
    let lost = plan.impact.iter().filter(|item| {
        item.effect == Effect::Destroyed && matches!(item.kind.as_str(), "disk" | "disk state")
    });
    lost.map(|item| item.id.clone()).collect()
}

impl Users {
    /// Reads the configurations of the guests that can reach the volumes; none if there are no volumes of guests among
    /// them.
    pub(super) async fn of(guest: &Guest, volumes: BTreeSet<String>) -> Result<Self, Fault> {
        Self::beside(&guest.cluster, &guest.at.node, Some(guest.at.vmid), volumes).await
    }

    /// The same for volumes that a node reaches, whosever they are.
    pub(super) async fn beside(
        cluster: &Arc<Cluster>,
        node: &NodeName,
        except: Option<Vmid>,
        volumes: BTreeSet<String>,
    ) -> Result<Self, Fault> {
        let volumes: Vec<_> = volumes
            .into_iter()
            .filter(|volume| owner(volume).is_some())
            .collect();
        Self::anywhere(cluster, node, except, volumes).await
    }

    /// The same for volumes that are no guest's, too: images and templates.
    pub(super) async fn anywhere(
        cluster: &Arc<Cluster>,
        node: &NodeName,
        except: Option<Vmid>,
        volumes: Vec<String>,
    ) -> Result<Self, Fault> {
        if volumes.is_empty() {
            return Ok(Self::default());
        }
        let rows = cluster.pve.resources().await?;
        let nodes = reach(&rows, node, &volumes);
        let mut others = Guest::all_among(cluster, &rows);
        others.retain(|other| Some(other.at.vmid) != except && nodes.contains(&other.at.node));
        // First those that nothing may happen to, then those that are the likeliest users.
        others.sort_by_key(|other| (!is_tagged(other), other.at.node != *node));
        let (mut online, mut unread): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|other| other.node_online);
        unread.extend(online.drain(online.len().min(MOST)..));
        let mut uses = Vec::new();
        let mut reads = stream::iter(online).map(read).buffered(READS);
        while let Some((guest, config)) = reads.next().await {
            match config {
                Ok(config) => uses.extend(uses_in(&guest, &config, &volumes)),
                Err(_) => unread.push(guest),
            }
        }
        Ok(Self { uses, unread })
    }

    /// They would all lose what they use.
    pub(super) fn keep_theirs(self, plan: &mut Plan) {
        self.settle(plan, |_| true);
    }

    /// They would lose the volumes that `is_lost` tells, and have to share the others.
    pub(super) fn settle(self, plan: &mut Plan, is_lost: impl Fn(&str) -> bool) {
        doubt(&self.unread, plan);
        for it in self.uses {
            if is_lost(&it.volume) {
                it.loses(plan);
            } else {
                it.shares(plan);
            }
        }
    }
}

/// A guest that cannot be read may be a user: one that is known to be protected stands in the plan's way, any other is for
/// a person to decide on.
fn doubt(unread: &[Guest], plan: &mut Plan) {
    if unread.is_empty() {
        return;
    }
    plan.impact.push(
        Impact::new(
            Effect::Destroyed,
            "data",
            "of guests that could not be read",
        )
        .note("they may use these disks, too"),
    );
    for guest in unread.iter().filter(|guest| is_tagged(guest)) {
        plan.blockers.push(Blocker::new(
            format!(
                "{} is protected (it has the tag `protected`), and whether it uses these disks, too, could not be checked",
                guest.label()
            ),
            format!(
                "try again when {} answers and shows its configuration",
                guest.at.node
            ),
        ));
    }
    let (named, others) = unread.split_at(unread.len().min(NAMED));
    let mut who: Vec<_> = named.iter().map(Guest::label).collect();
    if !others.is_empty() {
        who.push(format!("{} more", others.len()));
    }
    let verb = if who.len() == 1 { "uses" } else { "use" };
    plan.warnings.push(format!(
        "could not be checked: whether {} {verb} these disks, too",
        words::list(&who)
    ));
}

/// Whether the list of resources tells that it is protected, which it does of the tag alone.
fn is_tagged(guest: &Guest) -> bool {
    let mut tags = guest.row.tags.iter();
    tags.any(|tag| tag.eq_ignore_ascii_case("protected"))
}

impl Use {
    /// That stands in the plan's way.
    fn loses(self, plan: &mut Plan) {
        plan.impact.push(self.ruined("loses it"));
        let detach = format!(
            "detach {} of {} first with update_proxmox_vm",
            self.key, self.guest.at.vmid
        );
        plan.blockers.push(Blocker::new(self.says(), detach));
    }

    /// A person may want that, unless the guest is protected.
    fn shares(self, plan: &mut Plan) {
        plan.impact
            .push(self.ruined("uses it; what both guests write to it ruins it"));
        if self.protected_by().is_some() {
            plan.blockers.push(Blocker::new(self.says(), OWN_DISK));
        } else {
            self.guest.bind_once(plan, &self.config);
        }
    }

    fn protected_by(&self) -> Option<&'static str> {
        self.guest.target(&self.config).protected_by()
    }

    fn says(&self) -> String {
        let protected = self
            .protected_by()
            .map_or_else(String::new, |why| format!("is protected ({why}) and "));
        format!(
            "{} {protected}uses {} as {}",
            self.guest.label(),
            self.volume,
            self.key
        )
    }

    fn ruined(&self, how: &str) -> Impact {
        Impact::new(Effect::Destroyed, "disk", &self.volume).note(format!(
            "{} of {}, which {how}",
            self.key,
            self.guest.label()
        ))
    }
}

async fn read(guest: Guest) -> (Guest, Result<GuestConfig, Fault>) {
    let config = guest.config().await;
    (guest, config)
}

/// The nodes on which one of the volumes is the same volume: those that share its storage, or else the guest's own. A
/// storage that the token may not see may be shared with every node.
fn reach(rows: &[Resource], node: &NodeName, volumes: &[String]) -> BTreeSet<NodeName> {
    let mut nodes = BTreeSet::from([node.clone()]);
    for storage in volumes.iter().filter_map(|volume| storage(volume)) {
        let (seen, everywhere): (Vec<_>, Vec<_>) = rows
            .iter()
            .partition(|row| row.storage.as_deref() == Some(storage));
        let hidden = seen.is_empty();
        let shared = seen.into_iter().filter(|row| row.shared);
        let all = everywhere
            .into_iter()
            .filter(|row| hidden && row.kind == ResourceKind::Node);
        nodes.extend(shared.chain(all).filter_map(|row| row.node.clone()));
    }
    nodes
}

/// Where a configuration names one of the volumes: as a disk, a medium, a detached disk or saved memory.
fn uses_in(guest: &Guest, config: &GuestConfig, volumes: &[String]) -> Vec<Use> {
    let mut uses = Vec::new();
    for (key, named) in config.volumes() {
        let same = volumes
            .iter()
            .filter(|volume| named == **volume || is_same(&named, volume));
        uses.extend(same.map(|volume| Use {
            guest: guest.clone(),
            config: config.clone(),
            key: key.to_owned(),
            volume: volume.clone(),
        }));
    }
    uses
}
