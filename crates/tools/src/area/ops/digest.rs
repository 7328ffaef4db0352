//! get_proxmox_digest

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checks::{self, Wanted};
use super::code::{Code, Severity};
use super::estate::{Estate, is_running};
use super::failures;
use super::report::{Report, some_of};
use crate::context::Context;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Reads};
use crate::words::{self, line};

/// Clusters shown on lines of their own.
const CLUSTERS: usize = 6;
/// The worst of each problem that are named.
const WORST: usize = 2;
/// Gaps named; the rest is counted.
const GAPS: usize = 4;

/// Sums up the whole estate, all clusters, in a few lines: what is down, nearly full, without a backup, or failing, with
/// counts and the worst few of each.
///
/// Use it first, to learn how things are or to report on them; then list_proxmox_findings with a code for all of one
/// kind, list_proxmox_resources for the inventory, get_proxmox_metrics for history. Failed tasks are those of the last
/// 24 hours. The answer stays small however many guests there are. Old snapshots are left to list_proxmox_findings.
/// Reads only; what the token may not see is named as unchecked. The full picture needs VM.Audit, Sys.Audit,
/// Sys.Modify, Datastore.Allocate.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetDigest {
    /// A backup counts as recent for so many days.
    #[serde(default = "week")]
    #[schemars(range(min = 1, max = 3650))]
    days: u32,
}

fn week() -> u32 {
    7
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Problem {
    /// nodes_offline, storages_down, tasks_failed or a finding's code.
    what: String,
    /// How bad.
    #[schemars(with = "String")]
    severity: Severity,
    /// How many.
    count: usize,
    /// Worst few.
    worst: Vec<String>,
}

/// How things are.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Digest {
    /// Nodes and guests of each cluster.
    clusters: Vec<String>,
    /// Worst first.
    problems: Vec<Problem>,
    /// Not looked at, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unchecked: Vec<String>,
}

impl Reads for GetDigest {
    const SPEC: Spec = Spec {
        name: "get_proxmox_digest",
        title: "Sum up the whole estate",
        toolset: Toolset::Ops,
        risk: Risk::Read,
        idempotent: true,
        special: Special::NONE,
        needs: Need::May(&[
            need::SEES_GUEST,
            need::node("Sys.Audit"),
            need::storage("Datastore.Audit"),
            Need::On("/", "Sys.Audit"),
        ]),
        examples: &[Example {
            ask: "How is everything?",
            args: "{}",
        }],
    };

    type Answer = Digest;

    async fn read(self, cx: &Context) -> Result<Digest, Fault> {
        let mut report = Report::default();
        let estates = Estate::all(cx, &mut report).await?;
        let several = cx.clusters.len() > 1;
        let mut failed = Problem::new("tasks_failed", Severity::Warning);
        let mut blind_to_tasks = Report::default();
        for estate in &estates {
            let wanted = Wanted {
                days: self.days,
                closely: false,
                code: &|code| code != Code::SnapshotOld,
                guest: &|_| true,
            };
            checks::run(estate, &wanted, &mut report).await;
            let (groups, gaps) = failures::lately(estate).await;
            for group in groups {
                failed.count += group.count;
                failed.name(&format!(
                    "{} {} on {}: {}",
                    group.count, group.task, group.node, group.latest
                ));
            }
            for gap in gaps {
                blind_to_tasks.missed(&[], gap);
            }
        }
        report.sort();
        let mut problems = vec![down_nodes(&estates), down_storages(&estates), failed];
        problems.extend(of_findings(&report, several));
        problems.retain(|problem| problem.count > 0);
        problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
        Ok(Digest {
            clusters: estates.iter().take(CLUSTERS).map(sizes).collect(),
            problems,
            unchecked: gaps(&report, &blind_to_tasks),
        })
    }
}

impl Problem {
    fn new(what: &str, severity: Severity) -> Self {
        Self {
            what: what.to_owned(),
            severity,
            count: 0,
            worst: Vec::new(),
        }
    }

    /// Names one more, as long as there is room.
    fn name(&mut self, which: &str) {
        if self.worst.len() < WORST {
            self.worst.push(words::clip(which, 72));
        }
    }
}

fn down_nodes(estates: &[Estate]) -> Problem {
    let mut problem = Problem::new("nodes_offline", Severity::Critical);
    for node in estates.iter().flat_map(Estate::offline) {
        problem.count += 1;
        problem.name(node.as_str());
    }
    problem
}

/// Storages that a node which answers cannot use.
fn down_storages(estates: &[Estate]) -> Problem {
    let mut problem = Problem::new("storages_down", Severity::Critical);
    let mut seen = std::collections::BTreeSet::new();
    for estate in estates {
        for row in &estate.storages {
            let (Some(storage), Some(node)) = (&row.storage, &row.node) else {
                continue;
            };
            let works = row.status.as_deref() == Some("available") || !estate.is_online(node);
            let place = if row.shared {
                storage.to_string()
            } else {
                format!("{storage} on {node}")
            };
            if !works && seen.insert((estate.cluster.name.clone(), place.clone())) {
                problem.count += 1;
                problem.name(&place);
            }
        }
    }
    problem
}

fn of_findings(report: &Report, several: bool) -> Vec<Problem> {
    let mut problems: Vec<(Code, Problem)> = Vec::new();
    for finding in &report.findings {
        let code = finding.code;
        let at = problems.iter().position(|(known, _)| *known == code);
        let at = at.unwrap_or_else(|| {
            problems.push((code, Problem::new(&code.word(), finding.severity)));
            problems.len() - 1
        });
        let problem = &mut problems[at].1;
        problem.count += 1;
        if problem.worst.len() < WORST {
            let cluster = if several {
                format!("{}: ", finding.cluster)
            } else {
                String::new()
            };
            problem.name(&format!(
                "{cluster}{}, {}",
                finding.subject.label(),
                finding.what
            ));
        }
    }
    problems.into_iter().map(|(_, problem)| problem).collect()
}

fn gaps(report: &Report, blind_to_tasks: &Report) -> Vec<String> {
    let mut gaps: Vec<String> = report
        .unchecked(|code| code != Code::SnapshotOld)
        .into_iter()
        .map(|gap| {
            let codes: Vec<_> = gap.codes.iter().map(|code| code.word()).collect();
            words::clip(&format!("{} ({})", some_of(&codes), gap.reason), 160)
        })
        .collect();
    let tasks = blind_to_tasks.reasons().into_iter();
    gaps.extend(tasks.map(|why| words::clip(&format!("tasks_failed ({why})"), 160)));
    if gaps.len() > GAPS {
        let rest = gaps.len() - GAPS;
        gaps.truncate(GAPS);
        gaps.push(format!("{rest} more; list_proxmox_findings names them"));
    }
    gaps
}

/// "lab: 3 of 3 nodes online, 15 of 23 guests running", templates not counted.
fn sizes(estate: &Estate) -> String {
    let guests = || estate.guests.values().filter(|guest| !guest.template);
    format!(
        "{}: {} of {} nodes online, {} of {} guests running",
        words::clip(&estate.cluster.name, 40),
        estate.online().count(),
        estate.nodes.len(),
        guests().filter(|guest| is_running(guest)).count(),
        guests().count()
    )
}

impl Answer for Digest {
    fn text(&self) -> String {
        let mut out = String::new();
        for cluster in &self.clusters {
            line!(out, "{cluster}");
        }
        for problem in &self.problems {
            line!(
                out,
                "{} {} {}: {}",
                words::word(&problem.severity),
                problem.count,
                problem.what,
                problem.worst.join("; ")
            );
        }
        if self.problems.is_empty() {
            out.push_str("nothing is wrong that could be checked\n");
        } else {
            out.push_str("more: list_proxmox_findings {\"code\": …}\n");
        }
        for gap in &self.unchecked {
            line!(out, "not checked: {gap}");
        }
        out
    }
}
