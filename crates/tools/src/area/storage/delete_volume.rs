//! delete_storage_volume

use std::collections::BTreeSet;

use pve::{NodeName, Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::owners;
use crate::area::users::Users;
use crate::context::{Cluster, Context};
use crate::deed::Deed;
use crate::fault::{Fault, Kind};
use crate::need;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::preview;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::volume::{self, backup_of, last_part, storage};
use crate::words;

/// Deletes one volume from a storage for good: an ISO image, a template, a backup, or a disk that no guest uses.
///
/// list_storage_content has the names. Refused while a guest's configuration names it (PVE itself would not look): take
/// a disk off its guest with update_proxmox_vm; also for backups that are protected and anything of a protected guest.
/// A person confirms. Needs Datastore.Allocate and Datastore.Audit on /storage/NAME; for a backup
/// Datastore.AllocateSpace there and VM.Backup on its guest; VM.Audit on the guest. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct DeleteVolume {
    /// The node.
    node: NodeName,
    /// The storage's name.
    storage: String,
    /// The volume, like nas:iso/x.iso.
    volume: String,
}

impl Changes for DeleteVolume {
    const SPEC: Spec = Spec {
        name: "delete_storage_volume",
        title: "Delete a volume",
        toolset: Toolset::Storage,
        risk: Risk::Destroy,
        idempotent: true,
        special: Special::ALWAYS,
        needs: need::REMOVES_VOLUMES,
        examples: &[
            Example {
                ask: "Delete the rescue image",
                args: r#"{"node": "pve1", "storage": "local", "volume": "local:iso/systemrescue-12.02-amd64.iso"}"#,
            },
            Example {
                ask: "Delete the disk that guest 150 left behind",
                args: r#"{"node": "pve2", "storage": "local-lvm", "volume": "local-lvm:vm-150-disk-0"}"#,
            },
            Example {
                ask: "Delete the older backup of dns",
                args: r#"{"node": "pve1", "storage": "nas", "volume": "nas:backup/vzdump-lxc-200-2026_11_01-03_04_12.tar.zst"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::delete("/nodes/{}/storage/{}/content/{}")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cluster = cx.online_node(&self.node).await?;
        let volid = self.volid()?;
        let list = Request::get(format!(
            "/nodes/{}/storage/{}/content",
            self.node,
            pve::encode_segment(&self.storage)
        ));
        let rows: Vec<Value> = cluster.pve.list(list.clone()).await?;
        let Some(row) = rows.iter().find(|row| row["volid"] == volid.as_str()) else {
            return Err(self.missing(&volid, &rows, &cluster).await);
        };
        let bytes = row.get("size").and_then(pve::lenient::as_u64);
        let size = bytes.map_or_else(|| "unknown size".to_owned(), words::size);
        let summary = format!(
            "Delete volume {volid} ({size}) from storage {}",
            self.storage
        );
        let mut plan = Plan::new(&Self::SPEC, &cluster.name, summary);
        plan.impact.push(impact(&volid, row, bytes));
        let mut needs = vec![self.own_needs(&volid)];
        needs.extend(owners::bind(cx, &cluster, owners_of(&volid, row), &mut plan).await?);
        plan.needs = Needs::All(needs);
        if row.get("protected").and_then(pve::lenient::as_bool) == Some(true) {
            plan.blockers.push(Blocker::new(
                "this backup is protected against removal",
                "a person takes its protection off in the web interface, if it really is to go",
            ));
        }
        if last_part(&volid).contains("-state-") && !plan.targets.is_empty() {
            plan.blockers.push(Blocker::new(
                format!("{volid} holds the memory of a snapshot"),
                "delete_proxmox_vm_snapshot removes it with its snapshot",
            ));
        }
        if backup_of(&volid).is_none() {
            Users::anywhere(&cluster, &self.node, None, vec![volid.clone()])
                .await?
                .keep_theirs(&mut plan);
        }
        plan.undo = Undo::Impossible {
            because: "what is on it is gone".to_owned(),
        };
        plan.steps.push(self.step(&plan.summary, list, &volid));
        Ok(plan)
    }
}

impl DeleteVolume {
    /// The volume with its storage in front.
    fn volid(&self) -> Result<String, Fault> {
        match storage(&self.volume) {
            None => Ok(format!("{}:{}", self.storage, self.volume)),
            Some(storage) if storage == self.storage => Ok(self.volume.clone()),
            Some(storage) => Err(Fault::bad_input(format!(
                "{} is on storage {}, not on {}",
                words::clip(&self.volume, 200),
                words::clip(storage, 60),
                words::clip(&self.storage, 60)
            ))
            .hint("name the storage that the volume is on")),
        }
    }

    /// As PVE checks them, and what the list takes besides.
    fn own_needs(&self, volid: &str) -> Needs {
        let storage = format!("/storage/{}", self.storage);
        match backup_of(volid) {
            Some(vmid) => Needs::All(vec![
                Needs::on(&storage, "Datastore.AllocateSpace"),
                Needs::on(format!("/vms/{vmid}"), "VM.Backup"),
            ]),
            None => Needs::All(vec![
                Needs::on(&storage, "Datastore.Allocate"),
                Needs::Any(vec![
                    Needs::on(&storage, "Datastore.Audit"),
                    Needs::on(&storage, "Datastore.AllocateSpace"),
                ]),
            ]),
        }
    }

    async fn missing(&self, volid: &str, rows: &[Value], cluster: &Cluster) -> Fault {
        let message = format!(
            "there is no volume {} on node {}",
            words::clip(volid, 200),
            self.node
        );
        let lacks = preview::missing(&self.own_needs(volid), &cluster.pve).await;
        let hint = if lacks.is_empty() {
            let names: Vec<_> = rows
                .iter()
                .filter_map(|row| row["volid"].as_str())
                .collect();
            let names = words::clip(&words::list(&names), 500);
            format!("there are {names}; or it is gone already")
        } else {
            format!("it may be hidden: the token lacks {}", lacks.join(", "))
        };
        Fault::new(Kind::NotFound, message).hint(hint)
    }

    fn step(&self, says: &str, list: Request, volid: &str) -> Step {
        let path = format!("{}/{}", list.path, pve::encode_segment(volid));
        let gone = Expect::Unlisted("volid".to_owned(), json!(volid));
        Step::request(says, Request::delete(path))
            .task(Trace {
                node: self.node.clone(),
                vmid: None,
                types: vec!["imgdel".to_owned()],
            })
            .after(Check::list(list, format!("{volid} is gone"), gone))
    }
}

fn impact(volid: &str, row: &Value, bytes: Option<u64>) -> Impact {
    let kind = match row["content"].as_str() {
        Some("images" | "rootdir") => "disk",
        Some("backup") => "backup",
        _ => "file",
    };
    let mut notes = Vec::new();
    if let Some(at) = row.get("ctime").and_then(pve::lenient::as_u64) {
        notes.push(format!("of {}", words::past(at)));
    }
    if let Some(text) = row.get("notes").and_then(pve::lenient::as_text) {
        notes.push(words::clip(&text, 80));
    }
    let impact = Impact::new(Effect::Destroyed, kind, volid).bytes(bytes);
    if notes.is_empty() {
        impact
    } else {
        impact.note(notes.join(", "))
    }
}

/// The guests that the volume belongs to by its name, its place or its storage's word.
fn owners_of(volid: &str, row: &Value) -> BTreeSet<Vmid> {
    let told = row.get("vmid").and_then(pve::lenient::as_text);
    let mut vmids: BTreeSet<Vmid> = told
        .and_then(|vmid| vmid.parse().ok())
        .into_iter()
        .collect();
    match backup_of(volid) {
        Some(vmid) => vmids.extend([vmid]),
        None => vmids.extend(volume::owners(volid)),
    }
    vmids
}
