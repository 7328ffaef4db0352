//! A cluster at a glance: version, quorum, nodes and guest counts.

use std::collections::BTreeMap;
use std::time::Duration;

use pve::{ClusterStatus, NodeName, Resource as Row, ResourceKind};
use serde::Serialize;
use tools::context::Cluster;
use tools::fault::Fault;

use super::view::{Seen, View};

/// What does not answer within this is reported as not answering.
const PATIENCE: Duration = Duration::from_secs(15);

/// A cluster at a glance. What could not be read is left out, and said.
#[derive(Debug, Default, Serialize)]
struct Summary {
    cluster: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quorate: Option<bool>,
    nodes: BTreeMap<String, &'static str>,
    vms: BTreeMap<String, usize>,
    containers: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// The summary of a cluster.
pub(super) async fn seen(cluster: &Cluster) -> Seen {
    let summary = Box::pin(summary(cluster)).await;
    let shown = serde_json::to_value(&summary).unwrap_or_default();
    let view = View::new(shown, serde_json::Value::Null);
    if summary.problems.is_empty() {
        Seen::Whole(view)
    } else {
        Seen::InPart(view)
    }
}

async fn summary(cluster: &Cluster) -> Summary {
    let pve = &cluster.pve;
    let (version, status, rows) = tokio::join!(
        answered("the version", pve.version()),
        answered("the cluster's status", pve.cluster_status()),
        answered("the list of guests and nodes", pve.resources()),
    );
    let mut summary = Summary {
        cluster: cluster.name.clone(),
        ..Summary::default()
    };
    match version {
        Ok(version) => summary.version = Some(version.text),
        Err(problem) => summary.problems.push(problem),
    }
    match status {
        Ok(status) => summary.add_status(&status),
        Err(problem) => summary.problems.push(problem),
    }
    match rows {
        Ok(rows) => summary.add_rows(&rows),
        Err(problem) => summary.problems.push(problem),
    }
    summary
}

/// An answer, or why there is none in words.
async fn answered<T>(
    what: &str,
    asked: impl Future<Output = Result<T, pve::Error>>,
) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(answer) => answer.map_err(|error| {
            let fault = Fault::from(error);
            tools::clean::line(&format!("{what} cannot be read: {fault}"))
        }),
        Err(_) => Err(format!(
            "{what} did not come within {} s",
            PATIENCE.as_secs()
        )),
    }
}

impl Summary {
    fn add_status(&mut self, status: &ClusterStatus) {
        self.quorate = Some(status.quorate);
        for node in &status.nodes {
            self.add_node(&node.name, node.online);
        }
    }

    fn add_rows(&mut self, rows: &[Row]) {
        for row in rows.iter().filter(|row| row.kind == ResourceKind::Node) {
            if let Some(node) = &row.node {
                self.add_node(node, row.status.as_deref() == Some("online"));
            }
        }
        for row in rows {
            let state = self.state(row);
            let counts = match row.kind {
                ResourceKind::Qemu => &mut self.vms,
                ResourceKind::Lxc => &mut self.containers,
                _ => continue,
            };
            *counts.entry(state).or_default() += 1;
        }
    }

    /// The first source to tell of a node is the quicker one, and counts.
    fn add_node(&mut self, name: &NodeName, online: bool) {
        let word = if online { "online" } else { "offline" };
        self.nodes.entry(name.to_string()).or_insert(word);
    }

    /// PVE goes on showing the guests of a lost node as running for some minutes.
    fn state(&self, row: &Row) -> String {
        let node = row.node.as_ref().map(ToString::to_string);
        let lost = node.is_some_and(|node| self.nodes.get(&node) == Some(&"offline"));
        if row.template {
            "template".to_owned()
        } else if lost {
            "unknown".to_owned()
        } else {
            let status = row.status.as_deref().filter(|status| is_word(status));
            status.unwrap_or("unknown").to_owned()
        }
    }
}

/// Whether a text can be PVE's word for a state. It names a count, and names are ours: texts of others are values.
fn is_word(status: &str) -> bool {
    (1..=16).contains(&status.len()) && status.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn guests_of_a_lost_node_do_not_count_as_running() {
        let mut summary = Summary::default();
        summary.add_node(&NodeName::new("pve2").unwrap(), false);
        let rows: Vec<Row> = serde_json::from_value(json!([
            {"type": "node", "node": "pve1", "status": "online"},
            {"type": "node", "node": "pve2", "status": "online"},
            {"type": "qemu", "vmid": 100, "node": "pve1", "status": "running"},
            {"type": "qemu", "vmid": 101, "node": "pve2", "status": "running"},
            {"type": "qemu", "vmid": 900, "node": "pve2", "template": 1},
            {"type": "lxc", "vmid": 200, "node": "pve1", "status": "stopped"},
            {"type": "storage", "node": "pve1", "storage": "local"},
        ]))
        .unwrap();
        summary.add_rows(&rows);
        assert_eq!(
            serde_json::to_value(&summary).unwrap(),
            json!({
                "cluster": "",
                "nodes": {"pve1": "online", "pve2": "offline"},
                "vms": {"running": 1, "template": 1, "unknown": 1},
                "containers": {"stopped": 1},
            })
        );
    }
}
