//! Calendar events (`sun 03:00`, `mon..fri *:0/15`): when a job runs next. The subset of systemd's syntax that PVE reads,
//! in UTC and to the minute.

use std::time::Duration;

use crate::clock::{Civil, Time};

/// No event that comes at all stays away longer: a 29 February may take eight years.
const HORIZON_DAYS: u64 = 366 * 8;
const DAY: Duration = Duration::from_hours(24);

/// A parsed calendar event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarEvent {
    /// Monday is 0; empty for every day.
    weekdays: Vec<u64>,
    years: Field,
    months: Field,
    days: Field,
    hours: Field,
    minutes: Field,
}

/// The values that one part of a date or time may have. Empty for any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Field(Vec<Values>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Values {
    first: u64,
    last: u64,
    step: u64,
}

impl CalendarEvent {
    /// Reads an event.
    ///
    /// # Errors
    /// The text PVE puts after `invalid format - `.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expanded = match text {
            "minutely" => "*:*",
            "hourly" => "*:0",
            "daily" => "00:00",
            "weekly" => "mon 00:00",
            "monthly" => "*-*-1 00:00",
            "quarterly" => "*-1,4,7,10-1 00:00",
            "semiannually" | "semi-annually" => "*-1,7-1 00:00",
            "yearly" | "annually" => "*-1-1 00:00",
            other => other,
        };
        Self::of_words(expanded).ok_or_else(|| {
            format!(
                "invalid calendar event '{text}' - unable to parse calendar event at '{text}' - Context(\"weekday\")\n"
            )
        })
    }

    fn of_words(text: &str) -> Option<Self> {
        let mut event = Self {
            weekdays: Vec::new(),
            years: Field::default(),
            months: Field::default(),
            days: Field::default(),
            hours: Field::single(0),
            minutes: Field::single(0),
        };
        let mut words = text.split_whitespace().peekable();
        words.peek()?;
        if let Some(days) =
            words.next_if(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
        {
            event.weekdays = weekdays(days)?;
        }
        if let Some(date) = words.next_if(|word| word.contains('-')) {
            let mut parts = date.rsplitn(3, '-');
            event.days = Field::parse(parts.next()?, 1, 31)?;
            event.months = Field::parse(parts.next()?, 1, 12)?;
            event.years = Field::parse(parts.next().unwrap_or("*"), 1970, 9999)?;
        }
        if let Some(time) = words.next() {
            let (hours, minutes) = time.split_once(':').unwrap_or(("*", time));
            event.hours = Field::parse(hours, 0, 23)?;
            event.minutes = Field::parse(minutes, 0, 59)?;
        }
        words.next().is_none().then_some(event)
    }

    /// The first moment after `now` that fits, if there is one.
    pub fn next_after(&self, now: Time) -> Option<Time> {
        let midnight = Time::from_secs(now.secs() / 86_400 * 86_400);
        let days = std::iter::successors(Some(midnight), |day| Some(*day + DAY));
        days.take(usize::try_from(HORIZON_DAYS).unwrap_or_default())
            .filter(|day| self.fits_day(*day))
            .find_map(|day| {
                self.minutes_of_day()
                    .map(|minute| day + Duration::from_secs(minute * 60))
                    .find(|moment| *moment > now)
            })
    }

    fn fits_day(&self, day: Time) -> bool {
        let date = Civil::of(day.secs());
        (self.weekdays.is_empty() || self.weekdays.contains(&day.weekday()))
            && self.years.holds(date.year)
            && self.months.holds(date.month)
            && self.days.holds(date.day)
    }

    fn minutes_of_day(&self) -> impl Iterator<Item = u64> {
        let hours = (0..24).filter(|hour| self.hours.holds(*hour));
        hours.flat_map(|hour| {
            let minutes = (0..60).filter(|minute| self.minutes.holds(*minute));
            minutes.map(move |minute| hour * 60 + minute)
        })
    }
}

impl Field {
    fn single(value: u64) -> Self {
        Self(vec![Values {
            first: value,
            last: value,
            step: 1,
        }])
    }

    /// Reads `*`, `*/15`, `0/15`, `1,15`, `8..18`.
    fn parse(text: &str, min: u64, max: u64) -> Option<Self> {
        if text == "*" {
            return Some(Self::default());
        }
        let values = |item: &str| {
            let (range, step) = match item.split_once('/') {
                Some((range, step)) => (range, Some(step.parse().ok().filter(|n| *n > 0)?)),
                None => (item, None),
            };
            let number = |text: &str| text.parse().ok().filter(|n| (min..=max).contains(n));
            let (first, last) = match range.split_once("..") {
                Some((first, last)) => (number(first)?, number(last)?),
                None if range == "*" => (min, max),
                None => {
                    let first = number(range)?;
                    (first, if step.is_some() { max } else { first })
                }
            };
            Some(Values {
                first,
                last,
                step: step.unwrap_or(1),
            })
        };
        text.split(',').map(values).collect::<Option<_>>().map(Self)
    }

    fn holds(&self, value: u64) -> bool {
        let fits = |values: &Values| {
            (values.first..=values.last).contains(&value)
                && (value - values.first).is_multiple_of(values.step)
        };
        self.0.is_empty() || self.0.iter().any(fits)
    }
}

/// Reads `sun`, `mon,wed`, `mon..fri`; longer names count by their first three letters.
fn weekdays(text: &str) -> Option<Vec<u64>> {
    let number = |name: &str| {
        let full = [
            "monday",
            "tuesday",
            "wednesday",
            "thursday",
            "friday",
            "saturday",
            "sunday",
        ];
        let name = name.to_ascii_lowercase();
        let fits = |day: &&str| name.len() >= 3 && day.starts_with(&name);
        full.iter()
            .zip(0..)
            .find(|(day, _)| fits(day))
            .map(|(_, n)| n)
    };
    let mut found = Vec::new();
    for item in text.split(',') {
        match item.split_once("..") {
            Some((first, last)) => found.extend(number(first)?..=number(last)?),
            None => found.push(number(item)?),
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-15 19:26:40, a Sunday.
    const NOW: Time = Time::from_secs(1_794_770_800);

    fn next(event: &str) -> String {
        let event = CalendarEvent::parse(event).expect("well formed");
        event.next_after(NOW).expect("comes").to_string()
    }

    #[test]
    fn the_next_event() {
        for (event, expected) in [
            ("daily", "2026-11-16 00:00:00"),
            ("21:00", "2026-11-15 21:00:00"),
            ("sun 03:00", "2026-11-22 03:00:00"),
            ("mon..fri 22:30", "2026-11-16 22:30:00"),
            ("*/15", "2026-11-15 19:30:00"),
            ("*:0/30", "2026-11-15 19:30:00"),
            ("8..18:00", "2026-11-16 08:00:00"),
            ("monthly", "2026-12-01 00:00:00"),
            ("sat *-*-1..7 15:00", "2026-12-05 15:00:00"),
            ("*-02-29 00:00", "2028-02-29 00:00:00"),
        ] {
            assert_eq!(next(event), expected, "{event}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["nonsense", "", "25:00", "mon 03:00 x", "*/0"] {
            assert!(CalendarEvent::parse(text).is_err(), "{text}");
        }
    }
}
