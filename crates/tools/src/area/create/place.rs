//! Where a new guest goes: its node and the storage for its disk, each chosen by the caller or for a reason that is said.

use std::cmp::Reverse;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use pve::{NodeName, Reader, Resource, ResourceKind, StorageId, StorageStatus};

use super::media::{self, Medium};
use crate::context::{Cluster, Context};
use crate::fault::{Fault, Kind};
use crate::words;

/// How many nodes are asked at once.
const AT_ONCE: usize = 8;
/// How many that were passed over are named.
const NAMED: usize = 3;

/// What the place must have.
pub(super) struct Wanted<'a> {
    pub(super) node: Option<&'a NodeName>,
    pub(super) storage: Option<&'a StorageId>,
    pub(super) content: Content,
    /// What is read from there: an ISO image, a container template.
    pub(super) medium: Option<media::Wanted<'a>>,
}

/// What a storage must take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Images,
    RootDir,
}

impl Content {
    fn word(self) -> &'static str {
        match self {
            Self::Images => "images",
            Self::RootDir => "rootdir",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Images => "disks of VMs",
            Self::RootDir => "disks of containers",
        }
    }
}

/// The place that was found.
pub(super) struct Place {
    pub(super) cluster: Arc<Cluster>,
    pub(super) node: Node,
    /// Why this node, if the caller did not say.
    pub(super) why_node: Option<String>,
    pub(super) storage: StorageStatus,
    /// Why this storage, if the caller did not say.
    pub(super) why_storage: Option<String>,
    pub(super) medium: Option<Medium>,
}

/// A node and its figures, as far as they can be seen: that takes Sys.Audit.
#[derive(Debug, Clone)]
pub(in super::super) struct Node {
    pub(super) name: NodeName,
    pub(super) memory: Option<u64>,
    pub(super) free_memory: Option<u64>,
    pub(super) cpus: Option<u64>,
}

impl Node {
    fn of(row: &Resource) -> Option<Self> {
        let online = row.kind == ResourceKind::Node && row.status.as_deref() == Some("online");
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of CPUs"
        )]
        let whole = |cpus: f64| cpus as u64;
        Some(Self {
            name: row.node.clone().filter(|_| online)?,
            memory: row.maxmem,
            free_memory: row
                .maxmem
                .zip(row.mem)
                .map(|(all, used)| all.saturating_sub(used)),
            cpus: row.maxcpu.map(whole),
        })
    }
}

/// The figures of a node that is known by its name.
pub(in super::super) async fn node(pve: &Reader, name: &NodeName) -> Result<Node, Fault> {
    let rows = pve.resources().await?;
    let mut nodes = rows.iter().filter_map(Node::of);
    nodes.find(|node| node.name == *name).ok_or_else(|| {
        Fault::new(Kind::Unreachable, format!("node {name} is offline"))
            .hint("list_proxmox_resources with resource_type \"node\" shows those that are up")
    })
}

impl Wanted<'_> {
    /// Tries the nodes, the one with the most free memory first, and takes the first that has all that is wanted.
    pub(super) async fn find(&self, cx: &Context) -> Result<Place, Fault> {
        let cluster = self.cluster(cx).await?;
        let nodes = self.candidates(&cluster).await?;
        let mut passed: Vec<Fault> = Vec::new();
        // Mostly the first will do; if not, several of the others are asked at once.
        let (first, others) = nodes.split_at(nodes.len().min(1));
        let look = |node: &Node| {
            let (cluster, node) = (&cluster, node.clone());
            async move { (self.on(cluster, &node.name).await, node) }
        };
        let mut found = stream::iter(first.iter().map(look))
            .buffered(1)
            .chain(stream::iter(others.iter().map(look)).buffered(AT_ONCE))
            .boxed();
        while let Some((looked, node)) = found.next().await {
            match looked {
                Ok((storage, why_storage, medium)) => {
                    return Ok(Place {
                        why_node: self.node.is_none().then(|| why(&cluster, &node, &passed)),
                        cluster: cluster.clone(),
                        node,
                        storage,
                        why_storage,
                        medium,
                    });
                }
                Err(fault) => passed.push(fault),
            }
        }
        Err(nowhere(passed))
    }

    async fn cluster(&self, cx: &Context) -> Result<Arc<Cluster>, Fault> {
        if let Some(node) = self.node {
            return Ok(cx.node(node).await?.0);
        }
        if let [only] = cx.clusters.as_slice() {
            return Ok(only.clone());
        }
        let names: Vec<_> = cx.clusters.iter().map(|cluster| &cluster.name).collect();
        Err(
            Fault::bad_input("there are several clusters, and it could go to any").hint(format!(
                "send node, or cluster: one of {}",
                words::list(&names)
            )),
        )
    }

    async fn candidates(&self, cluster: &Cluster) -> Result<Vec<Node>, Fault> {
        if let Some(name) = self.node {
            return Ok(vec![node(&cluster.pve, name).await?]);
        }
        let rows = cluster.pve.resources().await?;
        let mut nodes: Vec<_> = rows.iter().filter_map(Node::of).collect();
        let is_other = |node: &Node| cluster.defaults.node.as_ref() != Some(&node.name);
        nodes.sort_by(|a, b| {
            let rank = |node: &Node| (is_other(node), Reverse(node.free_memory));
            (rank(a), &a.name).cmp(&(rank(b), &b.name))
        });
        Ok(nodes)
    }

    async fn on(
        &self,
        cluster: &Cluster,
        node: &NodeName,
    ) -> Result<(StorageStatus, Option<String>, Option<Medium>), Fault> {
        let pve = &cluster.pve;
        let storages = pve.storages(node).await?;
        let usual = cluster.defaults.storage.as_ref();
        // Where it takes no such disks, another one has to do.
        let usual = usual.and_then(|usual| named(&storages, usual, self.content, node).ok());
        let (storage, why) = if let Some(wanted) = self.storage {
            (named(&storages, wanted, self.content, node)?, None)
        } else if let Some(usual) = usual {
            (usual, Some("the configuration names it".to_owned()))
        } else {
            let (storage, why) = roomiest(pve, &storages, self.content, node).await?;
            (storage, Some(why))
        };
        let medium = match &self.medium {
            Some(wanted) => Some(wanted.find(pve, node, &storages).await?),
            None => None,
        };
        Ok((storage.clone(), why, medium))
    }
}

/// "on pve1, the node with the most free memory (96.0 GiB)"
fn why(cluster: &Cluster, chosen: &Node, passed: &[Fault]) -> String {
    let name = &chosen.name;
    if cluster.defaults.node.as_ref() == Some(name) {
        return format!("on {name}, which the configuration names");
    }
    let Some(free) = chosen.free_memory.map(words::size) else {
        return format!("on {name}; the free memory of the nodes is not shown without Sys.Audit");
    };
    if passed.is_empty() {
        return format!("on {name}, the node with the most free memory ({free})");
    }
    format!("on {name} ({free} of memory free): {}", reasons(passed))
}

/// No node fits: what each lacks, and what the best has.
fn nowhere(mut passed: Vec<Fault>) -> Fault {
    match passed.len() {
        0 => Fault::new(Kind::Unreachable, "no node is online"),
        1 => passed.remove(0),
        _ => Fault {
            message: format!("no node has what it takes: {}", reasons(&passed)),
            ..passed.remove(0)
        },
    }
}

/// Why nodes were passed over, for the first few of them.
fn reasons(passed: &[Fault]) -> String {
    let mut whys: Vec<_> = passed
        .iter()
        .take(NAMED)
        .map(|fault| fault.message.clone())
        .collect();
    if passed.len() > NAMED {
        whys.push(format!("and {} more nodes", passed.len() - NAMED));
    }
    whys.join("; ")
}

fn fits(storage: &StorageStatus, content: Content) -> bool {
    storage.active && storage.enabled && storage.holds(content.word())
}

/// The storage that the caller wants, if it is there and takes such disks.
pub(super) fn named<'s>(
    storages: &'s [StorageStatus],
    wanted: &StorageId,
    content: Content,
    node: &NodeName,
) -> Result<&'s StorageStatus, Fault> {
    let found = storages
        .iter()
        .find(|storage| storage.storage == wanted.as_str());
    if let Some(storage) = found.filter(|storage| fits(storage, content)) {
        return Ok(storage);
    }
    let message = match found {
        Some(storage) if !storage.enabled || !storage.active => {
            format!("storage {wanted} does not work on {node} now")
        }
        Some(_) => format!("storage {wanted} takes no {} on {node}", content.noun()),
        None => format!("there is no storage {wanted} on {node}, or it cannot be seen"),
    };
    let names: Vec<_> = storages
        .iter()
        .filter(|storage| fits(storage, content))
        .map(|storage| storage.storage.as_str())
        .collect();
    let others = match names.as_slice() {
        [] => format!("none that takes {} can be seen", content.noun()),
        some => format!(
            "those that take {} on {node}: {}",
            content.noun(),
            words::list(some)
        ),
    };
    let hint = match found {
        Some(_) => others,
        None => format!(
            "{others}; if it exists, the token needs Datastore.AllocateSpace on /storage/{wanted}"
        ),
    };
    Err(Fault::new(Kind::NotFound, message).hint(hint))
}

/// The storage with the most room among those that the token may use.
async fn roomiest<'s>(
    pve: &Reader,
    storages: &'s [StorageStatus],
    content: Content,
    node: &NodeName,
) -> Result<(&'s StorageStatus, String), Fault> {
    let mut fitting: Vec<_> = storages
        .iter()
        .filter(|storage| fits(storage, content))
        .collect();
    fitting.sort_by_key(|storage| Reverse(storage.avail));
    let Some(largest) = fitting.first().copied() else {
        let message = format!("no storage for {} can be seen on {node}", content.noun());
        return Err(Fault::new(Kind::NotFound, message).hint(
            "if there is one, the token needs Datastore.AllocateSpace on /storage/<its name>",
        ));
    };
    let mut chosen = largest;
    for storage in fitting {
        let path = format!("/storage/{}", storage.storage);
        if pve
            .permissions_on(&path)
            .await?
            .has(&path, "Datastore.AllocateSpace")
        {
            chosen = storage;
            break;
        }
    }
    let free = chosen.avail.map(words::size).unwrap_or_default();
    let why = format!(
        "the most free space on {node} for {} ({free})",
        content.noun()
    );
    Ok((chosen, why))
}
