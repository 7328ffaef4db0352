//! `get_proxmox_vm_status`

use std::fmt::Write as _;

use pve::{
    GuestConfig, GuestKind, GuestStatus, NodeName, Reader, Request, TaskEnd, TaskSummary, Vmid,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::spec::{Example, Risk, Spec, Toolset};
use crate::tool::{Answer, Object, Reads};
use crate::words;

/// Shows one VM or container: state, size, disks, lock, protection, and on request its configuration, snapshots,
/// pending changes, addresses, backups, HA state or tasks.
///
/// Use it before and after changing a guest; to find the guest use `list_proxmox_resources`, to see what deleting it
/// would take along use `delete_proxmox_vm_preview`. A guest on an offline node is answered as last known. A
/// paused VM is running with `qmp_status` paused. Addresses of a VM come from its guest agent and need one.
/// Needs VM.Audit; parts that cannot be read are named in the notes with the reason.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetVmStatus {
    /// The guest's id.
    vmid: Vmid,
    /// Its node, as a check. Left out: looked up.
    node: Option<NodeName>,
    /// Its kind, as a check. Left out: looked up.
    vm_type: Option<GuestKind>,
    /// What to show besides: any of config, snapshots, pending, addresses, backups, ha, tasks.
    #[serde(default)]
    include: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Part {
    Config,
    Snapshots,
    Pending,
    Addresses,
    Backups,
    Ha,
    Tasks,
}

/// A guest's state.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct GuestReport {
    /// Its number.
    vmid: u32,
    /// Its name.
    name: String,
    /// qemu or lxc.
    kind: String,
    /// Its node.
    node: String,
    /// Its cluster.
    cluster: String,
    /// running or stopped; a paused VM is running.
    status: String,
    /// A VM's own word, such as paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    qmp_status: Option<String>,
    /// Whether it is a template.
    template: bool,
    /// Whether PVE's protection flag is set.
    protection: bool,
    /// What holds a lock on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<String>,
    /// Seconds since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    uptime: Option<u64>,
    /// Share of its CPUs in use, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<f64>,
    /// CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpus: Option<f64>,
    /// Memory in use, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_used: Option<u64>,
    /// Memory, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_total: Option<u64>,
    /// Its tags.
    tags: Vec<String>,
    /// Its pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pool: Option<String>,
    /// Its disks, detached ones included.
    disks: Vec<DiskRow>,
    /// Its network cards as configured.
    networks: Vec<String>,
    /// Its addresses, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    addresses: Vec<String>,
    /// Its snapshots, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    snapshots: Vec<SnapshotRow>,
    /// Changes that wait for a restart, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Vec<String>>,
    /// Its backups, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    backups: Vec<crate::plan::Impact>,
    /// Its state under high availability, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    ha: Option<String>,
    /// Its latest tasks, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<TaskRow>,
    /// Its whole configuration as PVE keeps it, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Object>,
    /// What could not be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct DiskRow {
    /// Its place in the configuration, such as scsi0 or rootfs.
    key: String,
    /// The volume.
    volume: String,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct SnapshotRow {
    /// Its name.
    name: String,
    /// When it was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<String>,
    /// The one before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
}

/// A task in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct TaskRow {
    /// Its id, for `get_proxmox_task`.
    upid: String,
    /// PVE's word for what it does.
    task_type: String,
    /// When it started.
    started: String,
    /// running, OK, or how it failed.
    status: String,
}

impl Reads for GetVmStatus {
    const SPEC: Spec = Spec {
        name: "get_proxmox_vm_status",
        title: "Show a VM or container",
        toolset: Toolset::Core,
        risk: Risk::Read,
        idempotent: true,
        takes_host: true,
        examples: &[
            Example {
                ask: "How is the web server?",
                args: r#"{"vmid": 100}"#,
            },
            Example {
                ask: "Snapshots, tasks and pending changes of web",
                args: r#"{"vmid": 100, "node": "pve1", "include": ["snapshots", "tasks", "pending", "ha"]}"#,
            },
            Example {
                ask: "Configuration and addresses of the DNS container",
                args: r#"{"vmid": 200, "vm_type": "lxc", "include": ["config", "addresses", "backups"]}"#,
            },
        ],
    };

    type Answer = GuestReport;

    async fn read(self, cx: &Context) -> Result<GuestReport, Fault> {
        let guest = cx
            .guest(self.vmid, self.node.as_ref(), self.vm_type)
            .await?;
        let mut report = GuestReport::of(&guest);
        if !guest.node_online {
            report.notes.push(format!(
                "node {} is offline; this is what was last known",
                guest.at.node
            ));
            return Ok(report);
        }
        match guest.pve().guest_status(&guest.at).await {
            Ok(status) => report.fill_status(status),
            Err(error) => report.notes.push(format!("status: {}", Fault::from(error))),
        }
        match guest.config().await {
            Ok(config) => {
                report.fill_config(&config);
                if self.include.contains(&Part::Config) {
                    report.config = Some(config.values().clone().into_iter().collect());
                }
            }
            Err(fault) => report.notes.push(format!("config: {fault}")),
        }
        for part in self.include {
            if let Err(error) = report.include(part, &guest).await {
                report.notes.push(format!(
                    "{}: {}",
                    format!("{part:?}").to_lowercase(),
                    Fault::from(error)
                ));
            }
        }
        Ok(report)
    }
}

impl GuestReport {
    /// What the cluster knows of it even while its node is down.
    fn of(guest: &Guest) -> Self {
        Self {
            vmid: guest.at.vmid.get(),
            name: guest.name().to_owned(),
            kind: guest.at.kind.to_string(),
            node: guest.at.node.to_string(),
            cluster: guest.cluster.name.clone(),
            status: guest
                .row
                .status
                .clone()
                .unwrap_or_else(|| "unknown".to_owned()),
            template: guest.row.template,
            lock: guest.row.lock.clone(),
            tags: guest.row.tags.clone(),
            pool: guest.row.pool.clone(),
            ..Self::default()
        }
    }

    fn fill_status(&mut self, status: GuestStatus) {
        let running = status.is_running();
        if let Some(word) = status.status {
            self.status = word;
        }
        self.qmp_status = status.qmpstatus.filter(|qmp| *qmp != self.status);
        self.uptime = status.uptime.filter(|_| running);
        self.cpu = status.cpu.filter(|_| running);
        self.cpus = status.cpus;
        self.memory_used = status.mem.filter(|_| running);
        self.memory_total = status.maxmem;
    }

    fn fill_config(&mut self, config: &GuestConfig) {
        self.protection = config.protection();
        self.lock = config.lock();
        let row = |disk: pve::Disk| DiskRow {
            key: disk.key,
            volume: disk.volume,
            size: disk.size_bytes,
        };
        self.disks = config.disks().into_iter().map(row).collect();
        let card = |nic: pve::Nic| {
            let mac = nic.mac.unwrap_or_else(|| "no MAC".to_owned());
            format!(
                "{} {mac} on {}",
                nic.key,
                nic.bridge.unwrap_or_else(|| "no bridge".to_owned())
            )
        };
        self.networks = config.nets().into_iter().map(card).collect();
    }

    async fn include(&mut self, part: Part, guest: &Guest) -> Result<(), pve::Error> {
        let (pve, at) = (guest.pve(), &guest.at);
        match part {
            Part::Config => {}
            Part::Snapshots => {
                let row = |entry: pve::SnapshotEntry| SnapshotRow {
                    taken: entry
                        .snaptime
                        .and_then(|taken| i64::try_from(taken).ok())
                        .map(words::time),
                    name: entry.name,
                    parent: entry.parent,
                };
                self.snapshots = pve.snapshots(at).await?.into_iter().map(row).collect();
            }
            Part::Pending => {
                let entries: Vec<Value> = pve.list(at.path("pending")).await?;
                self.pending = Some(entries.iter().filter_map(pending_line).collect());
            }
            Part::Addresses => self.addresses = addresses(guest).await?,
            Part::Backups => {
                let config = pve.guest_config(at).await?;
                let found = super::dependents::Dependents::of(guest, &config).await;
                self.backups = found.backups;
                self.notes.extend(
                    found
                        .unchecked
                        .into_iter()
                        .filter(|what| what.starts_with("backups")),
                );
            }
            Part::Ha => {
                let status = pve.guest_status(at).await?;
                self.ha = Some(match status.ha {
                    Some(ha) if status_managed(&ha) => {
                        ha["state"].as_str().unwrap_or("managed").to_owned()
                    }
                    _ => "not managed".to_owned(),
                });
            }
            Part::Tasks => self.tasks = TaskRow::latest(pve, &at.node, Some(at.vmid)).await?,
        }
        Ok(())
    }
}

fn status_managed(ha: &Value) -> bool {
    pve::lenient::as_bool(&ha["managed"]).unwrap_or(false)
}

/// "memory: 2048 -> 4096", "net1: removed"; nothing for what is in force already.
fn pending_line(entry: &Value) -> Option<String> {
    let text = |value: &Value| pve::lenient::as_text(value).unwrap_or_else(|| "unset".to_owned());
    let key = entry["key"].as_str()?;
    if entry.get("delete").is_some() {
        return Some(format!("{key}: {} -> removed", text(&entry["value"])));
    }
    let pending = entry.get("pending")?;
    Some(format!(
        "{key}: {} -> {}",
        text(&entry["value"]),
        text(pending)
    ))
}

/// The addresses that the guest has now: a VM's from its agent, a container's from its network namespace.
async fn addresses(guest: &Guest) -> Result<Vec<String>, pve::Error> {
    let interfaces: Vec<Value> = match guest.at.kind {
        GuestKind::Qemu => {
            let answer: Value = guest
                .pve()
                .get(guest.at.path("agent/network-get-interfaces"))
                .await?;
            answer["result"].as_array().cloned().unwrap_or_default()
        }
        GuestKind::Lxc => guest.pve().list(guest.at.path("interfaces")).await?,
    };
    let mut found = Vec::new();
    for interface in interfaces
        .iter()
        .filter(|interface| interface["name"] != "lo")
    {
        let name = interface["name"].as_str().unwrap_or("?");
        for address in interface["ip-addresses"].as_array().into_iter().flatten() {
            let prefix = pve::lenient::as_text(&address["prefix"]).unwrap_or_default();
            found.push(format!(
                "{name} {}/{prefix}",
                address["ip-address"].as_str().unwrap_or("?")
            ));
        }
    }
    Ok(found)
}

impl TaskRow {
    /// The latest tasks of a node or of one guest on it, newest first.
    pub(super) async fn latest(
        pve: &Reader,
        node: &NodeName,
        vmid: Option<Vmid>,
    ) -> Result<Vec<Self>, pve::Error> {
        let request = Request::get(format!("/nodes/{node}/tasks"))
            .with("source", "all")
            .maybe("vmid", vmid)
            .with("limit", 10_u32);
        let mut tasks: Vec<TaskSummary> = pve.list(request).await?;
        // PVE puts the running ones first, whatever their age.
        tasks.sort_by_key(|task| std::cmp::Reverse(task.upid.starttime()));
        Ok(tasks.iter().map(Self::of).collect())
    }

    fn of(task: &TaskSummary) -> Self {
        Self {
            upid: task.upid.to_string(),
            task_type: task.upid.task_type().to_owned(),
            started: words::time(i64::try_from(task.upid.starttime()).unwrap_or_default()),
            status: match task.end() {
                None => "running".to_owned(),
                Some(TaskEnd::Ok) => "OK".to_owned(),
                Some(TaskEnd::Warnings(count)) => format!("OK with {count} warnings"),
                Some(TaskEnd::Failed(why)) => why,
            },
        }
    }
}

/// Tasks as a table, or nothing.
pub(super) fn task_table(tasks: &[TaskRow]) -> String {
    if tasks.is_empty() {
        return String::new();
    }
    let cells = |task: &TaskRow| {
        [
            task.started.clone(),
            task.task_type.clone(),
            words::clip(&task.status, 80),
            task.upid.clone(),
        ]
    };
    words::table(
        ["started", "task", "status", "upid"],
        &tasks.iter().map(cells).collect::<Vec<_>>(),
    )
}

impl Answer for GuestReport {
    fn text(&self) -> String {
        let kind = if self.kind == "qemu" {
            "VM"
        } else {
            "container"
        };
        let mut out = format!(
            "{kind} {} ({}) on {}: {}",
            self.vmid, self.name, self.node, self.status
        );
        if let Some(qmp) = &self.qmp_status {
            let _ = write!(out, ", {qmp}");
        }
        for (is, word) in [(self.template, "template"), (self.protection, "protected")] {
            if is {
                let _ = write!(out, ", {word}");
            }
        }
        if let Some(lock) = &self.lock {
            let _ = write!(out, ", locked ({lock})");
        }
        if let Some(uptime) = self.uptime {
            let _ = write!(out, ", up {}", words::duration(uptime));
        }
        out.push('\n');
        if let (Some(cpus), Some(total)) = (self.cpus, self.memory_total) {
            let cpu = self
                .cpu
                .map(|cpu| format!(" at {:.0} %", cpu * 100.0))
                .unwrap_or_default();
            let used = self
                .memory_used
                .map(|used| format!("{} of ", words::size(used)))
                .unwrap_or_default();
            let _ = writeln!(out, "{cpus} CPUs{cpu}, memory {used}{}", words::size(total));
        }
        for disk in &self.disks {
            let _ = writeln!(
                out,
                "disk {}: {} {}",
                disk.key,
                disk.volume,
                disk.size.map(words::size).unwrap_or_default()
            );
        }
        for network in &self.networks {
            let _ = writeln!(out, "network {network}");
        }
        if !self.tags.is_empty() || self.pool.is_some() {
            let _ = writeln!(
                out,
                "tags {}; pool {}",
                self.tags.join(" "),
                self.pool.as_deref().unwrap_or("none")
            );
        }
        out.push_str(&self.parts_text());
        for note in &self.notes {
            let _ = writeln!(out, "note: {note}");
        }
        out
    }
}

impl GuestReport {
    /// The parts that were asked for.
    fn parts_text(&self) -> String {
        let mut out = String::new();
        for address in &self.addresses {
            let _ = writeln!(out, "address {address}");
        }
        for snapshot in &self.snapshots {
            let _ = writeln!(
                out,
                "snapshot {} taken {}",
                snapshot.name,
                snapshot.taken.as_deref().unwrap_or("?")
            );
        }
        if let Some(pending) = &self.pending {
            let _ = match pending.as_slice() {
                [] => writeln!(out, "nothing waits for a restart"),
                lines => writeln!(out, "waits for a restart: {}", lines.join("; ")),
            };
        }
        for backup in &self.backups {
            let size = backup.bytes.map(words::size).unwrap_or_default();
            let _ = writeln!(
                out,
                "backup {} {size} {}",
                backup.id,
                backup.note.as_deref().unwrap_or_default()
            );
        }
        if let Some(ha) = &self.ha {
            let _ = writeln!(out, "HA: {ha}");
        }
        out.push_str(&task_table(&self.tasks));
        if let Some(config) = &self.config {
            for (key, value) in config {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), ToOwned::to_owned);
                let _ = writeln!(out, "config {key}: {}", words::clip(&value, 300));
            }
        }
        out
    }
}
