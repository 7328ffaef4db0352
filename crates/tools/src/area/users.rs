//! The other guests that use a volume. PVE goes by the volume's name alone: it removes one that another guest's
//! configuration names, too, and says nothing.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};
use pve::{GuestConfig, NodeName, PropertyString, Resource, ResourceKind};

use super::volume::{is_same, owner, storage};
use crate::context::{Guest, READS};
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Impact, Plan};
use crate::spec::Risk;
use crate::words;

/// How many guests that could not be read a warning names.
const NAMED: usize = 5;

/// The guests beside one that use one of some volumes.
#[derive(Default)]
pub(super) struct Users {
    uses: Vec<Use>,
    /// Those whose configurations could not be read.
    unread: Vec<String>,
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
        let volumes: Vec<_> = volumes
            .into_iter()
            .filter(|volume| owner(volume).is_some())
            .collect();
        if volumes.is_empty() {
            return Ok(Self::default());
        }
        let rows = guest.pve().resources().await?;
        let nodes = reach(&rows, guest, &volumes);
        let vmids = rows.iter().filter(|row| row.kind.guest_kind().is_some());
        let (online, offline): (Vec<_>, Vec<_>) = vmids
            .filter_map(|row| Guest::among(&guest.cluster, &rows, row.vmid?))
            .filter(|other| other.at.vmid != guest.at.vmid && nodes.contains(&other.at.node))
            .partition(|other| other.node_online);
        let mut users = Self {
            uses: Vec::new(),
            unread: offline.iter().map(Guest::label).collect(),
        };
        let reads: Vec<_> = online.into_iter().map(read).collect();
        let read: Vec<_> = stream::iter(reads).buffered(READS).collect().await;
        for (guest, config) in read {
            match config {
                Ok(config) => users.uses.extend(uses(&guest, &config, &volumes)),
                Err(_) => users.unread.push(guest.label()),
            }
        }
        Ok(users)
    }

    /// They would lose what they use: that stands in the plan's way, and what protects them counts.
    pub(super) fn keep_theirs(self, plan: &mut Plan) {
        self.warn(plan);
        for it in self.uses {
            plan.impact.push(it.ruined("loses it"));
            plan.blockers.push(Blocker::new(
                format!("{} uses {} as {}", it.guest.label(), it.volume, it.key),
                format!(
                    "detach {} of {} first with update_proxmox_vm",
                    it.key, it.guest.at.vmid
                ),
            ));
            it.guest.bind_once(plan, &it.config);
        }
    }

    /// They would have to share what they use, which a person may want.
    pub(super) fn share_theirs(self, plan: &mut Plan) {
        self.warn(plan);
        for it in self.uses {
            plan.risk = plan.risk.max(Risk::Destroy);
            let ruined = it.ruined("uses it; what both guests write to it ruins it");
            plan.impact.push(ruined);
            it.guest.bind_once(plan, &it.config);
        }
    }

    fn warn(&self, plan: &mut Plan) {
        let (named, others) = self.unread.split_at(self.unread.len().min(NAMED));
        let mut who = named.to_vec();
        if !others.is_empty() {
            who.push(format!("{} more", others.len()));
        }
        if !who.is_empty() {
            let verb = if who.len() == 1 { "uses" } else { "use" };
            plan.warnings.push(format!(
                "could not be checked: whether {} {verb} these disks, too",
                words::list(&who)
            ));
        }
    }
}

impl Use {
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
fn reach(rows: &[Resource], guest: &Guest, volumes: &[String]) -> BTreeSet<NodeName> {
    let mut nodes = BTreeSet::from([guest.at.node.clone()]);
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
fn uses(guest: &Guest, config: &GuestConfig, volumes: &[String]) -> Vec<Use> {
    let mut uses = Vec::new();
    for (key, value) in config.values() {
        let Some(properties) = value.as_str().map(PropertyString::parse) else {
            continue;
        };
        let named = properties
            .default_or("file")
            .or_else(|| properties.get("volume"));
        let volume = volumes
            .iter()
            .find(|volume| named.is_some_and(|named| is_same(named, volume)));
        uses.extend(volume.map(|volume| Use {
            guest: guest.clone(),
            config: config.clone(),
            key: key.clone(),
            volume: volume.clone(),
        }));
    }
    uses
}
