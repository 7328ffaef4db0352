//! How the nodes form a cluster.

use super::AUDIT;
use super::join::JoinCluster;
use crate::plain::{Plain, read};
use crate::spec::{Example, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] =
    &[&CONFIG, &NODES, &JOIN, &TOTEM, &Change::<JoinCluster>::NEW];

const CONFIG: Plain = read(
    Toolset::Cluster,
    "get_cluster_config",
    "List parts of the cluster's configuration",
    "/cluster/config",
)
.says(
    "Lists the parts of the cluster's own configuration; it shows none of them.\n\nget_cluster_config_nodes has the nodes and their votes, get_cluster_totem the protocol, get_cluster_join_info what a new node needs. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.rows(&["name"])
.examples(&[Example {
    ask: "What is there to know about the cluster's configuration?",
    args: "{}",
}]);

const NODES: Plain = read(
    Toolset::Cluster,
    "get_cluster_config_nodes",
    "List the nodes of the cluster's configuration",
    "/cluster/config/nodes",
)
.says(
    "Lists the nodes as corosync is configured for them: id, votes, addresses of the links.\n\nWhether they are online is in get_cluster_status, how loaded they are in get_proxmox_node_status. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.rows(&["name", "nodeid", "quorum_votes", "ring0_addr", "ring1_addr"])
.examples(&[Example {
    ask: "How many votes does each node have?",
    args: "{}",
}]);

const JOIN: Plain = read(
    Toolset::Cluster,
    "get_cluster_join_info",
    "Show what a new node needs to join",
    "/cluster/config/join",
)
.says(
    "Lists the addresses and certificate fingerprints that a new node needs to join this cluster.\n\njoin_cluster, called at the new node, takes one of them. get_cluster_config_nodes shows the votes, get_cluster_status who is online. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.within("nodelist", &["name", "pve_addr", "ring0_addr", "pve_fp"])
.examples(&[Example {
    ask: "What do I need to add a node to the cluster?",
    args: "{}",
}]);

const TOTEM: Plain = read(
    Toolset::Cluster,
    "get_cluster_totem",
    "Show the cluster's protocol settings",
    "/cluster/config/totem",
)
.says(
    "Shows the settings of corosync's protocol: cluster name, version of the configuration, links, encryption.\n\nUse it when nodes drop out for no visible reason; get_cluster_status shows who is a member now. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.item(&["cluster_name", "config_version", "link_mode", "ip_version", "secauth", "interface"])
.examples(&[Example {
    ask: "How do the nodes talk to each other?",
    args: "{}",
}]);
