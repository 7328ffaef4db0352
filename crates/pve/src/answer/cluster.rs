//! The cluster as a whole: its version, its quorum, its nodes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::NodeName;
use crate::lenient;

/// PVE's version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawVersion")]
pub struct Version {
    /// The 9 of 9.1.8.
    pub major: u32,
    /// The 1 of 9.1.8.
    pub minor: u32,
    /// All of it.
    pub text: String,
}

impl Version {
    /// True from a version on.
    pub fn at_least(&self, major: u32, minor: u32) -> bool {
        (self.major, self.minor) >= (major, minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[derive(Deserialize)]
struct RawVersion {
    #[serde(deserialize_with = "lenient::text", alias = "text")]
    version: String,
}

impl TryFrom<RawVersion> for Version {
    type Error = String;

    fn try_from(raw: RawVersion) -> Result<Self, String> {
        // Packages before a release are numbered 9.0~8.
        let mut numbers = raw.version.split(['.', '-', '~']).map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok(Self {
                major,
                minor,
                text: raw.version,
            }),
            _ => Err("expected a version such as 9.1.8".to_owned()),
        }
    }
}

/// Quorum and members. A node that was never in a cluster is a cluster of one, quorate and without a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClusterStatus {
    /// The cluster's name.
    pub name: Option<String>,
    /// False if changes are refused for lack of votes.
    pub quorate: bool,
    /// The nodes.
    pub nodes: Vec<ClusterMember>,
}

/// A node of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClusterMember {
    /// Its name.
    pub name: NodeName,
    /// True if it takes part now.
    pub online: bool,
    /// True for the node that answered.
    pub local: bool,
    /// The address it has for the others.
    pub ip: Option<String>,
}

/// An entry of `/cluster/status`.
#[derive(Debug, Deserialize)]
pub(crate) struct StatusEntry {
    #[serde(rename = "type", deserialize_with = "lenient::text")]
    kind: String,
    #[serde(default, deserialize_with = "lenient::opt_text")]
    name: Option<String>,
    #[serde(default, deserialize_with = "lenient::flag")]
    quorate: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    online: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    local: bool,
    #[serde(default, deserialize_with = "lenient::opt_text")]
    ip: Option<String>,
}

impl ClusterStatus {
    pub(crate) fn from_entries(entries: Vec<StatusEntry>) -> Self {
        let cluster = entries.iter().find(|entry| entry.kind == "cluster");
        let (name, quorate) = match cluster {
            // Whatever it is called, there is one: without it nobody would know of lost votes.
            Some(entry) => (Some(entry.name.clone().unwrap_or_default()), entry.quorate),
            None => (None, true),
        };
        let mut nodes: Vec<ClusterMember> = entries
            .into_iter()
            .filter(|entry| entry.kind == "node")
            .filter_map(|entry| {
                Some(ClusterMember {
                    name: NodeName::new(entry.name?).ok()?,
                    online: entry.online,
                    local: entry.local,
                    ip: entry.ip,
                })
            })
            .collect();
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        Self {
            name,
            quorate,
            nodes,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn versions_are_read() {
        let version: Version =
            serde_json::from_value(json!({"version": "9.1.8", "release": "9.1"})).unwrap();
        assert_eq!((version.major, version.minor), (9, 1));
        assert!(version.at_least(8, 4) && !version.at_least(9, 2));
        assert!(serde_json::from_value::<Version>(json!({"version": "x"})).is_err());
    }

    #[test]
    fn a_lone_node_is_quorate() {
        let entries = lenient::list(json!([
            {"type": "node", "name": "pve", "online": 1, "local": "1", "ip": "10.0.0.1"}
        ]))
        .unwrap();
        let status = ClusterStatus::from_entries(entries);
        assert!(status.quorate && status.name.is_none());
        assert!(status.nodes[0].local && status.nodes[0].online);
    }

    #[test]
    fn lost_quorum_shows() {
        let entries = lenient::list(json!([
            {"type": "cluster", "name": "lab", "quorate": 0, "nodes": 3},
            {"type": "node", "name": "pve2", "online": 0},
            {"type": "node", "name": "pve1", "online": 1}
        ]))
        .unwrap();
        let status = ClusterStatus::from_entries(entries);
        assert!(!status.quorate);
        assert_eq!(status.nodes[0].name, "pve1");
    }
}
