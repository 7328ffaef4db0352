//! Guests: from a vmid to its node and kind, its configuration, and what makes it this guest and no other.

mod config;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod identity;
mod property;
mod size;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::answer::{GuestStatus, MigratePreconditions, Resource, SnapshotEntry};
use crate::error::Error;
use crate::id::{GuestKind, NodeName, Vmid};
use crate::reader::Reader;
use crate::request::Request;

pub use config::{Disk, GuestConfig, Nic};
pub use identity::Identity;
pub use property::PropertyString;
pub use size::{Size, parse_size};

/// Where a guest is: all that its API paths need.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GuestRef {
    /// Its number.
    pub vmid: Vmid,
    /// The node it is on now.
    pub node: NodeName,
    /// VM or container.
    pub kind: GuestKind,
}

impl GuestRef {
    /// The API path of something of the guest: `path("status/current")` is `/nodes/pve1/qemu/105/status/current`, and
    /// `path("")` the guest itself.
    pub fn path(&self, below: &str) -> String {
        let Self { vmid, node, kind } = self;
        if below.is_empty() {
            format!("/nodes/{node}/{kind}/{vmid}")
        } else {
            format!("/nodes/{node}/{kind}/{vmid}/{below}")
        }
    }

    /// The path that access rules on the guest have.
    pub fn acl_path(&self) -> String {
        format!("/vms/{}", self.vmid)
    }
}

impl fmt::Display for GuestRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} on {}", self.kind.noun(), self.vmid, self.node)
    }
}

/// A guest as the cluster's resource list tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Guest {
    /// Where it is.
    pub at: GuestRef,
    /// Its name; absent where PVE has none or does not know it (its node is down).
    pub name: Option<String>,
    /// `running`, `stopped`, or `unknown` when its node has been down for a while.
    pub status: Option<String>,
    /// True for a template.
    pub template: bool,
    /// Its tags.
    pub tags: Vec<String>,
    /// The pool it is in.
    pub pool: Option<String>,
    /// The lock that a running or broken operation holds.
    pub lock: Option<String>,
    /// The entry with its figures.
    pub resource: Resource,
}

impl Guest {
    /// The guest that a resource entry tells of, if it is one.
    pub fn from_resource(resource: &Resource) -> Option<Self> {
        let at = GuestRef {
            vmid: resource.vmid?,
            node: resource.node.clone()?,
            kind: resource.kind.guest_kind()?,
        };
        Some(Self {
            at,
            name: resource.name.as_deref().map(str::to_owned),
            status: resource.status.as_deref().map(str::to_owned),
            template: resource.template,
            tags: split_tags(resource.tags.as_deref().unwrap_or_default()),
            pool: resource.pool.as_deref().map(str::to_owned),
            lock: resource.lock.as_deref().map(str::to_owned),
            resource: resource.clone(),
        })
    }

    /// True if it runs; a paused VM counts as running.
    pub fn is_running(&self) -> bool {
        matches!(self.status.as_deref(), Some("running" | "paused"))
    }
}

/// Tags as PVE separates them; it reads empty tags back as a blank.
pub(crate) fn split_tags(text: &str) -> Vec<String> {
    text.split([';', ',', ' '])
        .filter(|tag| !tag.is_empty())
        .map(str::to_owned)
        .collect()
}

impl Reader {
    /// All guests that we may see.
    pub async fn guests(&self) -> Result<Vec<Guest>, Error> {
        let request = Request::get("/cluster/resources").with("type", "vm");
        let resources: Vec<Resource> = self.list(request).await?;
        Ok(resources.iter().filter_map(Guest::from_resource).collect())
    }

    /// The guest with a vmid; `None` if there is none, or none that we may see.
    pub async fn find_guest(&self, vmid: Vmid) -> Result<Option<Guest>, Error> {
        let guests = self.guests().await?;
        Ok(guests.into_iter().find(|guest| guest.at.vmid == vmid))
    }

    /// A guest's configuration, with changes that wait for a restart counted in.
    pub async fn guest_config(&self, guest: &GuestRef) -> Result<GuestConfig, Error> {
        self.get(guest.path("config")).await
    }

    /// A guest's state now.
    pub async fn guest_status(&self, guest: &GuestRef) -> Result<GuestStatus, Error> {
        self.get(guest.path("status/current")).await
    }

    /// A guest's snapshots, without PVE's entry for the present state.
    pub async fn snapshots(&self, guest: &GuestRef) -> Result<Vec<SnapshotEntry>, Error> {
        let mut entries: Vec<SnapshotEntry> = self.list(guest.path("snapshot")).await?;
        entries.retain(|entry| !entry.is_current());
        Ok(entries)
    }

    /// What PVE says of the guest's way to other nodes; `None` where this version says nothing (8.4 of containers).
    pub async fn migrate_preconditions(
        &self,
        guest: &GuestRef,
    ) -> Result<Option<MigratePreconditions>, Error> {
        match self.get(guest.path("migrate")).await {
            Err(error) if error.status() == Some(501) => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// What makes the guest this one; read from its configuration.
    pub async fn guest_identity(&self, guest: &GuestRef) -> Result<Identity, Error> {
        let config = self.guest_config(guest).await?;
        Ok(Identity::of(guest.kind, &config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_from_the_place() {
        let guest = GuestRef {
            vmid: Vmid::new(105).unwrap(),
            node: NodeName::new("pve1").unwrap(),
            kind: GuestKind::Lxc,
        };
        assert_eq!(
            guest.path("status/current"),
            "/nodes/pve1/lxc/105/status/current"
        );
        assert_eq!(guest.path(""), "/nodes/pve1/lxc/105");
        assert_eq!(guest.acl_path(), "/vms/105");
        assert_eq!(guest.to_string(), "container 105 on pve1");
    }

    #[test]
    fn tags_come_separated_in_any_way() {
        assert_eq!(
            split_tags("Zeta;alpha,beta alpha"),
            ["Zeta", "alpha", "beta", "alpha"]
        );
        assert!(split_tags(" ").is_empty());
    }
}
