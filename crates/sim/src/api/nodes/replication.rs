//! `/nodes/{node}/replication`: how the replication jobs of a node's guests fare. They run on time, unless the world says
//! that one has trouble.

use serde_json::{Value, json};

use crate::api::cluster::replication::{parts, to_json};
use crate::api::index;
use crate::calendar::CalendarEvent;
use crate::call::Call;
use crate::clock::Time;
use crate::error::{Answer, ApiError, Reply};
use crate::permission::{Perm, require};
use crate::route::{Route, get};
use crate::schema::common::NODE;
use crate::schema::{Param, format, int, text};
use crate::world::{ReplicationTrouble, Section, World};

const ID: Param = text("id").is(format::replication_job);

/// The routes of the state of replication jobs.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/replication", list)
        .allow(Perm::User)
        .params(&[
            NODE,
            int("guest")
                .is(format::vmid)
                .min(100)
                .max(999_999_999)
                .optional(),
        ])
        .proxied(),
    get("/nodes/{node}/replication/{id}", root)
        .allow(Perm::User)
        .params(&[NODE, ID]),
    get("/nodes/{node}/replication/{id}/status", status)
        .allow(Perm::User)
        .params(&[NODE, ID])
        .proxied(),
    get("/nodes/{node}/replication/{id}/log", log)
        .allow(Perm::User)
        .params(&[
            NODE,
            ID,
            int("limit").min(0).optional(),
            int("start").min(0).optional(),
        ])
        .proxied(),
];

fn root(_: &mut World, _: &Call) -> Reply {
    index("name", &["schedule_now", "log", "status"])
}

fn is_here(world: &World, node: &str, id: &str) -> bool {
    world
        .guests
        .get(&parts(id).0)
        .is_some_and(|guest| guest.node == node)
}

fn with_state(world: &World, id: &str, job: &Section) -> Value {
    let schedule = job.props.get("schedule").map_or("*/15", String::as_str);
    let step = 900;
    let last = Time::from_secs(world.now.secs() / step * step);
    let event = CalendarEvent::parse(schedule).ok();
    let next = event.and_then(|event| event.next_after(world.now));
    let mut entry = to_json(world, id, job);
    entry["vmtype"] = json!(
        world
            .guests
            .get(&parts(id).0)
            .map_or("qemu", |guest| guest.kind.name())
    );
    entry["fail_count"] = json!(0);
    entry["duration"] = json!(3.2);
    entry["last_try"] = json!(last.secs());
    entry["last_sync"] = json!(last.secs());
    entry["next_sync"] = json!(next.map_or(0, Time::secs));
    if let Some(trouble) = world.replication_trouble.get(id) {
        add_trouble(&mut entry, trouble, step);
    }
    entry
}

/// A job that fails is tried again, later each time, up to every half hour. One that nobody tries stays due.
fn add_trouble(entry: &mut Value, trouble: &ReplicationTrouble, step: u64) {
    let last = trouble.last_sync.secs();
    entry["last_sync"] = json!(last);
    if trouble.fail_count == 0 {
        entry["last_try"] = json!(last);
        entry["next_sync"] = json!(last + step);
        return;
    }
    let tried = entry["last_try"].as_u64().unwrap_or_default();
    let pause = 60 * u64::from((5 * trouble.fail_count).min(30));
    entry["fail_count"] = json!(trouble.fail_count);
    entry["error"] = json!(trouble.error);
    entry["next_sync"] = json!(tried + pause);
}

fn list(world: &mut World, call: &Call) -> Reply {
    let jobs = world.replication_jobs.iter().filter(|(id, _)| {
        let (guest, _) = parts(id);
        let wanted = call
            .int("guest")
            .is_none_or(|vmid| vmid == u64::from(guest));
        let visible = world.may(&call.who, &format!("/vms/{guest}"), "VM.Audit");
        is_here(world, call.node(), id) && wanted && visible
    });
    let entries = jobs.map(|(id, job)| with_state(world, id, job));
    Ok(entries.collect::<Value>().into())
}

/// The job, if its guest is on this node and the caller may see it.
fn find<'a>(world: &'a World, call: &'a Call) -> Result<(&'a str, &'a Section), ApiError> {
    let id = call.text("id").unwrap_or_default();
    let job = world.replication_jobs.get(id);
    let job = job.filter(|_| is_here(world, call.node(), id));
    let job = job.ok_or_else(|| ApiError::fail(format!("no such replication job '{id}'")))?;
    let path = format!("/vms/{}", parts(id).0);
    require(world, &call.who, &path, &["VM.Audit"])?;
    Ok((id, job))
}

fn status(world: &mut World, call: &Call) -> Reply {
    let (id, job) = find(world, call)?;
    Ok(with_state(world, id, job).into())
}

fn log(world: &mut World, call: &Call) -> Reply {
    let (id, job) = find(world, call)?;
    let state = with_state(world, id, job);
    let at = Time::from_secs(state["last_sync"].as_u64().unwrap_or_default());
    let lines = [
        format!("{at} {id}: start replication job"),
        format!("{at} {id}: end replication job"),
    ];
    let entries = lines
        .iter()
        .zip(1..)
        .map(|(line, n)| json!({ "n": n, "t": line }));
    Ok(Answer::page(entries.collect(), lines.len()))
}
