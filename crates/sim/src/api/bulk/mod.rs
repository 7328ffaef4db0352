//! Actions on many guests at once: `startall` and its like below a node, `bulk-action` for the whole cluster.
//!
//! As in PVE, each is a task that calls the API for every guest and waits for the tasks which that starts. All run at
//! once here; PVE keeps to `max-workers`.

mod cluster;
mod nodes;

pub use cluster::ROUTES as CLUSTER;
pub use nodes::ROUTES as NODES;

use serde_json::Value;

use crate::call::{Call, Given, Identity, Params};
use crate::dispatch;
use crate::error::{Answer, ApiError};
use crate::permission::require;
use crate::world::World;
use crate::world::guest::Guest;
use crate::world::upid::Upid;
use crate::world::work::Job;

/// A guest and its place in the order of starts.
#[derive(Clone)]
struct Member {
    vmid: u32,
    node: String,
    order: u64,
}

/// What to do with one guest.
enum Step {
    /// Write this line and send this call: the action below the guest, and its parameters.
    Call(String, &'static str, Vec<(&'static str, String)>),
    /// Only write this line.
    Log(String),
    /// Only write this warning.
    Warn(String),
    /// Nothing at all.
    Skip,
}

/// Decides what to do with a guest.
type Decide = Box<dyn Fn(&Guest) -> Step + Send>;

/// What to say when a guest failed (`Starting VM 100 failed: ...`), and how to end: from the number of tasks started and
/// the guests that failed.
#[derive(Clone, Copy)]
struct Words {
    one: &'static str,
    end: fn(&mut Job, usize, &[u32]) -> Result<(), String>,
}

/// Ends well, whatever happened to single guests.
fn in_any_case(_: &mut Job, _: usize, _: &[u32]) -> Result<(), String> {
    Ok(())
}

/// Ends with an error that names the guests which failed, if any did.
fn unless_failed(text: &str, failed: &[u32]) -> Result<(), String> {
    if failed.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = failed.iter().map(u32::to_string).collect();
    Err(format!("{text} {}", ids.join(", ")))
}

/// The guests to start or stop: on one node or on all, those named or all, never templates. Guests under HA are left
/// alone unless they are named.
fn members(world: &World, node: Option<&str>, named: &[u32]) -> Vec<Member> {
    let mut found = all_members(world, node, named);
    found.retain(|member| {
        world.guests.get(&member.vmid).is_some_and(|guest| {
            let left_alone =
                named.is_empty() && world.ha_resource(guest.kind, guest.vmid).is_some();
            !left_alone && !guest.is_template()
        })
    });
    found
}

/// The guests on one node or on all, those named or all, in the order of starts.
fn all_members(world: &World, node: Option<&str>, named: &[u32]) -> Vec<Member> {
    let wanted = |guest: &&Guest| {
        node.is_none_or(|node| node == guest.node)
            && (named.is_empty() || named.contains(&guest.vmid))
    };
    let order = |guest: &Guest| {
        let startup = guest.config.get("startup").unwrap_or_default();
        let mut parts = startup.split(',');
        parts
            .find_map(|part| part.strip_prefix("order=").unwrap_or(part).parse().ok())
            .unwrap_or(u64::MAX)
    };
    let mut found: Vec<Member> = world
        .guests
        .values()
        .filter(wanted)
        .map(|guest| Member {
            vmid: guest.vmid,
            node: guest.node.clone(),
            order: order(guest),
        })
        .collect();
    found.sort_by_key(|member| (member.order, member.vmid));
    found
}

fn named(call: &Call) -> Vec<u32> {
    let ids = call.params.list("vms").into_iter();
    ids.filter_map(|id| id.parse().ok()).collect()
}

/// Requires the privileges on every guest named, or on everything.
fn allowed(world: &World, call: &Call, privs: &[&str]) -> Result<(), ApiError> {
    let ids = named(call);
    if ids.is_empty() {
        return require(world, &call.who, "/", privs);
    }
    ids.iter()
        .try_for_each(|vmid| require(world, &call.who, &format!("/vms/{vmid}"), privs))
}

/// Does it: sends the calls in order, then waits for what they started.
fn run(
    world: &mut World,
    job: &mut Job,
    who: &Identity,
    members: Vec<Member>,
    decide: &Decide,
    words: Words,
) -> Result<(), String> {
    let mut running = Vec::new();
    let mut failed = Vec::new();
    for member in members {
        let Some(guest) = world.guests.get(&member.vmid) else {
            continue;
        };
        let (kind, label) = (guest.kind, guest.kind.label());
        let (action, form) = match decide(guest) {
            Step::Call(text, action, form) => {
                text.lines().for_each(|line| job.log(line));
                (action, form)
            }
            Step::Log(text) => {
                text.lines().for_each(|line| job.log(line));
                continue;
            }
            Step::Warn(line) => {
                job.warn(line);
                continue;
            }
            Step::Skip => continue,
        };
        let path = format!(
            "/nodes/{}/{}/{}/{action}",
            member.node,
            kind.name(),
            member.vmid
        );
        let mut sent = Params::default();
        for (name, value) in form {
            sent.set(name, Given::Text(value));
        }
        match dispatch::call(world, who, &member.node, ("POST", &path), &sent) {
            Ok(answer) => running.extend(upid_of(&answer).map(|upid| (member.vmid, label, upid))),
            Err(error) => {
                job.warn(error.message);
                failed.push(member.vmid);
            }
        }
    }
    let state = State {
        started: running.len(),
        running,
        failed,
    };
    wait(world, job, state, words)
}

/// How far the action has come.
struct State {
    started: usize,
    running: Vec<(u32, &'static str, Upid)>,
    failed: Vec<u32>,
}

fn upid_of(answer: &Answer) -> Option<Upid> {
    match answer {
        Answer::Data {
            data: Value::String(text),
            ..
        } => Upid::parse(text),
        _ => None,
    }
}

/// Looks every second whether the tasks have ended.
fn wait(world: &mut World, job: &mut Job, state: State, words: Words) -> Result<(), String> {
    let (started, mut failed) = (state.started, state.failed);
    let mut running = Vec::new();
    for (vmid, label, upid) in state.running {
        let end = world.tasks.find(&upid).and_then(|task| task.end.as_ref());
        match end.map(|end| end.status.clone()) {
            None => running.push((vmid, label, upid)),
            Some(status) if status == "OK" || status.starts_with("WARNINGS") => {}
            Some(status) => {
                job.warn(format!("{} {label} {vmid} failed: {status}", words.one));
                failed.push(vmid);
            }
        }
    }
    if running.is_empty() {
        return (words.end)(job, started, &failed);
    }
    job.wait(1);
    let state = State {
        started,
        running,
        failed,
    };
    job.then(move |world, job| wait(world, job, state, words));
    Ok(())
}
