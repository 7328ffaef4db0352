//! A retention rule in PVE's words, and which backups it keeps, reckoned as PVE and its backup server do.

use std::collections::BTreeSet;
use std::fmt;

use jiff::Timestamp;
use jiff::tz::Offset;
use pve::PropertyString;

use crate::fault::Fault;
use crate::words;

/// The number of the period that a moment lies in, in local seconds.
type Period = fn(i64) -> i64;

/// What a rule counts. Shorter periods come first.
const PERIODS: [(&str, Period); 6] = [
    ("keep-last", |local| local),
    ("keep-hourly", |local| local.div_euclid(3600)),
    ("keep-daily", |local| local.div_euclid(86_400)),
    // The epoch was a Thursday.
    ("keep-weekly", |local| {
        (local.div_euclid(86_400) + 3).div_euclid(7)
    }),
    ("keep-monthly", |local| {
        let (year, month) = year_and_month(local);
        year * 12 + month
    }),
    ("keep-yearly", |local| year_and_month(local).0),
];

fn year_and_month(local: i64) -> (i64, i64) {
    let date = Offset::UTC.to_datetime(Timestamp::from_second(local).unwrap_or_default());
    (date.year().into(), date.month().into())
}

/// `keep-last=3,keep-weekly=2`. One without any count keeps all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Rule([usize; PERIODS.len()]);

impl Rule {
    /// The newest so many.
    pub(super) fn last(count: u32) -> Self {
        let mut rule = Self::default();
        rule.0[0] = usize::try_from(count).unwrap_or(usize::MAX);
        rule
    }

    /// As PVE takes it.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = |what: String| {
            Fault::bad_input(format!("prune: {what}"))
                .hint("send counts such as keep-last=2,keep-daily=7,keep-weekly=4 (also keep-hourly, keep-monthly, keep-yearly), or keep-all=1")
        };
        let given = PropertyString::parse(text);
        let (mut rule, mut known) = (Self::default(), BTreeSet::new());
        if let Some(word) = &given.default {
            return Err(wrong(format!("{:?} is no count", words::clip(word, 40))));
        }
        for (key, value) in &given.pairs {
            let key = key.trim();
            let place = PERIODS.iter().position(|(name, _)| *name == key);
            if !known.insert(key) || (place.is_none() && key != "keep-all") {
                let key = words::clip(key, 40);
                return Err(wrong(format!("{key:?} is unknown or stands there twice")));
            }
            let Ok(count) = value.trim().parse::<u32>() else {
                let value = words::clip(value, 40);
                return Err(wrong(format!("{value:?} is no number")));
            };
            if let Some(place) = place {
                rule.0[place] = usize::try_from(count).unwrap_or(usize::MAX);
            }
        }
        match (given.get("keep-all"), rule.keeps_all()) {
            (Some("0") | None, true) => Err(wrong("it would keep none, so PVE keeps all".into())),
            (Some("1"), false) => Err(wrong("keep-all goes with nothing else".into())),
            (Some("0" | "1") | None, _) => Ok(rule),
            _ => Err(wrong("keep-all is 1 or 0".into())),
        }
    }

    /// Whether it removes nothing.
    pub(super) fn keeps_all(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    /// Whether only the order of the backups matters, not when they were taken.
    pub(super) fn is_timeless(&self) -> bool {
        self.0[1..].iter().all(|count| *count == 0)
    }

    /// Which of these moments stay, newest first, where local time is so many seconds ahead of UTC.
    pub(super) fn kept(&self, moments: &[i64], ahead: i64) -> Vec<bool> {
        let mut marks: Vec<Option<bool>> = vec![None; moments.len()];
        let counts = self.0.iter().zip(PERIODS);
        for (count, (_, period)) in counts.filter(|(count, _)| **count > 0) {
            let periods: Vec<i64> = moments.iter().map(|at| period(at + ahead)).collect();
            let covered: BTreeSet<i64> = periods
                .iter()
                .zip(&marks)
                .filter(|(_, mark)| **mark == Some(true))
                .map(|(period, _)| *period)
                .collect();
            let mut taken = BTreeSet::new();
            for (period, mark) in periods.iter().zip(&mut marks) {
                if mark.is_some() || covered.contains(period) {
                    continue;
                }
                if taken.contains(period) {
                    *mark = Some(false);
                } else if taken.len() < *count {
                    taken.insert(*period);
                    *mark = Some(true);
                } else {
                    break;
                }
            }
        }
        let kept = |mark: Option<bool>| self.keeps_all() || mark == Some(true);
        marks.into_iter().map(kept).collect()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.keeps_all() {
            return f.write_str("keep-all=1");
        }
        let counts = self.0.iter().zip(PERIODS);
        let parts: Vec<_> = counts
            .filter(|(count, _)| **count > 0)
            .map(|(count, (name, _))| format!("{name}={count}"))
            .collect();
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3600;
    const DAY: i64 = 24 * HOUR;
    /// A Sunday, 12:00 UTC.
    const NOON: i64 = 1_794_744_000;

    fn kept(rule: &str, ages: &[i64], ahead: i64) -> Vec<i64> {
        let moments: Vec<_> = ages.iter().map(|age| NOON - age).collect();
        let kept = Rule::parse(rule).unwrap().kept(&moments, ahead);
        let ages = ages.iter().zip(kept).filter(|(_, kept)| *kept);
        ages.map(|(age, _)| *age).collect()
    }

    #[test]
    fn shorter_periods_come_first_and_cover_what_they_keep() {
        assert_eq!(kept("keep-last=2", &[0, 1, 2], 0), [0, 1]);
        let days = [0, DAY, 2 * DAY, 7 * DAY, 8 * DAY, 40 * DAY];
        assert_eq!(
            kept("keep-monthly=1,keep-weekly=2,keep-last=1", &days, 0),
            [0, 7 * DAY, 40 * DAY]
        );
        assert_eq!(kept("keep-yearly=5", &days, 0), [0]);
        assert_eq!(kept("keep-all=1", &days, 0), days);
    }

    #[test]
    fn a_day_ends_at_local_midnight() {
        let ages = [0, 11 * HOUR, 13 * HOUR];
        assert_eq!(kept("keep-daily=9", &ages, 0), [0, 13 * HOUR]);
        assert_eq!(kept("keep-daily=9", &ages, 2 * HOUR), [0]);
        assert_eq!(kept("keep-daily=9", &ages, -2 * HOUR), [0, 11 * HOUR]);
        assert_eq!(kept("keep-hourly=9", &ages, 0), ages);
    }

    #[test]
    fn only_rules_of_pve_are_taken() {
        for wrong in [
            "",
            "7",
            "keep-last=0",
            "keep-last=-1",
            "keep-last=two",
            "keep-minutely=3",
            "keep-last=1,keep-last=2",
            "keep-all=1,keep-last=2",
            "keep-all=yes",
        ] {
            assert!(Rule::parse(wrong).is_err(), "{wrong}");
        }
        let rule = Rule::parse("keep-weekly=4, keep-daily=7,keep-last=0").unwrap();
        assert_eq!(rule.to_string(), "keep-daily=7,keep-weekly=4");
        assert_eq!(Rule::last(2).to_string(), "keep-last=2");
    }
}
