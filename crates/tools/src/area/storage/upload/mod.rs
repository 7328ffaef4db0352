//! upload_to_storage

mod name;

use std::sync::Arc;

use pve::{NodeName, Request, StorageStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::{Cluster, Context, arguments};
use crate::deed::Deed;
use crate::fault::{Fault, Kind};
use crate::need::{self, Need};
use crate::plan::{
    Action, Blocker, Check, Effect, Expect, Guard, Impact, Needs, Plan, Step, Trace, Undo, Upload,
    volume_name,
};
use crate::preview;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::uploads::LocalFile;
use crate::words;
use name::Content;

/// Uploads an ISO image, container template or disk image from the machine that oxmox runs on to a storage.
///
/// Where the file has a web address, download_url_to_storage is faster. Only files below the directories that the
/// configuration's upload_from names are read. Refused if the name is taken, since PVE would overwrite it; PVE verifies
/// the SHA-256 that the preview shows. Needs Datastore.AllocateTemplate and Datastore.Audit on /storage/NAME. Undo:
/// delete_storage_volume.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct UploadToStorage {
    /// The node.
    node: NodeName,
    /// The storage's name.
    storage: String,
    /// What it is.
    content: Content,
    /// Name to keep it under, with its ending.
    filename: String,
    /// The local file, if it is called otherwise.
    tmpfilename: Option<String>,
}

impl Changes for UploadToStorage {
    const SPEC: Spec = Spec {
        name: "upload_to_storage",
        title: "Upload a file to a storage",
        toolset: Toolset::Storage,
        risk: Risk::Change,
        idempotent: false,
        special: Special::NONE,
        needs: Need::All(&[
            need::storage("Datastore.AllocateTemplate"),
            need::SEES_VOLUMES,
        ]),
        examples: &[
            Example {
                ask: "Put the installer that I built onto nas",
                args: r#"{"node": "pve1", "storage": "nas", "content": "iso", "filename": "my-installer.iso"}"#,
            },
            Example {
                ask: "Upload my container template",
                args: r#"{"node": "pve1", "storage": "local", "content": "vztmpl", "filename": "app_1.0_amd64.tar.zst", "tmpfilename": "builds/app.tar.zst"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/storage/{}/upload")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cluster = cx.online_node(&self.node).await?;
        let with_tar = cluster.version().await?.at_least(9, 1);
        self.content.check(&self.filename, with_tar)?;
        let storage = self.storage(&cluster).await?;
        let wanted = self.tmpfilename.as_deref().filter(|name| !name.is_empty());
        let file = cx
            .uploads
            .find(wanted.unwrap_or(&self.filename), cx.news.clone())
            .await?;
        let list = self.list();
        let rows: Vec<Value> = cluster.pve.list(list.clone()).await?;
        let volid = self.volid();
        let summary = format!(
            "Upload {} ({}) to {volid}",
            words::clip(&file.path, 200),
            words::size(file.size)
        );
        let mut plan = Plan::new(&Self::SPEC, &cluster.name, summary);
        plan.impact.push(impact(&volid, &file, &storage));
        plan.blockers.extend(taken(&volid, &rows));
        plan.blockers.extend(too_small(&file, &storage));
        let says = format!("the {} on {}", self.content.nouns(), self.storage);
        let guard = Guard::same_rows(says, list.clone(), &["volid"], &rows);
        plan.guards.push(guard);
        plan.names
            .push(volume_name(&volid, &self.node, storage.shared));
        plan.needs = self.needs();
        plan.undo = self.undo(&volid);
        plan.steps.push(self.step(file, list, &volid));
        Ok(plan)
    }
}

impl UploadToStorage {
    fn path(&self, part: &str) -> String {
        let storage = pve::encode_segment(&self.storage);
        format!("/nodes/{}/storage/{storage}/{part}", self.node)
    }

    fn list(&self) -> Request {
        Request::get(self.path("content")).with("content", self.content.word())
    }

    fn volid(&self) -> String {
        format!("{}:{}/{}", self.storage, self.content.word(), self.filename)
    }

    /// As PVE checks them, and what the list takes besides.
    fn needs(&self) -> Needs {
        let storage = format!("/storage/{}", self.storage);
        Needs::All(vec![
            Needs::on(&storage, "Datastore.AllocateTemplate"),
            Needs::Any(vec![
                Needs::on(&storage, "Datastore.Audit"),
                Needs::on(&storage, "Datastore.AllocateSpace"),
            ]),
        ])
    }

    /// The storage, if it works on the node and takes such files.
    async fn storage(&self, cluster: &Arc<Cluster>) -> Result<StorageStatus, Fault> {
        let (node, name) = (&self.node, words::clip(&self.storage, 60));
        let storages = cluster.pve.storages(node).await?;
        let works = |storage: &&StorageStatus| storage.active && storage.enabled;
        let takes = |storage: &&StorageStatus| storage.holds(self.content.word());
        let found = storages.iter().find(|it| it.storage == self.storage);
        if let Some(storage) = found.filter(works).filter(takes) {
            return Ok(storage.clone());
        }
        let nouns = self.content.nouns();
        let message = match found {
            Some(storage) if works(&storage) => {
                format!("storage {name} takes no {nouns} on {node}")
            }
            Some(_) => format!("storage {name} does not work on {node} now"),
            None => format!("there is no storage {name} on {node}, or it cannot be seen"),
        };
        let lacks = preview::missing(&self.needs(), &cluster.pve).await;
        let fitting = storages.iter().filter(works).filter(takes);
        let names: Vec<_> = fitting.map(|it| words::clip(&it.storage, 60)).collect();
        let hint = match (found, names.as_slice()) {
            (None, _) if !lacks.is_empty() => {
                format!("it may be hidden: the token lacks {}", lacks.join(", "))
            }
            (_, []) => format!(
                "none there takes {nouns}; update_storage adds {} to what one may hold",
                self.content.word()
            ),
            (_, some) => {
                let some = words::clip(&words::list(some), 300);
                format!("those that take {nouns} on {node}: {some}")
            }
        };
        Err(Fault::new(Kind::NotFound, message).hint(hint))
    }

    fn undo(&self, volid: &str) -> Undo {
        Undo::Call {
            tool: "delete_storage_volume".to_owned(),
            arguments: arguments([
                ("node", json!(self.node)),
                ("storage", json!(self.storage)),
                ("volume", json!(volid)),
            ]),
        }
    }

    /// PVE reads the parts of the form in this order and no other.
    fn step(&self, file: LocalFile, list: Request, volid: &str) -> Step {
        let request = Request::post(self.path("upload"))
            .with("content", self.content.word())
            .with("checksum-algorithm", "sha256")
            .with("checksum", file.sha256.as_str())
            .with("filename", self.filename.as_str());
        let there = Expect::Row(
            "volid".to_owned(),
            json!(volid),
            vec![Expect::Is("size".to_owned(), json!(file.size))],
        );
        let says = format!("{volid} is there with {} bytes", file.size);
        let trace = Trace {
            node: self.node.clone(),
            vmid: None,
            types: vec!["imgcopy".to_owned()],
        };
        Step::new(
            format!("Upload {} as {volid}", words::clip(file.name(), 80)),
            Action::Upload(Upload { request, file }),
        )
        .task(trace)
        .after(Check::list(list, says, there))
    }
}

fn impact(volid: &str, file: &LocalFile, storage: &StorageStatus) -> Impact {
    let free = storage.avail.map_or_else(
        || "free space unknown".to_owned(),
        |free| format!("{} free there", words::size(free)),
    );
    Impact::new(Effect::Created, "file", volid)
        .bytes(Some(file.size))
        .note(format!(
            "from {}, SHA-256 {}, {free}",
            words::clip(&file.path, 200),
            file.sha256
        ))
}

/// PVE would write over it without a word.
fn taken(volid: &str, rows: &[Value]) -> Option<Blocker> {
    let row = rows.iter().find(|row| row["volid"] == volid)?;
    let size = row.get("size").and_then(pve::lenient::as_u64);
    let size = size.map_or_else(|| "unknown size".to_owned(), words::size);
    Some(Blocker::new(
        format!("{volid} is there already ({size}), and PVE would overwrite it"),
        "send another filename, or delete_storage_volume first if it is to go",
    ))
}

fn too_small(file: &LocalFile, storage: &StorageStatus) -> Option<Blocker> {
    let free = storage.avail.filter(|free| *free < file.size)?;
    Some(Blocker::new(
        format!(
            "storage {} has {} free, less than the {} of the file",
            words::clip(&storage.storage, 60),
            words::size(free),
            words::size(file.size)
        ),
        "send another storage, or make room on this one",
    ))
}
