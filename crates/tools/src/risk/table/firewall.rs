//! Firewalls of the cluster, of nodes, guests and virtual networks.

use pve::Method::{Delete, Post, Put};

use crate::risk::property::flag;
use crate::risk::row::{Finding, Params, Row, Rule, UNSETS, by, found, is, row, safe};
use crate::spec::Risk::{Change, Destroy, Disrupt, Grant};

const OPENS: &str = "can open the firewall";
const SHUTS: &str = "can cut guests or nodes off from the network";

/// Conditions and action of a rule.
const MATCH: &[&str] = &[
    "action",
    "dest",
    "dport",
    "enable",
    "icmp-type",
    "iface",
    "macro",
    "proto",
    "source",
    "sport",
    "type",
];

/// Parameters of a new rule, whose effect is judged together.
const NEW_RULE: &[Rule] = &[
    safe(MATCH),
    safe(&["comment"]),
    safe(&["digest", "log", "pos"]),
];

const RULE: &[Rule] = &[
    is(MATCH, Grant, OPENS),
    is(&["moveto"], Grant, OPENS),
    safe(&["comment", "digest", "log"]),
];

/// PVE puts a new rule before all others, and leaves it disabled without `enable`.
fn new_rule(params: &Params<'_>) -> Option<Finding> {
    if !params.is_on("enable") {
        return None;
    }
    // A security group can have any name, that of an action too.
    let is_plain = matches!(params.text("type"), Some("in" | "out" | "forward"));
    match params.text("action") {
        Some("DROP" | "REJECT") if is_plain => found(Disrupt, SHUTS),
        _ => found(Grant, "opens the firewall"),
    }
}

const OPTIONS: &[Rule] = &[
    by(
        &[
            "ebtables",
            "enable",
            "ipfilter",
            "macfilter",
            "nosmurfs",
            "protection_synflood",
            "tcpflags",
        ],
        filter,
    ),
    by(
        &["dhcp", "ndp", "nf_conntrack_allow_invalid", "radv"],
        admission,
    ),
    by(&["policy_forward", "policy_in", "policy_out"], policy),
    is(
        &[
            "nf_conntrack_helpers",
            "protection_synflood_burst",
            "protection_synflood_rate",
        ],
        Grant,
        OPENS,
    ),
    is(
        &["nftables"],
        Grant,
        "replaces the firewall by another implementation",
    ),
    is(
        &[
            "nf_conntrack_max",
            "nf_conntrack_tcp_timeout_established",
            "nf_conntrack_tcp_timeout_syn_recv",
        ],
        Disrupt,
        "can cut connections off",
    ),
    safe(&[
        "digest",
        "log_level_forward",
        "log_level_in",
        "log_level_out",
        "log_nf_conntrack",
        "log_ratelimit",
        "smurf_log_level",
        "tcp_flags_log_level",
    ]),
];

/// The switch of a filter that holds traffic back.
fn filter(text: &str) -> Option<Finding> {
    match flag(text) {
        Some(true) => found(Disrupt, SHUTS),
        _ => found(Grant, OPENS),
    }
}

/// The switch of an exception that lets traffic through.
fn admission(text: &str) -> Option<Finding> {
    match flag(text) {
        Some(false) => found(Disrupt, SHUTS),
        _ => found(Grant, OPENS),
    }
}

/// The policy for traffic that no rule matches.
fn policy(text: &str) -> Option<Finding> {
    match text {
        "DROP" | "REJECT" => found(Disrupt, SHUTS),
        _ => found(Grant, "opens the firewall"),
    }
}

/// The name of a new alias. `local_network` are the hosts that have access to the nodes themselves.
fn alias(name: &str) -> Option<Finding> {
    if name.eq_ignore_ascii_case("local_network") {
        found(Grant, "changes which hosts have access to the nodes")
    } else {
        None
    }
}

/// A security group: PVE renames it in the rules that use it, one file after another.
fn group(params: &Params<'_>) -> Option<Finding> {
    if is_renamed(params, "group") {
        found(Disrupt, SHUTS)
    } else {
        None
    }
}

/// An IP set: rules go on using the old name and no longer match.
fn ipset(params: &Params<'_>) -> Option<Finding> {
    if is_renamed(params, "name") {
        found(Grant, OPENS)
    } else {
        None
    }
}

/// Checks that something gets another name. Renaming it to the name that it has only sets its comment.
fn is_renamed(params: &Params<'_>, name: &str) -> bool {
    params
        .text("rename")
        .is_some_and(|old| params.text(name) != Some(old))
}

const DIGEST: &[Rule] = &[safe(&["digest"])];
const SHADOWS: &str =
    "takes the place of one that the cluster has under the same name: can open the firewall";

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    // Rules
    row(Post, &[
        "/cluster/firewall/rules",
        "/cluster/firewall/groups/{group}",
        "/cluster/sdn/vnets/{vnet}/firewall/rules",
        "/nodes/{node}/firewall/rules",
        "/nodes/{node}/{guest}/firewall/rules",
    ], (Change, "adds a firewall rule"), &[NEW_RULE]).whole(new_rule).later(),
    row(Put, &[
        "/cluster/firewall/rules/{pos}",
        "/cluster/firewall/groups/{group}/{pos}",
        "/cluster/sdn/vnets/{vnet}/firewall/rules/{pos}",
        "/nodes/{node}/firewall/rules/{pos}",
        "/nodes/{node}/{guest}/firewall/rules/{pos}",
    ], (Change, "changes a firewall rule"), &[RULE, &[UNSETS]]),
    row(Delete, &[
        "/cluster/firewall/rules/{pos}",
        "/cluster/firewall/groups/{group}/{pos}",
        "/cluster/sdn/vnets/{vnet}/firewall/rules/{pos}",
        "/nodes/{node}/firewall/rules/{pos}",
        "/nodes/{node}/{guest}/firewall/rules/{pos}",
    ], (Destroy, "deletes a firewall rule: can open the firewall or cut guests off"), &[DIGEST]),
    // Options
    row(Put, &[
        "/cluster/firewall/options",
        "/cluster/sdn/vnets/{vnet}/firewall/options",
        "/nodes/{node}/firewall/options",
        "/nodes/{node}/{guest}/firewall/options",
    ], (Change, "changes options of the firewall"), &[OPTIONS, &[UNSETS]]).later(),
    // Security groups
    row(Post, &["/cluster/firewall/groups"], (Change, "creates an empty security group"), &[
        &[safe(&["comment", "digest", "group", "rename"])],
    ]).whole(group),
    row(Delete, &["/cluster/firewall/groups/{group}"], (Destroy, "deletes a security group"), &[]),
    // Aliases
    row(Post, &["/cluster/firewall/aliases"], (Change, "names an address"), &[
        &[by(&["name"], alias), safe(&["cidr", "comment"])],
    ]),
    row(Post, &["/nodes/{node}/{guest}/firewall/aliases"], (Grant, SHADOWS), &[&[safe(&["cidr", "comment", "name"])]]),
    row(Put, &["/cluster/firewall/aliases/{name}", "/nodes/{node}/{guest}/firewall/aliases/{name}"],
        (Grant, "changes which addresses the rules with this alias match: can open the firewall"), &[
        &[safe(&["cidr", "comment", "digest", "rename"])],
    ]),
    row(Delete, &["/cluster/firewall/aliases/{name}", "/nodes/{node}/{guest}/firewall/aliases/{name}"],
        (Destroy, "deletes an alias: rules with it no longer match"), &[DIGEST]),
    // IP sets
    row(Post, &["/cluster/firewall/ipset"], (Change, "creates an empty IP set"), &[
        &[safe(&["comment", "digest", "name", "rename"])],
    ]).whole(ipset),
    row(Post, &["/nodes/{node}/{guest}/firewall/ipset"], (Grant, SHADOWS), &[&[safe(&["comment", "digest", "name", "rename"])]]),
    row(Delete, &["/cluster/firewall/ipset/{name}", "/nodes/{node}/{guest}/firewall/ipset/{name}"],
        (Destroy, "deletes an IP set: rules with it no longer match"), &[&[safe(&["force"])]]),
    row(Post, &["/cluster/firewall/ipset/{name}", "/nodes/{node}/{guest}/firewall/ipset/{name}"],
        (Grant, "adds an address to the rules with this IP set: can open the firewall"), &[&[safe(&["cidr", "comment", "nomatch"])]]),
    // PVE clears `nomatch` if it is not sent, so that a new comment alone can open the firewall too.
    row(Put, &["/cluster/firewall/ipset/{name}/{cidr}", "/nodes/{node}/{guest}/firewall/ipset/{name}/{cidr}"],
        (Grant, "changes whether the rules with this IP set match an address: can open the firewall"), &[
        &[safe(&["comment", "digest", "nomatch"])],
    ]),
    row(Delete, &["/cluster/firewall/ipset/{name}/{cidr}", "/nodes/{node}/{guest}/firewall/ipset/{name}/{cidr}"],
        (Destroy, "takes an address out of the rules with this IP set"), &[DIGEST]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Risk;

    fn whole(judge: fn(&Params<'_>) -> Option<Finding>, params: &[(&str, &str)]) -> Option<Risk> {
        let sent: Vec<_> = params
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        judge(&Params(&sent)).map(|it| it.risk)
    }

    #[test]
    fn new_rule_counts_once_it_is_enabled() {
        let of = |enable, kind, action| {
            let mut params = vec![("type", kind), ("action", action)];
            params.extend(Option::map(enable, |it| ("enable", it)));
            whole(new_rule, &params)
        };
        for off in [None, Some("0"), Some("off")] {
            assert_eq!(of(off, "in", "ACCEPT"), None, "{off:?}");
        }
        for on in ["1", "2", "", "x"] {
            assert_eq!(of(Some(on), "in", "ACCEPT"), Some(Grant), "{on}");
        }
        for shuts in ["in", "out", "forward"] {
            assert_eq!(of(Some("1"), shuts, "DROP"), Some(Disrupt), "{shuts}");
            assert_eq!(of(Some("1"), shuts, "REJECT"), Some(Disrupt), "{shuts}");
            assert_eq!(of(Some("1"), shuts, "webserver"), Some(Grant), "{shuts}");
        }
        assert_eq!(of(Some("1"), "group", "DROP"), Some(Grant));
        assert_eq!(whole(new_rule, &[("enable", "1")]), Some(Grant));
    }

    #[test]
    fn switches_open_one_way_and_shut_the_other() {
        for (judge, opens, shuts) in [
            (
                filter as fn(&str) -> Option<Finding>,
                &["0", "off", "", "2"][..],
                &["1", "on"][..],
            ),
            (admission, &["1", "yes", "", "2"], &["0", "No"]),
            (policy, &["ACCEPT", "", "drop"], &["DROP", "REJECT"]),
        ] {
            for value in opens {
                assert_eq!(judge(value).map(|it| it.risk), Some(Grant), "{value}");
            }
            for value in shuts {
                assert_eq!(judge(value).map(|it| it.risk), Some(Disrupt), "{value}");
            }
        }
    }

    #[test]
    fn alias_of_the_local_network_is_a_grant() {
        assert_eq!(alias("Local_Network").map(|it| it.risk), Some(Grant));
        assert_eq!(alias("office"), None);
        assert_eq!(alias(""), None);
    }

    #[test]
    fn rename_to_another_name_counts() {
        assert_eq!(whole(group, &[("group", "web")]), None);
        assert_eq!(whole(group, &[("group", "web"), ("rename", "web")]), None);
        assert_eq!(
            whole(group, &[("group", "web"), ("rename", "old")]),
            Some(Disrupt)
        );
        assert_eq!(whole(group, &[("rename", "old")]), Some(Disrupt));
        assert_eq!(whole(ipset, &[("name", "lan"), ("rename", "lan")]), None);
        assert_eq!(
            whole(ipset, &[("name", "lan"), ("rename", "old")]),
            Some(Grant)
        );
    }
}
