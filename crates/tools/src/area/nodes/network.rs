//! A node's network.

use pve::Method;

use super::{AUDIT, AUDIT_ALL};
use crate::plain::{NODE, Need, Plain, an, change, choice, flag, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&LIST, &GET, &CREATE, &DNS, &HOSTS, &TRAFFIC];

const LIST: Plain = read(
    Toolset::Nodes,
    "get_node_network",
    "List a node's network interfaces",
    "/nodes/{node}/network",
)
.says(
    "Lists the network interfaces of a node: cards, bridges, bonds, VLANs, with addresses.\n\nUse it to find a bridge for a guest; get_node_network_interface shows all settings of one. Changes that wait to be applied are shown as if they were. Bridges need SDN.Audit or SDN.Use on /sdn/zones/localnetwork/NAME.",
)
.takes(&[
    NODE,
    choice(
        "type",
        &["bridge", "bond", "eth", "alias", "vlan", "OVSBridge", "OVSBond", "OVSPort", "OVSIntPort", "any_bridge", "any_local_bridge"],
        "Only of this type.",
    ),
])
.needs(Need::On("/sdn/zones/localnetwork", "SDN.Audit"))
.filtered()
.rows(&["iface", "type", "active", "cidr", "cidr6", "gateway", "bridge_ports", "slaves", "vlan-id", "comments"])
.examples(&[Example {
    ask: "Which bridges does pve1 have?",
    args: r#"{"node": "pve1", "type": "bridge"}"#,
}]);

const GET: Plain = read(
    Toolset::Nodes,
    "get_node_network_interface",
    "Show a network interface",
    "/nodes/{node}/network/{iface}",
)
.says(
    "Shows all settings of one network interface of a node: addresses, ports, bond mode, MTU, options.\n\nUse get_node_network for their names. What is shown is configured, not necessarily in effect. Needs Sys.Audit on /nodes/NAME.",
)
.takes(&[NODE, text("iface", "The interface, like vmbr0.").required()])
.needs(AUDIT)
.item(&["type", "method", "cidr", "gateway", "bridge_ports", "autostart", "active"])
.examples(&[Example {
    ask: "How is vmbr0 set up on pve1?",
    args: r#"{"node": "pve1", "iface": "vmbr0"}"#,
}]);

const DNS: Plain = read(
    Toolset::Nodes,
    "get_node_dns",
    "Show a node's name servers",
    "/nodes/{node}/dns",
)
.says(
    "Shows a node's name servers and search domain.\n\nUse it when downloads or updates fail to resolve names; get_node_hosts shows the names it knows itself. Containers take them over unless they have their own. Needs Sys.Audit on /nodes/NAME.",
)
.takes(&[NODE])
.needs(AUDIT)
.item(&["search", "dns1", "dns2", "dns3"])
.examples(&[Example {
    ask: "Which name servers does pve1 use?",
    args: r#"{"node": "pve1"}"#,
}]);

const HOSTS: Plain = read(
    Toolset::Nodes,
    "get_node_hosts",
    "Show a node's hosts file",
    "/nodes/{node}/hosts",
)
.says(
    "Shows the text of a node's hosts file.\n\nUse it where nodes do not find each other by name: each needs its own address in there; get_node_dns shows the name servers. Needs Sys.Audit on /.",
)
.takes(&[NODE])
.needs(AUDIT_ALL)
.item(&["data", "digest"])
.examples(&[Example {
    ask: "What is in the hosts file of pve1?",
    args: r#"{"node": "pve1"}"#,
}]);

const TRAFFIC: Plain = read(
    Toolset::Nodes,
    "get_node_netstat",
    "Show guests' network traffic",
    "/nodes/{node}/netstat",
)
.says(
    "Lists the bytes received and sent by each network device of the guests that run on a node, since they started.\n\nUse it to find the guest that fills the line: call it twice and compare; get_proxmox_vm_status shows one guest. Needs Sys.Audit on /nodes/NAME.",
)
.takes(&[NODE])
.needs(AUDIT)
.rows(&["vmid", "dev", "in|bytes", "out|bytes"])
.examples(&[Example {
    ask: "Which guest of pve1 sends most?",
    args: r#"{"node": "pve1"}"#,
}]);

const CREATE: Plain = change(
    (Toolset::Nodes, Risk::Change),
    "create_node_network_interface",
    "Configure a network interface",
    Method::Post,
    "/nodes/{node}/network",
)
.says(
    "Configures a new bridge, bond, VLAN or the like on a node. Nothing is in effect yet: it is when somebody applies the network configuration in the web interface, or the node boots.\n\nget_node_network shows what is there. A node has one default gateway. Needs Sys.Modify on /nodes/NAME, and for a bridge SDN.Audit on /sdn/zones/localnetwork/NAME. Undo: revert the pending changes in the web interface.",
)
.takes(&[
    NODE,
    text("iface", "Its name: vmbr1, bond0, eno1.30.").required(),
    choice(
        "type",
        &["bridge", "bond", "eth", "alias", "vlan", "OVSBridge", "OVSBond", "OVSPort", "OVSIntPort"],
        "What it is.",
    )
    .required(),
    text("cidr", "Address with mask: 10.0.0.1/24."),
    text("address", "Address alone, with netmask."),
    text("netmask", "Its mask."),
    text("gateway", "Default gateway of the node."),
    text("bridge_ports", "For a bridge: its cards."),
    flag("bridge_vlan_aware", "For a bridge: guests may use VLANs."),
    text("slaves", "For a bond: its cards."),
    text("bond_mode", "For a bond, like active-backup or 802.3ad."),
    flag("autostart", "Up at boot."),
    text("comments", "What it is for."),
])
.needs(Need::All(&[
    super::MODIFY,
    Need::IfIs("type", &["bridge", "OVSBridge"], &Need::On("/sdn/zones/localnetwork/{iface}", "SDN.Audit")),
]))
.creates(
    an("network interface", &["iface"])
        .listed("/nodes/{node}/network", "iface")
        .not_undone("pending changes are reverted in the web interface, or with write_proxmox_api: DELETE /nodes/NODE/network"),
)
.examples(&[Example {
    ask: "Prepare an inner bridge on pve1",
    args: r#"{"node": "pve1", "iface": "vmbr1", "type": "bridge", "cidr": "10.10.0.1/24", "autostart": true, "comments": "inner"}"#,
}]);
