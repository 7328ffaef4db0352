//! The figures of a guest: what it has, and a plausible picture of what it uses.

use serde_json::{Map, Value, json};

use crate::api::bit;
use crate::clock::Time;
use crate::world::World;
use crate::world::guest::{Guest, Kind, Power};

/// What a guest uses at a moment. Steady while it runs, nothing while it does not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) cpu: f64,
    pub(crate) memory: u64,
    pub(crate) disk: u64,
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) received: u64,
    pub(crate) sent: u64,
}

/// What a guest uses at `now`.
pub(crate) fn usage(guest: &Guest, now: Time) -> Usage {
    let Power::Running { paused, .. } = guest.power else {
        return Usage::default();
    };
    let uptime = guest.uptime(now);
    Usage {
        cpu: if paused { 0.0 } else { 0.02 },
        memory: guest.max_memory() / 2,
        // PVE cannot look into a VM's disk.
        disk: if guest.kind == Kind::Lxc {
            guest.max_disk() / 5
        } else {
            0
        },
        read: uptime * 4096,
        written: uptime * 2048,
        received: uptime * 100,
        sent: uptime * 50,
    }
}

/// How much an answer tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The list of guests.
    List,
    /// The list with `full=1`.
    Full,
    /// `status/current`.
    Current,
}

/// A guest's figures as lists and `status/current` show them.
pub(crate) fn of(world: &World, guest: &Guest, detail: Detail) -> Value {
    let use_now = usage(guest, world.now);
    let mut fields = json!({
        "vmid": guest.vmid,
        "name": guest.name(),
        "status": guest.status(),
        "uptime": guest.uptime(world.now),
        "cpus": guest.cpus(world.nodes.get(&guest.node)),
        "cpu": use_now.cpu,
        "maxmem": guest.max_memory(),
        "mem": use_now.memory,
        "maxdisk": guest.max_disk(),
        "disk": use_now.disk,
        "netin": use_now.received,
        "netout": use_now.sent,
    });
    for key in ["tags", "lock"] {
        if let Some(value) = guest.config.get(key) {
            fields[key] = json!(value);
        }
    }
    if guest.is_template() {
        fields["template"] = json!(1);
    }
    if let Power::Running { pid, .. } = guest.power {
        fields["pid"] = json!(pid);
        add_pressure(guest.kind, &mut fields);
    }
    match guest.kind {
        Kind::Qemu => add_vm_fields(guest, &use_now, detail, &mut fields),
        Kind::Lxc => add_container_fields(guest, &use_now, &mut fields),
    }
    if detail == Detail::Current {
        fields["ha"] = match world.ha_resource(guest.kind, guest.vmid) {
            Some(resource) => {
                json!({ "managed": 1, "state": resource.props.get("state").map_or("started", String::as_str) })
            }
            None => json!({ "managed": 0 }),
        };
    }
    fields
}

/// Pressure stall figures: numbers for a VM, text for a container.
fn add_pressure(kind: Kind, fields: &mut Value) {
    for name in ["cpu", "io", "memory"] {
        for share in ["some", "full"] {
            let none = if kind == Kind::Qemu {
                json!(0)
            } else {
                json!("0.00")
            };
            fields[format!("pressure{name}{share}")] = none;
        }
    }
}

fn add_vm_fields(guest: &Guest, use_now: &Usage, detail: Detail, fields: &mut Value) {
    fields["memhost"] = json!(use_now.memory);
    if (0..4).any(|port| guest.config.get(&format!("serial{port}")).is_some()) {
        fields["serial"] = json!(1);
    }
    if detail == Detail::List {
        return;
    }
    fields["qmpstatus"] = json!(guest.qmp_status());
    if guest.is_running() {
        fields["nics"] = nics(guest, use_now);
    }
    if detail == Detail::Current && guest.agent_enabled() {
        fields["agent"] = bit(true);
    }
}

fn nics(guest: &Guest, use_now: &Usage) -> Value {
    let ports = (0..32).filter(|port| guest.config.get(&format!("net{port}")).is_some());
    let counters = json!({ "netin": use_now.received, "netout": use_now.sent });
    ports
        .map(|port| (format!("tap{}i{port}", guest.vmid), counters.clone()))
        .collect::<Map<_, _>>()
        .into()
}

fn add_container_fields(guest: &Guest, use_now: &Usage, fields: &mut Value) {
    fields["type"] = json!("lxc");
    fields["maxswap"] = json!(guest.config.int("swap").unwrap_or(512) << 20);
    fields["swap"] = json!(0);
    fields["diskread"] = json!(use_now.read);
    fields["diskwrite"] = json!(use_now.written);
}
