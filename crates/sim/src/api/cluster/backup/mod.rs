//! `/cluster/backup`: the jobs that back up guests by a schedule.

pub(crate) mod options;
mod volumes;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::section;
use crate::calendar::CalendarEvent;
use crate::call::{Call, split_list};
use crate::error::{ApiError, Reply, done};
use crate::permission::{Perm, require};
use crate::route::{Route, delete, get, post, put};
use crate::schema::{Param, flag, format, text};
use crate::world::{Section, World};
use options::VZDUMP;

const AUDIT: Perm = Perm::On("/", &["Sys.Audit"]);
const MODIFY: Perm = Perm::On("/", &["Sys.Modify"]);
const ID: Param = text("id").longest(50);

const COMMENT: Param = text("comment").longest(512).optional();
const DAYS: Param = text("dow")
    .list_of(format::day_of_week)
    .optional()
    .requires("starttime");
const ENABLED: Param = flag("enabled").optional();
const ONLY_ON: Param = text("node").is(format::node).optional();
const REPEAT: Param = flag("repeat-missed").optional();
const SCHEDULE: Param = text("schedule")
    .is(format::calendar_event)
    .longest(128)
    .optional();
const TIME: Param = text("starttime").matching(is_time).optional();

/// The routes of backup jobs.
pub const ROUTES: &[Route] = &[
    get("/cluster/backup", list).allow(AUDIT),
    post("/cluster/backup", create)
        .allow(MODIFY)
        .params(&[
            text("id").is(format::config_id).optional(),
            COMMENT,
            DAYS,
            ENABLED,
            ONLY_ON,
            REPEAT,
            SCHEDULE,
            TIME,
        ])
        .and(VZDUMP),
    get("/cluster/backup/{id}", read).allow(AUDIT).params(&[ID]),
    put("/cluster/backup/{id}", update)
        .allow(MODIFY)
        .params(&[
            ID,
            text("delete").list_of(format::config_id).optional(),
            COMMENT,
            DAYS,
            ENABLED,
            ONLY_ON,
            REPEAT,
            SCHEDULE,
            TIME,
        ])
        .and(VZDUMP),
    delete("/cluster/backup/{id}", remove)
        .allow(MODIFY)
        .params(&[ID]),
    get("/cluster/backup/{id}/included_volumes", volumes::included)
        .allow(AUDIT)
        .params(&[ID]),
];

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

fn is_time(text: &str) -> bool {
    let digits = |part: &str| {
        (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.split_once(':')
        .is_some_and(|(hour, minute)| digits(hour) && digits(minute))
}

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
    if let Some(paths) = job.props.get("exclude-path") {
        entry.insert("exclude-path".to_owned(), split_list(paths).collect());
    }
    entry.insert("id".to_owned(), json!(id));
    entry.into()
}

fn read(world: &mut World, call: &Call) -> Reply {
    let id = call.text("id").unwrap_or_default();
    match world.backup_jobs.get(id) {
        Some(job) => Ok(to_json(id, job).into()),
        None => Err(ApiError::param("id", format!("No such job '{id}'"))),
    }
}

fn create(world: &mut World, call: &Call) -> Reply {
    may_set(world, call)?;
    let mut props = section::sent(call, &["id"]);
    set_schedule(&mut props)?;
    if !props.contains_key("schedule") {
        return Err(ApiError::param(
            "schedule",
            "neither 'starttime' nor 'schedule' were set",
        ));
    }
    props.entry("enabled".to_owned()).or_insert("1".to_owned());
    let id = match call.text("id") {
        Some(id) => id.to_owned(),
        None => world.new_uuid(),
    };
    world.lock_file("", "jobs_cfg")?;
    if world.backup_jobs.contains_key(&id) {
        return Err(ApiError::fail(format!("Job '{id}' already exists")));
    }
    check(&mut props)?;
    let job = Section {
        kind: "vzdump".to_owned(),
        props,
    };
    world.backup_jobs.insert(id, job);
    done()
}

fn update(world: &mut World, call: &Call) -> Reply {
    may_set(world, call)?;
    let id = call.text("id").unwrap_or_default();
    let mut props = section::sent(call, &["id", "delete"]);
    set_schedule(&mut props)?;
    world.lock_file("", "jobs_cfg")?;
    let gone = call.params.list("delete");
    if props.is_empty() && gone.is_empty() {
        return Err(ApiError::fail("no options specified"));
    }
    if let Some(name) = options::conflict(|name| props.contains_key(name)) {
        return Err(ApiError::wrapped(
            name,
            "option conflicts with option 'vmid'",
        ));
    }
    let Some(job) = world.backup_jobs.get(id) else {
        return Err(ApiError::fail("no such vzdump job"));
    };
    let mut job = job.clone();
    for key in gone {
        let known = VZDUMP.iter().any(|param| param.name == key);
        if !known && !matches!(key, "comment" | "repeat-missed") {
            return Err(ApiError::wrapped(
                "delete",
                &format!("unknown option '{key}'"),
            ));
        }
        job.props.remove(key);
    }
    // The three ways to choose guests replace each other.
    let replaced: &[&str] = if props.contains_key("vmid") {
        &["all", "exclude", "pool"]
    } else if props.get("all").is_some_and(|all| all == "1") {
        &["vmid", "pool"]
    } else if props.contains_key("pool") {
        &["vmid", "all", "exclude"]
    } else {
        &[]
    };
    job.props.extend(props);
    job.props.retain(|key, _| !replaced.contains(&key.as_str()));
    check(&mut job.props)?;
    world.backup_jobs.insert(id.to_owned(), job);
    done()
}

fn remove(world: &mut World, call: &Call) -> Reply {
    let id = call.text("id").unwrap_or_default();
    world.lock_file("", "vzdump_cron")?;
    match world.backup_jobs.remove(id) {
        Some(_) => done(),
        None => Err(ApiError::wrapped("id", &format!("No such job '{id}'"))),
    }
}

/// What only root may set, and what needs rights elsewhere.
fn may_set(world: &World, call: &Call) -> Result<(), ApiError> {
    if !call.who.is_root() {
        let kept = ["tmpdir", "dumpdir", "script"];
        if let Some(name) = kept.iter().find(|name| call.params.has(name)) {
            return Err(ApiError::param(name, "Only root may set this option."));
        }
        if ["bwlimit", "ionice", "performance"]
            .iter()
            .any(|name| call.params.has(name))
        {
            require(world, &call.who, "/", &["Sys.Modify"])?;
        }
        if let Some(storage) = call.text("storage") {
            let path = format!("/storage/{storage}");
            require(world, &call.who, &path, &["Datastore.Allocate"])?;
        }
    }
    if let Some(pool) = call.text("pool") {
        if !world.pools.contains_key(pool) {
            return Err(ApiError::denied(None));
        }
        require(world, &call.who, &format!("/pool/{pool}"), &["VM.Backup"])?;
    }
    Ok(())
}

/// Turns the old `starttime` and `dow` into a schedule.
fn set_schedule(props: &mut BTreeMap<String, String>) -> Result<(), ApiError> {
    let days = props.remove("dow");
    let Some(time) = props.remove("starttime") else {
        return Ok(());
    };
    if props.contains_key("schedule") {
        return Err(ApiError::param(
            "starttime",
            "'starttime' and 'schedule' cannot both be set",
        ));
    }
    let days = days.map(|days| split_list(&days).collect::<Vec<_>>().join(","));
    let schedule = match days {
        Some(days) if days != "mon,tue,wed,thu,fri,sat,sun" => format!("{days} {time}"),
        _ => time,
    };
    props.insert("schedule".to_owned(), schedule);
    Ok(())
}

/// A job must say which guests it is for, in one way only.
fn check(props: &mut BTreeMap<String, String>) -> Result<(), ApiError> {
    if let Some(name) = options::conflict(|name| props.contains_key(name)) {
        return Err(ApiError::wrapped(
            name,
            "option conflicts with option 'vmid'",
        ));
    }
    if props.contains_key("exclude") && !props.contains_key("pool") {
        props.insert("all".to_owned(), "1".to_owned());
    }
    let chosen = ["all", "stop", "pool", "vmid"];
    if chosen
        .iter()
        .any(|name| props.get(*name).is_some_and(|value| value != "0"))
    {
        Ok(())
    } else {
        Err(ApiError::wrapped("vmid", "property is missing"))
    }
}
