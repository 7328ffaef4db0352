//! Tasks whose log or list never ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pve::{Reader, Upid, connect};

use crate::server::{Act, Seen, Server, answer, data, token_settings};

fn upid() -> Upid {
    "UPID:pve2:00000A12:000754C6:6AFA0702:qmclone:100:root@pam!mcp:"
        .parse()
        .unwrap()
}

async fn reader_of(script: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> (Server, Reader) {
    let server = Server::start(script).await;
    let mut settings = token_settings(vec![server.pinned()]);
    settings.timeouts.task_poll = Duration::from_millis(1);
    let (reader, _) = connect(settings).unwrap();
    (server, reader)
}

/// A page of so many lines, whatever was asked for.
fn page(total: &str, lines: usize) -> Act {
    let line = r#"{"n":18446744073709551615,"t":"on and on (50%)"},"#.repeat(lines);
    let body = format!(r#"{{{total}"data":[{}]}}"#, line.trim_end_matches(','));
    answer(200, "OK", &body)
}

#[tokio::test]
async fn a_log_that_says_to_have_more_lines_than_can_be_counted() {
    for total in [
        r#""total":18446744073709551615,"#,
        r#""total":1e300,"#,
        r#""total":-1,"#,
        r#""total":[],"#,
        "",
    ] {
        let (server, reader) = reader_of(move |_| page(total, 5_000)).await;
        let tail = reader.task_log_tail(&upid(), 10).await.unwrap();
        assert_eq!(tail.len(), 10, "{total}: not more than was asked for");
        let page = reader.task_log(&upid(), u64::MAX - 1, 10).await.unwrap();
        assert_eq!(page.len(), 10, "{total}");
        assert!(server.seen().len() <= 3);
    }
}

/// The log has more with every look, by more lines than anybody asked for. Who waits does so for its time, and keeps a line.
#[tokio::test]
async fn waiting_for_a_task_whose_log_never_ends() {
    let looks = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&looks);
    let (_server, reader) = reader_of(move |seen| {
        if seen.target.contains("/log") {
            counted.fetch_add(1, Ordering::SeqCst);
            page(r#""total":18446744073709551615,"#, 2_000)
        } else {
            data(r#"{"status":"running"}"#)
        }
    })
    .await;
    let mut told = 0;
    let within = Duration::from_millis(300);
    let task = upid();
    let end = reader.wait_task(&task, within, |progress| {
        told += 1;
        assert_eq!(progress.line.as_deref(), Some("on and on (50%)"));
        assert_eq!(progress.percent, Some(50.0));
    });
    assert_eq!(end.await.unwrap(), None, "it is still running");
    assert_eq!(told, looks.load(Ordering::SeqCst), "one page a look");
}

/// A single line without end is a line of bounded length.
#[tokio::test]
async fn a_line_of_a_log_is_cut() {
    let line: &'static str = Box::leak("ä".repeat(1 << 20).into_boxed_str());
    let (_server, reader) = reader_of(move |seen| {
        if seen.target.contains("/log") {
            data(&format!(r#"[{{"n":1,"t":"{line}"}}]"#))
        } else {
            data(r#"{"status":"running"}"#)
        }
    })
    .await;
    let log = reader.task_log(&upid(), 0, 10).await.unwrap();
    assert!(log[0].len() < 20_000, "{}", log[0].len());
    assert!(log[0].ends_with("[cut]"));
    let mut longest = 0;
    let within = Duration::from_millis(1);
    let task = upid();
    let waited = reader.wait_task(&task, within, |progress| {
        longest = longest.max(progress.line.map_or(0, |line| line.len()));
    });
    waited.await.unwrap();
    assert!((1..20_000).contains(&longest), "{longest}");
}

/// A list with more tasks than were asked for is cut to what was.
#[tokio::test]
async fn a_list_of_tasks_that_does_not_heed_its_limit() {
    let row = format!(r#"{{"upid":"{}"}},"#, upid());
    let rows: &'static str = Box::leak(row.repeat(5_000).into_boxed_str());
    let (_server, reader) =
        reader_of(move |_| data(&format!("[{}]", rows.trim_end_matches(',')))).await;
    let node = "pve1".parse().unwrap();
    let tasks = reader
        .find_task(&node, "qmclone", None, None)
        .await
        .unwrap();
    assert_eq!(tasks.len(), 100);
}

/// A node is a name and nothing else, so that no task id leads out of the tasks of some node.
#[tokio::test]
async fn a_task_id_leads_nowhere_but_to_tasks() {
    for id in [
        "UPID:../access:1:2:3:qmstart:100:root@pam:",
        "UPID:pve1/qemu:1:2:3:qmstart:100:root@pam:",
        "UPID:pve1?x=:1:2:3:qmstart:100:root@pam:",
        "UPID:pve1:1:2:3:qmstart:100/../../..:root@pam:",
        "UPID:pve1:1:2:3:qmstart:100:root@pam\u{0}:",
    ] {
        assert!(id.parse::<Upid>().is_err(), "{id}");
    }
    // Of a node that nobody has heard of: PVE is asked for it, and says what it says.
    let (server, reader) = reader_of(|_| answer(500, "hostname lookup 'mars' failed", "")).await;
    let other = "UPID:mars:00000A12:000754C6:6AFA0702:qmclone:1%23?a=b&c:root@pam!mcp:";
    let error = reader
        .task_status(&other.parse().unwrap())
        .await
        .unwrap_err();
    assert!(error.is_missing_object(), "{error}");
    let target = &server.seen()[0].target;
    assert_eq!(target.split('/').count(), 8, "{target}");
    assert!(
        target.starts_with("/api2/json/nodes/mars/tasks/UPID") && !target.contains('?'),
        "{target}"
    );
}
