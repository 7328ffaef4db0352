//! Zones, what they lean on (controllers, IPAM, DNS), and applying what was configured.

use pve::Method;

use crate::plain::{Arg, Entry, Need, Plain, an, change, choice, content, list, read, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &LIST,
    &GET,
    &CREATE,
    &DELETE,
    &LIST_CONTROLLERS,
    &GET_CONTROLLER,
    &LIST_IPAMS,
    &GET_IPAM,
    &LIST_DNS,
    &APPLY,
];

const ZONES: &str = "/cluster/sdn/zones";
const ONE_ZONE: &str = "/cluster/sdn/zones/{zone}";
const ZONE: Arg = text("zone", "The zone: 2 to 8 letters and digits.").required();
const THE_ZONE: Entry = an("SDN zone", &["zone"]).listed(ZONES, "zone");
const ON_ZONE: Need = Need::On("/sdn/zones/{zone}", "SDN.Allocate");

const LIST: Plain = read(Toolset::Sdn, "list_sdn_zones", "List SDN zones", ZONES)
    .says(
        "Lists the zones that virtual networks are made in, as they are configured.\n\nThe networks themselves are in list_sdn_vnets, the nodes' own bridges in get_proxmox_node_status. Zones that the token may not see are left out. Needs SDN.Audit on /sdn/zones/ZONE.",
    )
    .needs(Need::On("/sdn/zones", "SDN.Audit"))
    .rows(&["zone", "type", "nodes", "bridge", "mtu", "ipam", "dns", "controller"])
    .examples(&[Example {
        ask: "Which SDN zones are there?",
        args: "{}",
    }]);

const GET: Plain = read(Toolset::Sdn, "get_sdn_zone", "Show an SDN zone", ONE_ZONE)
    .says(
        "Shows how one zone is configured: its type, nodes, bridge, MTU and what manages its addresses.\n\nlist_sdn_zones has the names and asks for less: this needs SDN.Allocate on /sdn/zones/ZONE.",
    )
    .takes(&[ZONE])
    .needs(ON_ZONE)
    .item(&["zone", "type", "nodes", "bridge", "mtu", "ipam", "dns"])
    .examples(&[Example {
        ask: "How is the zone lab set up?",
        args: r#"{"zone": "lab"}"#,
    }]);

const CREATE: Plain = change(
    (Toolset::Sdn, Risk::Change),
    "create_sdn_zone",
    "Create an SDN zone",
    Method::Post,
    ZONES,
)
.says(
    "Configures a zone that virtual networks can be made in: simple (isolated, per node) or vlan (tags on a bridge).\n\nvlan needs bridge; types that need more (qinq, vxlan, evpn) go by write_proxmox_api. Then create_sdn_vnet; nothing runs before apply_sdn_changes. Needs SDN.Allocate on /sdn/zones. Undo: delete_sdn_zone.",
)
.takes(&[
    ZONE,
    choice("type", &["simple", "vlan", "qinq", "vxlan", "evpn"], "Kind of zone.").required(),
    list("nodes", "Nodes that have it; all if left out."),
    text("ipam", "What manages its addresses; pve."),
    text("dns", "DNS server, from list_sdn_dns."),
    text("bridge", "With vlan: the bridge it uses."),
    whole("mtu", "MTU of its networks.").within(576, 65_535),
])
.needs(Need::On("/sdn/zones", "SDN.Allocate"))
.creates(THE_ZONE.undone_by("delete_sdn_zone"))
.examples(&[Example {
    ask: "Make a zone for VLANs on vmbr0",
    args: r#"{"zone": "office", "type": "vlan", "bridge": "vmbr0"}"#,
}]);

const DELETE: Plain = change(
    (Toolset::Sdn, Risk::Destroy),
    "delete_sdn_zone",
    "Delete an SDN zone",
    Method::Delete,
    ONE_ZONE,
)
.says(
    "Takes a zone out of the configuration; it runs on until apply_sdn_changes.\n\nA zone with networks is refused: remove them first with delete_sdn_vnet. Rights given on the zone lose their meaning. It asks for a confirmation. Needs SDN.Allocate on /sdn/zones/ZONE. Undo: create_sdn_zone with the same settings.",
)
.takes(&[ZONE])
.needs(ON_ZONE)
.removes(THE_ZONE.undone_by("create_sdn_zone").only_without(&[content(
    "/cluster/sdn/vnets",
    &[("vnet", "network")],
    "remove them first with delete_sdn_vnet",
)
.naming("zone")]))
.examples(&[Example {
    ask: "Remove the empty zone old",
    args: r#"{"zone": "old"}"#,
}]);

const LIST_CONTROLLERS: Plain = read(
    Toolset::Sdn,
    "list_sdn_controllers",
    "List SDN controllers",
    "/cluster/sdn/controllers",
)
.says(
    "Lists the controllers (EVPN, BGP, IS-IS) by which zones exchange their routes.\n\nOnly zones of type evpn need one; list_sdn_zones shows which use it, get_sdn_controller one in full. Needs SDN.Audit on /sdn/controllers/CONTROLLER.",
)
.needs(Need::On("/sdn/controllers", "SDN.Audit"))
.rows(&["controller", "type", "asn", "peers", "node"])
.examples(&[Example {
    ask: "Which SDN controllers are there?",
    args: "{}",
}]);

const GET_CONTROLLER: Plain = read(
    Toolset::Sdn,
    "get_sdn_controller",
    "Show an SDN controller",
    "/cluster/sdn/controllers/{controller}",
)
.says(
    "Shows how one controller is configured: its autonomous system, its peers, and the node that it runs on.\n\nlist_sdn_controllers has the names and asks for less: this needs SDN.Allocate on /sdn/controllers/CONTROLLER.",
)
.takes(&[text("controller", "The controller's name.").required()])
.needs(Need::On("/sdn/controllers/{controller}", "SDN.Allocate"))
.item(&["controller", "type", "asn", "peers", "node"])
.examples(&[Example {
    ask: "Who are the peers of the controller evpn?",
    args: r#"{"controller": "evpn"}"#,
}]);

const LIST_IPAMS: Plain = read(Toolset::Sdn, "list_sdn_ipams", "List SDN IPAMs", "/cluster/sdn/ipams")
    .says(
        "Lists what can manage the addresses of virtual networks: PVE's own IPAM, Netbox, phpIPAM.\n\nZones name one of them: list_sdn_zones. get_sdn_ipam shows one in full. Needs SDN.Audit on /sdn/ipams/IPAM.",
    )
    .needs(Need::On("/sdn/ipams", "SDN.Audit"))
    .rows(&["ipam", "type"])
    .examples(&[Example {
        ask: "What manages the addresses of virtual networks?",
        args: "{}",
    }]);

const GET_IPAM: Plain = read(
    Toolset::Sdn,
    "get_sdn_ipam",
    "Show an SDN IPAM",
    "/cluster/sdn/ipams/{ipam}",
)
.says(
    "Shows how one IPAM is configured: its type, and the address of an external one; its token is never shown.\n\nlist_sdn_ipams has the names and asks for less: this needs SDN.Allocate on /sdn/ipams/IPAM.",
)
.takes(&[text("ipam", "The IPAM's name.").required()])
.needs(Need::On("/sdn/ipams/{ipam}", "SDN.Allocate"))
.item(&["ipam", "type", "url", "section"])
.examples(&[Example {
    ask: "How is the IPAM pve set up?",
    args: r#"{"ipam": "pve"}"#,
}]);

const LIST_DNS: Plain = read(Toolset::Sdn, "list_sdn_dns", "List SDN DNS servers", "/cluster/sdn/dns")
    .says(
        "Lists the DNS servers (PowerDNS) in which guests on virtual networks can be registered.\n\nZones name one of them: list_sdn_zones. The DNS that a node itself asks is in get_proxmox_node_status. Needs SDN.Audit on /sdn/dns/DNS.",
    )
    .needs(Need::On("/sdn/dns", "SDN.Audit"))
    .rows(&["dns", "type"])
    .examples(&[Example {
        ask: "Are guests registered in a DNS?",
        args: "{}",
    }]);

const APPLY: Plain = change(
    (Toolset::Sdn, Risk::Disrupt),
    "apply_sdn_changes",
    "Apply the SDN configuration",
    Method::Put,
    "/cluster/sdn",
)
.says(
    "Lets all zones, networks and subnets run as they are configured: every node loads its network anew.\n\nAll pending changes are applied, whoever made them: list_sdn_zones and list_sdn_vnets show what is configured. Guests on networks that go or change lose their connection, so it asks for a confirmation. Waits until the nodes were told. Needs SDN.Allocate on /sdn. Undo: none; configure it back and apply again.",
)
.needs(Need::On("/sdn", "SDN.Allocate"))
.does(
    "Apply the SDN configuration on every node",
    an("the SDN configuration", &[])
        .settled("/cluster/sdn/vnets", "pending", "state")
        .not_undone("configure it as it was, and apply again"),
)
.examples(&[Example {
    ask: "Put the new networks into force",
    args: "{}",
}]);
