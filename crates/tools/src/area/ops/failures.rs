//! Tasks that failed lately.

use std::collections::BTreeMap;

use pve::{Request, TaskEnd, TaskSummary};

use super::ask;
use super::estate::Estate;
use super::report::Gap;
use crate::words;

/// How far back is looked, in seconds.
const LATELY: i64 = 86_400;
/// How many failures of one node are read.
const MOST: u32 = 500;

/// Failures of one sort on one node.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failures {
    /// PVE's word for the task.
    pub(super) task: String,
    /// Where they ran.
    pub(super) node: String,
    /// How often.
    pub(super) count: usize,
    /// How the latest ended.
    pub(super) latest: String,
}

/// The failures of the last day, those that happened most first, and the nodes that could not tell.
pub(super) async fn lately(estate: &Estate) -> (Vec<Failures>, Vec<Gap>) {
    let mut gaps: Vec<_> = estate.offline().map(Gap::offline).collect();
    // Without it PVE shows the token's own tasks only.
    let blind = |node: &&pve::NodeName| !estate.held.has(&format!("/nodes/{node}"), "Sys.Audit");
    let hidden = estate.online().filter(blind);
    gaps.extend(hidden.map(|node| Gap::lacks("Sys.Audit", &format!("/nodes/{node}"))));
    let since = estate.now - LATELY;
    let online: Vec<_> = estate.online().cloned().collect();
    let answers = ask::each(online, |node| {
        let cluster = estate.cluster.clone();
        async move {
            let request = Request::get(format!("/nodes/{node}/tasks"))
                .with("errors", true)
                .with("since", since)
                .with("limit", MOST);
            let answer = cluster.pve.list::<TaskSummary>(request).await;
            (node, answer)
        }
    })
    .await;
    let mut groups = BTreeMap::new();
    for (node, answer) in answers {
        match answer {
            Ok(tasks) => tasks
                .iter()
                .for_each(|task| add(&mut groups, node.as_str(), task)),
            Err(error) => gaps.push(Gap::of(&error, node.as_str())),
        }
    }
    let mut failures: Vec<_> = groups.into_values().map(|(_, group)| group).collect();
    failures.sort_by_key(|group| std::cmp::Reverse(group.count));
    (failures, gaps)
}

/// By node and kind of task: when the latest began, and the group.
type Groups = BTreeMap<(String, String), (u64, Failures)>;

fn add(groups: &mut Groups, node: &str, task: &TaskSummary) {
    // PVE counts warnings among the errors.
    let Some(TaskEnd::Failed(why)) = task.end() else {
        return;
    };
    let kind = task.upid.task_type().to_owned();
    let (at, group) = groups
        .entry((node.to_owned(), kind.clone()))
        .or_insert_with(|| {
            let group = Failures {
                task: words::clip(&kind, 30),
                node: node.to_owned(),
                count: 0,
                latest: String::new(),
            };
            (0, group)
        });
    group.count += 1;
    if task.upid.starttime() >= *at {
        *at = task.upid.starttime();
        group.latest = words::clip(&why, 60);
    }
}
