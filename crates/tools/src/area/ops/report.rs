//! What the checks found, and what they could not look at.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use pve::{GuestKind, NodeName, Resource, Vmid};
use serde_json::json;

use super::code::{Code, Severity};
use crate::tool::Object;
use crate::words;

/// How many places a gap names before it counts the rest.
const NAMED: usize = 3;

/// One thing that is not as it should be.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) code: Code,
    pub(super) severity: Severity,
    /// The cluster's name.
    pub(super) cluster: Arc<str>,
    pub(super) subject: Subject,
    /// What is the matter with it.
    pub(super) what: Cow<'static, str>,
    /// Worse ones of the same code come first.
    pub(super) weight: u64,
}

/// What a finding is about.
#[derive(Debug, Clone)]
pub(super) enum Subject {
    Guest {
        vmid: Vmid,
        kind: GuestKind,
        row: Arc<Resource>,
    },
    Node(NodeName),
    /// A storage; of one node unless it is shared.
    Storage {
        storage: String,
        node: Option<NodeName>,
    },
    Volume {
        volid: String,
        node: NodeName,
        owner: Vmid,
    },
    BackupJob(String),
}

impl Subject {
    /// The guest of a resource row.
    pub(super) fn guest(row: &Arc<Resource>) -> Option<Self> {
        Some(Self::Guest {
            vmid: row.vmid?,
            kind: row.kind.guest_kind()?,
            row: Arc::clone(row),
        })
    }

    /// "VM 105 (staging)", "node pve1", "storage nas"
    pub(super) fn label(&self) -> String {
        match self {
            Self::Guest { vmid, kind, row } => match row.name.as_deref() {
                None | Some("") => format!("{} {vmid}", kind.noun()),
                Some(name) => format!("{} {vmid} ({})", kind.noun(), words::clip(name, 40)),
            },
            Self::Node(node) => format!("node {node}"),
            Self::Storage { storage, .. } => format!("storage {storage}"),
            Self::Volume { volid, .. } => format!("volume {}", words::clip(volid, 80)),
            Self::BackupJob(id) => format!("backup job {}", words::clip(id, 40)),
        }
    }

    /// The node that it is on, where it is on one.
    pub(super) fn node(&self) -> Option<&NodeName> {
        match self {
            Self::Volume { node, .. } | Self::Node(node) => Some(node),
            Self::Guest { row, .. } => row.node.as_ref(),
            Self::Storage { node, .. } => node.as_ref(),
            Self::BackupJob(_) => None,
        }
    }

    /// Its guest, where it is one or belongs to one.
    pub(super) fn vmid(&self) -> Option<Vmid> {
        match self {
            Self::Guest { vmid, .. } | Self::Volume { owner: vmid, .. } => Some(*vmid),
            Self::Node(_) | Self::Storage { .. } | Self::BackupJob(_) => None,
        }
    }
}

impl Finding {
    /// The call that shows more, or mends it.
    pub(super) fn next(&self, several_clusters: bool) -> Option<String> {
        let (tool, arguments) = match (&self.subject, self.code) {
            (Subject::Guest { vmid, .. }, Code::GuestWithoutRecentBackup) => {
                ("backup_proxmox_vm", json!({"vmid": vmid}))
            }
            (Subject::Guest { vmid, .. }, Code::SnapshotOld) => (
                "get_proxmox_vm_status",
                json!({"vmid": vmid, "include": ["snapshots"]}),
            ),
            (Subject::Guest { vmid, .. }, _) => ("get_proxmox_vm_status", json!({"vmid": vmid})),
            (Subject::Node(node), Code::UpdatePending) => (
                "get_proxmox_node_status",
                json!({"node": node, "include": ["updates"]}),
            ),
            (Subject::Node(node), Code::CertificateExpiring) => {
                ("get_proxmox_node_status", json!({"node": node}))
            }
            (Subject::Node(node), _) => (
                "list_proxmox_resources",
                json!({"filter": format!("node:{node} status:running")}),
            ),
            (Subject::Storage { storage, .. }, _) => (
                "list_proxmox_resources",
                json!({"resource_type": "storage", "filter": storage}),
            ),
            (Subject::Volume { owner, .. }, _) => (
                "list_proxmox_resources",
                json!({"resource_type": "volume", "filter": format!("vmid:{owner}")}),
            ),
            (Subject::BackupJob(_), _) => return None,
        };
        let mut arguments: Object = arguments.as_object().cloned().unwrap_or_default();
        if several_clusters {
            arguments.insert("cluster".to_owned(), json!(*self.cluster));
        }
        Some(format!("{tool} {}", json!(arguments)))
    }
}

/// Why something could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gap {
    /// "the token lacks Sys.Audit on", "offline:"
    cause: String,
    /// The path, node or storage.
    place: String,
}

impl Gap {
    /// A missing privilege.
    pub(super) fn lacks(privileges: &str, path: &str) -> Self {
        Self {
            cause: format!("the token lacks {privileges} on"),
            place: path.to_owned(),
        }
    }

    /// Something that is down.
    pub(super) fn offline(place: &NodeName) -> Self {
        Self {
            cause: "offline:".to_owned(),
            place: place.to_string(),
        }
    }

    /// Something that was left out, and why.
    pub(super) fn because(cause: &str, place: &str) -> Self {
        Self {
            cause: cause.to_owned(),
            place: place.to_owned(),
        }
    }

    /// What an error means for whoever asked about `place`.
    pub(super) fn of(error: &pve::Error, place: &str) -> Self {
        match error.missing_privilege() {
            Some((path, privileges)) => Self::lacks(&privileges.join(" or "), &path),
            None => Self {
                cause: format!("{}:", words::clip(&error.to_string(), 100)),
                place: place.to_owned(),
            },
        }
    }
}

/// What was found in all clusters.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) findings: Vec<Finding>,
    /// The cluster that is being checked, named with each gap; none where there is only one.
    pub(super) cluster: Option<Arc<str>>,
    /// Codes and cause to the places where it was so.
    gaps: BTreeMap<(Vec<Code>, String), Vec<String>>,
}

/// Checks that were not made, and why.
#[derive(Debug)]
pub(super) struct Unchecked {
    pub(super) codes: Vec<Code>,
    pub(super) reason: String,
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.codes.len() == Code::ALL.len() {
            return write!(f, "all checks: {}", self.reason);
        }
        let codes: Vec<_> = self.codes.iter().map(|code| code.word()).collect();
        write!(f, "{}: {}", codes.join(", "), self.reason)
    }
}

impl Report {
    /// Something was found.
    pub(super) fn found(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// These codes could not be checked everywhere; none, where something else than a check is told of.
    pub(super) fn missed(&mut self, codes: &[Code], gap: Gap) {
        let place = match &self.cluster {
            Some(cluster) => format!("{} (cluster {cluster})", gap.place),
            None => gap.place,
        };
        let places = self.gaps.entry((codes.to_vec(), gap.cause)).or_default();
        if !places.contains(&place) {
            places.push(place);
        }
    }

    /// The worst first, those of a code together.
    pub(super) fn sort(&mut self) {
        self.findings.sort_by(|a, b| {
            b.severity
                .cmp(&a.severity)
                .then(a.code.cmp(&b.code))
                .then(b.weight.cmp(&a.weight))
        });
    }

    /// What was not checked, of these codes.
    pub(super) fn unchecked(&self, wanted: impl Fn(Code) -> bool) -> Vec<Unchecked> {
        self.gaps
            .iter()
            .filter_map(|((codes, cause), places)| {
                let codes: Vec<_> = codes.iter().copied().filter(|code| wanted(*code)).collect();
                (!codes.is_empty()).then(|| Unchecked {
                    codes,
                    reason: format!("{cause} {}", some_of(places)),
                })
            })
            .collect()
    }
}

impl Report {
    /// Why anything was not looked at, whatever code it concerns.
    pub(super) fn reasons(&self) -> Vec<String> {
        self.gaps
            .iter()
            .map(|((_, cause), places)| format!("{cause} {}", some_of(places)))
            .collect()
    }
}

/// "a, b, c and 12 more"
pub(super) fn some_of(items: &[String]) -> String {
    if items.len() <= NAMED + 1 {
        return words::list(items);
    }
    format!(
        "{} and {} more",
        items[..NAMED].join(", "),
        items.len() - NAMED
    )
}
