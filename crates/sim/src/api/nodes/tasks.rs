//! `/nodes/{node}/tasks` and `/cluster/tasks`.

use serde_json::{Value, json};

use crate::api::index;
use crate::call::{Call, split_list};
use crate::error::{Answer, ApiError, Reply, done};
use crate::permission::{self, Perm};
use crate::route::{Route, delete, get};
use crate::schema::common::{NODE, VMID};
use crate::schema::{Param, flag, format, int, text};
use crate::world::World;
use crate::world::task::Task;
use crate::world::upid::Upid;

const UPID: Param = text("upid");
const START: Param = int("start").min(0).optional();
const LIMIT: Param = int("limit").min(0).optional();

/// The routes of a node's tasks.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/tasks", list)
        .allow(Perm::User)
        .proxied()
        .params(&[
            NODE,
            START,
            LIMIT,
            VMID.optional(),
            flag("errors").optional(),
            text("source")
                .one_of(&["archive", "active", "all"])
                .optional(),
            int("since").optional(),
            int("until").optional(),
            text("typefilter").optional(),
            text("userfilter").optional(),
            text("statusfilter").list_of(format::task_status).optional(),
        ]),
    get("/nodes/{node}/tasks/{upid}", root)
        .allow(Perm::User)
        .params(&[NODE, UPID]),
    delete("/nodes/{node}/tasks/{upid}", stop)
        .allow(Perm::User)
        .proxied()
        .params(&[NODE, UPID]),
    get("/nodes/{node}/tasks/{upid}/status", status)
        .allow(Perm::User)
        .proxied()
        .params(&[NODE, UPID]),
    get("/nodes/{node}/tasks/{upid}/log", log)
        .allow(Perm::User)
        .proxied()
        .params(&[NODE, UPID, START, LIMIT, flag("download").optional()]),
];

fn root(_: &mut World, _: &Call) -> Reply {
    index("name", &["log", "status"])
}

/// The task in the path, once the caller may see it: his own, or any with `privilege` on the node.
fn authorized(world: &World, call: &Call, privilege: &str) -> Result<Upid, ApiError> {
    let unreadable = || ApiError::param("upid", "unable to parse worker upid");
    let upid = Upid::parse(call.text("upid").unwrap_or_default()).ok_or_else(unreadable)?;
    if upid.user != call.who {
        permission::require(
            world,
            &call.who,
            &format!("/nodes/{}", call.node()),
            &[privilege],
        )?;
    }
    Ok(upid)
}

/// The task, if it ran on the node that was asked.
fn find<'a>(world: &'a World, call: &Call, upid: &Upid) -> Option<&'a Task> {
    world
        .tasks
        .find(upid)
        .filter(|task| task.upid.node == call.node())
}

fn status(world: &mut World, call: &Call) -> Reply {
    let upid = authorized(world, call, "Sys.Audit")?;
    let task = find(world, call, &upid).ok_or_else(|| ApiError::param("upid", "no such task"))?;
    let mut entry = archived(task);
    entry["status"] = json!(if task.end.is_some() {
        "stopped"
    } else {
        "running"
    });
    if let Some(fields) = entry.as_object_mut() {
        fields.remove("endtime");
    }
    if let Some(end) = &task.end {
        entry["exitstatus"] = json!(end.status);
    }
    Ok(entry.into())
}

fn log(world: &mut World, call: &Call) -> Reply {
    let upid = authorized(world, call, "Sys.Audit")?;
    let lines = find(world, call, &upid).map(Task::full_log);
    if call.flag("download") {
        if call.params.has("start") || call.params.has("limit") {
            return Err(ApiError::fail(
                "'download' cannot be used together with 'start' or 'limit' parameters",
            ));
        }
        let mut text = lines.unwrap_or_default().join("\n");
        text.push('\n');
        return Ok(Answer::Text(text));
    }
    // An unknown task and an empty log both answer 200 with one line.
    let lines = match lines {
        None => vec!["unable to open file - No such file or directory".to_owned()],
        Some(lines) if lines.is_empty() => vec!["no content".to_owned()],
        Some(lines) => lines,
    };
    let total = lines.len();
    let numbered = lines
        .iter()
        .enumerate()
        .map(|(at, line)| json!({ "n": at + 1, "t": line }));
    Ok(Answer::page(page(numbered, call), total))
}

fn stop(world: &mut World, call: &Call) -> Reply {
    let upid = authorized(world, call, "Sys.Modify")?;
    find(world, call, &upid).ok_or_else(|| ApiError::param("upid", "no such task"))?;
    world.interrupt_task(&upid);
    done()
}

/// `start` and `limit`; a limit of 0 means all.
fn page(items: impl Iterator<Item = Value>, call: &Call) -> Value {
    let count = |name: &str| {
        call.int(name)
            .and_then(|number| usize::try_from(number).ok())
    };
    let limit = count("limit").unwrap_or(50);
    let limit = if limit == 0 { usize::MAX } else { limit };
    items
        .skip(count("start").unwrap_or_default())
        .take(limit)
        .collect()
}

fn list(world: &mut World, call: &Call) -> Reply {
    let node = call.node();
    let auditor = world.may(&call.who, &format!("/nodes/{node}"), "Sys.Audit");
    let source = call.text("source").unwrap_or("archive");
    let visible = |task: &&Task| {
        let in_source = match source {
            "active" => task.end.is_none(),
            "archive" => task.end.is_some(),
            _ => true,
        };
        in_source
            && task.upid.node == node
            && (auditor || task.upid.user.user == call.who.user)
            && is_wanted(task, call)
    };
    let mut found: Vec<&Task> = world.tasks.iter().rev().filter(visible).collect();
    // Running ones first, then those that ended last.
    found.sort_by_key(|task| {
        std::cmp::Reverse(task.end.as_ref().map_or(u64::MAX, |end| end.at.secs()))
    });
    let total = found.len();
    let entries = found.into_iter().map(|task| {
        if task.end.is_some() {
            archived(task)
        } else {
            active(task)
        }
    });
    Ok(Answer::page(page(entries, call), total))
}

fn is_wanted(task: &Task, call: &Call) -> bool {
    let Upid {
        kind,
        id,
        user,
        start,
        ..
    } = &task.upid;
    let status = task.end.as_ref().map_or("", |end| end.status.as_str());
    let state = match status {
        "OK" => "ok",
        text if text.starts_with("WARNINGS") => "warning",
        "unexpected status" => "unknown",
        _ => "error",
    };
    let wanted_states: Vec<String> = split_list(call.text("statusfilter").unwrap_or_default())
        .map(str::to_ascii_lowercase)
        .collect();
    call.text("vmid").is_none_or(|vmid| vmid == id)
        && call.text("typefilter").is_none_or(|wanted| wanted == kind)
        && call
            .text("userfilter")
            .is_none_or(|wanted| user.user.contains(wanted))
        && call.int("since").is_none_or(|since| *start >= since)
        && call.int("until").is_none_or(|until| *start <= until)
        && (!call.flag("errors") || status != "OK")
        && (wanted_states.is_empty() || wanted_states.iter().any(|wanted| wanted == state))
}

/// A finished task: user and token stand apart.
fn archived(task: &Task) -> Value {
    let upid = &task.upid;
    let mut entry = json!({
        "upid": upid.to_string(),
        "node": upid.node,
        "pid": upid.pid,
        "pstart": upid.pstart,
        "starttime": upid.start,
        "type": upid.kind,
        "id": upid.id,
        "user": upid.user.user,
    });
    if let Some(token) = &upid.user.token {
        entry["tokenid"] = json!(token);
    }
    if let Some(end) = &task.end {
        entry["status"] = json!(end.status);
        entry["endtime"] = json!(end.at.secs());
    }
    entry
}

/// A running task in a node's list: user and token stand together.
fn active(task: &Task) -> Value {
    let upid = &task.upid;
    json!({
        "upid": upid.to_string(),
        "node": upid.node,
        "pid": upid.pid,
        "pstart": upid.pstart,
        "starttime": upid.start,
        "type": upid.kind,
        "id": upid.id,
        "user": upid.user.to_string(),
        "status": "RUNNING",
        "saved": "0",
    })
}

/// How many tasks a node tells the cluster of. All that run are among them, however many these are.
const TOLD: usize = 25;

/// `GET /cluster/tasks`: what each node tells of itself, node after node in no order that means anything. A token does not see
/// the tasks it started itself: they belong to its user here.
pub(crate) fn of_cluster(world: &mut World, call: &Call) -> Reply {
    let auditor = world.may(&call.who, "/", "Sys.Audit");
    let mine = call.who.to_string();
    let told = world.nodes.keys().rev().flat_map(|node| told(world, node));
    let visible = told.filter(|task| auditor || task.upid.user.user == mine);
    let entries = visible.map(|task| {
        let mut entry = archived(task);
        entry["saved"] = json!(if task.end.is_some() { "1" } else { "0" });
        if let Some(fields) = entry.as_object_mut() {
            fields.remove("pstart");
            if task.end.is_some() {
                fields.remove("pid");
            }
        }
        entry
    });
    Ok(entries.collect::<Value>().into())
}

/// What runs, and then what began last of what has ended.
fn told<'a>(world: &'a World, node: &'a str) -> impl Iterator<Item = &'a Task> {
    let of_node = move || {
        let tasks = world.tasks.iter();
        tasks.filter(move |task| task.upid.node == node)
    };
    let running: Vec<&Task> = of_node().filter(|task| task.end.is_none()).collect();
    let room = TOLD.saturating_sub(running.len());
    let ended = of_node().rev().filter(|task| task.end.is_some());
    running.into_iter().chain(ended.take(room))
}
