//! The table of the routes of virtual networks.

use super::{change, show, subnets};
use crate::permission::Perm;
use crate::route::{Route, delete, get, post, put};
use crate::schema::common::DIGEST;
use crate::schema::{Param, flag, format, int, list, network, text};

const PENDING: Param = flag("pending").optional();
const RUNNING: Param = flag("running").optional();
const LOCK: Param = text("lock-token").optional();
const ZONE: Param = text("zone").matching(is_id);
const VNET: Param = text("vnet").matching(is_id);
const ZONE_TYPES: &[&str] = &["evpn", "faucet", "qinq", "simple", "vlan", "vxlan"];

/// What a network may have besides its zone.
const VNET_OPTIONS: &[Param] = &[
    text("alias").longest(256).optional(),
    flag("isolate-ports").optional(),
    LOCK,
    int("tag").min(1).max(16_777_215).optional(),
    flag("vlanaware").optional(),
];

/// The routes of virtual networks.
pub const ROUTES: &[Route] = &[
    get("/cluster/sdn", show::root).allow(Perm::On("/sdn", &["SDN.Audit"])),
    put("/cluster/sdn", change::apply)
        .allow(Perm::On("/sdn", &["SDN.Allocate"]))
        .params(&[LOCK, flag("release-lock").optional()]),
    get("/cluster/sdn/zones", show::zones)
        .allow(Perm::User)
        .params(&[PENDING, RUNNING, text("type").one_of(ZONE_TYPES).optional()]),
    post("/cluster/sdn/zones", change::create_zone)
        .allow(Perm::On("/sdn/zones", &["SDN.Allocate"]))
        .params(&[ZONE, text("type").one_of(ZONE_TYPES)])
        .and(ZONE_OPTIONS),
    get("/cluster/sdn/zones/{zone}", show::zone)
        .allow(Perm::On("/sdn/zones/{zone}", &["SDN.Allocate"]))
        .params(&[text("zone"), PENDING, RUNNING]),
    delete("/cluster/sdn/zones/{zone}", change::delete_zone)
        .allow(Perm::On("/sdn/zones/{zone}", &["SDN.Allocate"]))
        .params(&[ZONE, LOCK]),
    get("/cluster/sdn/vnets", show::vnets)
        .allow(Perm::User)
        .params(&[PENDING, RUNNING]),
    post("/cluster/sdn/vnets", change::create_vnet)
        .allow(Perm::On("/sdn/zones/{zone}", &["SDN.Allocate"]))
        .params(&[
            VNET,
            text("zone"),
            text("type").one_of(&["vnet"]).optional(),
        ])
        .and(VNET_OPTIONS),
    get("/cluster/sdn/vnets/{vnet}", show::vnet)
        .allow(Perm::User)
        .params(&[text("vnet"), PENDING, RUNNING]),
    put("/cluster/sdn/vnets/{vnet}", change::update_vnet)
        .allow(Perm::User)
        .params(&[
            VNET,
            text("zone").optional(),
            text("delete")
                .list_of(format::config_id)
                .longest(4096)
                .optional(),
            DIGEST,
        ])
        .and(VNET_OPTIONS),
    delete("/cluster/sdn/vnets/{vnet}", change::delete_vnet)
        .allow(Perm::User)
        .params(&[VNET, LOCK]),
    get("/cluster/sdn/vnets/{vnet}/subnets", subnets::list)
        .allow(Perm::User)
        .params(&[text("vnet"), PENDING, RUNNING]),
    post("/cluster/sdn/vnets/{vnet}/subnets", subnets::create)
        .allow(Perm::User)
        .params(&[
            text("vnet"),
            text("subnet").is(subnets::is_subnet),
            text("type").one_of(&["subnet"]),
            text("dhcp-dns-server").is(network::ip).optional(),
            list("dhcp-range").optional(),
            text("dnszoneprefix").is(format::dns_name).optional(),
            text("gateway").is(network::ip).optional(),
            LOCK,
            flag("snat").optional(),
        ]),
    get("/cluster/sdn/vnets/{vnet}/subnets/{subnet}", subnets::show)
        .allow(Perm::User)
        .params(&[
            text("vnet"),
            text("subnet").is(subnets::is_subnet),
            PENDING,
            RUNNING,
        ]),
    delete(
        "/cluster/sdn/vnets/{vnet}/subnets/{subnet}",
        subnets::delete,
    )
    .allow(Perm::User)
    .params(&[VNET, text("subnet").is(subnets::is_subnet), LOCK]),
    get("/cluster/sdn/controllers", show::controllers)
        .allow(Perm::User)
        .params(&[
            PENDING,
            RUNNING,
            text("type")
                .one_of(&["bgp", "evpn", "faucet", "isis"])
                .optional(),
        ]),
    get("/cluster/sdn/controllers/{controller}", show::controller)
        .allow(Perm::On("/sdn/controllers/{controller}", &["SDN.Allocate"]))
        .params(&[text("controller"), PENDING, RUNNING]),
    get("/cluster/sdn/dns", show::nothing)
        .allow(Perm::User)
        .params(&[text("type").one_of(&["powerdns"]).optional()]),
    get("/cluster/sdn/ipams", show::ipams)
        .allow(Perm::User)
        .params(&[text("type")
            .one_of(&["netbox", "phpipam", "pve"])
            .optional()]),
    get("/cluster/sdn/ipams/{ipam}", show::ipam)
        .allow(Perm::On("/sdn/ipams/{ipam}", &["SDN.Allocate"]))
        .params(&[text("ipam")]),
];

/// What a zone may have; which of it depends on its type.
const ZONE_OPTIONS: &[Param] = &[
    flag("advertise-subnets").optional(),
    text("bridge").optional(),
    flag("bridge-disable-mac-learning").optional(),
    text("controller").optional(),
    text("dhcp").one_of(&["dnsmasq"]).optional(),
    flag("disable-arp-nd-suppression").optional(),
    text("dns").optional(),
    text("dnszone").is(format::dns_name).optional(),
    int("dp-id").optional(),
    text("exitnodes").list_of(format::node).optional(),
    flag("exitnodes-local-routing").optional(),
    text("exitnodes-primary").is(format::node).optional(),
    text("fabric").optional(),
    text("ipam").optional(),
    LOCK,
    text("mac").is(network::mac).optional(),
    int("mtu").optional(),
    text("nodes").list_of(format::node).optional(),
    text("peers").list_of(network::ip).optional(),
    text("reversedns").optional(),
    text("rt-import").optional(),
    int("tag").min(0).optional(),
    text("vlan-protocol")
        .one_of(&["802.1q", "802.1ad"])
        .optional(),
    int("vrf-vxlan").min(1).max(16_777_215).optional(),
    int("vxlan-port").min(1).max(65_536).optional(),
];

/// Two to eight letters and digits, a letter first: they become names of network interfaces.
fn is_id(text: &str) -> bool {
    (2..=8).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric())
}
