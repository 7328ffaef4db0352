//! `/nodes/{node}/startall`, `stopall`, `suspendall`.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Decide, Step, Words, all_members, in_any_case, members, named, run};
use crate::call::{Call, Identity};
use crate::error::{ApiError, Reply};
use crate::permission::{Perm, require};
use crate::route::{Route, post};
use crate::schema::common::NODE;
use crate::schema::{Param, flag, format, int, text};
use crate::world::World;
use crate::world::guest::Kind;
use crate::world::work::{Job, Work};

const WORKERS: Param = int("max-workers").min(1).max(64).optional();
const GUESTS: Param = text("vms").list_of(format::vmid).optional();

/// The routes of actions on all guests of a node. Each handler checks the rights on its guests.
pub const ROUTES: &[Route] = &[
    post("/nodes/{node}/startall", start)
        .allow(Perm::User)
        .params(&[NODE, flag("force").optional(), WORKERS, GUESTS])
        .proxied(),
    post("/nodes/{node}/stopall", stop)
        .allow(Perm::User)
        .params(&[
            NODE,
            flag("force-stop").optional(),
            WORKERS,
            int("timeout").min(0).max(7200).optional(),
            GUESTS,
        ])
        .proxied(),
    post("/nodes/{node}/suspendall", suspend)
        .allow(Perm::User)
        .params(&[NODE, WORKERS, GUESTS])
        .proxied(),
    post("/nodes/{node}/migrateall", migrate)
        .allow(Perm::User)
        .params(&[
            NODE,
            text("target").is(format::node),
            WORKERS,
            int("maxworkers").min(1).max(64).optional(),
            GUESTS,
            flag("with-local-disks").optional(),
        ])
        .proxied(),
];

/// Who may not do it to all guests must name those he may do it to, for which the first privilege is enough.
fn allowed(world: &World, call: &Call, all: &[&str]) -> Result<(), ApiError> {
    if all.iter().all(|name| world.may(&call.who, "/", name)) {
        return Ok(());
    }
    let ids = named(call);
    if ids.is_empty() {
        return Err(ApiError::denied(Some(&format!("/, {}", all.join(" && ")))));
    }
    ids.iter()
        .try_for_each(|vmid| require(world, &call.who, &format!("/vms/{vmid}"), &all[..1]))
}

fn start(world: &mut World, call: &Call) -> Reply {
    allowed(world, call, &["VM.PowerMgmt"])?;
    let only_onboot = !call.flag("force");
    let decide: Decide = Box::new(move |guest| {
        if guest.is_running() || (only_onboot && !guest.config.flag("onboot")) {
            return Step::Skip;
        }
        let line = format!("Starting {} {}", guest.kind.label(), guest.vmid);
        Step::Call(line, "status/start", Vec::new())
    });
    let action = All {
        who: call.who.clone(),
        node: call.node().to_owned(),
        ids: named(call),
        decide,
    };
    let work = Work::new("startall", "").run(|world, job| with_quorum(world, job, action));
    Ok(json!(world.start_task(&call.who, call.node(), work)).into())
}

/// An action on the guests of a node.
struct All {
    who: Identity,
    node: String,
    ids: Vec<u32>,
    decide: Decide,
}

/// Waits for quorum as long as it takes, then starts the guests.
fn with_quorum(world: &mut World, job: &mut Job, action: All) -> Result<(), String> {
    if world.is_quorate() {
        return start_all(world, job, &action);
    }
    job.log("waiting for quorum ...");
    job.wait(1);
    job.then(|world, job| again(world, job, action));
    Ok(())
}

fn again(world: &mut World, job: &mut Job, action: All) -> Result<(), String> {
    if world.is_quorate() {
        job.log("got quorum");
        return start_all(world, job, &action);
    }
    job.wait(1);
    job.then(|world, job| again(world, job, action));
    Ok(())
}

fn start_all(world: &mut World, job: &mut Job, action: &All) -> Result<(), String> {
    let words = Words {
        one: "Starting",
        end: in_any_case,
    };
    let list = members(world, Some(&action.node), &action.ids);
    run(world, job, &action.who, list, &action.decide, words)
}

/// The others go through the guests from the last to the first.
fn spawn(world: &mut World, call: &Call, kind: &str, decide: Decide) -> Reply {
    let (who, ids) = (call.who.clone(), named(call));
    let node = call.node().to_owned();
    let work = Work::new(kind, "").run(move |world, job| {
        let mut list = members(world, Some(&node), &ids);
        list.reverse();
        let words = Words {
            one: "Stopping",
            end: in_any_case,
        };
        run(world, job, &who, list, &decide, words)
    });
    Ok(json!(world.start_task(&call.who, call.node(), work)).into())
}

fn stop(world: &mut World, call: &Call) -> Reply {
    allowed(world, call, &["VM.PowerMgmt"])?;
    let timeout = call.int("timeout").unwrap_or(180);
    let force = call.text("force-stop").unwrap_or("1").to_owned();
    let decide: Decide = Box::new(move |guest| {
        if !guest.is_running() {
            return Step::Skip;
        }
        let (label, vmid) = (guest.kind.label(), guest.vmid);
        let line = format!("Stopping {label} {vmid} (timeout = {timeout} seconds)");
        let form = vec![
            ("forceStop", force.clone()),
            ("timeout", timeout.to_string()),
        ];
        Step::Call(line, "status/shutdown", form)
    });
    spawn(world, call, "stopall", decide)
}

fn suspend(world: &mut World, call: &Call) -> Reply {
    allowed(world, call, &["VM.PowerMgmt", "VM.Config.Disk"])?;
    let decide: Decide = Box::new(|guest| {
        let vmid = guest.vmid;
        if guest.kind != Kind::Qemu {
            return Step::Warn(format!("skipping {vmid}, only VMs can be suspended"));
        }
        if !guest.is_running() {
            return Step::Log(format!("VM {vmid} not running, skipping suspension"));
        }
        let form = vec![("todisk", "1".to_owned())];
        Step::Call(format!("Suspending VM {vmid}"), "status/suspend", form)
    });
    spawn(world, call, "suspendall", decide)
}

/// Moves everything to another node, machines that run with their RAM.
fn migrate(world: &mut World, call: &Call) -> Reply {
    allowed(world, call, &["VM.Migrate"])?;
    let (node, target) = (call.node(), call.text("target").unwrap_or_default());
    if node == target {
        return Err(ApiError::param("target", "target is local node."));
    }
    world.require_quorum()?;
    if !world.nodes.contains_key(target) {
        return Err(ApiError::fail(format!("no such cluster node '{target}'")));
    }
    let set = ["max-workers", "maxworkers"]
        .iter()
        .any(|name| call.params.has(name));
    if !set && !world.options.contains_key("max_workers") {
        return Err(ApiError::fail(
            "either 'max-workers' parameter or max_workers in datacenter.cfg must be set!",
        ));
    }
    let (who, ids) = (call.who.clone(), named(call));
    let (node, target) = (node.to_owned(), target.to_owned());
    let disks = call.text("with-local-disks").map(str::to_owned);
    let work = Work::new("migrateall", "").run(move |world, job| {
        let list = all_members(world, Some(&node), &ids);
        if list.is_empty() {
            job.warn("no virtual guests matched, nothing to do..");
            return Ok(());
        }
        let shared = world.storages.iter().filter(|(_, storage)| storage.shared);
        let shared = shared.map(|(id, _)| id.clone()).collect();
        let decide = decide_move(target, disks, shared);
        let words = Words {
            one: "Migrating",
            end: count_moves,
        };
        run(world, job, &who, list, &decide, words)
    });
    Ok(json!(world.start_task(&call.who, call.node(), work)).into())
}

fn count_moves(job: &mut Job, started: usize, _: &[u32]) -> Result<(), String> {
    if started == 0 {
        return Err("no migrations worker started...".to_owned());
    }
    job.log(format!(
        "All jobs finished, used {started} workers in total."
    ));
    Ok(())
}

/// A machine that runs moves only if its disks are shared, or may move too.
fn decide_move(target: String, disks: Option<String>, shared: BTreeSet<String>) -> Decide {
    Box::new(move |guest| {
        let vmid = guest.vmid;
        let running = u8::from(guest.is_running()).to_string();
        let mut form = vec![("target", target.clone())];
        if guest.kind == Kind::Lxc {
            form.push(("restart", running));
            return Step::Call(format!("Migrating CT {vmid}"), "migrate", form);
        }
        let local: Vec<&str> = guest
            .config
            .drives()
            .filter(|drive| !drive.is_cdrom())
            .filter(|drive| drive.storage().is_some_and(|id| !shared.contains(id)))
            .map(|drive| drive.volume)
            .collect();
        if guest.is_running() && disks.as_deref() != Some("1") && !local.is_empty() {
            let list = local.join(", ");
            return Step::Log(format!(
                "Check VM {vmid}: skip VM {vmid} - precondition check failed:\n  Has local disks: {list}"
            ));
        }
        form.push(("online", running));
        form.extend(disks.clone().map(|flag| ("with-local-disks", flag)));
        let text = format!("Check VM {vmid}: precondition check passed\nMigrating VM {vmid}");
        Step::Call(text, "migrate", form)
    })
}
