//! `/cluster/log`: what happened on all nodes, newest first. Here that is the beginning and end of every task.

use serde_json::{Value, json};

use crate::call::Call;
use crate::clock::Time;
use crate::error::Reply;
use crate::world::World;

/// One line of the log.
pub(crate) struct Line {
    pub(crate) at: Time,
    pub(crate) node: String,
    pub(crate) user: String,
    pub(crate) text: String,
    /// An error, not a mere notice.
    pub(crate) error: bool,
}

/// All lines, oldest first.
pub(crate) fn lines(world: &World) -> Vec<Line> {
    let mut lines = Vec::new();
    for task in world.tasks.iter() {
        let upid = &task.upid;
        let line = |at, text, error| Line {
            at,
            node: upid.node.clone(),
            user: upid.user.to_string(),
            text,
            error,
        };
        lines.push(line(upid.started(), format!("starting task {upid}"), false));
        if let Some(end) = &task.end {
            let good = end.status == "OK" || end.status.starts_with("WARNINGS");
            lines.push(line(
                end.at,
                format!("end task {upid} {}", end.status),
                !good,
            ));
        }
    }
    lines.sort_by_key(|line| line.at);
    lines
}

/// `GET /cluster/log`: everybody's for those who may read logs, else one's own.
pub(super) fn read(world: &mut World, call: &Call) -> Reply {
    let all = world.may(&call.who, "/", "Sys.Syslog");
    let caller = call.who.to_string();
    let most = call.int("max").and_then(|max| usize::try_from(max).ok());
    let lines = lines(world);
    let numbered = lines.iter().enumerate().rev();
    let visible = numbered.filter(|(_, line)| all || line.user == caller);
    let entries = visible.take(most.unwrap_or(usize::MAX)).map(|(at, line)| {
        let uid = at + 1;
        json!({
            "uid": uid.to_string(),
            "id": format!("{uid}:{}", line.node),
            "node": line.node,
            "pid": 1000,
            "pri": if line.error { 3 } else { 6 },
            "tag": "pvedaemon",
            "time": line.at.secs(),
            "user": line.user,
            "msg": line.text,
        })
    });
    Ok(entries.collect::<Value>().into())
}
