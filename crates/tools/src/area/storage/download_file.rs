//! download_file_restore

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pve::{NodeName, Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::file_restore::whole_path;
use super::owners;
use crate::context::{Cluster, Context};
use crate::deed::Deed;
use crate::fault::{Fault, Kind};
use crate::need::{self, Need};
use crate::plan::{Action, Download, Effect, Impact, Needs, Plan, Step, Undo};
use crate::preview;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::volume::backup_of;
use crate::words;

/// Gets one file out of a backup on PBS storage and keeps it on the machine that oxmox runs on.
///
/// list_file_restore has the paths. The content is shown to nobody: it lies in downloads below oxmox's state directory,
/// readable by its owner alone. A directory is refused; rollback_proxmox_vm restores a whole guest. A person confirms. Needs
/// Datastore.AllocateSpace on /storage/NAME, VM.Backup and VM.Audit on the guest. Undo: none; nothing on the cluster
/// changes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct DownloadFileRestore {
    /// The node.
    node: NodeName,
    /// A storage of type pbs.
    storage: String,
    /// The backup, as list_storage_content shows it.
    volume: String,
    /// The file, as list_file_restore shows it.
    filepath: String,
}

impl Changes for DownloadFileRestore {
    const SPEC: Spec = Spec {
        name: "download_file_restore",
        title: "Get a file out of a backup",
        toolset: Toolset::Storage,
        risk: Risk::Grant,
        idempotent: false,
        special: Special::ALWAYS,
        needs: Need::All(&[
            need::storage("Datastore.AllocateSpace"),
            Need::May(&[need::SEES_GUEST, need::guest("VM.Backup")]),
        ]),
        examples: &[Example {
            ask: "Get the notes out of the last backup of git",
            args: r#"{"node": "pve1", "storage": "vault", "volume": "vault:backup/ct/202/2026-11-15T01:00:04Z", "filepath": "/root.pxar.didx/home/demo/notes.txt"}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::get("/nodes/{}/storage/{}/file-restore/download")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        whole_path(&self.filepath)?;
        let cluster = cx.online_node(&self.node).await?;
        let vmid = self.guest()?;
        let needs = self.needs(vmid);
        let size = self.size(&cluster, &needs).await?;
        let file = words::clip(&self.filepath, 200);
        let summary = format!(
            "Get {file} ({}) out of {}",
            words::size(size),
            words::clip(&self.volume, 120)
        );
        let mut plan = Plan::new(&Self::SPEC, &cluster.name, summary);
        plan.impact.push(
            Impact::new(Effect::Created, "file", file)
                .bytes(Some(size))
                .note("a copy beside oxmox, readable by its owner alone"),
        );
        let mut all = vec![needs];
        all.extend(owners::bind(cx, &cluster, [vmid].into(), &mut plan).await?);
        plan.needs = Needs::All(all);
        plan.undo = Undo::Impossible {
            because: "nothing on the cluster changes; the copy can be deleted".to_owned(),
        };
        let download = Download {
            request: self.request("download", &self.filepath),
            name: last_of(&self.filepath).to_owned(),
            size,
        };
        let step = Step::new(plan.summary.clone(), Action::Download(download));
        plan.steps.push(step);
        Ok(plan)
    }
}

impl DownloadFileRestore {
    /// The guest that the backup is of.
    fn guest(&self) -> Result<Vmid, Fault> {
        backup_of(&self.volume).ok_or_else(|| {
            let volume = words::clip(&self.volume, 120);
            Fault::bad_input(format!("argument `volume`: \"{volume}\" is no backup of a guest"))
                .hint("list_storage_content with content \"backup\" has them: \"vault:backup/vm/100/2026-11-15T01:00:04Z\"")
        })
    }

    fn needs(&self, vmid: Vmid) -> Needs {
        Needs::All(vec![
            Needs::on(
                format!("/storage/{}", self.storage),
                "Datastore.AllocateSpace",
            ),
            Needs::on(format!("/vms/{vmid}"), "VM.Backup"),
        ])
    }

    /// PVE takes paths in base64, all but the root.
    fn request(&self, what: &str, path: &str) -> Request {
        let storage = pve::encode_segment(&self.storage);
        let filepath = match path {
            "/" => path.to_owned(),
            path => STANDARD.encode(path),
        };
        Request::get(format!(
            "/nodes/{}/storage/{storage}/file-restore/{what}",
            self.node
        ))
        .with("volume", self.volume.as_str())
        .with("filepath", filepath)
    }

    /// The file's bytes, as its directory tells.
    async fn size(&self, cluster: &Cluster, needs: &Needs) -> Result<u64, Fault> {
        let directory = match self.filepath.rsplit_once('/') {
            Some(("", _)) | None => "/",
            Some((directory, _)) => directory,
        };
        let rows: Vec<Value> = match cluster.pve.list(self.request("list", directory)).await {
            Ok(rows) => rows,
            Err(error) => return Err(preview::refused(error, needs, &cluster.pve).await),
        };
        let wanted = STANDARD.encode(&self.filepath);
        let file = words::clip(&self.filepath, 200);
        let text = |row: &Value, name: &str| row.get(name).and_then(pve::lenient::as_text);
        let found = rows
            .iter()
            .find(|row| text(row, "filepath").as_deref() == Some(&wanted));
        let Some(row) = found else {
            let message = format!("there is no file {file} in this backup");
            // What is there instead is told by the tool that leaves a trace of who looked; a preview leaves none.
            return Err(Fault::new(Kind::NotFound, message).hint(format!(
                "list_file_restore with filepath \"{}\" shows what is there",
                words::clip(directory, 200)
            )));
        };
        match (
            text(row, "type").as_deref(),
            row.get("size").and_then(pve::lenient::as_u64),
        ) {
            (Some("f"), Some(size)) => Ok(size),
            _ => Err(Fault::bad_input(format!("{file} is no file")).hint(
                "get files one by one, or let a person get a directory in PVE's web interface",
            )),
        }
    }
}

fn last_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
