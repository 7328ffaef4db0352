//! High availability: resources, groups (PVE 8), rules (PVE 9).

use pve::Method::{Delete, Post, Put};

use crate::risk::property::flag;
use crate::risk::row::{Finding, Params, Row, Rule, UNSETS, by, found, is, on, row, safe};
use crate::spec::Risk::{Change, Destroy, Disrupt};

const MOVES: &str = "HA may move guests to other nodes; containers restart";

const GROUP: &[&str] = &["nodes", "nofailback", "restricted"];

const NEW_RESOURCE: &[Rule] = &[
    by(&["state"], state),
    is(&["group"], Disrupt, MOVES),
    on(&["auto-rebalance", "failback"], Disrupt, MOVES),
    safe(&["comment", "max_relocate", "max_restart", "sid", "type"]),
];

const RESOURCE: &[Rule] = &[
    is(
        &["state"],
        Disrupt,
        "HA starts, stops or moves the guest, or leaves it alone when its node fails",
    ),
    is(&["group"], Disrupt, MOVES),
    on(&["auto-rebalance", "failback"], Disrupt, MOVES),
    is(
        &["max_relocate", "max_restart"],
        Disrupt,
        "HA may leave a guest stopped that fails to start",
    ),
    safe(&["comment", "digest"]),
];

/// The state that is requested for a new resource. Without one it is `started`.
fn state(state: &str) -> Option<Finding> {
    match state {
        "started" | "enabled" | "ignored" => None,
        _ => found(Disrupt, "HA stops the guest"),
    }
}

const RULE: &[&str] = &["affinity", "nodes", "resources", "strict"];

/// A new rule, which moves guests unless it is disabled.
fn moves(params: &Params<'_>) -> Option<Finding> {
    let is_disabled = params.text("disable").and_then(flag) == Some(true);
    if is_disabled {
        None
    } else {
        found(Disrupt, MOVES)
    }
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Post, &["/cluster/ha/groups"], (Change, "creates an HA group"), &[&[safe(GROUP), safe(&["comment", "group", "type"])]]),
    row(Put, &["/cluster/ha/groups/{group}"], (Change, "changes an HA group"), &[
        &[is(GROUP, Disrupt, MOVES), safe(&["comment", "digest"]), UNSETS],
    ]),
    row(Delete, &["/cluster/ha/groups/{group}"], (Destroy, "deletes an HA group"), &[]),
    row(Post, &["/cluster/ha/resources"], (Change, "HA manages the guest, and starts it if it is stopped"), &[NEW_RESOURCE]),
    row(Put, &["/cluster/ha/resources/{sid}"], (Change, "changes how HA manages the guest"), &[RESOURCE, &[UNSETS]]),
    row(Delete, &["/cluster/ha/resources/{sid}"], (Destroy, "HA no longer recovers the guest when its node fails"), &[
        &[safe(&["purge"])],
    ]),
    row(Post, &["/cluster/ha/resources/{sid}/migrate"], (Disrupt, "migrates the guest; a container restarts"), &[&[safe(&["node"])]]),
    row(Post, &["/cluster/ha/resources/{sid}/relocate"], (Disrupt, "stops the guest and starts it on another node"), &[&[safe(&["node"])]]),
    row(Post, &["/cluster/ha/rules"], (Change, "adds an HA rule"), &[
        &[safe(RULE), safe(&["comment", "disable", "rule", "type"])],
    ]).whole(moves),
    row(Put, &["/cluster/ha/rules/{rule}"], (Change, "changes an HA rule"), &[
        &[is(RULE, Disrupt, MOVES), is(&["disable"], Disrupt, MOVES), safe(&["comment", "digest", "type"]), UNSETS],
    ]),
    row(Delete, &["/cluster/ha/rules/{rule}"], (Destroy, "deletes an HA rule: HA may move guests"), &[]),
    row(Post, &["/cluster/ha/status/arm-ha"], (Disrupt, "HA manages guests again: it may start, stop or move them"), &[]),
    row(Post, &["/cluster/ha/status/disarm-ha"], (Disrupt, "HA no longer recovers guests when a node fails"), &[
        &[safe(&["resource-mode"])],
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_resource_is_stopped_by_other_states() {
        for calm in ["started", "enabled", "ignored"] {
            assert_eq!(state(calm), None, "{calm}");
        }
        for stops in ["stopped", "disabled", "", "Started"] {
            assert_eq!(state(stops).map(|it| it.risk), Some(Disrupt), "{stops}");
        }
    }

    #[test]
    fn new_rule_moves_guests_unless_it_is_disabled() {
        let with = |disable: Option<&str>| {
            let sent: Vec<_> = disable
                .map(|it| ("disable".to_owned(), it.to_owned()))
                .into_iter()
                .collect();
            moves(&Params(&sent)).map(|it| it.risk)
        };
        assert_eq!(with(Some("1")), None);
        for moving in [None, Some("0"), Some(""), Some("x")] {
            assert_eq!(with(moving), Some(Disrupt), "{moving:?}");
        }
    }
}
