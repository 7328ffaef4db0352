//! Which older backups go, and when a storage's own rule stands in the way.

use pve::{PropertyString, Request, StorageStatus};
use serde_json::Value;

use crate::area::backups::Backup;
use crate::context::Guest;
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Guard, Plan};
use crate::spec::Risk;
use crate::words;

/// Adds the backups that keeping the last `keep` removes, by PVE's own reckoning.
pub(super) async fn prune(
    plan: &mut Plan,
    guest: &Guest,
    before: &[Backup],
    storage: &StorageStatus,
    keep: u32,
) -> Result<(), Fault> {
    // The new backup is one of those that are kept, and PVE reckons without it. It takes no rule that keeps none.
    let others = keep.saturating_sub(1);
    let request = Request::get(format!(
        "/nodes/{}/storage/{}/prunebackups",
        guest.at.node, storage.storage
    ))
    .with("vmid", guest.at.vmid)
    .with("type", guest.at.kind.to_string())
    .with("prune-backups", format!("keep-last={}", others.max(1)));
    // What PVE would do with each of them.
    let answer: Vec<Value> = guest.pve().list(request.clone()).await?;
    let says = format!(
        "which backups of {} on {} go",
        guest.label(),
        storage.storage
    );
    plan.guards
        .push(Guard::same_rows(says, request, &["volid", "mark"], &answer));
    let word = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let goes = |mark: &str| mark == "remove" || (others == 0 && mark == "keep");
    let mut doomed = 0;
    for row in answer.iter().filter(|row| goes(&word(row, "mark"))) {
        let volid = word(row, "volid");
        let known = before.iter().find(|backup| backup.volid == volid);
        plan.impact.push(match known {
            Some(backup) => backup.impact(Effect::Destroyed),
            None => crate::plan::Impact::new(Effect::Destroyed, "backup", volid),
        });
        doomed += 1;
    }
    if doomed > 0 {
        plan.risk = plan.risk.max(Risk::Destroy);
        plan.summary = format!(
            "{}, then delete {} there",
            plan.summary,
            words::count(doomed, "older backup")
        );
    }
    Ok(())
}

/// Without pruning PVE makes no backup beyond the number that the storage's own rule keeps.
pub(super) async fn limit(
    guest: &Guest,
    before: &[Backup],
    storage: &StorageStatus,
) -> Option<Blocker> {
    let request = Request::get(format!("/nodes/{}/vzdump/defaults", guest.at.node))
        .with("storage", storage.storage.as_str());
    let defaults: Value = guest.pve().get(request).await.ok()?;
    let rule = PropertyString::parse(defaults["prune-backups"].as_str()?);
    if rule.is_on("keep-all") {
        return None;
    }
    let kept = |(key, count): &(String, String)| {
        key.starts_with("keep-")
            .then(|| count.parse::<usize>().ok())
            .flatten()
    };
    let most: usize = rule.pairs.iter().filter_map(kept).sum();
    let is_own = |backup: &&Backup| {
        !backup.protected && backup.kind().is_none_or(|kind| kind == guest.at.kind)
    };
    let have = before.iter().filter(is_own).count();
    (most > 0 && have >= most).then(|| {
        Blocker::new(
            format!(
                "{} keeps at most {} of a guest ({rule}), and {} has {have} there",
                storage.storage,
                words::count(most, "backup"),
                guest.label()
            ),
            format!("send keep_last: {most} to remove older ones afterwards, or another storage"),
        )
    })
}
