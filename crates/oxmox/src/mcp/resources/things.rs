//! A node, a guest, a task, each as one JSON object of bounded size.

use std::collections::BTreeMap;

use pve::{GuestConfig, NodeName, Reader, Resource as Row, ResourceKind, TaskEnd, Upid, Vmid};
use serde_json::{Value, json};
use tools::clean;
use tools::words;

use super::view::{Seen, View};

/// Guests or storages of a node that are named one by one.
const MOST_LISTED: usize = 200;
/// Keys of a guest's configuration.
const MOST_KEYS: usize = 200;
/// Characters of one value.
const LONGEST_VALUE: usize = 400;
/// Lines of a task's log.
const LOG_LINES: u64 = 20;

/// A node among the cluster's resources.
pub(super) fn node(rows: &[Row], name: &NodeName) -> Seen {
    let here = |row: &&Row| row.node.as_ref() == Some(name);
    let is_node = |row: &&Row| row.kind == ResourceKind::Node;
    let Some(row) = rows.iter().filter(here).find(is_node) else {
        return Seen::Absent;
    };
    let online = row.status.as_deref() == Some("online");
    let guests: Vec<Value> = sorted(rows.iter().filter(here).filter(|row| row.vmid.is_some()))
        .into_iter()
        .map(|row| {
            json!({
                "vmid": row.vmid, "type": row.kind.as_str(), "name": line(row.name.as_deref()),
                // PVE goes on showing the guests of a lost node as running for some minutes.
                "status": if online { line(row.status.as_deref()) } else { json!("unknown") },
            })
        })
        .collect();
    let is_storage = |row: &&Row| row.kind == ResourceKind::Storage;
    let storages: Vec<Value> = sorted(rows.iter().filter(here).filter(is_storage))
        .into_iter()
        .map(|row| {
            json!({
                "storage": line(row.storage.as_deref()), "type": row.plugintype,
                "status": line(row.status.as_deref()), "bytes": row.maxdisk,
            })
        })
        .collect();
    let shown = json!({
        "node": name, "status": line(row.status.as_deref()), "cpus": row.maxcpu, "memory_bytes": row.maxmem,
        "guests": listed(&guests), "guest_count": guests.len(),
        "storages": listed(&storages), "storage_count": storages.len(),
    });
    Seen::Whole(View::new(shown, usage(row)))
}

/// A guest: its row among the cluster's resources, and its configuration.
pub(super) async fn guest(pve: &Reader, rows: &[Row], vmid: Vmid) -> Seen {
    let Some(row) = rows.iter().find(|row| row.vmid == Some(vmid)) else {
        return Seen::Absent;
    };
    let Some(guest) = pve::Guest::from_resource(row) else {
        return Seen::Absent;
    };
    let config = pve.guest_config(&guest.at).await;
    let mut shown = json!({
        "vmid": vmid, "type": row.kind.as_str(), "name": line(row.name.as_deref()),
        "node": row.node, "status": line(row.status.as_deref()), "template": row.template,
        "lock": line(row.lock.as_deref()), "pool": line(row.pool.as_deref()),
        "tags": line(row.tags.as_deref()), "ha": line(row.hastate.as_deref()),
        "cpus": row.maxcpu, "memory_bytes": row.maxmem, "disk_bytes": row.maxdisk,
    });
    match config {
        Ok(config) => {
            shown["config"] = configuration(&config);
            Seen::Whole(View::new(shown, usage(row)))
        }
        Err(error) => {
            let why = tools::fault::Fault::from(error).to_string();
            shown["problems"] = json!([format!("its configuration cannot be read: {why}")]);
            Seen::InPart(View::new(shown, usage(row)))
        }
    }
}

/// A task and the end of its log.
pub(super) async fn task(pve: &Reader, upid: &Upid) -> Seen {
    let status = match pve.task_status(upid).await {
        Ok(status) => status,
        Err(error) if error.is_missing_object() => return Seen::Absent,
        Err(error) => return Seen::Unreadable(tools::fault::Fault::from(error).to_string()),
    };
    let (state, exit) = match &status.end {
        None => ("running", None),
        Some(TaskEnd::Ok) => ("ok", None),
        Some(TaskEnd::Warnings(count)) => ("warnings", Some(format!("WARNINGS: {count}"))),
        Some(TaskEnd::Failed(why)) => ("failed", Some(clean::without_passwords(why))),
    };
    let log = pve.task_log_tail(upid, LOG_LINES).await.unwrap_or_default();
    let log: Vec<Value> = log
        .iter()
        .map(|text| line(Some(&clean::without_passwords(text))))
        .collect();
    let started = i64::try_from(upid.starttime()).unwrap_or_default();
    let shown = json!({
        "upid": upid, "node": upid.node(), "task_type": upid.task_type(), "subject": upid.id(),
        "user": upid.user(), "started": words::time(started), "state": state,
        "exit_status": exit, "log": log,
    });
    Seen::Whole(View::new(shown, Value::Null))
}

fn configuration(config: &GuestConfig) -> Value {
    let values = config.values().iter().take(MOST_KEYS);
    let values = values.map(|(key, value)| {
        let value = match value {
            Value::String(text) => json!(words::clip(text, LONGEST_VALUE)),
            other => other.clone(),
        };
        (key.clone(), value)
    });
    json!(values.collect::<BTreeMap<_, _>>())
}

fn usage(row: &Row) -> Value {
    json!({
        "cpu": row.cpu, "memory_bytes": row.mem, "disk_bytes": row.disk, "uptime_seconds": row.uptime,
    })
}

/// PVE lists in no order; that is no change.
fn sorted<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<&'a Row> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by(|a, b| (a.vmid, &a.storage).cmp(&(b.vmid, &b.storage)));
    rows
}

fn listed(all: &[Value]) -> &[Value] {
    &all[..all.len().min(MOST_LISTED)]
}

fn line(text: Option<&str>) -> Value {
    text.map_or(Value::Null, |text| {
        json!(words::clip(&tools::clean::line(text), LONGEST_VALUE))
    })
}
