//! `/cluster/bulk-action/guest`.

use serde_json::json;

use super::{
    Decide, Member, Step, Words, all_members, allowed, members, named, run, unless_failed,
};
use crate::api::index;
use crate::call::Call;
use crate::error::Reply;
use crate::permission::{Perm, require};
use crate::route::{Route, get, post};
use crate::schema::{Param, flag, format, int, list, text};
use crate::world::World;
use crate::world::guest::Kind;
use crate::world::work::Work;

const WORKERS: Param = int("max-workers").min(1).max(64).optional();
const OLD_WORKERS: Param = int("maxworkers").min(1).max(64).optional();
const TIMEOUT: Param = int("timeout").optional();
const GUESTS: Param = list("vms").is(format::vmid).optional();

/// The routes of bulk actions for the whole cluster. Each handler checks the rights on its guests.
pub const ROUTES: &[Route] = &[
    get("/cluster/bulk-action", root).allow(Perm::User),
    get("/cluster/bulk-action/guest", actions).allow(Perm::User),
    post("/cluster/bulk-action/guest/start", start)
        .allow(Perm::User)
        .params(&[WORKERS, OLD_WORKERS, TIMEOUT, GUESTS]),
    post("/cluster/bulk-action/guest/shutdown", shutdown)
        .allow(Perm::User)
        .params(&[
            flag("force-stop").optional(),
            WORKERS,
            OLD_WORKERS,
            TIMEOUT,
            GUESTS,
        ]),
    post("/cluster/bulk-action/guest/suspend", suspend)
        .allow(Perm::User)
        .params(&[
            WORKERS,
            OLD_WORKERS,
            text("statestorage")
                .is(format::storage_id)
                .optional()
                .requires("to-disk"),
            flag("to-disk").optional(),
            GUESTS,
        ]),
    post("/cluster/bulk-action/guest/migrate", migrate)
        .allow(Perm::User)
        .params(&[
            text("target").is(format::node),
            WORKERS,
            OLD_WORKERS,
            flag("online").optional(),
            GUESTS,
            flag("with-local-disks").optional(),
        ]),
];

fn root(_: &mut World, _: &Call) -> Reply {
    index("name", &["guest"])
}

fn actions(_: &mut World, _: &Call) -> Reply {
    index("name", &["start", "shutdown", "migrate", "suspend"])
}

/// A bulk action: the type of its task, the beginning and end of its first line, whose turn it is when, and the rest.
struct Action {
    kind: &'static str,
    verb: &'static str,
    suffix: String,
    list: fn(&World, &[u32]) -> Vec<Member>,
    decide: Decide,
    words: Words,
}

fn from_first(world: &World, ids: &[u32]) -> Vec<Member> {
    members(world, None, ids)
}

fn from_last(world: &World, ids: &[u32]) -> Vec<Member> {
    let mut list = members(world, None, ids);
    list.reverse();
    list
}

/// Starts the task on the node that was asked.
fn spawn(world: &mut World, call: &Call, action: Action) -> Reply {
    let ids = named(call);
    let texts: Vec<String> = ids.iter().map(u32::to_string).collect();
    let (verb, suffix) = (action.verb, &action.suffix);
    let line = if ids.is_empty() {
        format!("{verb} all guests{suffix}")
    } else {
        format!("{verb} guests{suffix}: {}", texts.join(", "))
    };
    let who = call.who.clone();
    let work = Work::new(action.kind, "").log(line).run(move |world, job| {
        let list = (action.list)(world, &ids);
        run(world, job, &who, list, &action.decide, action.words)
    });
    Ok(json!(world.start_task(&call.who, &call.endpoint, work)).into())
}

fn start(world: &mut World, call: &Call) -> Reply {
    allowed(world, call, &["VM.PowerMgmt"])?;
    let timeout = call.text("timeout").map(str::to_owned);
    let decide: Decide = Box::new(move |guest| {
        let (label, vmid) = (guest.kind.label(), guest.vmid);
        let line = format!("Starting {label} {vmid}");
        if guest.qmp_status() == "paused" {
            return Step::Call(line, "status/resume", Vec::new());
        }
        if guest.is_running() {
            return Step::Warn(format!("Skipping {label} {vmid}, already running."));
        }
        let timeout = timeout.clone().filter(|_| guest.kind == Kind::Qemu);
        let form = timeout.map(|seconds| ("timeout", seconds)).into_iter();
        Step::Call(line, "status/start", form.collect())
    });
    let words = Words {
        one: "Starting",
        end: |_, _, failed| unless_failed("Some guests failed to start:", failed),
    };
    let action = Action {
        kind: "bulk-start",
        verb: "Starting",
        suffix: String::new(),
        list: from_first,
        decide,
        words,
    };
    spawn(world, call, action)
}

fn shutdown(world: &mut World, call: &Call) -> Reply {
    allowed(world, call, &["VM.PowerMgmt"])?;
    let timeout = call.int("timeout").unwrap_or(180);
    let force = call.text("force-stop").unwrap_or("1").to_owned();
    let pausing_matters = !call.flag("force-stop");
    let decide: Decide = Box::new(move |guest| {
        let (label, vmid) = (guest.kind.label(), guest.vmid);
        if !guest.is_running() {
            return Step::Warn(format!("Skipping {label} {vmid}, not running."));
        }
        if guest.qmp_status() == "paused" && pausing_matters {
            return Step::Warn(format!(
                "Skipping {label} {vmid}, resume paused VM before shutdown."
            ));
        }
        let line = format!("Shutting down {label} {vmid} (Timeout = {timeout} seconds)");
        let form = vec![
            ("forceStop", force.clone()),
            ("timeout", timeout.to_string()),
        ];
        Step::Call(line, "status/shutdown", form)
    });
    let words = Words {
        one: "Stopping",
        end: |_, _, failed| unless_failed("Some guests failed to shutdown", failed),
    };
    let action = Action {
        kind: "bulk-shutdown",
        verb: "Shutting down",
        suffix: String::new(),
        list: from_last,
        decide,
        words,
    };
    spawn(world, call, action)
}

fn suspend(world: &mut World, call: &Call) -> Reply {
    allowed(world, call, &["VM.PowerMgmt"])?;
    let storage = call.text("statestorage").map(str::to_owned);
    let to_disk = call.flag("to-disk");
    if to_disk {
        allowed(world, call, &["VM.Config.Disk"])?;
        if let Some(storage) = &storage {
            let path = format!("/storage/{storage}");
            require(world, &call.who, &path, &["Datastore.AllocateSpace"])?;
        }
    }
    let decide: Decide = Box::new(move |guest| {
        let vmid = guest.vmid;
        if guest.kind != Kind::Qemu {
            return Step::Warn(format!("skipping {vmid}, only VMs can be suspended"));
        }
        if !guest.is_running() {
            return Step::Warn(format!("Skipping VM {vmid}, not running."));
        }
        let mut form = vec![("todisk", u8::from(to_disk).to_string())];
        let storage = storage.clone().filter(|_| to_disk);
        form.extend(storage.map(|storage| ("statestorage", storage)));
        Step::Call(format!("Suspending VM {vmid}"), "status/suspend", form)
    });
    let words = Words {
        one: "Stopping",
        end: |_, _, failed| unless_failed("Some guests failed to suspend", failed),
    };
    let action = Action {
        kind: "bulk-suspend",
        verb: "Suspending",
        suffix: String::new(),
        list: from_last,
        decide,
        words,
    };
    spawn(world, call, action)
}

fn migrate(world: &mut World, call: &Call) -> Reply {
    allowed(world, call, &["VM.Migrate"])?;
    let target = call.text("target").unwrap_or_default().to_owned();
    let suffix = format!(" to {target}");
    let online = call.text("online").map(str::to_owned);
    let disks = call.text("with-local-disks").map(str::to_owned);
    let decide: Decide = Box::new(move |guest| {
        let (label, vmid) = (guest.kind.label(), guest.vmid);
        if guest.node == target {
            return Step::Warn(format!("{label} {vmid} already on {target}, skipping."));
        }
        let mut form = vec![("target", target.clone())];
        match guest.kind {
            Kind::Lxc => form.extend(online.clone().map(|flag| ("restart", flag))),
            Kind::Qemu => {
                form.extend(online.clone().map(|flag| ("online", flag)));
                form.extend(disks.clone().map(|flag| ("with-local-disks", flag)));
            }
        }
        Step::Call(format!("Migrating {label} {vmid}"), "migrate", form)
    });
    let words = Words {
        one: "Migrating",
        end: |_, _, failed| unless_failed("Some guests failed to migrate", failed),
    };
    let action = Action {
        kind: "bulk-migrate",
        verb: "Migrating",
        suffix,
        list: |world, ids| all_members(world, None, ids),
        decide,
        words,
    };
    spawn(world, call, action)
}
