//! Virtual networks and their subnets.

use pve::Method;

use crate::plain::{Arg, Entry, Need, Plain, UNSET, an, change, content, flag, read, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &LIST,
    &GET,
    &CREATE,
    &UPDATE,
    &DELETE,
    &LIST_SUBNETS,
    &CREATE_SUBNET,
];

const VNETS: &str = "/cluster/sdn/vnets";
const ONE_VNET: &str = "/cluster/sdn/vnets/{vnet}";
const SUBNETS: &str = "/cluster/sdn/vnets/{vnet}/subnets";
const VNET: Arg = text("vnet", "The network: 2 to 8 letters and digits.").required();
const TAG: Arg = whole("tag", "VLAN tag or VXLAN id; not in simple zones.").within(1, 16_777_215);
const ALIAS: Arg = text("alias", "A longer name.");
const THE_VNET: Entry = an("virtual network", &["vnet"]).listed(VNETS, "vnet");
/// The zone that a network is in now is looked up: a call does not name it.
const ON_VNET: Need = Need::On("/sdn/zones/{its_zone}/{vnet}", "SDN.Allocate");

const LIST: Plain = read(Toolset::Sdn, "list_sdn_vnets", "List virtual networks", VNETS)
    .says(
        "Lists the virtual networks that guests can be plugged into like a bridge, as they are configured.\n\nlist_sdn_zones has their zones, list_sdn_subnets the addresses of one. What was not applied yet is among them. Needs SDN.Audit on /sdn/zones/ZONE/VNET.",
    )
    .needs(Need::On("/sdn/zones", "SDN.Audit"))
    .rows(&["vnet", "zone", "tag", "alias", "vlanaware", "isolate-ports"])
    .examples(&[Example {
        ask: "Which virtual networks are there?",
        args: "{}",
    }]);

const GET: Plain = read(Toolset::Sdn, "get_sdn_vnet", "Show a virtual network", ONE_VNET)
    .says(
        "Shows how one virtual network is configured: zone, tag, alias, whether VLANs pass.\n\nlist_sdn_vnets shows all of them in one call; its subnets are in list_sdn_subnets. Needs SDN.Audit on /sdn/zones/ZONE/VNET.",
    )
    .takes(&[VNET])
    .needs(Need::On("/sdn/zones", "SDN.Audit"))
    .item(&["vnet", "zone", "tag", "alias", "vlanaware", "isolate-ports"])
    .examples(&[Example {
        ask: "Which zone is the network blue in?",
        args: r#"{"vnet": "blue"}"#,
    }]);

const CREATE: Plain = change(
    (Toolset::Sdn, Risk::Grant),
    "create_sdn_vnet",
    "Create a virtual network",
    Method::Post,
    VNETS,
)
.says(
    "Configures a virtual network in a zone; guests can be plugged into it by its name once apply_sdn_changes was called.\n\nZones of type vlan, vxlan and evpn need a tag, simple ones take none. list_sdn_zones has the zones, create_sdn_subnet gives it addresses. Nothing runs before it is applied. A person must approve vlanaware. Needs SDN.Allocate on /sdn/zones/ZONE. Undo: delete_sdn_vnet.",
)
.takes(&[
    VNET,
    text("zone", "The zone it is in.").required(),
    TAG,
    ALIAS,
    flag("vlanaware", "Let VLANs of guests pass."),
])
.needs(Need::On("/sdn/zones/{zone}", "SDN.Allocate"))
.creates(THE_VNET.undone_by("delete_sdn_vnet"))
.examples(&[Example {
    ask: "Make a virtual network for the cameras in the zone lab",
    args: r#"{"vnet": "cams", "zone": "lab", "alias": "cameras"}"#,
}]);

const UPDATE: Plain = change(
    (Toolset::Sdn, Risk::Grant),
    "update_sdn_vnet",
    "Change a virtual network",
    Method::Put,
    ONE_VNET,
)
.says(
    "Changes a virtual network's zone, tag or alias, or with delete clears tag or alias.\n\nOnly the configuration changes; guests feel it when apply_sdn_changes is called. A network with subnets stays in its zone. get_sdn_vnet shows how it is. Needs SDN.Allocate on /sdn/zones/ZONE/VNET. Undo: the same call with the old values.",
)
.takes(&[VNET, text("zone", "Move it to this zone."), TAG, ALIAS, UNSET])
.finds("its_zone", ONE_VNET, "zone")
.needs(ON_VNET)
.edits(THE_VNET)
.examples(&[Example {
    ask: "Call the network blue staging",
    args: r#"{"vnet": "blue", "alias": "staging"}"#,
}]);

const DELETE: Plain = change(
    (Toolset::Sdn, Risk::Destroy),
    "delete_sdn_vnet",
    "Delete a virtual network",
    Method::Delete,
    ONE_VNET,
)
.says(
    "Takes a virtual network out of the configuration; it runs on until apply_sdn_changes, then guests on it lose their connection and do not start.\n\nPVE does not look whether a guest uses it: check the guests' configuration first. One with subnets is refused. It asks for a confirmation. Needs SDN.Allocate on /sdn/zones/ZONE/VNET. Undo: create_sdn_vnet with the same settings.",
)
.takes(&[VNET])
.finds("its_zone", ONE_VNET, "zone")
.needs(ON_VNET)
.removes(THE_VNET.undone_by("create_sdn_vnet").only_without(&[content(
    "/cluster/sdn/vnets/{vnet}/subnets",
    &[("subnet", "subnet")],
    "remove them first with write_proxmox_api: delete /cluster/sdn/vnets/VNET/subnets/SUBNET",
)]))
.examples(&[Example {
    ask: "Remove the network green",
    args: r#"{"vnet": "green"}"#,
}]);

const LIST_SUBNETS: Plain = read(
    Toolset::Sdn,
    "list_sdn_subnets",
    "List the subnets of a virtual network",
    SUBNETS,
)
.says(
    "Lists the subnets of one virtual network with their gateways.\n\nlist_sdn_vnets has the networks; the nodes' own networks are in get_proxmox_node_status. Needs SDN.Audit on /sdn/zones/ZONE/VNET.",
)
.takes(&[VNET])
.needs(Need::On("/sdn/zones", "SDN.Audit"))
.rows(&["cidr", "gateway", "snat", "dnszoneprefix", "subnet"])
.examples(&[Example {
    ask: "Which addresses does the network blue have?",
    args: r#"{"vnet": "blue"}"#,
}]);

const CREATE_SUBNET: Plain = change(
    (Toolset::Sdn, Risk::Change),
    "create_sdn_subnet",
    "Add a subnet to a virtual network",
    Method::Post,
    SUBNETS,
)
.says(
    "Configures a subnet of a virtual network, with the gateway that the nodes answer as.\n\nThe gateway must lie in the subnet; a network that lets VLANs pass takes none. list_sdn_subnets shows those there are. It runs once apply_sdn_changes was called. Needs SDN.Allocate on /sdn/zones/ZONE/VNET. Undo: write_proxmox_api with DELETE on /cluster/sdn/vnets/VNET/subnets/SUBNET.",
)
.takes(&[
    VNET,
    text("subnet", "The network, as 10.1.0.0/24.").required(),
    text("gateway", "Its gateway, as 10.1.0.1."),
    flag("snat", "Let guests out by the node's address."),
    text("dnszoneprefix", "Prefix of names in DNS."),
])
.always(&[("type", "subnet")])
.finds("its_zone", ONE_VNET, "zone")
.needs(ON_VNET)
.creates(
    an("subnet", &["vnet", "subnet"])
        .listed(SUBNETS, "cidr")
        .undone_at("/cluster/sdn/vnets/{vnet}/subnets/{its_zone}-{subnet|dashed}"),
)
.examples(&[Example {
    ask: "Give the network blue a second range",
    args: r#"{"vnet": "blue", "subnet": "10.9.0.0/24", "gateway": "10.9.0.1", "snat": true}"#,
}]);
