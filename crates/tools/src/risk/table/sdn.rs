//! Software-defined networks. Most changes are pending until they are applied; rules of their firewalls are in
//! `firewall`.

use pve::Method::{Delete, Post, Put};

use crate::risk::row::{Row, Rule, UNSETS, is, off, on, row, safe};
use crate::spec::Risk::{Change, Destroy, Disrupt, Grant};

const LOCK: &[Rule] = &[safe(&["lock-token"])];

const CONTROLLER: &[Rule] = &[
    is(&["peers"], Grant, "exchanges routes with other routers"),
    safe(&[
        "asn",
        "bgp-mode",
        "bgp-multipath-as-path-relax",
        "controller",
        "digest",
        "ebgp",
        "ebgp-multihop",
        "fabric",
        "isis-domain",
        "isis-ifaces",
        "isis-net",
        "lock-token",
        "loopback",
        "node",
        "nodes",
        "peer-group-name",
        "route-map-in",
        "route-map-out",
        "type",
    ]),
];

/// DNS and IPAM servers, which get a credential.
const SERVER: &[Rule] = &[
    is(
        &["fingerprint", "key", "token", "url"],
        Grant,
        "connects to a server that the caller names, with a credential",
    ),
    safe(&[
        "digest",
        "dns",
        "ipam",
        "lock-token",
        "reversemaskv6",
        "reversev6mask",
        "section",
        "ttl",
        "type",
    ]),
];

const FABRIC: &[Rule] = &[safe(&[
    "area",
    "csnp_interval",
    "digest",
    "hello_interval",
    "id",
    "ip6_prefix",
    "ip_prefix",
    "lock-token",
    "persistent_keepalive",
    "protocol",
    "redistribute",
    "route_filter",
])];

const FABRIC_NODE: &[Rule] = &[
    is(
        &["allowed_ips", "endpoint", "peers", "public_key", "role"],
        Grant,
        "lets other hosts into the network, or sends its traffic to them",
    ),
    safe(&[
        "digest",
        "interfaces",
        "ip",
        "ip6",
        "lock-token",
        "node_id",
        "protocol",
    ]),
];

const PREFIX_LIST: &[Rule] = &[safe(&[
    "action",
    "digest",
    "entries",
    "ge",
    "id",
    "le",
    "lock-token",
    "prefix",
    "seq",
])];

const ROUTE_MAP: &[Rule] = &[safe(&[
    "action",
    "call",
    "digest",
    "exit-action",
    "lock-token",
    "match",
    "order",
    "route-map-id",
    "set",
])];

const VNET: &[Rule] = &[
    off(
        &["isolate-ports"],
        Grant,
        "guests in the network can reach each other",
    ),
    on(&["vlanaware"], Grant, "guests can choose their VLAN"),
    safe(&[
        "alias",
        "digest",
        "lock-token",
        "tag",
        "type",
        "vnet",
        "zone",
    ]),
];

const SUBNET: &[Rule] = &[
    is(
        &["dhcp-dns-server"],
        Grant,
        "changes which DNS server guests ask",
    ),
    safe(&[
        "dhcp-range",
        "digest",
        "dnszoneprefix",
        "gateway",
        "lock-token",
        "snat",
        "subnet",
        "type",
    ]),
];

const ZONE: &[Rule] = &[
    is(&["peers"], Grant, "extends guests' networks to other hosts"),
    on(
        &["exitnodes-local-routing"],
        Grant,
        "opens connections between guests and the exit nodes themselves",
    ),
    safe(&[
        "advertise-subnets",
        "bridge",
        "bridge-disable-mac-learning",
        "controller",
        "dhcp",
        "digest",
        "disable-arp-nd-suppression",
        "dns",
        "dnszone",
        "dp-id",
        "exitnodes",
        "exitnodes-primary",
        "fabric",
        "ipam",
        "lock-token",
        "mac",
        "mtu",
        "nodes",
        "reversedns",
        "rt-import",
        "secondary-controllers",
        "tag",
        "type",
        "vlan-protocol",
        "vrf-vxlan",
        "vxlan-port",
        "zone",
    ]),
];

const ADDRESS: &[Rule] = &[safe(&["ip", "mac", "zone"])];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Put, &["/cluster/sdn"], (Disrupt, "applies the pending changes to the networks of all nodes"), &[LOCK, &[safe(&["release-lock"])]]),
    row(Post, &["/cluster/sdn/rollback"], (Destroy, "discards all pending changes"), &[LOCK, &[safe(&["release-lock"])]]),
    row(Post, &["/cluster/sdn/lock"], (Change, "others can no longer change networks until the lock is released"), &[
        &[safe(&["allow-pending"])],
    ]),
    row(Delete, &["/cluster/sdn/lock"], (Disrupt, "releases the lock, also while someone else changes networks"), &[LOCK, &[safe(&["force"])]]),
    row(Post, &["/cluster/sdn/controllers"], (Change, "adds a controller, pending"), &[CONTROLLER]),
    row(Put, &["/cluster/sdn/controllers/{controller}"], (Change, "changes a controller, pending"), &[CONTROLLER, &[UNSETS]]),
    row(Delete, &["/cluster/sdn/controllers/{controller}"], (Destroy, "deletes a controller, pending"), &[LOCK]),
    row(Post, &["/cluster/sdn/dns", "/cluster/sdn/ipams"], (Change, "adds a DNS or IPAM server"), &[SERVER]),
    row(Put, &["/cluster/sdn/dns/{dns}", "/cluster/sdn/ipams/{ipam}"], (Change, "changes a DNS or IPAM server"), &[SERVER, &[UNSETS]]),
    row(Delete, &["/cluster/sdn/dns/{dns}", "/cluster/sdn/ipams/{ipam}"], (Destroy, "deletes a DNS or IPAM server"), &[LOCK]),
    row(Post, &["/cluster/sdn/fabrics/fabric"], (Change, "adds a fabric, pending"), &[FABRIC]),
    row(Put, &["/cluster/sdn/fabrics/fabric/{id}"], (Change, "changes a fabric, pending"), &[FABRIC, &[UNSETS]]),
    row(Delete, &["/cluster/sdn/fabrics/fabric/{id}"], (Destroy, "deletes a fabric, pending"), &[]),
    row(Post, &["/cluster/sdn/fabrics/node/{fabric_id}"], (Change, "adds a node to a fabric, pending"), &[FABRIC_NODE]),
    row(Put, &["/cluster/sdn/fabrics/node/{fabric_id}/{node_id}"], (Change, "changes a node of a fabric, pending"), &[FABRIC_NODE, &[UNSETS]]),
    row(Delete, &["/cluster/sdn/fabrics/node/{fabric_id}/{node_id}"], (Destroy, "removes a node from a fabric, pending"), &[]),
    row(Post, &["/cluster/sdn/prefix-lists", "/cluster/sdn/prefix-lists/{id}/entries"], (Change, "adds to the prefix lists, pending"), &[PREFIX_LIST]),
    row(Put, &["/cluster/sdn/prefix-lists/{id}", "/cluster/sdn/prefix-lists/{id}/entries/{url_seq}"],
        (Change, "changes a prefix list, pending"), &[PREFIX_LIST, &[UNSETS]]),
    row(Delete, &["/cluster/sdn/prefix-lists/{id}", "/cluster/sdn/prefix-lists/{id}/entries/{url_seq}"],
        (Destroy, "deletes a prefix list or an entry of it, pending"), &[LOCK]),
    row(Post, &["/cluster/sdn/route-maps/entries"], (Change, "adds to a route map, pending"), &[ROUTE_MAP]),
    row(Put, &["/cluster/sdn/route-maps/entries/{route-map-id}/entry/{order}"], (Change, "changes a route map, pending"), &[ROUTE_MAP, &[UNSETS]]),
    row(Delete, &["/cluster/sdn/route-maps/entries/{route-map-id}/entry/{order}"], (Destroy, "deletes an entry of a route map, pending"), &[LOCK]),
    row(Post, &["/cluster/sdn/vnets"], (Change, "adds a virtual network, pending"), &[VNET]),
    row(Put, &["/cluster/sdn/vnets/{vnet}"], (Change, "changes a virtual network, pending"), &[VNET, &[UNSETS]]),
    row(Delete, &["/cluster/sdn/vnets/{vnet}"], (Destroy, "deletes a virtual network, pending"), &[LOCK]),
    row(Post, &["/cluster/sdn/vnets/{vnet}/ips"], (Change, "reserves an address"), &[ADDRESS]),
    row(Put, &["/cluster/sdn/vnets/{vnet}/ips"], (Disrupt, "changes the address that a guest gets"), &[
        ADDRESS, &[is(&["vmid"], Grant, "changes the addresses that firewall rules take for those of the guest")],
    ]),
    row(Delete, &["/cluster/sdn/vnets/{vnet}/ips"], (Destroy, "releases an address that a guest may use"), &[ADDRESS]),
    row(Post, &["/cluster/sdn/vnets/{vnet}/subnets"], (Change, "adds a subnet, pending"), &[SUBNET]),
    row(Put, &["/cluster/sdn/vnets/{vnet}/subnets/{subnet}"], (Change, "changes a subnet, pending"), &[SUBNET, &[UNSETS]]),
    row(Delete, &["/cluster/sdn/vnets/{vnet}/subnets/{subnet}"], (Destroy, "deletes a subnet, pending"), &[LOCK]),
    row(Post, &["/cluster/sdn/zones"], (Change, "adds a zone, pending"), &[ZONE]),
    row(Put, &["/cluster/sdn/zones/{zone}"], (Change, "changes a zone, pending"), &[ZONE, &[UNSETS]]),
    row(Delete, &["/cluster/sdn/zones/{zone}"], (Destroy, "deletes a zone, pending"), &[LOCK]),
];
