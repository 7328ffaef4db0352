//! Completion of what a user types into a prompt's argument or a resource's address. Best effort: whatever cannot be
//! known at once completes to nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use pve::NodeName;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use serde::Deserialize;
use tools::context::Cluster;

use super::{prompts, resources};

/// A user is typing: what takes longer is no help.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the value typed so far may become.
pub(super) async fn complete(
    clusters: &[Arc<Cluster>],
    request: &CompleteRequestParams,
) -> CompleteResult {
    let argument = &request.argument;
    let names = match &request.r#ref {
        Reference::Prompt(prompt)
            if prompt.name == prompts::HEALTH_CHECK && argument.name == prompts::NODE =>
        {
            nodes(clusters).await
        }
        Reference::Resource(resource)
            if resource.uri == resources::TEMPLATE && argument.name == "name" =>
        {
            clusters
                .iter()
                .map(|cluster| cluster.name.clone())
                .collect()
        }
        _ => BTreeSet::new(),
    };
    CompleteResult::new(beginning_with(&argument.value, names))
}

fn beginning_with(typed: &str, names: BTreeSet<String>) -> CompletionInfo {
    let mut matching: Vec<_> = names
        .into_iter()
        .filter(|name| name.starts_with(typed))
        .collect();
    let total = u32::try_from(matching.len()).ok();
    let more = matching.len() > CompletionInfo::MAX_VALUES;
    matching.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(matching, total, more).unwrap_or_default()
}

#[derive(Deserialize)]
struct NodeRow {
    node: NodeName,
}

/// The nodes of all clusters that answer in time.
async fn nodes(clusters: &[Arc<Cluster>]) -> BTreeSet<String> {
    let asked = clusters.iter().map(|cluster| async {
        let rows = cluster.pve.list::<NodeRow>("/nodes");
        match tokio::time::timeout(PATIENCE, rows).await {
            Ok(Ok(rows)) => rows,
            _ => Vec::new(),
        }
    });
    let rows = join_all(asked).await.into_iter().flatten();
    rows.map(|row| row.node.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let names = (0..150).map(|n| format!("pve{n:03}")).collect();
        let info = beginning_with("pve", names);
        assert_eq!(info.values.len(), 100);
        assert_eq!((info.total, info.has_more), (Some(150), Some(true)));
    }
}
