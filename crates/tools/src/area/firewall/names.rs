//! Names that rules can use for addresses and ports: aliases, sets, macros.

use pve::Method;

use super::{AUDIT, COMMENT, MODIFY};
use crate::plain::{Arg, Entry, Plain, an, change, flag, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &LIST_ALIASES,
    &CREATE_ALIAS,
    &DELETE_ALIAS,
    &LIST_SETS,
    &CREATE_SET,
    &LIST_ENTRIES,
    &ADD_ENTRY,
    &DELETE_ENTRY,
    &LIST_MACROS,
    &GET_REFS,
];

const ALIASES: &str = "/cluster/firewall/aliases";
const SETS: &str = "/cluster/firewall/ipset";
const ONE_SET: &str = "/cluster/firewall/ipset/{name}";
const ALIAS: Arg = text("name", "The alias's name.").required();
const SET: Arg = text("name", "The set's name.").required();
const THE_ALIAS: Entry = an("alias", &["name"]).listed(ALIASES, "name");
const THE_ENTRY: Entry = an("ipset entry", &["name", "cidr"]).listed(ONE_SET, "cidr");

const LIST_ALIASES: Plain = read(
    Toolset::Firewall,
    "list_firewall_aliases",
    "List firewall aliases",
    ALIASES,
)
.says(
    "Lists the cluster's aliases: names for an address or network each, for use in firewall rules.\n\nSets of several addresses are in list_firewall_ipsets. Guests may have aliases of their own, which are not here. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.rows(&["name", "cidr", "comment"])
.examples(&[Example {
    ask: "Which names for addresses does the firewall know?",
    args: "{}",
}]);

const CREATE_ALIAS: Plain = change(
    (Toolset::Firewall, Risk::Grant),
    "create_firewall_alias",
    "Create a firewall alias",
    Method::Post,
    ALIASES,
)
.says(
    "Creates an alias: a name for an address or network, which rules can use as source or dest.\n\nFor several addresses under one name use create_firewall_ipset. It changes nothing until a rule names it. A person must approve the name local_network, which decides who reaches the nodes. Needs Sys.Modify and Sys.Audit on /. Undo: delete_firewall_alias.",
)
.takes(&[ALIAS, text("cidr", "Address or network, as 10.0.0.0/8.").required(), COMMENT])
.needs(MODIFY)
.creates(THE_ALIAS.undone_by("delete_firewall_alias"))
.examples(&[Example {
    ask: "Call the office network office in firewall rules",
    args: r#"{"name": "office", "cidr": "10.20.0.0/16", "comment": "second floor"}"#,
}]);

const DELETE_ALIAS: Plain = change(
    (Toolset::Firewall, Risk::Destroy),
    "delete_firewall_alias",
    "Delete a firewall alias",
    Method::Delete,
    "/cluster/firewall/aliases/{name}",
)
.says(
    "Deletes an alias of the cluster's firewall.\n\nRules that still name it stop working, and PVE does not look whether there are any: check list_cluster_firewall_rules, get_firewall_group_rules and the guests' rules first. It asks for a confirmation. Needs Sys.Modify and Sys.Audit on /. Undo: create_firewall_alias with the same address.",
)
.takes(&[ALIAS])
.needs(MODIFY)
.removes(THE_ALIAS.undone_by("create_firewall_alias"))
.examples(&[Example {
    ask: "Forget the alias of the old printer",
    args: r#"{"name": "old-printer"}"#,
}]);

const LIST_SETS: Plain = read(Toolset::Firewall, "list_firewall_ipsets", "List IP sets", SETS)
    .says(
        "Lists the cluster's IP sets: names for several addresses and networks, which rules use with a + before the name.\n\nlist_firewall_ipset_entries shows what is in one. The set management decides who reaches the nodes, blacklist who reaches nothing. Needs Sys.Audit on /.",
    )
    .needs(AUDIT)
    .rows(&["name", "comment"])
    .examples(&[Example {
        ask: "Which IP sets are there?",
        args: "{}",
    }]);

const CREATE_SET: Plain = change(
    (Toolset::Firewall, Risk::Change),
    "create_firewall_ipset",
    "Create an IP set",
    Method::Post,
    SETS,
)
.says(
    "Creates an empty IP set; rules use it as source or dest with a + before its name.\n\nFill it with add_firewall_ipset_entry. For a single address create_firewall_alias is enough. The names management and blacklist have a meaning of their own. Needs Sys.Modify and Sys.Audit on /. Undo: write_proxmox_api with DELETE on /cluster/firewall/ipset/NAME while it is empty.",
)
.takes(&[SET, COMMENT])
.needs(MODIFY)
.creates(
    an("ipset", &["name"])
        .listed(SETS, "name")
        .undone_at("/cluster/firewall/ipset/{name}"),
)
.examples(&[Example {
    ask: "Make a set for the cameras",
    args: r#"{"name": "cameras"}"#,
}]);

const LIST_ENTRIES: Plain = read(
    Toolset::Firewall,
    "list_firewall_ipset_entries",
    "List the addresses of an IP set",
    ONE_SET,
)
.says(
    "Lists the addresses and networks in one IP set of the cluster's firewall.\n\nlist_firewall_ipsets has the names. An entry with nomatch is left out of the set even if a network in it covers it. Needs Sys.Audit on /.",
)
.takes(&[SET])
.needs(AUDIT)
.rows(&["cidr", "nomatch", "comment"])
.examples(&[Example {
    ask: "Who is in the set admins?",
    args: r#"{"name": "admins"}"#,
}]);

const ADD_ENTRY: Plain = change(
    (Toolset::Firewall, Risk::Grant),
    "add_firewall_ipset_entry",
    "Add an address to an IP set",
    Method::Post,
    ONE_SET,
)
.says(
    "Adds an address, a network or an alias to an IP set; every rule that uses the set takes it up at once.\n\nA rule that accepts lets the address in, one that drops cuts it off. A person must approve it; you cannot confirm it yourself. list_firewall_ipset_entries shows what is in it. Needs Sys.Modify and Sys.Audit on /. Undo: delete_firewall_ipset_entry.",
)
.takes(&[
    SET,
    text("cidr", "Address, network or alias; without /32.").required(),
    COMMENT,
    flag("nomatch", "Leave it out of the set instead."),
])
.needs(MODIFY)
.creates(THE_ENTRY.undone_by("delete_firewall_ipset_entry"))
.examples(&[Example {
    ask: "Count the guest network among the admins",
    args: r#"{"name": "admins", "cidr": "10.30.0.0/24"}"#,
}]);

const DELETE_ENTRY: Plain = change(
    (Toolset::Firewall, Risk::Destroy),
    "delete_firewall_ipset_entry",
    "Take an address out of an IP set",
    Method::Delete,
    "/cluster/firewall/ipset/{name}/{cidr}",
)
.says(
    "Takes an address or network out of an IP set; every rule that uses the set takes it up at once.\n\nWho got in by such a rule is cut off, so it asks for a confirmation. list_firewall_ipset_entries shows how the entry is written. Needs Sys.Modify and Sys.Audit on /. Undo: add_firewall_ipset_entry.",
)
.takes(&[SET, text("cidr", "The entry, as it is listed.").required()])
.needs(MODIFY)
.removes(THE_ENTRY.undone_by("add_firewall_ipset_entry"))
.examples(&[Example {
    ask: "The laptop network is no admin any more",
    args: r#"{"name": "admins", "cidr": "192.168.1.48/28"}"#,
}]);

const LIST_MACROS: Plain = read(
    Toolset::Firewall,
    "list_firewall_macros",
    "List firewall macros",
    "/cluster/firewall/macros",
)
.says(
    "Lists the macros that rules can name instead of protocol and ports: SSH, HTTPS, Ping and many more.\n\nUse it to find how one is written before create_cluster_firewall_rule or create_vm_firewall_rule. Any login may see them.",
)
.rows(&["macro", "descr"])
.examples(&[Example {
    ask: "Is there a firewall macro for PostgreSQL?",
    args: "{}",
}]);

const GET_REFS: Plain = read(
    Toolset::Firewall,
    "get_firewall_refs",
    "List what firewall rules can refer to",
    "/cluster/firewall/refs",
)
.says(
    "Lists the aliases and IP sets that the cluster's rules can name as source or dest, as they are written there.\n\nThose of virtual networks are among them. list_firewall_aliases and list_firewall_ipsets show the addresses behind the names. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.rows(&["ref", "type", "scope", "comment"])
.examples(&[Example {
    ask: "Which names may I use in a rule?",
    args: "{}",
}]);
