//! The toolset `firewall`: what the firewall lets through, in the cluster, on nodes and at guests.

mod cluster;
mod groups;
mod guests;
mod names;
mod nodes;

use pve::Method;

use crate::plain::{Arg, Entry, Need, Plain, an, change, choice, text, whole};
use crate::spec::{Risk, Toolset};

pub(super) use cluster::TOOLS as CLUSTER;
pub(super) use groups::TOOLS as GROUPS;
pub(super) use guests::TOOLS as GUESTS;
pub(super) use names::TOOLS as NAMES;
pub(super) use nodes::TOOLS as NODES;

const AUDIT: Need = Need::On("/", "Sys.Audit");
const MODIFY: Need = Need::All(&[AUDIT, Need::On("/", "Sys.Modify")]);

const POLICIES: &[&str] = &["ACCEPT", "REJECT", "DROP"];
const LEVELS: &[&str] = &[
    "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug", "nolog",
];

// What a rule is made of. PVE has a new rule switched off unless it is told otherwise, which nobody expects.
const ACTION: Arg = text("action", "ACCEPT, DROP, REJECT, or a security group.");
const TYPE: Arg = choice(
    "type",
    &["in", "out", "forward", "group"],
    "Direction; group inserts a security group.",
);
const ENABLE: Arg = whole("enable", "1 is in force, 0 is off.").within(0, 1);
const SOURCE: Arg = text("source", "From: address, network, alias or +ipset.");
const DEST: Arg = text("dest", "To: address, network, alias or +ipset.");
const PROTO: Arg = text("proto", "tcp, udp, icmp …; needed with ports.");
const SPORT: Arg = text("sport", "Source port or range.");
const DPORT: Arg = text("dport", "Port, 80,443 or 8000:8010.");
const MACRO: Arg = text("macro", "As list_firewall_macros writes it: SSH, HTTPS.");
const COMMENT: Arg = text("comment", "What it is for.");
const POS: Arg = whole("pos", "Its place in the list, from 0.")
    .within(0, 9_999)
    .required();

/// The columns of a list of rules.
const RULE: &[&str] = &[
    "pos", "enable", "type", "action", "macro", "source", "dest", "proto", "sport", "dport",
    "iface", "log", "comment",
];

/// A tool that adds a rule to the list at this path.
const fn adding(name: &'static str, title: &'static str, list: &'static str) -> Plain {
    change(
        (Toolset::Firewall, Risk::Grant),
        name,
        title,
        Method::Post,
        list,
    )
}

/// A rule in the list at this path.
const fn rule_of(list: &'static str, id: &'static [&'static str]) -> Entry {
    an("firewall rule", id).listed(list, "pos").numbered()
}
