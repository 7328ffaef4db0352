//! list_proxmox_findings

use std::fmt::Write as _;

use pve::{NodeName, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checks::{self, Wanted};
use super::code::{Code, Severity};
use super::estate::Estate;
use super::report::{Finding, Report};
use crate::context::Context;
use crate::fault::Fault;
use crate::filter::Filter;
use crate::need::{self, Need};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Reads};
use crate::words::{self, line};

/// Shown of each code where none is asked for, so that the answer stays small whatever the estate.
const PER_CODE: usize = 2;
/// Shown of the one code that is asked for.
const PAGE: usize = 20;

/// Lists what is wrong or risky in all clusters, as findings with stable codes, from missing backups to orphaned disks.
///
/// Use it to audit, or for all of one code; for an overview get_proxmox_digest, for changes get_proxmox_drift. Without
/// code it counts all and shows the worst. What could not be checked (missing privilege, offline node) is said, never
/// taken as fine; snapshots and unused disks of 200 guests at most. Needs VM.Audit, Sys.Audit, Sys.Modify,
/// Datastore.Allocate for all.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListFindings {
    /// Only this code, paged.
    code: Option<Code>,
    /// This bad or worse.
    severity: Option<Severity>,
    /// Only on this node.
    node: Option<NodeName>,
    /// Only these guests; as in list_proxmox_resources.
    filter: Option<String>,
    /// A backup is recent for so many days.
    #[serde(default = "week")]
    #[schemars(range(min = 1, max = 3650))]
    days: u32,
    /// Shown per code.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// With code: the last next_cursor.
    cursor: Option<String>,
}

fn week() -> u32 {
    7
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Row {
    /// How bad.
    #[schemars(with = "String")]
    severity: Severity,
    /// Which one.
    object: String,
    /// Its node.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    /// Its cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    /// The matter.
    what: String,
    /// Next call.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Group {
    /// Its code.
    #[schemars(with = "String")]
    code: Code,
    /// How many.
    count: usize,
    /// Why care.
    why: &'static str,
    /// Worst first.
    findings: Vec<Row>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Findings {
    /// By code.
    codes: Vec<Group>,
    /// Codes not checked everywhere, and why: "update_pending: offline: pve2". Empty if every check ran.
    unchecked: Vec<String>,
    /// For more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Reads for ListFindings {
    const SPEC: Spec = Spec {
        name: "list_proxmox_findings",
        title: "List what is wrong or risky",
        toolset: Toolset::Ops,
        risk: Risk::Read,
        idempotent: true,
        special: Special::NONE,
        needs: Need::May(&[
            need::SEES_GUEST,
            need::node("Sys.Audit"),
            need::storage("Datastore.Audit"),
            Need::On("/", "Sys.Audit"),
            Need::At(Risk::Grant, &need::node("Sys.Modify")),
        ]),
        examples: &[
            Example {
                ask: "What needs attention?",
                args: "{}",
            },
            Example {
                ask: "Which guests have no backup of the last three days?",
                args: r#"{"code": "guest_without_recent_backup", "days": 3}"#,
            },
            Example {
                ask: "What is risky on pve3?",
                args: r#"{"node": "pve3", "severity": "warning"}"#,
            },
        ],
    };

    type Answer = Findings;

    async fn read(self, cx: &Context) -> Result<Findings, Fault> {
        let filter = Filter::parse(self.filter.as_deref().unwrap_or_default())?;
        let skip = self.offset()?;
        let mut report = Report::default();
        let estates = Estate::all(cx, &mut report).await?;
        if let Some(node) = &self.node {
            require_node(&estates, node)?;
        }
        let several = cx.clusters.len() > 1;
        for estate in &estates {
            report.cluster = several.then(|| estate.name.clone());
            let wanted = Wanted {
                days: self.days,
                closely: true,
                code: &|code| self.wants(code),
                guest: &|guest| self.takes_guest(&filter, guest),
            };
            checks::run(estate, &wanted, &mut report).await;
            report.findings.retain(|finding| {
                let elsewhere = *finding.cluster != *estate.cluster.name;
                elsewhere || (self.takes(finding) && about(&filter, finding, estate))
            });
        }
        report.sort();
        Ok(self.page(&report, skip, several))
    }
}

impl ListFindings {
    fn offset(&self) -> Result<usize, Fault> {
        match (&self.cursor, self.code) {
            (None, _) => Ok(0),
            (Some(cursor), Some(_)) => cursor.parse().map_err(|_| {
                let cursor = words::clip(cursor, 40);
                Fault::bad_input(format!("cursor \"{cursor}\" is none that this tool gave"))
                    .hint("send the next_cursor of the answer before, or leave it out")
            }),
            (Some(_), None) => Err(Fault::bad_input("cursor goes with code")
                .hint("send the code whose findings to page through, or leave cursor out")),
        }
    }

    /// Whether a code can give anything that was asked for.
    fn wants(&self, code: Code) -> bool {
        // A check may raise a warning, so that only notices are ruled out beforehand.
        let bad_enough = self
            .severity
            .is_none_or(|least| least == Severity::Notice || code.severity() > Severity::Notice);
        self.code.is_none_or(|only| only == code) && bad_enough
    }

    fn takes(&self, finding: &Finding) -> bool {
        let here = |node: &NodeName| finding.subject.node() == Some(node);
        self.wants(finding.code)
            && self.severity.is_none_or(|least| finding.severity >= least)
            && self.node.as_ref().is_none_or(here)
    }

    fn takes_guest(&self, filter: &Filter, guest: &Resource) -> bool {
        let here = |node: &NodeName| guest.node.as_ref() == Some(node);
        self.node.as_ref().is_none_or(here) && filter.matches(guest)
    }

    fn page(&self, report: &Report, skip: usize, several: bool) -> Findings {
        let usual = if self.code.is_some() { PAGE } else { PER_CODE };
        let limit = self.limit.unwrap_or(usual);
        let codes: Vec<_> = Code::ALL
            .into_iter()
            .filter_map(|code| Group::new(code, report, several, skip, limit))
            .collect();
        let shown: usize = codes.iter().map(|group| group.findings.len()).sum();
        let more = self.code.is_some() && skip + shown < report.findings.len();
        let unchecked = report.unchecked(|code| self.wants(code));
        Findings {
            codes,
            unchecked: unchecked.iter().map(ToString::to_string).collect(),
            next_cursor: more.then(|| (skip + shown).to_string()),
        }
    }
}

impl Group {
    /// Those of one code; they are sorted, so that the first are the worst.
    fn new(code: Code, report: &Report, several: bool, skip: usize, limit: usize) -> Option<Self> {
        let of_code = || report.findings.iter().filter(|found| found.code == code);
        let count = of_code().count();
        let shown = of_code().skip(skip).take(limit);
        (count > 0).then(|| Self {
            code,
            count,
            why: code.why(),
            findings: shown.map(|found| Row::new(found, several)).collect(),
        })
    }
}

/// A filter speaks of guests: what is about none does not match it.
fn about(filter: &Filter, finding: &Finding, estate: &Estate) -> bool {
    let guest = || estate.guests.get(&finding.subject.vmid()?);
    filter.is_empty() || guest().is_some_and(|guest| filter.matches(guest.as_ref()))
}

fn require_node(estates: &[Estate], node: &NodeName) -> Result<(), Fault> {
    let names: Vec<_> = estates
        .iter()
        .flat_map(|estate| &estate.nodes)
        .filter_map(|row| row.node.clone())
        .collect();
    if names.contains(node) {
        return Ok(());
    }
    let names: Vec<_> = names.iter().map(ToString::to_string).collect();
    let fault = Fault::new(
        crate::fault::Kind::NotFound,
        format!("there is no node {node}"),
    );
    Err(fault.hint(format!("the nodes are {}", words::list(&names))))
}

impl Row {
    fn new(finding: &Finding, several: bool) -> Self {
        Self {
            severity: finding.severity,
            object: finding.subject.label(),
            node: finding.subject.node().map(ToString::to_string),
            cluster: several.then(|| finding.cluster.to_string()),
            what: finding.what.to_string(),
            next: finding.next(several),
        }
    }
}

impl Answer for Findings {
    fn text(&self) -> String {
        let mut out = String::new();
        let mut hidden = 0;
        for group in &self.codes {
            line!(out, "{} {}: {}", group.count, group.code.word(), group.why);
            for row in &group.findings {
                let cluster = row.cluster.as_ref().map(|name| format!("{name}: "));
                let cluster = cluster.unwrap_or_default();
                let severity = words::word(&row.severity);
                line!(out, "  {severity}: {cluster}{}, {}", row.object, row.what);
            }
            if let Some(next) = group.findings.first().and_then(|row| row.next.as_ref()) {
                line!(out, "  next: {next}");
            }
            hidden += group.count - group.findings.len();
        }
        if self.codes.is_empty() {
            out.push_str(if self.unchecked.is_empty() {
                "no findings; every requested check ran\n"
            } else {
                "no findings in the checks that ran\n"
            });
        }
        match &self.next_cursor {
            Some(cursor) => drop(writeln!(out, "more with cursor: \"{cursor}\"")),
            None if hidden > 0 && self.codes.len() > 1 => {
                out.push_str("the rest of a code: send code\n");
            }
            None => {}
        }
        for gap in &self.unchecked {
            line!(out, "not checked: {gap}");
        }
        out
    }
}
