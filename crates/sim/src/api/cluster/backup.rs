//! `/cluster/backup`: the jobs that back up guests by a schedule.

use serde_json::{Value, json};

use crate::api::section;
use crate::calendar::CalendarEvent;
use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::world::{Section, World};

/// The routes of backup jobs.
pub const ROUTES: &[Route] = &[get("/cluster/backup", list).allow(Perm::On("/", &["Sys.Audit"]))];

/// Properties that PVE keeps as numbers.
const NUMBERS: &[&str] = &[
    "all",
    "bwlimit",
    "enabled",
    "ionice",
    "lockwait",
    "maxfiles",
    "pigz",
    "protected",
    "quiet",
    "remove",
    "repeat-missed",
    "stdexcludes",
    "stopwait",
    "zstd",
];

fn list(world: &mut World, _: &Call) -> Reply {
    let entries = world.backup_jobs.iter().map(|(id, job)| {
        let mut entry = to_json(id, job);
        let schedule = job
            .props
            .get("schedule")
            .map(|text| CalendarEvent::parse(text));
        let next = schedule.and_then(|event| event.ok()?.next_after(world.now));
        if let Some(next) = next {
            entry["next-run"] = json!(next.secs());
        }
        entry
    });
    Ok(entries.collect::<Value>().into())
}

fn to_json(id: &str, job: &Section) -> Value {
    let mut entry = section::to_json(job, NUMBERS);
    for key in ["fleecing", "performance", "prune-backups"] {
        if let Some(text) = job.props.get(key) {
            entry.insert(key.to_owned(), section::properties(text));
        }
    }
    entry.insert("id".to_owned(), json!(id));
    entry.into()
}
