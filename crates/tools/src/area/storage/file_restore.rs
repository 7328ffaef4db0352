//! list_file_restore

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pve::{NodeName, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::Context;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Reads};
use crate::words;

/// Lists the files in a backup on PBS storage, one directory at a time.
///
/// Use it to find whether and where a backup holds a file, beginning at /; list_storage_content has the backups. For a VM
/// it starts a small machine on the node, which takes some seconds. download_file_restore gets one file out,
/// rollback_proxmox_vm restores a whole guest. Needs Datastore.AllocateSpace on /storage/NAME and VM.Backup on the guest.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct ListFileRestore {
    /// The node.
    node: NodeName,
    /// A storage of type pbs.
    storage: String,
    /// The backup, like vault:backup/vm/100/2026-11-15T01:00:04Z.
    volume: String,
    /// The directory, as this tool shows it; /.
    #[serde(default = "root")]
    filepath: String,
}

fn root() -> String {
    "/".to_owned()
}

/// A directory of a backup.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::area) struct Directory {
    /// What is in it.
    entries: Vec<Entry>,
    /// How many more there are.
    left_out: usize,
}

/// A file, a directory or an archive.
#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    /// Its whole path, to look into it.
    filepath: String,
    /// "archive", "directory", "file" or PVE's letter.
    kind: String,
    /// Its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// When it was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<String>,
}

/// How many entries are shown.
const MOST: usize = 60;

impl Reads for ListFileRestore {
    const SPEC: Spec = Spec {
        name: "list_file_restore",
        title: "List files in a backup",
        toolset: Toolset::Storage,
        risk: Risk::Read,
        idempotent: true,
        special: Special {
            looks_inside: true,
            ..Special::NONE
        },
        needs: Need::All(&[
            need::storage("Datastore.AllocateSpace"),
            Need::May(&[need::SEES_GUEST, need::guest("VM.Backup")]),
        ]),
        examples: &[
            Example {
                ask: "What is in the last backup of git?",
                args: r#"{"node": "pve1", "storage": "vault", "volume": "vault:backup/ct/202/2026-11-15T01:00:04Z"}"#,
            },
            Example {
                ask: "Is the hosts file in it?",
                args: r#"{"node": "pve1", "storage": "vault", "volume": "vault:backup/ct/202/2026-11-15T01:00:04Z", "filepath": "/root.pxar.didx/home"}"#,
            },
        ],
    };

    type Answer = Directory;

    async fn read(self, cx: &Context) -> Result<Directory, Fault> {
        if !self.filepath.trim().is_empty() {
            whole_path(self.filepath.trim())?;
        }
        let cluster = cx.online_node(&self.node).await?;
        let storage = pve::encode_segment(&self.storage);
        let path = format!("/nodes/{}/storage/{storage}/file-restore/list", self.node);
        // PVE takes and shows paths in base64, so that any name of a file survives.
        let directory = match self.filepath.trim() {
            "" | "/" => root(),
            path => STANDARD.encode(path),
        };
        let request = Request::get(path)
            .with("volume", self.volume)
            .with("filepath", directory);
        let rows: Vec<Value> = cluster.pve.list(request).await?;
        Ok(Directory {
            left_out: rows.len().saturating_sub(MOST),
            entries: rows.iter().take(MOST).map(entry).collect(),
        })
    }
}

fn entry(row: &Value) -> Entry {
    let text = |name: &str| row.get(name).and_then(pve::lenient::as_text);
    let written = text("filepath").unwrap_or_default();
    let path = STANDARD
        .decode(&written)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let kind = match text("type").as_deref() {
        Some("v") => "archive".to_owned(),
        Some("d") => "directory".to_owned(),
        Some("f") => "file".to_owned(),
        other => words::clip(other.unwrap_or("unknown"), 20),
    };
    let changed = row.get("mtime").and_then(pve::lenient::as_u64);
    Entry {
        filepath: words::clip(&path.unwrap_or(written), 400),
        kind,
        size: row.get("size").and_then(pve::lenient::as_u64),
        changed: changed.map(|at| words::time(i64::try_from(at).unwrap_or_default())),
    }
}

impl Answer for Directory {
    fn text(&self) -> String {
        if self.entries.is_empty() {
            return "there is nothing in it\n".to_owned();
        }
        let row = |entry: &Entry| {
            [
                entry.filepath.clone(),
                entry.kind.clone(),
                entry.size.map(words::size).unwrap_or_default(),
                entry.changed.clone().unwrap_or_default(),
            ]
        };
        let rows: Vec<_> = self.entries.iter().map(row).collect();
        let mut text = words::table(["filepath", "kind", "size", "changed"], &rows);
        if self.left_out > 0 {
            let _ = writeln!(text, "{} more are left out", self.left_out);
        }
        text
    }
}

/// A backup knows a file or a directory by its path from the root, and by no other.
pub(super) fn whole_path(path: &str) -> Result<(), Fault> {
    let wrong = |what: &str| {
        let path = words::clip(path, 200);
        let message = format!("argument `filepath`: \"{path}\" {what}");
        let hint = "list_file_restore has the paths, like /root.pxar.didx/etc/hosts; begin there with filepath \"/\"";
        Err(Fault::bad_input(message).hint(hint))
    };
    let Some(below) = path.strip_prefix('/') else {
        return wrong("does not begin with /");
    };
    if below.split('/').any(|part| matches!(part, "." | "..")) {
        return wrong("is no path from the root: it has . or .. in it");
    }
    Ok(())
}
