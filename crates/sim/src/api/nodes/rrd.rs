//! `rrddata`: how figures went. What runs now ran all the time since it was started, busier by day than by night.
//! Releases before 9 keep fewer figures and coarser steps.

use serde_json::{Map, Value, json};

use super::guest::figures;
use crate::call::Call;
use crate::clock::Time;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::common::{NODE, VMID};
use crate::schema::{Param, format, text};
use crate::world::World;
use crate::world::guest::{Guest, Kind, Power};

const FRAME: Param = text("timeframe").one_of(&["hour", "day", "week", "month", "year", "decade"]);
const SHORT_FRAME: Param = text("timeframe").one_of(&["hour", "day", "week", "month", "year"]);
const FUNCTION: Param = text("cf").one_of(&["AVERAGE", "MAX"]).optional();
const AUDIT_VM: Perm = Perm::On("/vms/{vmid}", &["VM.Audit"]);

/// The routes of histories.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/rrddata", of_node)
        .allow(Perm::On("/nodes/{node}", &["Sys.Audit"]))
        .params(&[NODE, FRAME, FUNCTION]),
    get("/nodes/{node}/qemu/{vmid}/rrddata", of_guest)
        .allow(AUDIT_VM)
        .params(&[NODE, VMID, SHORT_FRAME, FUNCTION]),
    get("/nodes/{node}/lxc/{vmid}/rrddata", of_guest)
        .allow(AUDIT_VM)
        .params(&[NODE, VMID, SHORT_FRAME, FUNCTION]),
    get("/nodes/{node}/storage/{storage}/rrddata", of_storage)
        .allow(Perm::AnyOn(
            "/storage/{storage}",
            &["Datastore.Audit", "Datastore.AllocateSpace"],
        ))
        .params(&[
            NODE,
            text("storage").is(format::storage_id),
            SHORT_FRAME,
            FUNCTION,
        ])
        .proxied(),
];

/// The moments of a history, oldest first: the distance between them and their number are PVE's.
fn moments(world: &World, call: &Call) -> Vec<Time> {
    let (step, count) = match call.text("timeframe") {
        Some("day") if world.is_before_9() => (1800, 70),
        Some("week") if world.is_before_9() => (3 * 3600, 70),
        Some("month") if world.is_before_9() => (12 * 3600, 70),
        Some("year") if world.is_before_9() => (7 * 86_400, 70),
        Some("hour") if world.is_before_9() => (60, 70),
        Some("day") => (60, 1440),
        Some("week") => (1800, 336),
        Some("month") => (1800, 1440),
        Some("year") => (6 * 3600, 1440),
        Some("decade") => (7 * 86_400, 569),
        _ => (60, 60),
    };
    let last = world.now.secs() / step * step;
    (0..count)
        .rev()
        .map(|back| Time::from_secs(last.saturating_sub(back * step)))
        .collect()
}

/// How busy things are at a moment, around 1: most in the afternoon, least at night, with some unrest that `seed` sets.
#[expect(clippy::cast_precision_loss, reason = "seconds of a day")]
fn rhythm(at: Time, seed: u32) -> f64 {
    let day = (at.secs() % 86_400) as f64 / 86_400.0;
    let mixed = (at.secs() / 60 + u64::from(seed) * 7_919).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let unrest = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 54;
    let wave = ((day - 0.35) * std::f64::consts::TAU).sin();
    1.0 + 0.5 * wave + (unrest as f64 / 1024.0 - 0.5) * 0.4
}

/// One point per moment; those outside the time that `figures` knows have no figures.
fn history(
    moments: &[Time],
    from: Option<Time>,
    always: &[(&str, Value)],
    figures: impl Fn(Time) -> Vec<(&'static str, Value)>,
) -> Reply {
    let points = moments.iter().map(|at| {
        let mut point: Map<String, Value> = Map::new();
        point.insert("time".to_owned(), json!(at.secs()));
        for (key, value) in always {
            point.insert((*key).to_owned(), value.clone());
        }
        if from.is_some_and(|from| *at >= from) {
            let figures = figures(*at).into_iter();
            point.extend(figures.map(|(key, value)| (key.to_owned(), value)));
        }
        Value::from(point)
    });
    Ok(points.collect::<Value>().into())
}

fn of_node(world: &mut World, call: &Call) -> Reply {
    let name = call.node();
    let Some(node) = world.nodes.get(name) else {
        return Err(no_file(&format!("pve-node-9.0/{name}")));
    };
    let figures = |at: Time| {
        let busy = rhythm(at, node.id);
        vec![
            ("cpu", json!(0.05 * busy)),
            ("maxcpu", json!(node.cpus)),
            ("loadavg", json!(0.25 * busy)),
            ("iowait", json!(0.001)),
            ("memtotal", json!(node.memory)),
            ("memused", json!(node.memory_used())),
            ("memavailable", json!(node.memory - node.memory_used())),
            ("swaptotal", json!(0)),
            ("swapused", json!(0)),
            ("roottotal", json!(node.disk)),
            ("rootused", json!(node.disk_used())),
            ("netin", json!(12_000.0 * busy)),
            ("netout", json!(9_000.0 * busy)),
        ]
    };
    let from = node.is_online().then_some(node.boot);
    history(&moments(world, call), from, &[], figures)
}

fn no_file(name: &str) -> ApiError {
    ApiError::fail(format!(
        "RRD error: rrdcached@unix:/var/run/rrdcached.sock: rrd_fetch_r failed: opening '/var/lib/rrdcached/db/{name}': No such file or directory"
    ))
}

/// Histories belong to the id: neither kind nor node of the guest matter.
fn of_guest(world: &mut World, call: &Call) -> Reply {
    let vmid = call.vmid();
    let guest = world.guests.get(&vmid);
    let guest: &Guest = guest.ok_or_else(|| no_file(&format!("pve-vm-9.0/{vmid}")))?;
    let use_now = figures::usage(guest, world.now);
    let node = world.nodes.get(&guest.node);
    let from = match guest.power {
        Power::Running { since, .. } => Some(since),
        Power::Stopped => None,
    };
    let always = [
        ("maxcpu", json!(guest.cpus(node))),
        ("maxmem", json!(guest.max_memory())),
        ("maxdisk", json!(guest.max_disk())),
        ("disk", json!(use_now.disk)),
    ];
    let old = world.is_before_9();
    let figures = |at: Time| {
        let busy = rhythm(at, vmid);
        let mut found = vec![
            ("cpu", json!(use_now.cpu * busy)),
            ("mem", json!(use_now.memory)),
            ("netin", json!(2_000.0 * busy)),
            ("netout", json!(1_500.0 * busy * busy)),
            ("diskread", json!(0.0)),
            ("diskwrite", json!(4_096.0 * busy)),
        ];
        if old {
            return found;
        }
        let pressures = [
            "pressurecpusome",
            "pressurecpufull",
            "pressureiosome",
            "pressureiofull",
            "pressurememorysome",
            "pressurememoryfull",
        ];
        if guest.kind == Kind::Qemu {
            found.push(("memhost", json!(use_now.memory)));
        }
        found.extend(pressures.map(|key| (key, json!(0.0))));
        found
    };
    history(&moments(world, call), from, &always, figures)
}

fn of_storage(world: &mut World, call: &Call) -> Reply {
    let (name, id) = (call.node(), call.text("storage").unwrap_or_default());
    let storage = world.storages.get(id).filter(|storage| storage.is_on(name));
    let (Some(storage), Some(node)) = (storage, world.nodes.get(name)) else {
        return Err(no_file(&format!("pve-storage-9.0/{name}/{id}")));
    };
    let used = world.used_space(name, id);
    let figures = |_: Time| vec![("total", json!(storage.capacity)), ("used", json!(used))];
    history(&moments(world, call), Some(node.boot), &[], figures)
}
