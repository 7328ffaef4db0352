//! The picture of a history: a panel for each sort of figure, one above the other, with the same times below all.

use super::canvas::{Canvas, Ink};
use super::font;
use super::series::{Series, Unit};

const WIDTH: i32 = 860;
const MARGIN: i32 = 14;
/// Room for the numbers left of a panel.
const LEFT: i32 = 138;
const PLOT: i32 = WIDTH - LEFT - MARGIN;
const PANEL: i32 = 110;
/// From the top of one panel's title to the next one's.
const STRIDE: i32 = PANEL + HEAD + 20;
/// From a panel's title to the panel.
const HEAD: i32 = 30;
const TITLE: i32 = 42;
const FOOT: i32 = 26;
const COLOURS: [Ink; 3] = [Ink::First, Ink::Second, Ink::Third];
const LETTER: i32 = font::HEIGHT * font::SCALE;

/// Series that share an axis.
pub(super) struct Panel<'a> {
    pub(super) title: &'static str,
    pub(super) series: Vec<&'a Series>,
}

/// The times of a chart.
pub(super) struct Span {
    pub(super) from: i64,
    pub(super) to: i64,
    /// Between two samples, in seconds.
    pub(super) step: i64,
}

/// The chart as a PNG.
pub(super) fn draw(title: &str, span: &Span, panels: &[Panel<'_>]) -> Vec<u8> {
    let count = i32::try_from(panels.len()).unwrap_or_default();
    let height = TITLE + count * STRIDE + FOOT;
    let mut canvas = Canvas::new(usize_of(WIDTH), usize_of(height));
    canvas.text(MARGIN, 12, title, Ink::Text);
    for (panel, top) in panels.iter().zip((TITLE..).step_by(usize_of(STRIDE))) {
        draw_panel(&mut canvas, span, panel, top);
    }
    let last = TITLE + (count - 1) * STRIDE + HEAD + PANEL;
    for (x, label) in times(span) {
        let half = font::width(&label) / 2;
        let left = (x - half).clamp(LEFT - 20, WIDTH - MARGIN - 2 * half);
        canvas.text(left, last + 10, &label, Ink::Faint);
    }
    canvas.png()
}

fn draw_panel(canvas: &mut Canvas, span: &Span, panel: &Panel<'_>, top: i32) {
    canvas.text(MARGIN, top, panel.title, Ink::Text);
    let mut right = LEFT + 40;
    for (series, ink) in panel.series.iter().zip(COLOURS) {
        canvas.fill(right, top + 4, 18, 5, ink);
        canvas.text(right + 26, top, series.name, Ink::Faint);
        right += 26 + font::width(series.name) + 28;
    }
    let floor = top + HEAD + PANEL;
    canvas.fill(LEFT, top + HEAD, PLOT, PANEL, Ink::Panel);
    let unit = panel
        .series
        .first()
        .map_or(Unit::Number, |series| series.unit);
    let ceiling = ceiling(panel, unit);
    for quarter in [0, 1, 2] {
        let y = floor - PANEL * quarter / 2;
        canvas.fill(LEFT, y, PLOT, 1, Ink::Grid);
        let label = unit.show(ceiling * f64::from(quarter) / 2.0);
        canvas.text_to(LEFT - 8, y - LETTER / 2, &label, Ink::Faint);
    }
    for (x, _) in times(span) {
        canvas.fill(x, top + HEAD, 1, PANEL, Ink::Grid);
    }
    // The first series lies on top of the others.
    for (series, ink) in panel.series.iter().zip(COLOURS).rev() {
        let at = |(time, value): (i64, f64)| {
            let height = pixels(value / ceiling * f64::from(PANEL - 2));
            (x_of(span, time), floor - height - 2)
        };
        let (points, apart) = thinned(&series.points, span);
        for pair in points.windows(2) {
            // A gap stays a gap.
            if pair[1].0 - pair[0].0 <= apart * 2 {
                canvas.line(at(pair[0]), at(pair[1]), ink);
            }
        }
        if let [only] = points.as_slice() {
            canvas.line(at(*only), at(*only), ink);
        }
    }
}

/// No more points than can be told apart: neighbours become their average. With the time between two of them.
#[expect(clippy::cast_precision_loss, reason = "a handful of samples")]
fn thinned(points: &[(i64, f64)], span: &Span) -> (Vec<(i64, f64)>, i64) {
    let every = (span.to - span.from) / i64::from(PLOT / 4);
    let apart = every.max(span.step);
    let thin = points
        .chunk_by(|a, b| a.0 / apart == b.0 / apart)
        .map(|near| {
            let sum: f64 = near.iter().map(|(_, value)| value).sum();
            (near[0].0, sum / near.len() as f64)
        })
        .collect();
    (thin, apart)
}

/// The top of an axis: the limit where values come near it, else a round number above them.
fn ceiling(panel: &Panel<'_>, unit: Unit) -> f64 {
    let most = panel.series.iter().map(|series| series.max());
    let most = most.fold(0.0, f64::max);
    let limit = panel.series.iter().filter_map(|series| series.limit);
    let limit = limit.fold(0.0, f64::max);
    if limit > 0.0 && most > limit / 4.0 {
        return limit.max(most);
    }
    match unit {
        _ if most <= 0.0 => {
            if unit == Unit::Bytes {
                1024.0
            } else {
                1.0
            }
        }
        Unit::Share => round_up(most * 100.0, 10.0) / 100.0,
        Unit::Bytes | Unit::BytesPerSecond => round_up(most, 2.0),
        Unit::Percent | Unit::Number => round_up(most, 10.0),
    }
}

/// One, two or five times a power of ten, or a power of two.
fn round_up(value: f64, base: f64) -> f64 {
    let below = base.powf(value.log(base).floor());
    let steps: &[f64] = if base > 2.0 {
        &[1.0, 2.0, 5.0, 10.0]
    } else {
        &[1.0, 1.5, 2.0]
    };
    let fits = steps.iter().map(|step| step * below);
    fits.into_iter().find(|top| *top >= value).unwrap_or(value)
}

/// Where time labels stand: a round number of hours or days apart, at most seven.
fn times(span: &Span) -> Vec<(i32, String)> {
    const EVERY: [i64; 12] = [
        600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600, 2_592_000,
        7_776_000,
    ];
    let length = span.to - span.from;
    let every = EVERY.into_iter().find(|every| length / every <= 6);
    let every = every.unwrap_or(15_552_000);
    let first = (span.from + every - 1) / every * every;
    let moments = std::iter::successors(Some(first), |at| Some(at + every));
    moments
        .take_while(|at| *at <= span.to)
        .map(|at| (x_of(span, at), label(at, every)))
        .collect()
}

fn label(at: i64, every: i64) -> String {
    let Ok(moment) = jiff::Timestamp::from_second(at) else {
        return String::new();
    };
    let shape = match every {
        ..43_200 => "%H:%M",
        43_200..86_400 => "%d %H:%M",
        86_400..2_592_000 => "%m-%d",
        _ => "%Y-%m",
    };
    moment.strftime(shape).to_string()
}

#[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
fn x_of(span: &Span, time: i64) -> i32 {
    let length = (span.to - span.from).max(1) as f64;
    LEFT + pixels((time - span.from) as f64 / length * f64::from(PLOT - 2))
}

#[expect(clippy::cast_possible_truncation, reason = "a place in a picture")]
fn pixels(length: f64) -> i32 {
    length.round().clamp(-10_000.0, 10_000.0) as i32
}

fn usize_of(length: i32) -> usize {
    usize::try_from(length).unwrap_or_default()
}
