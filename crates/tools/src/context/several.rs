//! Several guests at once, found by one look at each cluster.

use pve::{Resource, Vmid};

use super::{Context, Guest};
use crate::fault::Fault;

impl Context {
    /// The guests with these ids, in this order and all on one cluster.
    pub async fn guests(&self, vmids: &[Vmid]) -> Result<Vec<Guest>, Fault> {
        let found = self.resources().await?;
        let mut guests = Vec::new();
        for vmid in vmids {
            guests.push(self.guest_among(&found, *vmid, None, None).await?);
        }
        on_one_cluster(guests)
    }

    /// The guests whose rows pass a test, by their numbers and all on one cluster.
    pub async fn guests_that(
        &self,
        passes: impl Fn(&Resource) -> bool,
    ) -> Result<Vec<Guest>, Fault> {
        let mut guests = Vec::new();
        for (cluster, rows) in self.resources().await? {
            let vmids = rows
                .iter()
                .filter(|row| row.kind.guest_kind().is_some() && passes(row))
                .filter_map(|row| row.vmid);
            guests.extend(vmids.filter_map(|vmid| Guest::among(&cluster, &rows, vmid)));
        }
        guests.sort_by_key(|guest| guest.at.vmid);
        on_one_cluster(guests)
    }
}

/// A plan changes one cluster.
fn on_one_cluster(guests: Vec<Guest>) -> Result<Vec<Guest>, Fault> {
    let mut clusters: Vec<_> = guests
        .iter()
        .map(|guest| guest.cluster.name.as_str())
        .collect();
    clusters.sort_unstable();
    clusters.dedup();
    if clusters.len() > 1 {
        return Err(Fault::bad_input(format!(
            "these guests are on the clusters {}, and a call changes one cluster",
            crate::words::list(&clusters)
        ))
        .hint(format!(
            "make a call per cluster, for example with cluster: \"{}\"",
            clusters[0]
        )));
    }
    Ok(guests)
}
