//! A node that is in no cluster, and the cluster that it could join.

use std::collections::BTreeMap;

use super::World;
use super::node::Node;
use super::ticket::Signer;

/// A cluster that a node can reach.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// The address of one of its nodes.
    pub host: String,
    /// SHA-256 of that node's certificate.
    pub fingerprint: String,
    /// Its root's password.
    pub password: String,
    /// Its name.
    pub name: String,
    /// Its nodes. They hold nothing.
    pub nodes: BTreeMap<String, Node>,
}

impl World {
    /// The node becomes a member: what was its own in `/etc/pve` is gone, users' tokens and the key of tickets with it. Who
    /// logs in by the node's own system still can.
    pub fn join(&mut self, cluster: Neighbour, node: &str, id: Option<u64>) {
        let next = cluster
            .nodes
            .values()
            .map(|node| node.id)
            .max()
            .unwrap_or_default()
            + 1;
        self.alone = None;
        self.name = cluster.name;
        for (name, member) in cluster.nodes {
            self.nodes.entry(name).or_insert(member);
        }
        if let Some(node) = self.nodes.get_mut(node) {
            node.id = id.and_then(|id| u32::try_from(id).ok()).unwrap_or(next);
        }
        for user in self.access.users.values_mut() {
            user.tokens.clear();
        }
        self.signer = Signer::new(&self.name);
    }
}
