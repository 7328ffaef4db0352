//! Time as a value. Nothing in the simulator reads the machine's clock except [`Clock::Real`] and [`Clock::Fast`].

use std::fmt;
use std::ops::{Add, Sub};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment of simulated time, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(u64);

impl Time {
    /// The moment `secs` seconds after the Unix epoch.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1000)
    }

    /// Whole seconds since the Unix epoch, as PVE writes them into answers.
    pub const fn secs(self) -> u64 {
        self.0 / 1000
    }

    /// The day of the week, Monday being 0.
    pub(crate) const fn weekday(self) -> u64 {
        (self.secs() / 86_400 + 3) % 7
    }

    /// `Sun Nov 15 19:08:44 2026`, the way the C library writes a moment.
    pub fn as_c_text(self) -> String {
        let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
        let date = Civil::of(self.secs());
        let at = |index: u64| usize::try_from(index).unwrap_or_default();
        let (weekday, month) = (days[at(self.weekday())], months[at(date.month - 1)]);
        let s = date.second_of_day;
        format!(
            "{weekday} {month} {:>2} {:02}:{:02}:{:02} {}",
            date.day,
            s / 3600,
            s / 60 % 60,
            s % 60,
            date.year
        )
    }

    /// How long ago `earlier` was; zero if it lies ahead.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0 + u64::try_from(span.as_millis()).unwrap_or(u64::MAX / 2))
    }
}

impl Sub<Duration> for Time {
    type Output = Self;

    fn sub(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)),
        )
    }
}

impl fmt::Display for Time {
    /// `2026-11-15 19:45:06`, the way PVE's task logs write it (nodes run on UTC).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil {
            year,
            month,
            day,
            second_of_day: s,
        } = Civil::of(self.secs());
        write!(
            f,
            "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}",
            s / 3600,
            s / 60 % 60,
            s % 60
        )
    }
}

/// A calendar date in UTC.
pub(crate) struct Civil {
    pub(crate) year: u64,
    pub(crate) month: u64,
    pub(crate) day: u64,
    pub(crate) second_of_day: u64,
}

impl Civil {
    /// Converts seconds since the epoch by counting days in 400-year eras that begin on 1 March.
    pub(crate) fn of(secs: u64) -> Self {
        let days = secs / 86_400 + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let month = if shifted_month < 10 {
            shifted_month + 3
        } else {
            shifted_month - 9
        };
        Self {
            year: year_of_era + era * 400 + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
            second_of_day: secs % 86_400,
        }
    }
}

/// How simulated time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Only [`Sim::advance`](crate::Sim::advance) moves it.
    Manual,
    /// Every request moves it by this much before it is handled, so that a client which polls a task sees it end
    /// without anybody sleeping. The default, with one second.
    PerRequest(Duration),
    /// It follows the machine's clock, from the world's own start time on.
    Real,
    /// The same, so many times as fast: a demo need not wait as long as a real disk takes to be copied.
    Fast(u32),
}

impl Default for Clock {
    fn default() -> Self {
        Self::PerRequest(Duration::from_secs(1))
    }
}

/// A running [`Clock`]: remembers where real time stood when it started.
#[derive(Debug)]
pub(crate) struct Ticker {
    clock: Clock,
    last_real: Duration,
}

impl Ticker {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            last_real: machine_time(),
        }
    }

    /// How far simulated time moves because a request came in.
    pub(crate) fn on_request(&mut self) -> Duration {
        match self.clock {
            Clock::Manual => Duration::ZERO,
            Clock::PerRequest(step) => step,
            Clock::Real => self.passed(),
            Clock::Fast(times) => self.passed() * times,
        }
    }

    /// Whether simulated time passes without requests.
    pub(crate) fn moves_on_its_own(&self) -> bool {
        matches!(self.clock, Clock::Real | Clock::Fast(_))
    }

    /// How far simulated time has moved on its own.
    pub(crate) fn on_idle(&mut self) -> Duration {
        if self.moves_on_its_own() {
            self.on_request()
        } else {
            Duration::ZERO
        }
    }

    /// Real time since the last look.
    fn passed(&mut self) -> Duration {
        let real = machine_time();
        let passed = real.saturating_sub(self.last_real);
        self.last_real = real;
        passed
    }
}

fn machine_time() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_in_task_logs() {
        assert_eq!(
            Time::from_secs(1_794_771_906).to_string(),
            "2026-11-15 19:45:06"
        );
        assert_eq!(
            Time::from_secs(951_782_400).to_string(),
            "2000-02-29 00:00:00"
        );
        assert_eq!(Time::from_secs(0).to_string(), "1970-01-01 00:00:00");
    }

    #[test]
    fn the_c_library_pads_days_with_blanks() {
        let text = |secs| Time::from_secs(secs).as_c_text();
        assert_eq!(text(1_794_769_724), "Sun Nov 15 19:08:44 2026");
        assert_eq!(text(0), "Thu Jan  1 00:00:00 1970");
    }
}
