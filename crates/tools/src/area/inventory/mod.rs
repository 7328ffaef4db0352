//! list_proxmox_resources

use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::future::join_all;
use pve::{Resource, ResourceKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cluster, Context};
use crate::fault::Fault;
use crate::filter::Filter;
use crate::spec::{Example, Risk, Spec, Toolset};
use crate::tool::{Answer, Reads};
use crate::words;

/// How many rows are shown if the caller does not say.
const PAGE: usize = 30;

/// Lists VMs, containers, nodes, storages and pools of all configured clusters, filtered and paged.
///
/// Use it to find a guest by name, tag or node, or to get an overview; for one guest in detail use
/// get_proxmox_vm_status, for one node get_proxmox_node_status. A node that is down does not break the list: its
/// guests are shown with their last known state, and a note says so. What the token may not see (VM.Audit,
/// Datastore.Audit, Sys.Audit, Pool.Audit) PVE leaves out without a word; a note tells if that made the list
/// empty.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListResources {
    /// What to list. Left out: guests of both kinds.
    #[serde(default)]
    resource_type: Wanted,
    /// Words that all must match: field:value with name, vmid, tag, pool, node, status or type, or a bare word
    /// for part of a name or id. Example: "tag:prod status:running web".
    filter: Option<String>,
    /// Rows at most.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = 500))]
    limit: usize,
    /// Where to go on: the next_cursor of the answer before.
    cursor: Option<String>,
}

fn page() -> usize {
    PAGE
}

/// What to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Wanted {
    #[default]
    Guest,
    // Other servers say `vm` for guests of either kind; for VMs alone PVE's own word is meant.
    Vm,
    Qemu,
    Lxc,
    Node,
    Storage,
    Pool,
    All,
}

impl Wanted {
    fn takes(self, kind: &ResourceKind) -> bool {
        match self {
            Self::Guest | Self::Vm => kind.guest_kind().is_some(),
            Self::Qemu => *kind == ResourceKind::Qemu,
            Self::Lxc => *kind == ResourceKind::Lxc,
            Self::Node => *kind == ResourceKind::Node,
            Self::Storage => *kind == ResourceKind::Storage,
            Self::Pool => *kind == ResourceKind::Pool,
            Self::All => true,
        }
    }

    /// The privilege without which PVE shows none of these.
    fn privilege(self) -> (&'static str, &'static str) {
        match self {
            Self::Guest | Self::Vm | Self::Qemu | Self::Lxc | Self::All => ("VM.Audit", "/vms"),
            Self::Node => ("Sys.Audit", "/nodes"),
            Self::Storage => ("Datastore.Audit", "/storage"),
            Self::Pool => ("Pool.Audit", "/pool"),
        }
    }
}

/// One row.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Row {
    /// qemu, lxc, node, storage or pool.
    #[serde(rename = "type")]
    kind: String,
    /// The guest's number, or the name of the node, storage or pool.
    id: String,
    /// A guest's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The node that it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    /// The cluster, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    /// Such as running, stopped, template, online or available.
    status: String,
    /// Share of its CPUs in use, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_percent: Option<u32>,
    /// Memory of a guest or node in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<u64>,
    /// Disk space of it in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<u64>,
    /// A guest's tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<String>,
    /// A guest's pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pool: Option<String>,
    /// The lock that an operation holds on a guest.
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<String>,
}

/// A page of the list.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listing {
    /// The rows of this page.
    resources: Vec<Row>,
    /// How many match in all.
    total: usize,
    /// Send it as cursor for the rows after these.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// What is not as it should be: offline nodes, clusters that did not answer, missing privileges.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Reads for ListResources {
    const SPEC: Spec = Spec {
        name: "list_proxmox_resources",
        title: "List guests, nodes, storages and pools",
        toolset: Toolset::Core,
        risk: Risk::Read,
        idempotent: true,
        takes_host: true,
        leasable: false,
        examples: &[
            Example {
                ask: "Which guests are there?",
                args: "{}",
            },
            Example {
                ask: "Which production guests run?",
                args: r#"{"filter": "tag:prod status:running"}"#,
            },
            Example {
                ask: "How are the nodes?",
                args: r#"{"resource_type": "node"}"#,
            },
            Example {
                ask: "Which storages are there on pve1?",
                args: r#"{"resource_type": "storage", "filter": "node:pve1"}"#,
            },
        ],
    };

    type Answer = Listing;

    async fn read(self, cx: &Context) -> Result<Listing, Fault> {
        let filter = Filter::parse(self.filter.as_deref().unwrap_or_default())?;
        let skip = self.offset()?;
        let (found, mut notes) = gather(&cx.clusters).await?;
        let mut matching: Vec<_> = found
            .iter()
            .filter(|(_, resource)| {
                self.resource_type.takes(&resource.kind) && filter.matches(resource)
            })
            .collect();
        matching.sort_by_cached_key(|(cluster, resource)| (cluster.name.clone(), order(resource)));
        let total = matching.len();
        if total == 0 {
            notes.extend(self.why_empty(cx, &found).await);
        }
        let several = cx.clusters.len() > 1;
        let limit = self.limit.clamp(1, 500);
        let resources: Vec<_> = matching
            .iter()
            .skip(skip)
            .take(limit)
            .map(|(cluster, resource)| Row::new(cluster, resource, several))
            .collect();
        let shown = skip + resources.len();
        let next_cursor = (shown < total).then(|| shown.to_string());
        Ok(Listing {
            resources,
            total,
            next_cursor,
            notes,
        })
    }
}

impl ListResources {
    fn offset(&self) -> Result<usize, Fault> {
        let Some(cursor) = &self.cursor else {
            return Ok(0);
        };
        cursor.parse().map_err(|_| {
            Fault::bad_input(format!(
                "cursor \"{}\" is none that this tool gave",
                words::clip(cursor, 40)
            ))
            .hint("send the next_cursor of the answer before, or leave it out")
        })
    }

    /// An empty list that a missing privilege caused looks just like an empty cluster; PVE does not tell them apart.
    async fn why_empty(&self, cx: &Context, found: &[(Arc<Cluster>, Resource)]) -> Vec<String> {
        if found
            .iter()
            .any(|(_, resource)| self.resource_type.takes(&resource.kind))
        {
            return Vec::new();
        }
        let (privilege, path) = self.resource_type.privilege();
        let mut notes = Vec::new();
        for cluster in &cx.clusters {
            let Ok(held) = cluster.pve.permissions().await else {
                continue;
            };
            if !held.paths().any(|path| held.has(path, privilege)) {
                notes.push(format!("the token of {} has {privilege} nowhere, so PVE shows none; it needs it on {path}", cluster.name));
            }
        }
        notes
    }
}

/// All resources of all clusters, at the same time. A cluster that does not answer becomes a note; all of them, a fault.
async fn gather(
    clusters: &[Arc<Cluster>],
) -> Result<(Vec<(Arc<Cluster>, Resource)>, Vec<String>), Fault> {
    let answers = join_all(clusters.iter().map(|cluster| cluster.pve.resources())).await;
    let (mut found, mut notes, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for (cluster, answer) in clusters.iter().zip(answers) {
        match answer {
            Ok(resources) => {
                notes.extend(offline_nodes(&resources));
                notes.extend(hidden_figures(cluster, &resources));
                found.extend(
                    resources
                        .into_iter()
                        .map(|resource| (cluster.clone(), resource)),
                );
            }
            Err(error) => {
                notes.push(format!("cluster {} is left out: {error}", cluster.name));
                faults.push(Fault::from(error));
            }
        }
    }
    match faults.into_iter().next() {
        Some(fault) if found.is_empty() => Err(fault),
        _ => Ok((found, notes)),
    }
}

fn offline_nodes(resources: &[Resource]) -> impl Iterator<Item = String> {
    resources
        .iter()
        .filter(|resource| {
            resource.kind == ResourceKind::Node && resource.status.as_deref() == Some("offline")
        })
        .filter_map(|resource| resource.node.as_ref())
        .map(|node| format!("node {node} is offline; its guests are shown as last known"))
}

/// PVE shows every node to everybody, and its figures only to those who may see them.
fn hidden_figures(cluster: &Cluster, resources: &[Resource]) -> Option<String> {
    let hidden = resources.iter().any(|resource| {
        resource.kind == ResourceKind::Node
            && resource.status.as_deref() == Some("online")
            && resource.maxmem.is_none()
    });
    hidden.then(|| {
        format!(
            "{} hides figures of its nodes: the token needs Sys.Audit on /nodes",
            cluster.name
        )
    })
}

/// Nodes, storages and pools by name, guests by number.
fn order(resource: &Resource) -> (u8, u32, String) {
    let rank = match resource.kind {
        ResourceKind::Node => 0,
        ResourceKind::Qemu | ResourceKind::Lxc => 1,
        ResourceKind::Storage => 2,
        ResourceKind::Pool => 3,
        _ => 4,
    };
    (
        rank,
        resource.vmid.map_or(0, pve::Vmid::get),
        resource.id.clone().unwrap_or_default(),
    )
}

impl Row {
    fn new(cluster: &Cluster, resource: &Resource, several: bool) -> Self {
        let id = match resource.kind {
            ResourceKind::Qemu | ResourceKind::Lxc => resource.vmid.map(|vmid| vmid.to_string()),
            ResourceKind::Node => resource.node.as_ref().map(ToString::to_string),
            ResourceKind::Storage => resource.storage.clone(),
            ResourceKind::Pool => resource.pool.clone(),
            _ => None,
        };
        let used = |share: Option<f64>| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of 0 to 1, as percent"
            )]
            share.map(|share| (share.clamp(0.0, 100.0) * 100.0).round() as u32)
        };
        let guest = resource.kind.guest_kind().is_some();
        Self {
            kind: resource.kind.as_str().to_owned(),
            id: id.or_else(|| resource.id.clone()).unwrap_or_default(),
            name: resource.name.clone().filter(|_| guest),
            node: resource
                .node
                .as_ref()
                .map(ToString::to_string)
                .filter(|_| resource.kind != ResourceKind::Node),
            cluster: several.then(|| cluster.name.clone()),
            status: if resource.template {
                "template".to_owned()
            } else {
                resource.status.clone().unwrap_or_default()
            },
            cpu_percent: used(resource.cpu)
                .filter(|_| resource.status.as_deref() != Some("stopped")),
            memory: resource.maxmem,
            disk: resource.maxdisk,
            tags: resource.tags.clone().filter(|tags| !tags.trim().is_empty()),
            pool: resource.pool.clone().filter(|_| guest),
            lock: resource.lock.clone(),
        }
    }
}

impl Answer for Listing {
    fn text(&self) -> String {
        let rows: Vec<_> = self
            .resources
            .iter()
            .map(|row| {
                let place = match (&row.cluster, &row.node) {
                    (Some(cluster), Some(node)) => format!("{cluster}/{node}"),
                    (Some(place), None) | (None, Some(place)) => place.clone(),
                    (None, None) => String::new(),
                };
                let lock = row
                    .lock
                    .as_ref()
                    .map(|lock| format!(" (locked: {lock})"))
                    .unwrap_or_default();
                [
                    row.id.clone(),
                    row.kind.clone(),
                    row.name.clone().unwrap_or_default(),
                    place,
                    format!("{}{lock}", row.status),
                    row.cpu_percent
                        .map(|cpu| format!("{cpu} %"))
                        .unwrap_or_default(),
                    row.memory.map(words::size).unwrap_or_default(),
                    row.disk.map(words::size).unwrap_or_default(),
                    row.pool.clone().unwrap_or_default(),
                    row.tags.clone().unwrap_or_default(),
                ]
            })
            .collect();
        let mut out = String::new();
        if !rows.is_empty() {
            out = words::table(
                [
                    "id", "type", "name", "node", "status", "cpu", "memory", "disk", "pool", "tags",
                ],
                &rows,
            );
        }
        let _ = match &self.next_cursor {
            Some(cursor) => writeln!(
                out,
                "{} of {} shown; more with cursor: \"{cursor}\", or narrow it with filter",
                rows.len(),
                self.total
            ),
            None => writeln!(out, "{} in all", self.total),
        };
        for note in &self.notes {
            let _ = writeln!(out, "note: {note}");
        }
        out
    }
}
