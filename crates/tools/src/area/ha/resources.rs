//! The guests that HA looks after.

use pve::Method;

use super::{AUDIT, MANAGE};
use crate::plain::{Arg, Entry, Need, Plain, UNSET, an, change, choice, read, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] =
    &[&LIST, &GET, &CREATE, &UPDATE, &DELETE, &MIGRATE, &RELOCATE];

const SID: Arg = text("sid", "The guest: vm:100 or ct:100.")
    .required()
    .shaped(is_service);
const GROUP: Arg = text("group", "Before PVE 9: its HA group.");
const RELOCATES: Arg = whole("max_relocate", "Tries on other nodes.").within(0, 10);
const RESTARTS: Arg = whole("max_restart", "Restarts on a node before relocating.").within(0, 10);
const STATE: Arg = choice(
    "state",
    &["started", "stopped", "disabled", "ignored"],
    "What HA brings it to; ignored: hands off.",
);
const COMMENT: Arg = text("comment", "What it is for.");
const TARGET: Arg = text("node", "The node to move it to.").required();
const THE_RESOURCE: Entry = an("HA resource", &["sid"]).listed("/cluster/ha/resources", "sid");
/// How it is seen to move.
const THE_SERVICE: Entry = an("HA resource", &["sid"])
    .listed("/cluster/ha/status/current", "sid")
    .settles();
/// The guest is looked at, too: what protects it holds for HA as well.
const MANAGE_GUEST: Need = Need::All(&[MANAGE, Need::On("/vms/{sid|id}", "VM.Audit")]);

fn is_service(text: &str) -> bool {
    let is_id = |id: &str| id.len() >= 3 && id.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(':')
        .is_some_and(|(kind, id)| matches!(kind, "vm" | "ct") && is_id(id))
}

const LIST: Plain = read(
    Toolset::Ha,
    "list_ha_resources",
    "List HA resources",
    "/cluster/ha/resources",
)
.says(
    "Lists the guests that HA looks after and how: the state it keeps them in, restarts and relocations it tries.\n\nget_ha_status shows where they are and how they do. A guest that is not listed stays down when its node fails. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.rows(&[
    "sid",
    "state",
    "group",
    "max_restart",
    "max_relocate",
    "failback",
    "comment",
])
.examples(&[Example {
    ask: "Which guests are highly available?",
    args: "{}",
}]);

const GET: Plain = read(
    Toolset::Ha,
    "get_ha_resource",
    "Show an HA resource",
    "/cluster/ha/resources/{sid}",
)
.says(
    "Shows how HA looks after one guest: the state it keeps it in, restarts and relocations it tries.\n\nlist_ha_resources has all of them, get_ha_status where it is now. Needs Sys.Audit on /.",
)
.takes(&[SID])
.needs(AUDIT)
.item(&["sid", "state", "max_restart", "max_relocate", "comment"])
.examples(&[Example {
    ask: "How is the mail server kept up?",
    args: r#"{"sid": "vm:102"}"#,
}]);

const CREATE: Plain = change(
    (Toolset::Ha, Risk::Disrupt),
    "create_ha_resource",
    "Put a guest under HA",
    Method::Post,
    "/cluster/ha/resources",
)
.says(
    "Puts a guest under high availability: if its node fails, it starts on another one. Its disks must be on shared storage or replicated.\n\nHA brings it to the state at once: started starts it (default), stopped and disabled stop it and ask for a confirmation. From then on start_proxmox_vm and stop_proxmox_vm go through HA. Needs Sys.Console and Sys.Audit on /, VM.Audit on the guest. Undo: delete_ha_resource.",
)
.takes(&[SID, GROUP, RELOCATES, RESTARTS, STATE, COMMENT])
.about("sid")
.needs(MANAGE_GUEST)
.creates(THE_RESOURCE.undone_by("delete_ha_resource"))
.examples(&[Example {
    ask: "Keep the CI runner up if its node dies",
    args: r#"{"sid": "vm:111", "state": "started", "max_restart": 2, "comment": "builds must go on"}"#,
}]);

const UPDATE: Plain = change(
    (Toolset::Ha, Risk::Disrupt),
    "update_ha_resource",
    "Change an HA resource",
    Method::Put,
    "/cluster/ha/resources/{sid}",
)
.says(
    "Changes how HA looks after a guest: the state it is kept in, how often HA restarts or relocates it.\n\nState stopped and disabled stop the guest; ignored makes HA leave it alone. All but a comment returns a `confirm` value first; repeat the call with it. PVE 9 refuses group: there rules say which nodes. get_ha_resource shows it. Needs Sys.Console and Sys.Audit on /, VM.Audit on the guest. Undo: the same call with the old values.",
)
.takes(&[SID, GROUP, RELOCATES, RESTARTS, STATE, COMMENT, UNSET])
.about("sid")
.needs(MANAGE_GUEST)
.edits(THE_RESOURCE.read_at("/cluster/ha/resources/{sid}"))
.examples(&[
    Example {
        ask: "Let HA try three restarts of the mail server",
        args: r#"{"sid": "vm:102", "max_restart": 3}"#,
    },
    Example {
        ask: "Have HA stop the mail server",
        args: r#"{"sid": "vm:102", "state": "stopped"}"#,
    },
]);

const DELETE: Plain = change(
    (Toolset::Ha, Risk::Destroy),
    "delete_ha_resource",
    "Take a guest out of HA",
    Method::Delete,
    "/cluster/ha/resources/{sid}",
)
.says(
    "Takes a guest out of high availability. It keeps running, but stays down if its node fails; PVE 9 also takes it out of HA rules.\n\nTo make HA leave it alone for a while use update_ha_resource with state ignored. It asks for a confirmation. Needs Sys.Console and Sys.Audit on /, VM.Audit on the guest. Undo: create_ha_resource with the same settings; rules have to be mended.",
)
.takes(&[SID])
.about("sid")
.needs(MANAGE_GUEST)
.removes(THE_RESOURCE.undone_by("create_ha_resource"))
.examples(&[Example {
    ask: "The mail server need not be highly available any more",
    args: r#"{"sid": "vm:102"}"#,
}]);

const MIGRATE: Plain = change(
    (Toolset::Ha, Risk::Disrupt),
    "migrate_ha_resource",
    "Migrate an HA resource",
    Method::Post,
    "/cluster/ha/resources/{sid}/migrate",
)
.says(
    "Asks HA to move a guest to another node, a running VM live; containers are restarted on the way.\n\nmigrate_proxmox_vm does the same and first checks disks and devices. HA rules may move other guests along or bring it back. relocate_ha_resource stops it meanwhile. Waits until HA shows it there. Returns a `confirm` value first; repeat the call with it. Needs Sys.Console and Sys.Audit on /, VM.Audit on the guest. Undo: the same call with the old node.",
)
.takes(&[SID, TARGET])
.about("sid")
.needs(MANAGE_GUEST)
.does(
    "Have HA migrate {sid} to {node}",
    THE_SERVICE.not_undone("the same call with the node it was on brings it back"),
)
.examples(&[Example {
    ask: "Move the mail server to pve1 without stopping it",
    args: r#"{"sid": "vm:102", "node": "pve1"}"#,
}]);

const RELOCATE: Plain = change(
    (Toolset::Ha, Risk::Disrupt),
    "relocate_ha_resource",
    "Relocate an HA resource",
    Method::Post,
    "/cluster/ha/resources/{sid}/relocate",
)
.says(
    "Asks HA to stop a guest, move it to another node and start it there: an interruption of minutes.\n\nFor guests that cannot move live; migrate_ha_resource keeps a VM running. Its disks must be on shared storage or replicated. It asks for a confirmation and waits until HA shows it there. Needs Sys.Console and Sys.Audit on /, VM.Audit on the guest. Undo: the same call with the old node.",
)
.takes(&[SID, TARGET])
.about("sid")
.needs(MANAGE_GUEST)
.does(
    "Have HA stop {sid} and start it on {node}",
    THE_SERVICE.not_undone("the same call with the node it was on brings it back"),
)
.examples(&[Example {
    ask: "Restart the mail server on pve1",
    args: r#"{"sid": "vm:102", "node": "pve1"}"#,
}]);
