//! Whether the cluster has the votes to change anything.

use pve::Reader;

use super::finding::Finding;

const CHECK: &str = "quorum";

/// A node by itself has no quorum to lose, and where PVE does not tell, nothing is said.
pub(super) async fn check(pve: &Reader) -> Option<Finding> {
    let status = pve.cluster_status().await.ok()?;
    let online = status.nodes.iter().filter(|node| node.online).count();
    let all = status.nodes.len();
    if status.quorate {
        return (all > 1).then(|| Finding::ok(CHECK, format!("{online} of {all} nodes are there")));
    }
    // Votes can be lost otherwise, too. What needs no word of the others is carried out.
    let what = format!(
        "the cluster has no quorum ({online} of {all} nodes are there): PVE refuses most changes, and still stops guests and \
         deletes volumes"
    );
    Some(Finding::problem(
        CHECK,
        what,
        "bring the missing nodes back, or see `pvecm status` on one that runs",
    ))
}
