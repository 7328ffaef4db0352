//! What can become of a request and of its answer.

use std::sync::LazyLock;
use std::time::Duration;

use sim::{Fault, Sim};
use tokio::net::TcpSocket;
use tools::outcome::StepState::{self, Done, Failed, Running, Unknown};
use tools::plan::{Action, Plan, Step};

use super::{Column, has_task, hold, is_first, only_looks, only_opens, request_of};
use crate::house::{Ways, closed_port};

/// Longer than anybody waits for an answer.
const NEVER: Duration = Duration::from_hours(1);
/// How long it is waited for the answer to a write that never comes.
const SHORT: Duration = Duration::from_millis(500);
/// The same for a read: those beside it have to come within this.
const NOT_SO_SHORT: Duration = Duration::from_secs(3);

fn strike(sim: &Sim, step: &Step, fault: Fault) {
    let (method, path) = request_of(step);
    sim.fault(fault.on(&method, &path));
}

/// PVE has certainly not carried it out.
fn failed(_: &Plan, step: &Step) -> Vec<StepState> {
    if only_looks(step) {
        // What only looks is asked for once more, and then it may be there.
        return vec![Failed, Unknown, Done];
    }
    vec![Failed]
}

/// It was not carried out, and nobody can know that. What is typed is typed only once its console is open.
fn unknown(_: &Plan, step: &Step) -> Vec<StepState> {
    if only_opens(step) {
        return vec![Failed];
    }
    if only_looks(step) {
        return vec![Failed, Unknown, Done];
    }
    vec![Unknown]
}

/// It was carried out, and the answer does not say so. A task leaves a trace in the node's own list: there is no excuse for
/// not finding it.
fn found_out(plan: &Plan, step: &Step) -> Vec<StepState> {
    if has_task(plan, step) {
        return vec![Done];
    }
    let mut allowed = unknown(plan, step);
    allowed.push(Done);
    allowed
}

fn done(_: &Plan, _: &Step) -> Vec<StepState> {
    vec![Done]
}

pub(super) const CONNECTION_REFUSED: Column = Column {
    name: "connection refused",
    comes: "`failed`: the host was not reached. Connecting is tried again for a while; the request never left.",
    // What is only read goes the way of all reads; and nothing is sent after a write that was not.
    meets: |plan, step| !only_looks(step) && is_first(plan, step),
    ways: |_| Ways {
        port_of_writes: Some(CLOSED_PORT.1),
        ..Ways::default()
    },
    allows: |_, _| vec![Failed],
    words: &["was not reached"],
    most: 0,
    ..Column::PLAIN
};

static CLOSED_PORT: LazyLock<(TcpSocket, u16)> = LazyLock::new(closed_port);

pub(super) const RESET_BEFORE: Column = Column {
    name: "connection reset, nothing was carried out",
    comes: "`unknown`: it was sent once and not answered. Nobody can tell this from the next row.",
    strike: |sim, _, step| strike(sim, step, Fault::drop_before()),
    allows: unknown,
    ..Column::PLAIN
};

pub(super) const RESET_AFTER: Column = Column {
    name: "connection reset after it was carried out",
    comes: "`applied` where the task is in the node's list or the result can be read and was not so before; else `unknown`.",
    strike: |sim, _, step| strike(sim, step, Fault::drop_after().times(1)),
    allows: found_out,
    ..Column::PLAIN
};

pub(super) const REFUSED_500: Column = Column {
    name: "500 of PVE",
    comes: "`failed`, in PVE's own words.",
    strike: |sim, _, step| strike(sim, step, Fault::refuse(500, "the sky is falling")),
    allows: failed,
    words: &["the sky is falling"],
    ..Column::PLAIN
};

pub(super) const BAD_GATEWAY: Column = Column {
    name: "502 of a proxy",
    comes: "`unknown`: something in between, not PVE, answered.",
    strike: |sim, _, step| strike(sim, step, Fault::refuse(502, "Bad Gateway")),
    allows: unknown,
    words: &["not PVE"],
    ..Column::PLAIN
};

pub(super) const NO_ROUTE: Column = Column {
    name: "595: the node was not reached",
    comes: "`failed`: PVE says this before it begins. Sent once more, as PVE cannot have seen it.",
    strike: |sim, _, step| strike(sim, step, Fault::refuse(595, "No route to host")),
    allows: failed,
    words: &["595: No route to host"],
    most: 2,
    ..Column::PLAIN
};

pub(super) const BROKEN_PIPE: Column = Column {
    name: "596, nothing was carried out",
    comes: "`unknown`: the connection between two nodes broke, or the answer could not be written.",
    strike: |sim, _, step| strike(sim, step, Fault::refuse(596, "Broken pipe")),
    allows: unknown,
    words: &["596: Broken pipe"],
    ..Column::PLAIN
};

pub(super) const BROKEN_PIPE_AFTER: Column = Column {
    name: "596 after it was carried out",
    comes: "as with a reset after it was carried out.",
    strike: |sim, _, step| strike(sim, step, Fault::refuse_after(596, "Broken pipe").times(1)),
    allows: found_out,
    words: &["596: Broken pipe"],
    ..Column::PLAIN
};

pub(super) const TIMEOUT: Column = Column {
    name: "no answer in time",
    comes: "as with a reset after it was carried out.",
    ways: |step| Ways {
        patience_of_reads: only_looks(step).then_some(NOT_SO_SHORT),
        patience_of_writes: Some(SHORT),
        ..Ways::default()
    },
    strike: |sim, _, step| strike(sim, step, Fault::delay(NEVER)),
    allows: found_out,
    words: &["within"],
    ..Column::PLAIN
};

pub(super) const SLOW: Column = Column {
    name: "a late answer",
    comes: "`applied`.",
    strike: |sim, _, step| strike(sim, step, Fault::delay(Duration::from_millis(50))),
    allows: done,
    ..Column::PLAIN
};

pub(super) const CUT_ANSWER: Column = Column {
    name: "a truncated answer",
    comes: "as with a reset after it was carried out.",
    strike: |sim, _, step| strike(sim, step, Fault::cut_answer().times(1)),
    allows: found_out,
    ..Column::PLAIN
};

pub(super) const GIBBERISH: Column = Column {
    name: "invalid JSON",
    comes: "as with a reset after it was carried out.",
    strike: |sim, _, step| strike(sim, step, Fault::gibberish().times(1)),
    allows: found_out,
    ..Column::PLAIN
};

pub(super) const LOGIN_PAGE: Column = Column {
    name: "a login page in HTML",
    comes: "`unknown`: a success that is none of PVE's proves nothing.",
    strike: |sim, _, step| strike(sim, step, Fault::login_page()),
    allows: unknown,
    ..Column::PLAIN
};

/// What leaves nothing that could be read back.
const UNSEEN: &[(&str, &str)] = &[
    (
        "write_proxmox_api",
        "what any method brings about is not known; the answer warns of that",
    ),
    ("send_vm_key", "PVE does not tell which keys QEMU took"),
    (
        "send_vm_monitor_command",
        "what QEMU answers is all there is",
    ),
    (
        "update_proxmox_vm",
        "a cloud-init drive that is up to date looks like one that was written anew",
    ),
    (
        "update_vm_cloudinit",
        "a cloud-init drive that is up to date looks like one that was written anew",
    ),
    ("vm_agent_set_password", "it happens inside the guest"),
    ("vm_agent_file_write", "it happens inside the guest"),
    ("vm_agent_fstrim", "it happens inside the guest"),
    ("vm_agent_fsfreeze_freeze", "it happens inside the guest"),
    ("vm_agent_fsfreeze_thaw", "it happens inside the guest"),
    ("wakeonlan_node", "nobody answers the packet"),
    ("change_password", "no password can be read"),
    ("sync_auth_domain", "a trial run changes nothing"),
    (
        "update_cluster_firewall_rule",
        "a rule has no name: at another place it looks like any other",
    ),
    (
        "test_notification_target",
        "a message leaves no trace in PVE",
    ),
    (
        "delete_replication_job",
        "PVE only marks it, and removes it when it would run next",
    ),
];

pub(super) const EMPTY_WORD: Column = Column {
    name: "200, and nothing was done",
    comes: "`failed`: PVE reported success, but it is not so. `unknown` where it is only likely to be seen, `running` where it may still come.",
    // What has a task is done by that; what is typed needs more than this answer; what is only listed may be empty.
    meets: |plan, step| {
        let tells_a_file = matches!(step.action, Action::AgentFile(_));
        let is_apart = has_task(plan, step) || only_looks(step) || only_opens(step);
        tells_a_file || !is_apart
    },
    strike: |sim, _, step| {
        let (method, path) = request_of(step);
        sim.fault(Fault::answer(&method, &path, serde_json::Value::Null));
    },
    allows: |_, _| vec![Failed, Unknown, Running],
    is_void: true,
    excuses: UNSEEN,
    ..Column::PLAIN
};

pub(super) const EXPIRED_TICKET: Column = Column {
    name: "an expired ticket",
    comes: "`applied`: a 401 comes before anything is done, so that it is sent again with a new ticket, once.",
    ways: |_| Ways {
        logs_in: true,
        ..Ways::default()
    },
    strike: |sim, _, step| {
        strike(
            sim,
            step,
            Fault::refuse(401, "Authentication failed!").times(1),
        );
    },
    allows: done,
    most: 2,
    ..Column::PLAIN
};

pub(super) const REFUSED_CREDENTIALS: Column = Column {
    name: "credentials that PVE refuses",
    comes: "`failed`: PVE refused the login or token.",
    strike: |sim, _, step| strike(sim, step, Fault::refuse(401, "Authentication failed!")),
    allows: failed,
    words: &["Authentication failed!"],
    most: 2,
    ..Column::PLAIN
};

#[tokio::test]
async fn connection_refused() {
    hold(&CONNECTION_REFUSED).await;
}

#[tokio::test]
async fn reset_before() {
    hold(&RESET_BEFORE).await;
}

#[tokio::test]
async fn reset_after() {
    hold(&RESET_AFTER).await;
}

#[tokio::test]
async fn refused_500() {
    hold(&REFUSED_500).await;
}

#[tokio::test]
async fn bad_gateway() {
    hold(&BAD_GATEWAY).await;
}

#[tokio::test]
async fn no_route() {
    hold(&NO_ROUTE).await;
}

#[tokio::test]
async fn broken_pipe() {
    hold(&BROKEN_PIPE).await;
}

#[tokio::test]
async fn broken_pipe_after() {
    hold(&BROKEN_PIPE_AFTER).await;
}

#[tokio::test]
async fn timeout() {
    hold(&TIMEOUT).await;
}

#[tokio::test]
async fn slow() {
    hold(&SLOW).await;
}

#[tokio::test]
async fn truncated() {
    hold(&CUT_ANSWER).await;
}

#[tokio::test]
async fn gibberish() {
    hold(&GIBBERISH).await;
}

#[tokio::test]
async fn login_page() {
    hold(&LOGIN_PAGE).await;
}

#[tokio::test]
async fn empty_word() {
    hold(&EMPTY_WORD).await;
}

#[tokio::test]
async fn expired_ticket() {
    hold(&EXPIRED_TICKET).await;
}

#[tokio::test]
async fn refused_credentials() {
    hold(&REFUSED_CREDENTIALS).await;
}
