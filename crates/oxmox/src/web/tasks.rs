//! What runs on a cluster, and what ended there lately.
//!
//! PVE tells it node by node, in an order of nodes that may change from one answer to the next, so that pages of it could miss what
//! runs: it is read at once, and only then something is left out.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use pve::Request;
use pve::task::TaskSummary;
use serde_json::{Value, json};
use tools::clean;
use tools::fault::Fault;

use super::Page;
use super::answer::{Answer, Failure, Json};
use super::door::Person;

/// Of those that have ended, as many are told.
const ENDED: usize = 60;

/// All that run, and the newest of the others; the newest first.
pub(super) async fn tasks(
    State(page): State<Arc<Page>>,
    Extension(person): Extension<Person>,
    Path(name): Path<String>,
) -> Answer {
    let mut reached = page.engine.clusters_for(&person.caller);
    let Some(cluster) = reached.find(|cluster| cluster.name == name) else {
        let error = "there is no such cluster";
        return Err(Failure::new(StatusCode::NOT_FOUND, error));
    };
    let told = cluster.pve.list(Request::get("/cluster/tasks")).await;
    let (shown, left_out) = newest(told.map_err(Fault::from)?);
    let shown: Vec<_> = shown.iter().map(row).collect();
    Ok(Json(json!({ "tasks": shown, "left_out": left_out })))
}

/// What is shown, and how many of those that have ended are not.
fn newest(told: Vec<TaskSummary>) -> (Vec<TaskSummary>, usize) {
    let (mut shown, mut ended): (Vec<_>, Vec<_>) =
        told.into_iter().partition(|task| task.endtime.is_none());
    // Of those of one second in an order that lasts.
    let age = |task: &TaskSummary| (Reverse(task.upid.starttime()), task.upid.to_string());
    shown.sort_by_cached_key(age);
    ended.sort_by_cached_key(age);
    let left_out = ended.len().saturating_sub(ENDED);
    shown.extend(ended.into_iter().take(ENDED));
    (shown, left_out)
}

fn row(task: &TaskSummary) -> Value {
    let upid = &task.upid;
    json!({
        "upid": clean::line(upid.as_str()),
        "node": upid.node().as_str(),
        "type": clean::line(upid.task_type()),
        "id": clean::line(upid.id()),
        "user": clean::line(task.user.as_deref().unwrap_or(upid.user())),
        "starttime": upid.starttime(),
        "endtime": task.endtime,
        "status": task.status.as_deref().map(clean::line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(node: &str, start: u64, end: Option<u64>) -> TaskSummary {
        let upid = format!("UPID:{node}:00000001:00000001:{start:08X}:vzdump::root@pam:");
        serde_json::from_value(json!({"upid": upid, "endtime": end})).unwrap()
    }

    #[test]
    fn what_runs_on_the_last_node_is_not_left_out_for_what_ended_on_the_first() {
        let ended = (0..100).map(|at| task("pve1", at, Some(at + 1)));
        let told = ended.chain([task("pve9", 5, None)]).collect();
        let (shown, left_out) = newest(told);
        assert_eq!((shown.len(), left_out), (ENDED + 1, 100 - ENDED));
        assert_eq!(shown[0].upid.node().as_str(), "pve9");
        assert_eq!(shown[1].upid.starttime(), 99);
    }

    #[test]
    fn those_of_one_second_keep_their_places() {
        let both = [task("pve1", 7, None), task("pve2", 7, None)];
        let reversed = both.iter().rev().cloned().collect();
        assert_eq!(newest(both.to_vec()), newest(reversed));
    }
}
