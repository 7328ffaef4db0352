//! `/cluster/jobs` and `/cluster/backup-info`: when jobs run, and what no backup job covers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::api::index;
use crate::calendar::CalendarEvent;
use crate::call::{Call, split_list};
use crate::clock::Time;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::{format, int, text};
use crate::world::{Section, World};

/// The routes about jobs in general.
pub const ROUTES: &[Route] = &[
    get("/cluster/jobs", root).allow(Perm::User),
    get("/cluster/jobs/schedule-analyze", analyze)
        .allow(Perm::User)
        .params(&[
            text("schedule").is(format::calendar_event).longest(128),
            int("iterations").min(1).max(100).optional(),
            int("starttime").optional(),
        ]),
    get("/cluster/backup-info", backup_root),
    get("/cluster/backup-info/not-backed-up", not_backed_up).allow(Perm::On("/", &["Sys.Audit"])),
];

fn root(_: &mut World, _: &Call) -> Reply {
    index("subdir", &["schedule-analyze", "realm-sync"])
}

fn backup_root(_: &mut World, _: &Call) -> Reply {
    index("subdir", &["not-backed-up"])
}

/// The next moments of a schedule.
fn analyze(world: &mut World, call: &Call) -> Reply {
    let count = call.int("iterations").unwrap_or(10);
    let start = call.int("starttime").map_or(world.now, Time::from_secs);
    let event = CalendarEvent::parse(call.text("schedule").unwrap_or_default()).ok();
    let next = |after: Time| event.as_ref().and_then(|event| event.next_after(after));
    let moments = std::iter::successors(next(start), |last| next(*last));
    let entries = moments
        .take(usize::try_from(count).unwrap_or_default())
        .map(|at| json!({ "timestamp": at.secs(), "utc": at.as_c_text() }));
    Ok(entries.collect::<Value>().into())
}

/// Guests that no enabled job names, directly or by its pool.
fn not_backed_up(world: &mut World, call: &Call) -> Reply {
    let covered: BTreeSet<u32> = world
        .backup_jobs
        .values()
        .flat_map(|job| covered_by(world, job))
        .collect();
    let uncovered = world
        .guests
        .values()
        .filter(|guest| !covered.contains(&guest.vmid))
        .filter(|guest| world.may(&call.who, &format!("/vms/{}", guest.vmid), "VM.Audit"));
    let entries = uncovered.map(
        |guest| json!({ "vmid": guest.vmid, "type": guest.kind.name(), "name": guest.name() }),
    );
    Ok(entries.collect::<Value>().into())
}

/// The guests of a backup job, also those that no longer exist.
pub(super) fn covered_by(world: &World, job: &Section) -> Vec<u32> {
    let ids = |key: &str| -> Vec<u32> {
        let list = job.props.get(key).map_or("", String::as_str);
        split_list(list).filter_map(|id| id.parse().ok()).collect()
    };
    let pool = job.props.get("pool").and_then(|id| world.pools.get(id));
    let mut found = match pool {
        Some(pool) => pool.guests.iter().copied().collect(),
        None if job.props.get("all").is_some_and(|all| all == "1") => {
            world.guests.keys().copied().collect()
        }
        None => ids("vmid"),
    };
    let excluded = ids("exclude");
    found.retain(|vmid| !excluded.contains(vmid));
    found
}
