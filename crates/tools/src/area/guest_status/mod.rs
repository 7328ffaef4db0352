//! get_proxmox_vm_status

mod report;

use pve::{GuestConfig, GuestKind, GuestStatus, Vmid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dependents::Dependents;
use super::task_rows::TaskRow;
use crate::clean;
use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Object, Reads};
use crate::words;
use report::{DiskRow, GuestReport, SnapshotRow};

/// Shows one VM or container: state, size, disks, lock, protection, and on request more.
///
/// Use it before and after changing a guest; to find one use list_proxmox_resources, for what deleting it takes along
/// delete_proxmox_vm_preview. On an offline node it is shown as last known. A paused VM is running with qmp_status
/// paused. A VM's addresses come from its guest agent. Needs VM.Audit; parts that cannot be read are named with the
/// reason.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetVmStatus {
    /// The guest's id.
    vmid: Vmid,
    /// What to show besides.
    #[serde(default)]
    include: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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

impl Reads for GetVmStatus {
    const SPEC: Spec = Spec {
        name: "get_proxmox_vm_status",
        title: "Show a VM or container",
        toolset: Toolset::Core,
        risk: Risk::Read,
        idempotent: true,
        special: Special::OF_GUEST,
        needs: Need::All(&[
            need::SEES_GUEST,
            Need::May(&[
                Need::Any(&[
                    need::guest("VM.GuestAgent.Audit"),
                    need::WHOLE_AGENT,
                    need::OLD_AGENT,
                ]),
                need::guest("VM.Backup"),
                need::storage("Datastore.AllocateSpace"),
            ]),
        ]),
        examples: &[
            Example {
                ask: "How is the web server?",
                args: r#"{"vmid": 100}"#,
            },
            Example {
                ask: "Snapshots, tasks and pending changes of web",
                args: r#"{"vmid": 100, "include": ["snapshots", "tasks", "pending", "ha"]}"#,
            },
            Example {
                ask: "Configuration and addresses of the DNS container",
                args: r#"{"vmid": 200, "include": ["config", "addresses", "backups"]}"#,
            },
        ],
    };

    type Answer = GuestReport;

    async fn read(self, cx: &Context) -> Result<GuestReport, Fault> {
        let guest = cx.guest(self.vmid, None, None).await?;
        let mut report = GuestReport::of(&guest);
        if !guest.node_online {
            report.notes.push(format!(
                "node {} is offline; this is what was last known",
                guest.at.node
            ));
            return Ok(report);
        }
        let (status, config) = tokio::join!(guest.pve().guest_status(&guest.at), guest.config());
        match status {
            Ok(status) => report.fill_status(status),
            Err(error) => report.notes.push(format!("status: {}", Fault::from(error))),
        }
        match config {
            Ok(config) => {
                report.fill_config(&config);
                if self.include.contains(&Part::Config) {
                    report.config = Some(shown(&config));
                }
            }
            Err(fault) => report.notes.push(format!("config: {fault}")),
        }
        for part in self.include {
            if let Err(error) = report.include(part, &guest).await {
                report
                    .notes
                    .push(format!("{}: {}", words::word(&part), Fault::from(error)));
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
                self.snapshots = Some(pve.snapshots(at).await?.into_iter().map(row).collect());
            }
            Part::Pending => {
                let entries: Vec<Value> = pve.list(at.path("pending")).await?;
                self.pending = Some(entries.iter().filter_map(pending_line).collect());
            }
            Part::Addresses => self.addresses = Some(addresses(guest).await?),
            Part::Backups => {
                let found = Dependents::backups(guest).await;
                self.backups = Some(found.backups);
                self.notes.extend(found.unchecked);
            }
            Part::Ha => {
                let status = pve.guest_status(at).await?;
                let managed = status.is_ha_managed();
                self.ha = Some(match status.ha {
                    Some(ha) if managed => ha["state"].as_str().unwrap_or("managed").to_owned(),
                    _ => "not managed".to_owned(),
                });
            }
            Part::Tasks => self.tasks = Some(TaskRow::latest(pve, &at.node, Some(at.vmid)).await?),
        }
        Ok(())
    }
}

/// The configuration without what nobody should read.
fn shown(config: &GuestConfig) -> Object {
    let mut shown: Object = config.values().clone().into_iter().collect();
    clean::object(&mut shown);
    shown
}

/// "memory: 2048 -> 4096", "net1: removed"; nothing for what is in force already.
fn pending_line(entry: &Value) -> Option<String> {
    let text = |value: &Value| pve::lenient::as_text(value).unwrap_or_else(|| "unset".to_owned());
    let key = entry["key"].as_str()?;
    if clean::is_secret(key) {
        let waits = entry.get("delete").or(entry.get("pending"));
        return waits.map(|_| format!("{key}: (not shown)"));
    }
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
