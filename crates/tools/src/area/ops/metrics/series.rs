//! A history in numbers: what a series was at least, on average, at most and last, and where it is going.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::words;

/// One moment of PVE's round-robin history: figures by name, absent where nothing was measured.
#[derive(Debug, Deserialize)]
pub(super) struct Sample {
    #[serde(default, deserialize_with = "pve::lenient::opt_u64")]
    pub(super) time: Option<u64>,
    #[serde(flatten)]
    pub(super) figures: Map<String, Value>,
}

/// What a figure is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// A share of 0 to 1 that is shown as percent.
    Share,
    /// Percent already.
    Percent,
    Bytes,
    BytesPerSecond,
    Number,
}

impl Unit {
    /// A value as people read it.
    pub(super) fn show(self, value: f64) -> String {
        match self {
            Self::Share => format!("{:.1} %", value * 100.0),
            Self::Percent => format!("{value:.1} %"),
            Self::Bytes => size(value),
            Self::BytesPerSecond => format!("{}/s", size(value)),
            Self::Number => format!("{value:.2}"),
        }
    }
}

/// A size, also a negative one.
fn size(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes, without their fractions"
    )]
    let bytes = words::size(value.abs().round() as u64);
    if value < 0.0 {
        format!("-{bytes}")
    } else {
        bytes
    }
}

/// One figure over time.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    /// Seconds and value, where one was measured.
    pub(super) points: Vec<(i64, f64)>,
    /// What it cannot exceed, where PVE tells.
    pub(super) limit: Option<f64>,
}

impl Series {
    /// The series of that name; `limit` is the name of the figure that bounds it.
    pub(super) fn of(
        samples: &[Sample],
        name: &'static str,
        unit: Unit,
        limit: Option<&str>,
    ) -> Option<Self> {
        let value = |sample: &Sample, name: &str| {
            let value = sample.figures.get(name).and_then(pve::lenient::as_f64);
            value.filter(|value| value.is_finite())
        };
        let points: Vec<_> = samples
            .iter()
            .filter_map(|sample| {
                let time = i64::try_from(sample.time?).ok()?;
                Some((time, value(sample, name)?))
            })
            .collect();
        let limit = limit.and_then(|limit| samples.iter().rev().find_map(|s| value(s, limit)));
        (!points.is_empty()).then_some(Self {
            name,
            unit,
            points,
            limit: limit.filter(|limit| *limit > 0.0),
        })
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|(_, value)| *value)
    }

    pub(super) fn min(&self) -> f64 {
        self.values().fold(f64::INFINITY, f64::min)
    }

    pub(super) fn max(&self) -> f64 {
        self.values().fold(f64::NEG_INFINITY, f64::max)
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    pub(super) fn average(&self) -> f64 {
        self.values().sum::<f64>() / self.points.len().max(1) as f64
    }

    pub(super) fn last(&self) -> f64 {
        self.points.last().map_or(0.0, |(_, value)| *value)
    }

    /// How much it rises in a day, by the straight line that fits best; nothing for fewer than three points.
    #[expect(clippy::cast_precision_loss, reason = "seconds of a few years")]
    pub(super) fn per_day(&self) -> Option<f64> {
        let (first, _) = *self.points.first()?;
        let count = self.points.len() as f64;
        let days = |time: i64| (time - first) as f64 / 86_400.0;
        let middle = self.points.iter().map(|(time, _)| days(*time)).sum::<f64>() / count;
        let average = self.average();
        let (mut together, mut spread) = (0.0, 0.0);
        for (time, value) in &self.points {
            let distance = days(*time) - middle;
            together += distance * (value - average);
            spread += distance * distance;
        }
        (self.points.len() > 2 && spread > 0.0).then(|| together / spread)
    }

    /// How far its values are from their average, as a rule.
    fn unrest(&self) -> f64 {
        let average = self.average();
        let squares = self.values().map(|value| (value - average).powi(2));
        #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
        let mean = squares.sum::<f64>() / self.points.len().max(1) as f64;
        mean.sqrt()
    }

    /// Where it goes, in words. What changes by less than a twentieth of what it is, or by less than it goes up and down
    /// anyway, counts as steady.
    #[expect(clippy::cast_precision_loss, reason = "seconds of a few years")]
    pub(super) fn trend(&self) -> String {
        let Some(slope) = self.per_day() else {
            return "too few samples".to_owned();
        };
        let (Some((from, _)), Some((to, _))) = (self.points.first(), self.points.last()) else {
            return "too few samples".to_owned();
        };
        let change = slope * (to - from) as f64 / 86_400.0;
        let scale = self.limit.unwrap_or(0.0).max(self.max().abs());
        if change.abs() < (scale * 0.05).max(self.unrest()) || scale == 0.0 {
            return "steady".to_owned();
        }
        let way = if slope > 0.0 { "rising" } else { "falling" };
        let mut words = format!("{way} {} a day", self.unit.show(slope.abs()));
        let room = self.limit.map(|limit| limit - self.last());
        if let (true, Some(room)) = (slope > 0.0 && self.unit == Unit::Bytes, room) {
            let days = (room / slope).max(0.0);
            let _ = write!(words, ", full in {days:.0} days");
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn samples(values: &[Option<f64>]) -> Vec<Sample> {
        let sample = |(hour, value): (usize, &Option<f64>)| {
            let mut sample = json!({"time": 1_794_726_000 + hour * 3_600, "maxmem": 100.0});
            if let Some(value) = value {
                sample["mem"] = json!(value);
            }
            serde_json::from_value(sample).unwrap()
        };
        values.iter().enumerate().map(sample).collect()
    }

    #[test]
    fn a_gap_is_not_a_zero() {
        let samples = samples(&[Some(10.0), None, Some(20.0), Some(30.0)]);
        let series = Series::of(&samples, "mem", Unit::Number, Some("maxmem")).unwrap();
        assert_eq!(
            (series.min(), series.max(), series.last()),
            (10.0, 30.0, 30.0)
        );
        assert!((series.average() - 20.0).abs() < 1e-9);
        assert_eq!(series.limit, Some(100.0));
        assert!(Series::of(&samples, "cpu", Unit::Share, None).is_none());
    }

    #[test]
    fn a_trend_is_told_in_words() {
        let rising: Vec<_> = (0..25).map(|hour| Some(f64::from(hour))).collect();
        let series = |unit| Series::of(&samples(&rising), "mem", unit, Some("maxmem")).unwrap();
        assert_eq!(series(Unit::Number).trend(), "rising 24.00 a day");
        assert_eq!(
            series(Unit::Bytes).trend(),
            "rising 24 B a day, full in 3 days"
        );
        let flat = samples(&[Some(50.0); 25]);
        let flat = Series::of(&flat, "mem", Unit::Bytes, Some("maxmem")).unwrap();
        assert_eq!(flat.trend(), "steady");
        let restless: Vec<_> = (0..25)
            .map(|hour| Some(f64::from(hour % 5) * 20.0))
            .collect();
        let restless = samples(&restless);
        let restless = Series::of(&restless, "mem", Unit::Bytes, Some("maxmem")).unwrap();
        assert_eq!(restless.trend(), "steady");
    }
}
