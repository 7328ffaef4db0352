//! Waiting for tasks and reading their logs.

use std::time::Duration;

use pve::{Error, NodeName, Reader, TaskEnd, TaskProgress, Upid, Vmid, connect};

use super::server::{Act, Seen, Server, answer, data, token_settings};

const UPID: &str = "UPID:pve2:00000A12:000754C6:6AFA0702:qmclone:100:root@pam!mcp:";

fn upid() -> Upid {
    UPID.parse().unwrap()
}

fn quick_reader(server: &Server) -> Reader {
    let mut settings = token_settings(vec![server.pinned()]);
    settings.timeouts.task_poll = Duration::from_millis(1);
    connect(settings).unwrap().0
}

fn status(end: Option<&str>) -> Act {
    data(&match end {
        None => r#"{"status":"running","user":"root@pam","tokenid":"mcp"}"#.to_owned(),
        Some(end) => format!(r#"{{"status":"stopped","exitstatus":"{end}"}}"#),
    })
}

/// A page of a log with `total` lines `line 1`, `line 2`, …
fn log_page(seen: &Seen, total: usize) -> Act {
    let query = |key: &str| -> usize {
        let (_, query) = seen.target.split_once('?').unwrap();
        let pair = query
            .split('&')
            .find_map(|pair| pair.strip_prefix(key))
            .unwrap();
        pair.strip_prefix('=').unwrap().parse().unwrap()
    };
    let (start, limit) = (query("start"), query("limit"));
    let lines: Vec<String> = (start + 1..=total)
        .take(limit)
        .map(|n| format!(r#"{{"n":{n},"t":"line {n} ({}%)"}}"#, n * 10))
        .collect();
    answer(
        200,
        "OK",
        &format!(r#"{{"total":{total},"data":[{}]}}"#, lines.join(",")),
    )
}

#[tokio::test]
async fn the_node_of_the_upid_is_asked() {
    let server = Server::start(|_| status(None)).await;
    let status = quick_reader(&server).task_status(&upid()).await.unwrap();
    assert!(status.is_running());
    assert_eq!(
        (status.user.as_deref(), status.token.as_deref()),
        (Some("root@pam"), Some("mcp"))
    );
    let target = &server.seen()[0].target;
    assert_eq!(
        target,
        &format!("/api2/json/nodes/pve2/tasks/{UPID}/status")
    );
}

#[tokio::test]
async fn a_task_is_waited_for_with_its_log() {
    let server = Server::start(|seen| match seen.target.contains("/log") {
        true => log_page(seen, seen.number / 2 + 1),
        false if seen.number < 6 => status(None),
        false => status(Some("WARNINGS: 1")),
    })
    .await;
    let mut progress: Vec<TaskProgress> = Vec::new();
    let end = quick_reader(&server)
        .wait_task(&upid(), Duration::from_mins(1), |p| progress.push(p))
        .await
        .unwrap();
    assert_eq!(end, Some(TaskEnd::Warnings(1)));
    let lines: Vec<_> = progress
        .iter()
        .map(|p| p.line.as_deref().unwrap())
        .collect();
    assert_eq!(lines, ["line 1 (10%)", "line 2 (20%)", "line 3 (30%)"]);
    assert_eq!(progress[2].percent, Some(30.0));
}

#[tokio::test]
async fn a_failed_task_tells_why() {
    let server = Server::start(|_| status(Some("VM is locked (backup)"))).await;
    let end = quick_reader(&server)
        .wait_task(&upid(), Duration::ZERO, |_| {})
        .await
        .unwrap();
    assert_eq!(
        end,
        Some(TaskEnd::Failed("VM is locked (backup)".to_owned()))
    );
}

#[tokio::test]
async fn a_task_that_takes_longer_is_still_running() {
    let server = Server::start(|seen| {
        if seen.target.contains("/log") {
            answer(500, "no log", "")
        } else {
            status(None)
        }
    })
    .await;
    let within = Duration::from_millis(20);
    let end = quick_reader(&server)
        .wait_task(&upid(), within, |_| {})
        .await
        .unwrap();
    assert_eq!(end, None);
}

#[tokio::test]
async fn a_node_that_is_away_for_a_moment_does_not_end_the_waiting() {
    let server = Server::start(|seen| match seen.number {
        0..4 => answer(596, "Broken pipe", ""),
        _ => status(Some("OK")),
    })
    .await;
    let within = Duration::from_mins(1);
    let end = quick_reader(&server)
        .wait_task(&upid(), within, |_| {})
        .await
        .unwrap();
    assert_eq!(end, Some(TaskEnd::Ok));
}

#[tokio::test]
async fn an_unknown_task_is_an_error() {
    let server = Server::start(|_| answer(400, "no such task", "")).await;
    let within = Duration::from_mins(1);
    let error = quick_reader(&server)
        .wait_task(&upid(), within, |_| {})
        .await
        .unwrap_err();
    assert!(error.is_missing_object(), "{error}");
    assert!(matches!(error, Error::Status { .. }));
}

#[tokio::test]
async fn the_tail_of_a_log_is_its_last_lines() {
    let server = Server::start(|seen| log_page(seen, 8)).await;
    let reader = quick_reader(&server);
    let tail = reader.task_log_tail(&upid(), 2).await.unwrap();
    assert_eq!(tail, ["line 7 (70%)", "line 8 (80%)"]);
    assert_eq!(reader.task_log_tail(&upid(), 50).await.unwrap().len(), 8);
    assert!(reader.task_log_tail(&upid(), 0).await.unwrap().is_empty());
    assert_eq!(
        reader.task_log(&upid(), 2, 1).await.unwrap(),
        ["line 3 (30%)"]
    );
}

#[tokio::test]
async fn an_empty_log_has_no_lines() {
    let server = Server::start(|_| {
        answer(
            200,
            "OK",
            r#"{"total":1,"data":[{"n":1,"t":"no content"}]}"#,
        )
    })
    .await;
    assert!(
        quick_reader(&server)
            .task_log(&upid(), 0, 10)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_lost_write_is_looked_for_in_the_task_list() {
    let server = Server::start(|_| {
        data(&format!(
            r#"[{{"upid":"{UPID}","starttime":1794770690,"status":"OK","endtime":"1794770691"}},{{"upid":"bad"}},
               {{"upid":"{UPID}","starttime":1794770690}}]"#
        ))
    })
    .await;
    let node = NodeName::new("pve2").unwrap();
    let vmid = Vmid::new(100).unwrap();
    let found = quick_reader(&server)
        .find_task(&node, "qmclone", Some(vmid), Some(1_794_770_000))
        .await
        .unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].end(), Some(TaskEnd::Ok));
    assert_eq!(found[1].end(), None);
    assert_eq!(
        server.seen()[0].target,
        "/api2/json/nodes/pve2/tasks?source=all&typefilter=qmclone&vmid=100&since=1794770000&limit=100"
    );
}
