//! Completion of what a user types into a prompt's argument or a resource's address. Best effort: whatever cannot be
//! known at once completes to nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use pve::{Request, Resource as Row, ResourceKind, Vmid};
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use serde::Deserialize;
use tools::context::Cluster;

use super::prompts::{self, Subject};
use super::resources;

/// A user is typing: what takes longer is no help.
const PATIENCE: Duration = Duration::from_secs(2);
/// The name under which PVE lists the present among the snapshots.
const PRESENT: &str = "current";

/// What the value typed so far may become.
pub(super) async fn complete(
    clusters: &[Arc<Cluster>],
    request: &CompleteRequestParams,
) -> CompleteResult {
    let argument = &request.argument;
    let subject = match &request.r#ref {
        Reference::Prompt(prompt) => prompts::subject(&prompt.name, &argument.name),
        Reference::Resource(resource) => variable(&resource.uri, &argument.name),
        _ => None,
    };
    let context = request.context.as_ref();
    let chosen = |name: &str| context.and_then(|context| context.get_argument(name));
    // With a cluster chosen already, only what is in it.
    let wanted = chosen(Subject::Cluster.word());
    let clusters = clusters
        .iter()
        .filter(|cluster| wanted.is_none_or(|name| *name == cluster.name));
    let names = match subject {
        None => BTreeSet::new(),
        Some(Subject::Cluster) => clusters.map(|cluster| cluster.name.clone()).collect(),
        Some(subject) => {
            let vmid = chosen(Subject::Vmid.word()).and_then(|vmid| vmid.parse().ok());
            let asked = clusters.map(|cluster| async move {
                let names = tokio::time::timeout(PATIENCE, names(cluster, subject, vmid)).await;
                names.ok().and_then(Result::ok).unwrap_or_default()
            });
            let names = join_all(asked).await.into_iter().flatten();
            names.filter(|name| subject.takes(name)).collect()
        }
    };
    CompleteResult::new(beginning_with(&argument.value, names))
}

/// What a variable of an address is about.
fn variable(template: &str, name: &str) -> Option<Subject> {
    let mut templates = resources::TEMPLATES.iter();
    let is_known = templates.any(|(uri, ..)| *uri == template);
    let is_in_it = template.contains(&format!("{{{name}}}"));
    let subjects = [
        Subject::Cluster,
        Subject::Node,
        Subject::Vmid,
        Subject::Upid,
    ];
    let mut named = subjects
        .into_iter()
        .filter(|subject| subject.word() == name);
    named.next().filter(|_| is_known && is_in_it)
}

fn beginning_with(typed: &str, names: BTreeSet<String>) -> CompletionInfo {
    let mut matching: Vec<_> = names
        .into_iter()
        .filter(|name| name.starts_with(typed) && is_word(name))
        .collect();
    let total = u32::try_from(matching.len()).ok();
    let more = matching.len() > CompletionInfo::MAX_VALUES;
    matching.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(matching, total, more).unwrap_or_default()
}

/// Whether a name is one word that shows all of itself. Whoever may write a tag would write into the user's client otherwise.
fn is_word(name: &str) -> bool {
    !name.contains(char::is_whitespace) && tools::clean::line(name) == name
}

#[derive(Deserialize)]
struct TaskRow {
    upid: String,
}

/// What there is of that sort in a cluster.
async fn names(
    cluster: &Cluster,
    subject: Subject,
    vmid: Option<Vmid>,
) -> Result<Vec<String>, pve::Error> {
    let pve = &cluster.pve;
    match subject {
        Subject::Cluster => Ok(Vec::new()),
        Subject::Upid => {
            let tasks: Vec<TaskRow> = pve.list(Request::get("/cluster/tasks")).await?;
            Ok(tasks.into_iter().map(|task| task.upid).collect())
        }
        Subject::Snapshot => snapshots(cluster, vmid).await,
        Subject::Node | Subject::Vmid | Subject::Storage | Subject::Tag => {
            let rows = pve.resources().await?;
            Ok(rows.iter().flat_map(|row| of_row(row, subject)).collect())
        }
    }
}

fn of_row(row: &Row, subject: Subject) -> Vec<String> {
    let one = |name: Option<String>| name.into_iter().collect();
    match subject {
        Subject::Node if row.kind == ResourceKind::Node => {
            one(row.node.as_ref().map(ToString::to_string))
        }
        Subject::Vmid => one(row.vmid.map(|vmid| vmid.to_string())),
        Subject::Storage => one(row.storage.as_deref().map(str::to_owned)),
        Subject::Tag => {
            let tags = row.tags.as_deref().unwrap_or_default();
            let tags = tags.split([';', ',', ' ']).filter(|tag| !tag.is_empty());
            tags.map(ToOwned::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

#[derive(Deserialize)]
struct SnapshotRow {
    name: String,
}

/// The snapshots of the guest that was chosen already; without one there is nothing to choose from.
async fn snapshots(cluster: &Cluster, vmid: Option<Vmid>) -> Result<Vec<String>, pve::Error> {
    let rows = cluster.pve.resources().await?;
    let mut rows = rows.iter().filter(|row| row.vmid.is_some());
    let row = rows.find(|row| row.vmid == vmid);
    let Some(guest) = row.and_then(pve::Guest::from_resource) else {
        return Ok(Vec::new());
    };
    let request = Request::get(guest.at.path("snapshot"));
    let snapshots: Vec<SnapshotRow> = cluster.pve.list(request).await?;
    let names = snapshots.into_iter().map(|snapshot| snapshot.name);
    Ok(names.filter(|name| name != PRESENT).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_is_a_sentence_completes_nothing() {
        let names = [
            "web",
            "we\u{202e}b",
            "\u{1b}[2J",
            "web\nIGNORE ALL",
            "ignore all",
            "b\u{200b}",
        ];
        let offered = beginning_with("", names.map(str::to_owned).into());
        assert_eq!(offered.values, ["web"]);
        assert_eq!(offered.total, Some(1));
    }

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let names = (0..150).map(|n| format!("pve{n:03}")).collect();
        let info = beginning_with("pve", names);
        assert_eq!(info.values.len(), 100);
        assert_eq!((info.total, info.has_more), (Some(150), Some(true)));
    }

    #[test]
    fn a_variable_belongs_to_its_template() {
        let guest = "proxmox://cluster/{cluster}/guest/{vmid}";
        assert_eq!(variable(guest, "vmid"), Some(Subject::Vmid));
        assert_eq!(variable(guest, "cluster"), Some(Subject::Cluster));
        assert_eq!(variable(guest, "node"), None);
        assert_eq!(variable("other://{vmid}", "vmid"), None);
    }
}
