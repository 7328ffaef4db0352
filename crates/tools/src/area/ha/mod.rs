//! The toolset `ha`: the guests that high availability looks after, and how it does.

pub(super) mod groups;
pub(super) mod resources;

use crate::plain::{Need, Plain, read};
use crate::spec::{Example, Toolset};
use crate::tool::Tool;

/// The tools about its state.
pub(in crate::area) const STATUS: &[&dyn Tool] = &[&CURRENT, &MANAGER];

const AUDIT: Need = Need::On("/", "Sys.Audit");
/// Changing how HA is set up, and reading it back.
const MANAGE: Need = Need::All(&[AUDIT, Need::On("/", "Sys.Console")]);

const CURRENT: Plain = read(
    Toolset::Ha,
    "get_ha_status",
    "Show the state of HA",
    "/cluster/ha/status/current",
)
.says(
    "Shows the state of high availability: quorum, the node that decides, each node's agent, and each guest under HA with the node it is on and what HA is doing with it.\n\nUse it first when HA moved or restarted something; get_ha_manager_status shows the raw state behind it. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.rows(&["id", "type", "node", "status", "request_state", "crm_state"])
.examples(&[Example {
    ask: "Is high availability in order?",
    args: "{}",
}]);

const MANAGER: Plain = read(
    Toolset::Ha,
    "get_ha_manager_status",
    "Show the HA manager's state",
    "/cluster/ha/status/manager_status",
)
.says(
    "Shows what the HA manager and its agents on the nodes have written down: states of services and nodes, with times.\n\nFor finding out why HA does what it does; get_ha_status says the same for people. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.item(&["quorum", "manager_status", "lrm_status"])
.examples(&[Example {
    ask: "What has the HA manager written down?",
    args: "{}",
}]);
