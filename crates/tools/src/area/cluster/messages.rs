//! Notifications: who is told what, and by which way.

use pve::Method;

use crate::plain::{Need, Plain, an, change, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&ENDPOINTS, &TARGETS, &MATCHERS, &TEST];

const LIST: &str = "/cluster/notifications/targets";
const SEE: Need = Need::Any(&[
    Need::On("/mapping/notifications", "Mapping.Audit"),
    Need::On("/mapping/notifications", "Mapping.Use"),
    Need::On("/mapping/notifications", "Mapping.Modify"),
]);

const ENDPOINTS: Plain = read(
    Toolset::Cluster,
    "list_notification_endpoints",
    "List kinds of notification endpoints",
    "/cluster/notifications/endpoints",
)
.says(
    "Lists the kinds of ways that PVE can send notifications by: gotify, sendmail, smtp, webhook.\n\nThe ways that are set up are in list_notification_targets, who is told what in list_notification_matchers. Any login may see it.",
)
.rows(&["name"])
.examples(&[Example {
    ask: "How can Proxmox send notifications?",
    args: "{}",
}]);

const TARGETS: Plain = read(
    Toolset::Cluster,
    "list_notification_targets",
    "List notification targets",
    LIST,
)
.says(
    "Lists the ways by which notifications are sent: mail addresses, gotify servers, webhooks.\n\nlist_notification_matchers shows which messages go to which; test_notification_target tries one. Needs Mapping.Audit on /mapping/notifications.",
)
.needs(SEE)
.rows(&["name", "type", "origin", "disable", "comment"])
.examples(&[Example {
    ask: "Who gets mails from the cluster?",
    args: "{}",
}]);

const MATCHERS: Plain = read(
    Toolset::Cluster,
    "list_notification_matchers",
    "List notification matchers",
    "/cluster/notifications/matchers",
)
.says(
    "Lists the rules that say which messages (by severity, time or field) go to which notification targets.\n\nlist_notification_targets has the targets themselves. Needs Mapping.Audit on /mapping/notifications.",
)
.needs(SEE)
.rows(&["name", "mode", "target", "match-severity", "match-field", "match-calendar", "invert-match", "disable", "comment"])
.examples(&[Example {
    ask: "Which messages are sent to whom?",
    args: "{}",
}]);

const TEST: Plain = change(
    (Toolset::Cluster, Risk::Change),
    "test_notification_target",
    "Send a test notification",
    Method::Post,
    "/cluster/notifications/targets/{name}/test",
)
.says(
    "Sends a test message to one notification target, so that somebody gets a mail or a push message.\n\nPVE says whether it could hand it over, not whether it arrived: ask the receiver. list_notification_targets has the names. Needs Mapping.Audit, Mapping.Use or Mapping.Modify on /mapping/notifications. Undo: none, a message stays sent.",
)
.takes(&[text("name", "The target.").required()])
.needs(SEE)
.does(
    "Send a test message to {name}",
    an("notification target", &["name"])
        .listed(LIST, "name")
        .not_undone("a message stays sent"),
)
.examples(&[Example {
    ask: "Do mails from the cluster arrive?",
    args: r#"{"name": "mail-to-root"}"#,
}]);
