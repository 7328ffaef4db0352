//! What get_proxmox_vm_status answers, and its text.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::area::task_rows::{TaskRow, task_table};
use crate::plan::Impact;
use crate::tool::{Answer, Object};
use crate::words::{self, line};

/// A guest's state.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::area) struct GuestReport {
    /// Its number.
    pub(super) vmid: u32,
    /// Its name.
    pub(super) name: String,
    /// qemu or lxc.
    pub(super) kind: String,
    /// Its node.
    pub(super) node: String,
    /// Its cluster.
    pub(super) cluster: String,
    /// running or stopped; a paused VM is running.
    pub(super) status: String,
    /// A VM's own word, such as paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) qmp_status: Option<String>,
    /// Whether it is a template.
    pub(super) template: bool,
    /// Whether PVE's protection flag is set.
    pub(super) protection: bool,
    /// What holds a lock on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lock: Option<String>,
    /// Seconds since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uptime: Option<u64>,
    /// Share of its CPUs in use, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cpu: Option<f64>,
    /// How many CPUs it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cpus: Option<f64>,
    /// Memory in use, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory_used: Option<u64>,
    /// Memory, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory_total: Option<u64>,
    /// Its tags.
    pub(super) tags: Vec<String>,
    /// Its pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pool: Option<String>,
    /// Its disks, detached ones included.
    pub(super) disks: Vec<DiskRow>,
    /// Its network cards as configured.
    pub(super) networks: Vec<String>,
    /// Its addresses, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) addresses: Option<Vec<String>>,
    /// Its snapshots, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) snapshots: Option<Vec<SnapshotRow>>,
    /// Changes that wait for a restart, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pending: Option<Vec<String>>,
    /// Its backups, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) backups: Option<Vec<Impact>>,
    /// Its state under high availability, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ha: Option<String>,
    /// Its latest tasks, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tasks: Option<Vec<TaskRow>>,
    /// Its whole configuration as PVE keeps it, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) config: Option<Object>,
    /// What could not be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct DiskRow {
    /// Its place in the configuration, such as scsi0 or rootfs.
    pub(super) key: String,
    /// The volume.
    pub(super) volume: String,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) size: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct SnapshotRow {
    /// Its name.
    pub(super) name: String,
    /// When it was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) taken: Option<String>,
    /// The one before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
}

impl Answer for GuestReport {
    fn text(&self) -> String {
        let kind = if self.kind == "qemu" {
            "VM"
        } else {
            "container"
        };
        let mut head = format!(
            "{kind} {} ({}) on {}: {}",
            self.vmid,
            crate::clean::line(&self.name),
            self.node,
            self.status
        );
        if let Some(qmp) = &self.qmp_status {
            let _ = write!(head, ", {qmp}");
        }
        for (is, word) in [(self.template, "template"), (self.protection, "protected")] {
            if is {
                let _ = write!(head, ", {word}");
            }
        }
        if let Some(lock) = &self.lock {
            let _ = write!(head, ", locked ({lock})");
        }
        if let Some(uptime) = self.uptime {
            let _ = write!(head, ", up {}", words::duration(uptime));
        }
        let mut out = String::new();
        line!(out, "{head}");
        if let (Some(cpus), Some(total)) = (self.cpus, self.memory_total) {
            let cpu = self
                .cpu
                .map(|cpu| format!(" at {:.0} %", cpu * 100.0))
                .unwrap_or_default();
            let used = self
                .memory_used
                .map(|used| format!("{} of ", words::size(used)))
                .unwrap_or_default();
            line!(out, "{cpus} CPUs{cpu}, memory {used}{}", words::size(total));
        }
        for disk in &self.disks {
            line!(
                out,
                "disk {}: {} {}",
                disk.key,
                crate::clean::line(&disk.volume),
                disk.size.map(words::size).unwrap_or_default()
            );
        }
        for network in &self.networks {
            line!(out, "network {network}");
        }
        if !self.tags.is_empty() {
            line!(out, "tags {}", self.tags.join(" "));
        }
        if let Some(pool) = &self.pool {
            line!(out, "pool {pool}");
        }
        out.push_str(&self.parts_text());
        for note in &self.notes {
            line!(out, "note: {note}");
        }
        out
    }
}

impl GuestReport {
    /// The parts that were asked for.
    fn parts_text(&self) -> String {
        let mut out = String::new();
        for address in listed(&mut out, "addresses", self.addresses.as_deref()) {
            line!(out, "address {address}");
        }
        for snapshot in listed(&mut out, "snapshots", self.snapshots.as_deref()) {
            let taken = snapshot.taken.as_deref().unwrap_or("?");
            line!(out, "snapshot {} taken {taken}", snapshot.name);
        }
        if let Some(pending) = &self.pending {
            match pending.as_slice() {
                [] => line!(out, "nothing waits for a restart"),
                lines => line!(out, "waits for a restart: {}", lines.join("; ")),
            }
        }
        for backup in listed(&mut out, "backups", self.backups.as_deref()) {
            line!(out, "{}", backup.line());
        }
        if let Some(ha) = &self.ha {
            line!(out, "HA: {ha}");
        }
        let tasks = listed(&mut out, "tasks", self.tasks.as_deref());
        out.push_str(&task_table(tasks));
        if let Some(config) = &self.config {
            for (key, value) in config {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), ToOwned::to_owned);
                line!(out, "config {key}: {}", words::clip(&value, 300));
            }
        }
        out
    }
}

/// What was asked for; an empty answer is said, so that it is not taken for one that was left out.
fn listed<'a, T>(out: &mut String, what: &str, items: Option<&'a [T]>) -> &'a [T] {
    if items.is_some_and(<[T]>::is_empty) {
        words::push_line(out, &format!("no {what}"));
    }
    items.unwrap_or_default()
}
