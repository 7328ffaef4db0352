//! Which older backups go, and when a storage's own rule stands in the way.

use pve::{PropertyString, Request, StorageStatus, lenient};
use serde::Deserialize;
use serde_json::Value;

use super::rule::Rule;
use crate::area::backups::Backup;
use crate::context::Guest;
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Guard, Impact, Plan};
use crate::words;

/// How much later than planned the backup may be asked for: somebody has to agree first.
const AGREED_WITHIN: i64 = 15 * 60;
/// Minutes for which a backup waits for another one on its node, where the node does not say.
const LOCK_WAIT: u16 = 180;
/// No period that a rule counts is shorter, so that moments this far apart fall into all that there are.
const SHORTEST_PERIOD: usize = 3600;

/// A backup that counts for a rule.
struct Counted {
    volid: String,
    taken: i64,
    /// What PVE would do with it as things are.
    kept: bool,
}

/// When and where the new backup is taken, as far as its retention goes.
pub(super) struct Newcomer<'a> {
    pub(super) storage: &'a StorageStatus,
    /// One that is protected counts for no rule.
    pub(super) protected: bool,
    pub(super) now: i64,
}

/// Adds the backups that the rule removes once the new one is there. PVE's own list does not reckon with the new one,
/// so it is reckoned here; in which time zone, its list has to bear out.
pub(super) async fn prune(
    plan: &mut Plan,
    guest: &Guest,
    before: &[Backup],
    rule: &Rule,
    new: &Newcomer<'_>,
) -> Result<(), Fault> {
    let id = &new.storage.storage;
    let request = Request::get(format!(
        "/nodes/{}/storage/{id}/prunebackups",
        guest.at.node
    ))
    .with("vmid", guest.at.vmid)
    .with("type", guest.at.kind.to_string())
    .with("prune-backups", rule.to_string());
    let answer: Vec<Value> = guest.pve().list(request.clone()).await?;
    let says = format!("which backups of {} on {id} go", guest.label());
    plan.guards
        .push(Guard::same_rows(says, request, &["volid", "mark"], &answer));
    let counted = counted(&answer);
    let fates = fates(guest, rule, new, &counted).await;
    let (mut doomed, mut unsure) = (0, 0);
    for (backup, fate) in counted.iter().zip(fates) {
        if fate == Fate::Stays {
            continue;
        }
        let known = before.iter().find(|known| known.volid == backup.volid);
        let mut item = match known {
            Some(known) => known.impact(Effect::Destroyed),
            None => Impact::new(Effect::Destroyed, "backup", &backup.volid),
        };
        if fate == Fate::MayGo {
            let taken = item.note.take().unwrap_or_default();
            item = item.note(format!("{taken}; may go"));
            unsure += 1;
        }
        plan.impact.push(item);
        doomed += 1;
    }
    if doomed == 0 {
        return Ok(());
    }
    let most = if unsure > 0 { "at most " } else { "" };
    plan.summary = format!(
        "{}, then delete {most}{} there",
        plan.summary,
        words::count(doomed, "older backup")
    );
    if unsure > 0 {
        plan.warnings.push(format!(
            "{} may go or stay: it depends on when the new one is taken and on PVE's time zone",
            words::count(unsure, "backup")
        ));
    }
    Ok(())
}

/// What becomes of a backup.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    MayGo,
    Goes,
}

/// The backups that are neither protected nor named by hand, newest first.
fn counted(answer: &[Value]) -> Vec<Counted> {
    let row = |row: &Value| {
        let kept = match row["mark"].as_str()? {
            "keep" => true,
            "remove" => false,
            _ => return None,
        };
        Some(Counted {
            volid: row["volid"].as_str()?.to_owned(),
            taken: row["ctime"].as_i64().unwrap_or_default(),
            kept,
        })
    };
    let mut counted: Vec<_> = answer.iter().filter_map(row).collect();
    counted.sort_by_key(|backup| std::cmp::Reverse(backup.taken));
    counted
}

/// What the rule does with each, for every moment and time zone that may be PVE's.
async fn fates(guest: &Guest, rule: &Rule, new: &Newcomer<'_>, counted: &[Counted]) -> Vec<Fate> {
    let by_pve: Vec<bool> = counted.iter().map(|backup| backup.kept).collect();
    if new.protected {
        let fate = |kept| if kept { Fate::Stays } else { Fate::Goes };
        return by_pve.into_iter().map(fate).collect();
    }
    let newest = counted.first().map_or(0, |backup| backup.taken);
    let moments: Vec<i64> = counted.iter().map(|backup| backup.taken).collect();
    let (starts, zones) = if rule.is_timeless() {
        (vec![newest + 1], vec![0])
    } else {
        let clock = Clock::of(guest, new).await;
        let start = clock.now.max(newest + 1);
        let last = start + AGREED_WITHIN + 60 * i64::from(lock_wait(guest, new.storage).await);
        let hours = (start..last).step_by(SHORTEST_PERIOD);
        (hours.chain([last]).collect(), clock.zones)
    };
    // What each possible moment and zone keeps; a zone in which PVE's own list would differ is not PVE's.
    let outcomes: Vec<Vec<bool>> = zones
        .iter()
        .filter(|zone| rule.kept(&moments, **zone) == by_pve)
        .flat_map(|zone| starts.iter().map(move |start| (*start, *zone)))
        .map(|(start, zone)| {
            let with_new: Vec<i64> = std::iter::once(start).chain(moments.clone()).collect();
            rule.kept(&with_new, zone)[1..].to_vec()
        })
        .collect();
    let fate = |at: usize| {
        let stays = |kept: &Vec<bool>| kept[at];
        match outcomes.as_slice() {
            [] => Fate::MayGo,
            outcomes if outcomes.iter().all(stays) => Fate::Stays,
            outcomes if outcomes.iter().any(stays) => Fate::MayGo,
            _ => Fate::Goes,
        }
    };
    (0..counted.len()).map(fate).collect()
}

/// The time where retention is reckoned.
struct Clock {
    now: i64,
    /// By how many seconds local time may be ahead of UTC.
    zones: Vec<i64>,
}

#[derive(Deserialize)]
struct NodeTime {
    time: i64,
    localtime: i64,
}

impl Clock {
    /// A node tells its own. A backup server's is not told, nor may every token ask a node: then it is any.
    async fn of(guest: &Guest, new: &Newcomer<'_>) -> Self {
        let anywhere = || (-48..=56).map(|quarter| quarter * 900).collect();
        let on_server = new.storage.kind.as_deref() == Some("pbs");
        let path = format!("/nodes/{}/time", guest.at.node);
        match guest.pve().get::<NodeTime>(path).await {
            Ok(node) => {
                let ahead = node.localtime - node.time;
                // An hour more or less, for backups of the other half of the year.
                let here = || vec![ahead - 3600, ahead, ahead + 3600];
                Self {
                    now: node.time,
                    zones: if on_server { anywhere() } else { here() },
                }
            }
            Err(_) => Self {
                now: new.now,
                zones: anywhere(),
            },
        }
    }
}

/// How a node backs up to a storage where nothing else is said.
async fn defaults(guest: &Guest, storage: &StorageStatus) -> Option<Value> {
    let request = Request::get(format!("/nodes/{}/vzdump/defaults", guest.at.node))
        .with("storage", storage.storage.as_str());
    guest.pve().get(request).await.ok()
}

/// For how many minutes a backup waits for another one on its node.
async fn lock_wait(guest: &Guest, storage: &StorageStatus) -> u16 {
    let defaults = defaults(guest, storage).await;
    let minutes = defaults.and_then(|found| lenient::as_u64(&found["lockwait"]));
    minutes.map_or(LOCK_WAIT, |told| u16::try_from(told).unwrap_or(u16::MAX))
}

/// Without pruning PVE makes no backup beyond the number that the storage's own rule keeps.
pub(super) async fn limit(
    guest: &Guest,
    before: &[Backup],
    storage: &StorageStatus,
) -> Option<Blocker> {
    let defaults = defaults(guest, storage).await?;
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
            match rule.get("keep-last") {
                Some(last) if rule.pairs.len() == 1 => {
                    format!(
                        "send keep_last: {last} to remove older ones afterwards, or another storage"
                    )
                }
                _ => format!(
                    "send prune: \"{rule}\" to remove older ones afterwards, or another storage"
                ),
            },
        )
    })
}
