//! Which backups a retention rule keeps: `keep-last=3,keep-weekly=2`.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::{Civil, Time};
use crate::world::World;
use crate::world::layout::Layout;
use crate::world::storage::{Storage, Volume};

/// What becomes of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It stays.
    Keep,
    /// It goes.
    Remove,
    /// It stays because it is protected, and does not count.
    Protected,
    /// It stays because its name is not PVE's.
    Renamed,
}

impl Mark {
    /// As in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Remove => "remove",
            Self::Protected => "protected",
            Self::Renamed => "renamed",
        }
    }
}

/// The backups of a storage, of one guest or one kind of guest if asked for.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The node that looks.
    pub node: &'a str,
    /// The storage.
    pub storage: &'a str,
    /// Only this guest.
    pub vmid: Option<u32>,
    /// Only `qemu` or `lxc`.
    pub kind: Option<&'a str>,
}

impl World {
    /// What `rule` would do with each backup, in the order of their names. Every guest's backups are counted apart.
    pub fn apply_retention(&self, scope: Scope<'_>, rule: &str) -> Vec<(&Volume, Mark)> {
        let wanted = |volume: &&Volume| {
            volume.storage() == scope.storage
                && volume.content == "backup"
                && scope.vmid.is_none_or(|vmid| volume.vmid == Some(vmid))
                && scope.kind.is_none_or(|kind| kind == volume.guest_kind())
        };
        let seen = self
            .volumes
            .iter()
            .filter(|volume| volume.is_seen_from(scope.node));
        let mut backups: Vec<&Volume> = seen.filter(wanted).collect();
        backups.sort_by_key(|volume| volume.volid.to_lowercase());
        let layout = self.storages.get(scope.storage).map(Storage::layout);
        let first = |volume: &Volume| match volume {
            volume if volume.protected => Some(Mark::Protected),
            volume if layout == Some(Layout::Files) && !has_standard_name(volume.name()) => {
                Some(Mark::Renamed)
            }
            _ => None,
        };
        let mut marks: Vec<Option<Mark>> = backups.iter().map(|volume| first(volume)).collect();
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (at, volume) in backups.iter().enumerate() {
            if marks[at] != Some(Mark::Renamed) {
                groups
                    .entry((volume.guest_kind(), volume.vmid))
                    .or_default()
                    .push(at);
            }
        }
        for mut group in groups.into_values() {
            group.sort_by_key(|at| std::cmp::Reverse(backups[*at].created));
            let times: Vec<Time> = group.iter().map(|at| backups[*at].created).collect();
            let mut group_marks: Vec<Option<Mark>> = group.iter().map(|at| marks[*at]).collect();
            mark_group(&times, rule, &mut group_marks);
            for (at, mark) in group.iter().zip(group_marks) {
                marks[*at] = mark;
            }
        }
        let marks = marks.into_iter().map(|mark| mark.unwrap_or(Mark::Remove));
        backups.into_iter().zip(marks).collect()
    }
}

/// `backup/vzdump-lxc-200-2026_11_15-19_02_13.tar.zst`.
fn has_standard_name(name: &str) -> bool {
    let stem = name
        .trim_start_matches("backup/")
        .split('.')
        .next()
        .unwrap_or_default();
    let parts: Vec<&str> = stem.split('-').collect();
    matches!(parts[..], ["vzdump", "lxc" | "qemu" | "openvz", _, date, time]
        if date.len() == 10 && time.len() == 8)
}

/// The number of the period that a moment lies in.
type Period = fn(Time) -> u64;

/// What the options of a rule count, shortest period first.
const PERIODS: [(&str, Period); 6] = [
    ("keep-last", Time::secs),
    ("keep-hourly", |time| time.secs() / 3600),
    ("keep-daily", |time| time.secs() / 86_400),
    // The epoch was a Thursday.
    ("keep-weekly", |time| (time.secs() / 86_400 + 3) / 7),
    ("keep-monthly", |time| {
        let date = Civil::of(time.secs());
        date.year * 12 + date.month
    }),
    ("keep-yearly", |time| Civil::of(time.secs()).year),
];

/// Marks the backups of one guest, newest first.
fn mark_group(times: &[Time], rule: &str, marks: &mut [Option<Mark>]) {
    let count = |key: &str| -> usize {
        let value = crate::world::config::property(rule, key);
        value
            .and_then(|value| value.parse().ok())
            .unwrap_or_default()
    };
    let keeps_all = crate::world::config::property(rule, "keep-all") == Some("1");
    if keeps_all || PERIODS.iter().all(|(key, _)| count(key) == 0) {
        for mark in marks.iter_mut().filter(|mark| mark.is_none()) {
            *mark = Some(Mark::Keep);
        }
        return;
    }
    for (key, period) in PERIODS {
        let kept = times
            .iter()
            .zip(marks.iter())
            .filter(|(_, mark)| **mark == Some(Mark::Keep));
        let covered: BTreeSet<u64> = kept.map(|(time, _)| period(*time)).collect();
        let mut new = BTreeSet::new();
        for (time, mark) in times.iter().zip(marks.iter_mut()) {
            let period = period(*time);
            if mark.is_some() || covered.contains(&period) {
                continue;
            }
            if new.contains(&period) {
                *mark = Some(Mark::Remove);
            } else if new.len() < count(key) {
                new.insert(period);
                *mark = Some(Mark::Keep);
            } else {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400;

    fn kept(days: &[u64], rule: &str) -> Vec<u64> {
        let now = 1_794_770_000 / DAY * DAY;
        let times: Vec<Time> = days
            .iter()
            .map(|ago| Time::from_secs(now - ago * DAY))
            .collect();
        let mut marks = vec![None; times.len()];
        mark_group(&times, rule, &mut marks);
        let pairs = days.iter().zip(marks);
        pairs
            .filter(|(_, mark)| *mark == Some(Mark::Keep))
            .map(|(day, _)| *day)
            .collect()
    }

    #[test]
    fn the_last_ones_stay() {
        assert_eq!(kept(&[0, 1, 2], "keep-last=1"), [0]);
        assert_eq!(kept(&[0, 1, 2], "keep-all=1"), [0, 1, 2]);
        assert_eq!(kept(&[0, 1, 2], "keep-last=0"), [0, 1, 2]);
    }

    #[test]
    fn longer_periods_count_what_shorter_ones_left() {
        assert_eq!(kept(&[0, 1, 7, 8, 14], "keep-last=1,keep-weekly=1"), [0, 7]);
    }
}
