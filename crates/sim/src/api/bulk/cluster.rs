//! `/cluster/bulk-action/guest`.

use serde_json::json;

use super::{Decide, Member, Step, Words, allowed, members, named, run};
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
];

fn root(_: &mut World, _: &Call) -> Reply {
    index("name", &["guest"])
}

fn actions(_: &mut World, _: &Call) -> Reply {
    index("name", &["start", "shutdown", "migrate", "suspend"])
}

/// Starts the task on the node that was asked. `verb` and `type` are those of its first line and of its UPID.
fn spawn(
    world: &mut World,
    call: &Call,
    (kind, verb): (&str, &str),
    order: fn(&mut Vec<Member>),
    decide: Decide,
    words: Words,
) -> Reply {
    let ids = named(call);
    let texts: Vec<String> = ids.iter().map(u32::to_string).collect();
    let line = if ids.is_empty() {
        format!("{verb} all guests")
    } else {
        format!("{verb} guests: {}", texts.join(", "))
    };
    let who = call.who.clone();
    let work = Work::new(kind, "").log(line).run(move |world, job| {
        let mut list = members(world, None, &ids);
        order(&mut list);
        run(world, job, &who, list, &decide, words)
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
        all: Some("Some guests failed to start:"),
    };
    spawn(
        world,
        call,
        ("bulk-start", "Starting"),
        |_| {},
        decide,
        words,
    )
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
        all: Some("Some guests failed to shutdown"),
    };
    let kind = ("bulk-shutdown", "Shutting down");
    spawn(world, call, kind, |list| list.reverse(), decide, words)
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
        all: Some("Some guests failed to suspend"),
    };
    let kind = ("bulk-suspend", "Suspending");
    spawn(world, call, kind, |list| list.reverse(), decide, words)
}
