//! get_proxmox_metrics

mod canvas;
mod chart;
mod figures;
mod font;
mod series;
mod source;

use std::fmt::Write as _;

use pve::{NodeName, Request, Vmid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Image, Reads};
use crate::words;
use chart::{Panel, Span};
use figures::Figure;
use series::{Sample, Series, Unit};
use source::Source;

/// Panels that a chart has at most.
const PANELS: usize = 4;

/// Shows how a guest, a node or a storage did over the last hour, day, week, month or year: least, average, most, last and
/// trend of every figure that PVE recorded, with a chart.
///
/// Use it for capacity, leaks and "since when"; for the present state use get_proxmox_vm_status or
/// get_proxmox_node_status, for what is full right now list_proxmox_findings. Send vmid, or node, or storage (with node
/// where it is not shared). Times without figures (off, or not recorded) are counted as gaps, not as zero. Times are
/// UTC. Reads only. Needs VM.Audit, Sys.Audit or Datastore.Audit on what is shown.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct GetMetrics {
    /// The guest.
    vmid: Option<Vmid>,
    /// The node, or where the storage is.
    node: Option<NodeName>,
    /// The storage.
    storage: Option<String>,
    /// How far back.
    #[serde(default)]
    timeframe: Timeframe,
    /// max keeps short peaks that average hides.
    #[serde(default)]
    function: Function,
    /// false: numbers only.
    #[serde(default = "yes")]
    chart: bool,
    /// Every sample too.
    #[serde(default)]
    points: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Timeframe {
    Hour,
    #[default]
    Day,
    Week,
    Month,
    Year,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Function {
    #[default]
    Average,
    Max,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Row {
    /// PVE's name of the figure.
    name: &'static str,
    /// share, percent, bytes, bytes_per_second or number.
    unit: &'static str,
    /// The least.
    min: f64,
    /// On average.
    average: f64,
    /// The most.
    max: f64,
    /// The latest.
    last: f64,
    /// Where it goes.
    trend: String,
    /// Unix time and value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    points: Vec<(i64, f64)>,
}

/// A history.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::area) struct History {
    /// What it is about.
    object: String,
    /// The first moment; absent where nothing is recorded yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// The last moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// Seconds between samples.
    step: i64,
    /// Samples in all.
    samples: usize,
    /// Samples without figures.
    gaps: usize,
    /// The figures.
    series: Vec<Row>,
    #[serde(skip)]
    #[schemars(skip)]
    shown: Vec<[String; 6]>,
    #[serde(skip)]
    #[schemars(skip)]
    chart: Option<Vec<u8>>,
}

impl Reads for GetMetrics {
    const SPEC: Spec = Spec {
        name: "get_proxmox_metrics",
        title: "Show the history of a guest, node or storage",
        toolset: Toolset::Ops,
        risk: Risk::Read,
        idempotent: true,
        special: Special::NONE,
        needs: Need::AtLeastOne(&[
            need::SEES_GUEST,
            need::node("Sys.Audit"),
            need::storage("Datastore.Audit"),
        ]),
        examples: &[
            Example {
                ask: "How busy was VM 100 today?",
                args: r#"{"vmid": 100}"#,
            },
            Example {
                ask: "Memory and load of pve1 over the last month, peaks included",
                args: r#"{"node": "pve1", "timeframe": "month", "function": "max"}"#,
            },
            Example {
                ask: "When will nas be full?",
                args: r#"{"storage": "nas", "timeframe": "year", "chart": false}"#,
            },
        ],
    };

    type Answer = History;

    async fn read(self, cx: &Context) -> Result<History, Fault> {
        let source =
            Source::find(cx, self.vmid, self.storage.as_deref(), self.node.as_ref()).await?;
        let request = Request::get(&source.path)
            .with("timeframe", words::word(&self.timeframe))
            .with("cf", words::word(&self.function).to_uppercase());
        let samples: Vec<Sample> = source.cluster.pve.list(request).await?;
        Ok(self.history(&source, &samples))
    }
}

impl GetMetrics {
    fn history(&self, source: &Source, samples: &[Sample]) -> History {
        let times: Vec<i64> = samples
            .iter()
            .filter_map(|sample| i64::try_from(sample.time?).ok())
            .collect();
        let (Some(from), Some(to)) = (times.first().copied(), times.last().copied()) else {
            return History {
                object: source.object.clone(),
                ..History::default()
            };
        };
        let step = times.windows(2).map(|pair| pair[1] - pair[0]).min();
        let step = step.unwrap_or(1).max(1);
        let span = Span { from, to, step };
        let groups: Vec<(&'static str, Vec<Series>)> = source
            .figures
            .iter()
            .map(|(title, figures)| (*title, all_of(samples, figures)))
            .filter(|(_, series)| !series.is_empty())
            .collect();
        let series = || groups.iter().flat_map(|(_, series)| series);
        // What a guest may use is recorded while it is off; what it uses is not.
        let (main, ..) = source.figures[0].1[0];
        let measured = series().find(|series| series.name == main);
        let title = format!("{}, {}", source.object, words::word(&self.timeframe));
        History {
            object: source.object.clone(),
            from: Some(words::time(from)),
            to: Some(words::time(to)),
            step,
            samples: times.len(),
            gaps: times.len() - measured.map_or(0, |series| series.points.len()),
            series: series()
                .map(|series| Row::new(series, self.points))
                .collect(),
            shown: series().map(cells).collect(),
            chart: (self.chart && !groups.is_empty())
                .then(|| chart::draw(&printable(&title), &span, &panels(&groups))),
        }
    }
}

fn all_of(samples: &[Sample], figures: &'static [Figure]) -> Vec<Series> {
    figures
        .iter()
        .filter_map(|(name, unit, limit)| Series::of(samples, name, *unit, *limit))
        // PVE cannot look into a VM's disk, and says 0.
        .filter(|series| series.name != "disk" || series.max() > 0.0)
        .collect()
}

/// The first few panels in which anything happened.
fn panels<'a>(groups: &'a [(&'static str, Vec<Series>)]) -> Vec<Panel<'a>> {
    let busy = |series: &&Series| series.max() > 0.0;
    let mut panels: Vec<_> = groups
        .iter()
        .map(|(title, series)| Panel {
            title,
            series: series.iter().filter(busy).collect(),
        })
        .filter(|panel| !panel.series.is_empty())
        .take(PANELS)
        .collect();
    if let (true, Some((title, series))) = (panels.is_empty(), groups.first()) {
        panels.push(Panel {
            title,
            series: series.iter().collect(),
        });
    }
    panels
}

/// The title of a picture in the letters that there are.
fn printable(title: &str) -> String {
    let known = |c: char| c.is_ascii_alphanumeric() || " .,:-+/%()_".contains(c);
    let title = title.chars().map(|c| if known(c) { c } else { '?' });
    title.take(66).collect()
}

impl Row {
    fn new(series: &Series, points: bool) -> Self {
        let rounded = |value: f64| (value * 10_000.0).round() / 10_000.0;
        let samples = series.points.iter();
        let samples = samples.map(|&(at, value)| (at, rounded(value))).collect();
        Self {
            name: series.name,
            unit: match series.unit {
                Unit::Share => "share",
                Unit::Percent => "percent",
                Unit::Bytes => "bytes",
                Unit::BytesPerSecond => "bytes_per_second",
                Unit::Number => "number",
            },
            min: rounded(series.min()),
            average: rounded(series.average()),
            max: rounded(series.max()),
            last: rounded(series.last()),
            trend: series.trend(),
            points: if points { samples } else { Vec::new() },
        }
    }
}

fn cells(series: &Series) -> [String; 6] {
    let show = |value: f64| series.unit.show(value);
    [
        series.name.to_owned(),
        show(series.min()),
        show(series.average()),
        show(series.max()),
        show(series.last()),
        series.trend(),
    ]
}

impl Answer for History {
    fn text(&self) -> String {
        let (Some(from), Some(to)) = (&self.from, &self.to) else {
            return format!("PVE has recorded nothing of {} yet\n", self.object);
        };
        let mut out = format!(
            "{}, {from} to {to}: {} samples, one per {}",
            self.object,
            self.samples,
            words::duration(self.step.unsigned_abs())
        );
        match self.gaps {
            0 => out.push('\n'),
            gaps => drop(writeln!(
                out,
                "; {gaps} without figures (off, or not recorded)"
            )),
        }
        if self.shown.is_empty() {
            out.push_str("nothing was measured in that time\n");
            return out;
        }
        out.push_str(&words::table(
            ["figure", "min", "average", "max", "last", "trend"],
            &self.shown,
        ));
        out
    }

    fn images(&self) -> Vec<Image> {
        let chart = self.chart.iter().cloned();
        chart.map(|png| Image { png }).collect()
    }
}
