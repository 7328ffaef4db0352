//! The tables of the firewall's routes.

use super::{cluster_root, groups, guest_root, log, macros, node_root, options, refs, rules, sets};
use crate::permission::Perm;
use crate::route::{Route, delete, get, post, put};
use crate::schema::common::{DIGEST, NODE, VMID};
use crate::schema::{Param, firewall, flag, format, int, text};

const LEVELS: &[&str] = &[
    "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug", "nolog",
];
const POLICIES: &[&str] = &["ACCEPT", "REJECT", "DROP"];
const POS: Param = int("pos").min(0).optional();
const ACTION: Param = text("action")
    .matching(firewall::is_name)
    .shortest(2)
    .longest(20);
const TYPE: Param = text("type").one_of(&["in", "out", "forward", "group"]);
const MOVE: Param = int("moveto").min(0).optional();
const DELETE: Param = text("delete").list_of(format::config_id).optional();
const NAME: Param = text("name")
    .matching(firewall::is_name)
    .shortest(2)
    .longest(64);
const RENAME: Param = text("rename")
    .matching(firewall::is_name)
    .shortest(2)
    .longest(64)
    .optional();
const GROUP: Param = text("group")
    .matching(firewall::is_name)
    .shortest(2)
    .longest(18);
const COMMENT: Param = text("comment").optional();
const CIDR: Param = text("cidr").is(firewall::address_or_network);
const MEMBER: Param = text("cidr").is(firewall::address_or_alias);
const NOMATCH: Param = flag("nomatch").optional();
const REF_TYPE: Param = text("type").one_of(&["alias", "ipset"]).optional();

/// What a rule may have besides type and action.
const RULE: &[Param] = &[
    COMMENT,
    text("dest").is(firewall::addresses).longest(512).optional(),
    DIGEST,
    text("dport").is(firewall::ports).optional(),
    int("enable").min(0).optional(),
    text("icmp-type").optional(),
    text("iface").shortest(2).longest(20).optional(),
    text("log").one_of(LEVELS).optional(),
    text("macro").longest(128).optional(),
    POS,
    text("proto").is(firewall::protocol).optional(),
    text("source")
        .is(firewall::addresses)
        .longest(512)
        .optional(),
    text("sport").is(firewall::ports).optional(),
];

const GUEST_OPTIONS: &[Param] = &[
    flag("dhcp").optional(),
    flag("enable").optional(),
    flag("ipfilter").optional(),
    text("log_level_in").one_of(LEVELS).optional(),
    text("log_level_out").one_of(LEVELS).optional(),
    flag("macfilter").optional(),
    flag("ndp").optional(),
    text("policy_in").one_of(POLICIES).optional(),
    text("policy_out").one_of(POLICIES).optional(),
    flag("radv").optional(),
];

const CLUSTER_OPTIONS: &[Param] = &[
    flag("ebtables").optional(),
    int("enable").min(0).optional(),
    text("log_ratelimit").optional(),
    text("policy_forward")
        .one_of(&["ACCEPT", "DROP"])
        .optional(),
    text("policy_in").one_of(POLICIES).optional(),
    text("policy_out").one_of(POLICIES).optional(),
];

const NODE_OPTIONS: &[Param] = &[
    flag("enable").optional(),
    text("log_level_forward").one_of(LEVELS).optional(),
    text("log_level_in").one_of(LEVELS).optional(),
    text("log_level_out").one_of(LEVELS).optional(),
    flag("log_nf_conntrack").optional(),
    flag("ndp").optional(),
    flag("nf_conntrack_allow_invalid").optional(),
    text("nf_conntrack_helpers").optional(),
    int("nf_conntrack_max").min(32768).optional(),
    int("nf_conntrack_tcp_timeout_established")
        .min(7875)
        .optional(),
    int("nf_conntrack_tcp_timeout_syn_recv")
        .min(30)
        .max(60)
        .optional(),
    flag("nftables").optional(),
    flag("nosmurfs").optional(),
    flag("protection_synflood").optional(),
    int("protection_synflood_burst").optional(),
    int("protection_synflood_rate").optional(),
    text("smurf_log_level").one_of(LEVELS).optional(),
    text("tcp_flags_log_level").one_of(LEVELS).optional(),
    flag("tcpflags").optional(),
];

/// All options there are.
pub(super) const OPTIONS: [&[Param]; 3] = [CLUSTER_OPTIONS, NODE_OPTIONS, GUEST_OPTIONS];

/// Both kinds of guests have the same routes.
macro_rules! guest_routes {
    ($base:literal) => {{
        const AUDIT: Perm = Perm::On("/vms/{vmid}", &["VM.Audit"]);
        const NETWORK: Perm = Perm::On("/vms/{vmid}", &["VM.Config.Network"]);
        &[
            get($base, guest_root)
                .allow(Perm::User)
                .params(&[NODE, VMID]),
            get(concat!($base, "/rules"), rules::list)
                .allow(AUDIT)
                .params(&[NODE, VMID]),
            post(concat!($base, "/rules"), rules::create)
                .allow(NETWORK)
                .params(&[NODE, VMID, TYPE, ACTION])
                .and(RULE),
            get(concat!($base, "/rules/{pos}"), rules::read)
                .allow(AUDIT)
                .params(&[NODE, VMID, POS]),
            put(concat!($base, "/rules/{pos}"), rules::update)
                .allow(NETWORK)
                .params(&[NODE, VMID, TYPE.optional(), ACTION.optional(), MOVE, DELETE])
                .and(RULE),
            delete(concat!($base, "/rules/{pos}"), rules::remove)
                .allow(NETWORK)
                .params(&[NODE, VMID, POS, DIGEST]),
            get(concat!($base, "/options"), options::read)
                .allow(AUDIT)
                .params(&[NODE, VMID])
                .proxied(),
            put(concat!($base, "/options"), options::update)
                .allow(NETWORK)
                .params(&[NODE, VMID, DIGEST, DELETE])
                .and(GUEST_OPTIONS)
                .proxied(),
            get(concat!($base, "/aliases"), sets::aliases)
                .allow(AUDIT)
                .params(&[NODE, VMID]),
            post(concat!($base, "/aliases"), sets::create_alias)
                .allow(NETWORK)
                .params(&[NODE, VMID, NAME, CIDR, COMMENT]),
            get(concat!($base, "/aliases/{name}"), sets::alias)
                .allow(AUDIT)
                .params(&[NODE, VMID, NAME]),
            put(concat!($base, "/aliases/{name}"), sets::update_alias)
                .allow(NETWORK)
                .params(&[NODE, VMID, NAME, CIDR, COMMENT, DIGEST, RENAME]),
            delete(concat!($base, "/aliases/{name}"), sets::remove_alias)
                .allow(NETWORK)
                .params(&[NODE, VMID, NAME, DIGEST]),
            get(concat!($base, "/ipset"), sets::sets)
                .allow(AUDIT)
                .params(&[NODE, VMID]),
            post(concat!($base, "/ipset"), sets::create_set)
                .allow(NETWORK)
                .params(&[NODE, VMID, NAME, COMMENT, DIGEST, RENAME]),
            get(concat!($base, "/ipset/{name}"), sets::members)
                .allow(AUDIT)
                .params(&[NODE, VMID, NAME]),
            post(concat!($base, "/ipset/{name}"), sets::add_member)
                .allow(NETWORK)
                .params(&[NODE, VMID, NAME, MEMBER, COMMENT, NOMATCH]),
            delete(concat!($base, "/ipset/{name}"), sets::remove_set)
                .allow(NETWORK)
                .params(&[NODE, VMID, NAME, flag("force").optional()]),
            get(concat!($base, "/ipset/{name}/{cidr}"), sets::member)
                .takes_rest()
                .allow(AUDIT)
                .params(&[NODE, VMID, NAME, MEMBER]),
            put(concat!($base, "/ipset/{name}/{cidr}"), sets::update_member)
                .takes_rest()
                .allow(NETWORK)
                .params(&[NODE, VMID, NAME, MEMBER, COMMENT, NOMATCH, DIGEST]),
            delete(concat!($base, "/ipset/{name}/{cidr}"), sets::remove_member)
                .takes_rest()
                .allow(NETWORK)
                .params(&[NODE, VMID, NAME, MEMBER, DIGEST]),
            get(concat!($base, "/refs"), refs)
                .allow(AUDIT)
                .params(&[NODE, VMID, REF_TYPE]),
            get(concat!($base, "/log"), log)
                .allow(Perm::On("/vms/{vmid}", &["VM.Console"]))
                .params(&[NODE, VMID, LIMIT, SINCE, START, UNTIL])
                .proxied(),
        ]
    }};
}

const LIMIT: Param = int("limit").min(0).optional();
const SINCE: Param = int("since").min(0).optional();
const START: Param = int("start").min(0).optional();
const UNTIL: Param = int("until").min(0).optional();

/// The firewall of machines.
pub const QEMU: &[Route] = guest_routes!("/nodes/{node}/qemu/{vmid}/firewall");
/// The firewall of containers.
pub const LXC: &[Route] = guest_routes!("/nodes/{node}/lxc/{vmid}/firewall");

const NODE_AUDIT: Perm = Perm::On("/nodes/{node}", &["Sys.Audit"]);
const NODE_MODIFY: Perm = Perm::On("/nodes/{node}", &["Sys.Modify"]);

/// The firewall of nodes.
pub const NODES: &[Route] = &[
    get("/nodes/{node}/firewall", node_root)
        .allow(Perm::User)
        .params(&[NODE]),
    get("/nodes/{node}/firewall/rules", rules::list)
        .allow(NODE_AUDIT)
        .params(&[NODE])
        .proxied(),
    post("/nodes/{node}/firewall/rules", rules::create)
        .allow(NODE_MODIFY)
        .params(&[NODE, TYPE, ACTION])
        .and(RULE)
        .proxied(),
    get("/nodes/{node}/firewall/rules/{pos}", rules::read)
        .allow(NODE_AUDIT)
        .params(&[NODE, POS])
        .proxied(),
    put("/nodes/{node}/firewall/rules/{pos}", rules::update)
        .allow(NODE_MODIFY)
        .params(&[NODE, TYPE.optional(), ACTION.optional(), MOVE, DELETE])
        .and(RULE)
        .proxied(),
    delete("/nodes/{node}/firewall/rules/{pos}", rules::remove)
        .allow(NODE_MODIFY)
        .params(&[NODE, POS, DIGEST])
        .proxied(),
    get("/nodes/{node}/firewall/options", options::read)
        .allow(NODE_AUDIT)
        .params(&[NODE])
        .proxied(),
    put("/nodes/{node}/firewall/options", options::update)
        .allow(NODE_MODIFY)
        .params(&[NODE, DIGEST, DELETE])
        .and(NODE_OPTIONS)
        .proxied(),
    get("/nodes/{node}/firewall/log", log)
        .allow(Perm::On("/nodes/{node}", &["Sys.Syslog"]))
        .params(&[NODE, LIMIT, SINCE, START, UNTIL])
        .proxied(),
];

const AUDIT: Perm = Perm::On("/", &["Sys.Audit"]);
const MODIFY: Perm = Perm::On("/", &["Sys.Modify"]);

/// The firewall of the cluster, and security groups.
pub const CLUSTER: &[Route] = &[
    get("/cluster/firewall", cluster_root).allow(Perm::User),
    get("/cluster/firewall/rules", rules::list).allow(AUDIT),
    post("/cluster/firewall/rules", rules::create)
        .allow(MODIFY)
        .params(&[TYPE, ACTION])
        .and(RULE),
    get("/cluster/firewall/rules/{pos}", rules::read)
        .allow(AUDIT)
        .params(&[POS]),
    put("/cluster/firewall/rules/{pos}", rules::update)
        .allow(MODIFY)
        .params(&[TYPE.optional(), ACTION.optional(), MOVE, DELETE])
        .and(RULE),
    delete("/cluster/firewall/rules/{pos}", rules::remove)
        .allow(MODIFY)
        .params(&[POS, DIGEST]),
    get("/cluster/firewall/options", options::read).allow(AUDIT),
    put("/cluster/firewall/options", options::update)
        .allow(MODIFY)
        .params(&[DIGEST, DELETE])
        .and(CLUSTER_OPTIONS),
    get("/cluster/firewall/aliases", sets::aliases).allow(AUDIT),
    post("/cluster/firewall/aliases", sets::create_alias)
        .allow(MODIFY)
        .params(&[NAME, CIDR, COMMENT]),
    get("/cluster/firewall/aliases/{name}", sets::alias)
        .allow(AUDIT)
        .params(&[NAME]),
    put("/cluster/firewall/aliases/{name}", sets::update_alias)
        .allow(MODIFY)
        .params(&[NAME, CIDR, COMMENT, DIGEST, RENAME]),
    delete("/cluster/firewall/aliases/{name}", sets::remove_alias)
        .allow(MODIFY)
        .params(&[NAME, DIGEST]),
    get("/cluster/firewall/ipset", sets::sets).allow(AUDIT),
    post("/cluster/firewall/ipset", sets::create_set)
        .allow(MODIFY)
        .params(&[NAME, COMMENT, DIGEST, RENAME]),
    get("/cluster/firewall/ipset/{name}", sets::members)
        .allow(AUDIT)
        .params(&[NAME]),
    post("/cluster/firewall/ipset/{name}", sets::add_member)
        .allow(MODIFY)
        .params(&[NAME, MEMBER, COMMENT, NOMATCH]),
    delete("/cluster/firewall/ipset/{name}", sets::remove_set)
        .allow(MODIFY)
        .params(&[NAME, flag("force").optional()]),
    get("/cluster/firewall/ipset/{name}/{cidr}", sets::member)
        .takes_rest()
        .allow(AUDIT)
        .params(&[NAME, MEMBER]),
    put("/cluster/firewall/ipset/{name}/{cidr}", sets::update_member)
        .takes_rest()
        .allow(MODIFY)
        .params(&[NAME, MEMBER, COMMENT, NOMATCH, DIGEST]),
    delete("/cluster/firewall/ipset/{name}/{cidr}", sets::remove_member)
        .takes_rest()
        .allow(MODIFY)
        .params(&[NAME, MEMBER, DIGEST]),
    get("/cluster/firewall/groups", groups::list).allow(Perm::User),
    post("/cluster/firewall/groups", groups::create)
        .allow(MODIFY)
        .params(&[
            GROUP,
            COMMENT,
            DIGEST,
            text("rename")
                .matching(firewall::is_name)
                .shortest(2)
                .longest(18)
                .optional(),
        ]),
    get("/cluster/firewall/groups/{group}", rules::list)
        .allow(AUDIT)
        .params(&[GROUP]),
    post("/cluster/firewall/groups/{group}", rules::create)
        .allow(MODIFY)
        .params(&[GROUP, TYPE, ACTION])
        .and(RULE),
    delete("/cluster/firewall/groups/{group}", groups::remove)
        .allow(MODIFY)
        .params(&[GROUP]),
    get("/cluster/firewall/groups/{group}/{pos}", rules::read)
        .allow(AUDIT)
        .params(&[GROUP, POS]),
    put("/cluster/firewall/groups/{group}/{pos}", rules::update)
        .allow(MODIFY)
        .params(&[GROUP, TYPE.optional(), ACTION.optional(), MOVE, DELETE])
        .and(RULE),
    delete("/cluster/firewall/groups/{group}/{pos}", rules::remove)
        .allow(MODIFY)
        .params(&[GROUP, POS, DIGEST]),
    get("/cluster/firewall/macros", macros).allow(Perm::User),
    get("/cluster/firewall/refs", refs)
        .allow(AUDIT)
        .params(&[REF_TYPE]),
];
