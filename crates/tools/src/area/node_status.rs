//! get_proxmox_node_status

use pve::{NodeName, NodeStatus, StorageStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::task_rows::{TaskRow, task_table};
use crate::context::{Cluster, Context};
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Reads};
use crate::words::{self, line};

/// Shows one node: CPU, memory, root disk, load, versions, and on request more.
///
/// Use it for a node's health or why something on it fails; for its guests list_proxmox_resources with filter
/// "node:NAME", for all nodes with resource_type "node". An offline node is answered as offline, not as an error. Needs
/// Sys.Audit on the node; parts that the token may not read are named.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetNodeStatus {
    /// The node's name.
    node: NodeName,
    /// What to show besides.
    #[serde(default)]
    include: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Part {
    Storage,
    Services,
    Updates,
    Disks,
    Tasks,
}

/// A node's state.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct NodeReport {
    /// Its name.
    node: String,
    /// Its cluster.
    cluster: String,
    /// Whether it is online.
    online: bool,
    /// PVE's version on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Its kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    /// Seconds since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    uptime: Option<u64>,
    /// Share of its CPUs in use, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<f64>,
    /// CPU threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpus: Option<u64>,
    /// Load over 1, 5 and 15 minutes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    load: Vec<String>,
    /// Memory in use, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_used: Option<u64>,
    /// Memory in all, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_total: Option<u64>,
    /// Root file system in use, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    root_used: Option<u64>,
    /// Root file system in all, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    root_total: Option<u64>,
    /// Its storages, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    storage: Vec<StorageRow>,
    /// Services that do not run though they are enabled, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    services_down: Option<Vec<String>>,
    /// Packages with a newer version, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    updates: Option<Vec<String>>,
    /// Its disks with their health, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disks: Vec<DiskRow>,
    /// Its latest tasks, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<TaskRow>,
    /// What could not be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct StorageRow {
    /// Its name.
    storage: String,
    /// Its type, such as dir, lvmthin or nfs.
    kind: String,
    /// Whether it can be used now.
    active: bool,
    /// In use, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<u64>,
    /// In all, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    /// What it may hold.
    content: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct DiskRow {
    /// Device path.
    device: String,
    /// Maker's model.
    model: String,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// What SMART says.
    health: String,
}

impl Reads for GetNodeStatus {
    const SPEC: Spec = Spec {
        name: "get_proxmox_node_status",
        title: "Show a node",
        toolset: Toolset::Core,
        risk: Risk::Read,
        idempotent: true,
        special: Special::OF_HOST,
        needs: Need::All(&[
            need::node("Sys.Audit"),
            Need::May(&[
                need::storage("Datastore.Audit"),
                // PVE shows which updates there are to those who may look for new ones.
                Need::At(Risk::Grant, &need::node("Sys.Modify")),
            ]),
        ]),
        examples: &[
            Example {
                ask: "How is pve1?",
                args: r#"{"node": "pve1"}"#,
            },
            Example {
                ask: "Storage, services and tasks of pve2",
                args: r#"{"node": "pve2", "include": ["storage", "services", "tasks"]}"#,
            },
        ],
    };

    type Answer = NodeReport;

    async fn read(self, cx: &Context) -> Result<NodeReport, Fault> {
        let (cluster, online) = cx.node(&self.node).await?;
        let mut report = NodeReport {
            node: self.node.to_string(),
            cluster: cluster.name.clone(),
            ..NodeReport::default()
        };
        // Asking a dead node takes PVE half a minute.
        if !online {
            report.notes.push(format!(
                "{} is offline; nothing more is known of it",
                self.node
            ));
            return Ok(report);
        }
        report.online = true;
        match cluster.pve.node_status(&self.node).await {
            Ok(status) => report.fill(status),
            Err(error) => report.notes.push(format!("status: {}", Fault::from(error))),
        }
        for part in &self.include {
            if let Err(error) = report.include(*part, &cluster, &self.node).await {
                report
                    .notes
                    .push(format!("{}: {}", words::word(part), Fault::from(error)));
            }
        }
        Ok(report)
    }
}

impl NodeReport {
    fn fill(&mut self, status: NodeStatus) {
        self.version = status.pveversion;
        self.kernel = status.kversion;
        self.uptime = status.uptime;
        self.cpu = status.cpu;
        self.cpus = status.cpuinfo.and_then(|info| info.cpus);
        self.load = status.loadavg.unwrap_or_default();
        (self.memory_used, self.memory_total) = status
            .memory
            .map_or((None, None), |memory| (memory.used, memory.total));
        (self.root_used, self.root_total) = status
            .rootfs
            .map_or((None, None), |root| (root.used, root.total));
    }

    async fn include(
        &mut self,
        part: Part,
        cluster: &Cluster,
        node: &NodeName,
    ) -> Result<(), pve::Error> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match part {
            Part::Storage => {
                self.storage = cluster
                    .pve
                    .storages(node)
                    .await?
                    .into_iter()
                    .map(StorageRow::from)
                    .collect();
            }
            Part::Services => {
                let services: Vec<Value> =
                    cluster.pve.list(format!("/nodes/{node}/services")).await?;
                let down = services.iter().filter(|service| {
                    service["unit-state"] == "enabled" && service["state"] != "running"
                });
                self.services_down = Some(down.map(|service| text(&service["name"])).collect());
            }
            Part::Updates => {
                let updates: Vec<Value> = cluster
                    .pve
                    .list(format!("/nodes/{node}/apt/update"))
                    .await?;
                let line = |update: &Value| {
                    format!(
                        "{} {} -> {}",
                        text(&update["Package"]),
                        text(&update["OldVersion"]),
                        text(&update["Version"])
                    )
                };
                self.updates = Some(updates.iter().map(line).collect());
            }
            Part::Disks => {
                let disks: Vec<Value> = cluster
                    .pve
                    .list(format!("/nodes/{node}/disks/list"))
                    .await?;
                self.disks = disks
                    .iter()
                    .map(|disk| DiskRow {
                        device: text(&disk["devpath"]),
                        model: text(&disk["model"]),
                        size: pve::lenient::as_u64(&disk["size"]),
                        health: text(&disk["health"]),
                    })
                    .collect();
            }
            Part::Tasks => self.tasks = TaskRow::latest(&cluster.pve, node, None).await?,
        }
        Ok(())
    }
}

impl From<StorageStatus> for StorageRow {
    fn from(status: StorageStatus) -> Self {
        Self {
            storage: status.storage,
            kind: status.kind.unwrap_or_default(),
            active: status.active,
            used: status.used,
            total: status.total,
            content: status.content.unwrap_or_default(),
        }
    }
}

impl Answer for NodeReport {
    fn text(&self) -> String {
        let mut out = format!(
            "node {} of {}: {}\n",
            self.node,
            self.cluster,
            if self.online { "online" } else { "offline" }
        );
        if let Some(version) = &self.version {
            line!(
                out,
                "version {version}, up {}",
                words::duration(self.uptime.unwrap_or_default())
            );
        }
        if let (Some(cpu), Some(used), Some(total)) =
            (self.cpu, self.memory_used, self.memory_total)
        {
            let cpus = self
                .cpus
                .map(|cpus| format!(" of {cpus} CPUs"))
                .unwrap_or_default();
            line!(
                out,
                "cpu {:.0} %{cpus}, load {}",
                cpu * 100.0,
                self.load.join(" ")
            );
            line!(
                out,
                "memory {} of {}",
                words::size(used),
                words::size(total)
            );
        }
        if let (Some(used), Some(total)) = (self.root_used, self.root_total) {
            line!(
                out,
                "root disk {} of {}",
                words::size(used),
                words::size(total)
            );
        }
        out.push_str(&self.parts_text());
        for note in &self.notes {
            line!(out, "note: {note}");
        }
        out
    }
}

impl NodeReport {
    /// The parts that were asked for.
    fn parts_text(&self) -> String {
        let mut out = String::new();
        if !self.storage.is_empty() {
            let rows: Vec<_> = self.storage.iter().map(StorageRow::cells).collect();
            out.push_str(&words::table(
                ["storage", "type", "state", "used", "total", "content"],
                &rows,
            ));
        }
        if let Some(down) = &self.services_down {
            match down.as_slice() {
                [] => line!(out, "all enabled services run"),
                names => line!(out, "enabled but not running: {}", words::list(names)),
            }
        }
        if let Some(updates) = &self.updates {
            line!(out, "{} pending", words::count(updates.len(), "update"));
            for update in updates.iter().take(20) {
                line!(out, "  {update}");
            }
        }
        if !self.disks.is_empty() {
            let cells = |disk: &DiskRow| {
                [
                    disk.device.clone(),
                    disk.model.clone(),
                    disk.size.map(words::size).unwrap_or_default(),
                    disk.health.clone(),
                ]
            };
            let rows: Vec<_> = self.disks.iter().map(cells).collect();
            out.push_str(&words::table(["device", "model", "size", "health"], &rows));
        }
        out.push_str(&task_table(&self.tasks));
        out
    }
}

impl StorageRow {
    fn cells(&self) -> [String; 6] {
        [
            self.storage.clone(),
            self.kind.clone(),
            if self.active { "active" } else { "inactive" }.to_owned(),
            self.used.map(words::size).unwrap_or_default(),
            self.total.map(words::size).unwrap_or_default(),
            self.content.clone(),
        ]
    }
}
