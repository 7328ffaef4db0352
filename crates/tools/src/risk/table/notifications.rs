//! Notification targets and matchers.

use pve::Method::{Delete, Post, Put};

use crate::risk::row::{Row, Rule, UNSETS, is, on, row, safe};
use crate::spec::Risk::{Change, Destroy, Disrupt, Grant};

const UNTOLD: &str = "people may no longer be notified";

const TARGET: &[Rule] = &[
    is(
        &[
            "body",
            "header",
            "mailto",
            "mailto-user",
            "method",
            "mode",
            "password",
            "port",
            "secret",
            "server",
            "token",
            "url",
            "username",
        ],
        Grant,
        "changes where notifications and the credential for them are sent, or how",
    ),
    is(
        &["from-address"],
        Disrupt,
        "mail servers can refuse the sender: people may no longer be notified",
    ),
    on(&["disable"], Disrupt, UNTOLD),
    safe(&["author", "comment", "digest", "name"]),
];

const CONDITIONS: &[&str] = &[
    "invert-match",
    "match-calendar",
    "match-field",
    "match-severity",
    "mode",
    "target",
];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Post, &[
        "/cluster/notifications/endpoints/gotify",
        "/cluster/notifications/endpoints/sendmail",
        "/cluster/notifications/endpoints/smtp",
        "/cluster/notifications/endpoints/webhook",
    ], (Grant, "adds a server or address that notifications can be sent to"), &[TARGET]),
    row(Put, &[
        "/cluster/notifications/endpoints/gotify/{name}",
        "/cluster/notifications/endpoints/sendmail/{name}",
        "/cluster/notifications/endpoints/smtp/{name}",
        "/cluster/notifications/endpoints/webhook/{name}",
    ], (Change, "changes a notification target"), &[TARGET, &[UNSETS]]),
    row(Delete, &[
        "/cluster/notifications/endpoints/gotify/{name}",
        "/cluster/notifications/endpoints/sendmail/{name}",
        "/cluster/notifications/endpoints/smtp/{name}",
        "/cluster/notifications/endpoints/webhook/{name}",
    ], (Destroy, "deletes a notification target"), &[]),
    row(Post, &["/cluster/notifications/matchers"], (Change, "sends notifications to existing targets"), &[
        &[safe(CONDITIONS), safe(&["comment", "disable", "name"])],
    ]),
    row(Put, &["/cluster/notifications/matchers/{name}"], (Change, "changes a notification matcher"), &[
        &[is(CONDITIONS, Disrupt, UNTOLD), on(&["disable"], Disrupt, UNTOLD), safe(&["comment", "digest"]), UNSETS],
    ]),
    row(Delete, &["/cluster/notifications/matchers/{name}"], (Destroy, "deletes a notification matcher"), &[]),
    row(Post, &["/cluster/notifications/targets/{name}/test"], (Change, "sends a test notification"), &[]),
];
