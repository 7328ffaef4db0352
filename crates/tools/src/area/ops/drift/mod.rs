//! get_proxmox_drift

mod compare;

use std::fmt::Write as _;

use pve::{GuestRef, Resource, Vmid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask;
use super::estate::Estate;
use super::report::{Gap, Report};
use crate::baseline::{self, Baseline, Kept, Setup};
use crate::context::{Context, label};
use crate::fault::Fault;
use crate::filter::Filter;
use crate::need;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Reads};
use crate::words::{self, line};

/// How many configurations are read.
const CLOSELY: usize = 200;
/// Rows shown if the caller does not say.
const ROWS: usize = 30;

/// Compares the guests of all clusters with a baseline that a person saved: which are new, missing, changed (setting, old
/// and new value) or replaced (same vmid, another guest).
///
/// Use it to find what happened behind one's back; for what is wrong whatever it was before use list_proxmox_findings,
/// for one guest get_proxmox_vm_status. A person saves the baseline with `oxmox baseline save`; without one the answer
/// says so. Names and places are compared for all guests, settings for 200: narrow it with filter for others. Secrets
/// are neither kept nor shown. Reads only. Needs VM.Audit on /vms.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetDrift {
    /// The baseline's name.
    #[serde(default = "usual")]
    baseline: String,
    /// Only these guests; as in list_proxmox_resources.
    filter: Option<String>,
    /// Rows at most.
    #[serde(default = "rows")]
    #[schemars(range(min = 1, max = 500))]
    limit: usize,
}

fn usual() -> String {
    baseline::DEFAULT.to_owned()
}

fn rows() -> usize {
    ROWS
}

/// What became of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum State {
    Replaced,
    Missing,
    New,
    Changed,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Row {
    /// The guest.
    vmid: Vmid,
    /// Kind, number and name.
    guest: String,
    /// Its cluster, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    /// What became of it.
    state: State,
    /// What differs.
    what: String,
}

/// What differs from the baseline.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Drift {
    /// When the baseline was taken; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<String>,
    /// Guests that differ.
    guests: Vec<Row>,
    /// How many differ in all.
    total: usize,
    /// What was not compared, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unchecked: Vec<String>,
}

impl Reads for GetDrift {
    const SPEC: Spec = Spec {
        name: "get_proxmox_drift",
        title: "Show what changed since the baseline",
        toolset: Toolset::Ops,
        risk: Risk::Read,
        idempotent: true,
        special: Special::NONE,
        needs: need::SEES_GUEST,
        examples: &[
            Example {
                ask: "What changed since the baseline?",
                args: "{}",
            },
            Example {
                ask: "Was anything changed on production guests?",
                args: r#"{"filter": "tag:prod"}"#,
            },
        ],
    };

    type Answer = Drift;

    async fn read(self, cx: &Context) -> Result<Drift, Fault> {
        let filter = Filter::parse(self.filter.as_deref().unwrap_or_default())?;
        let kept = match &cx.baselines {
            Some(baselines) => baselines.baseline(&self.baseline).await?,
            None => None,
        };
        let Some(kept) = kept else {
            let name = words::clip(&self.baseline, 40);
            return Ok(Drift {
                unchecked: vec![format!(
                    "there is no baseline \"{name}\": a person has to run `oxmox baseline save` first (with a token that has VM.Audit on /vms)"
                )],
                ..Drift::default()
            });
        };
        let mut report = Report::default();
        let mut rows = Vec::new();
        for estate in Estate::all(cx, &mut report).await? {
            rows.extend(compare(&estate, &kept, &filter, &mut report).await);
        }
        rows.sort_by(|a, b| (a.state, &a.cluster, a.vmid).cmp(&(b.state, &b.cluster, b.vmid)));
        if cx.clusters.len() < 2 {
            for row in &mut rows {
                row.cluster = None;
            }
        }
        let total = rows.len();
        rows.truncate(self.limit);
        Ok(Drift {
            taken: Some(words::time(kept.taken)),
            guests: rows,
            total,
            unchecked: report.reasons(),
        })
    }
}

async fn compare(
    estate: &Estate,
    kept: &Baseline,
    filter: &Filter,
    report: &mut Report,
) -> Vec<Row> {
    let name = &estate.cluster.name;
    let Some(before) = kept.clusters.get(name) else {
        let gap = Gap::because("the baseline does not have the cluster", name);
        report.missed(&[], gap);
        return Vec::new();
    };
    let mut rows = missing(estate, before.values(), filter, report);
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for guest in estate
        .guests
        .values()
        .filter(|guest| filter.matches(guest.as_ref()))
    {
        let Some(now) = pve::Guest::from_resource(guest) else {
            continue;
        };
        let name = now.name.unwrap_or_default();
        match before.get(&now.at.vmid) {
            None => rows.push(row(estate, &now.at, &name, State::New, String::new())),
            Some(kept) if kept.at.kind != now.at.kind => {
                let what = format!("was a {}, is a {}", kept.at.kind.noun(), now.at.kind.noun());
                rows.push(row(estate, &now.at, &name, State::Replaced, what));
            }
            Some(kept) => {
                let changes = compare::place(kept, now.at.node.as_str(), &name);
                let queue = if changes.is_empty() {
                    &mut rest
                } else {
                    &mut first
                };
                queue.push((now.at, name, changes));
            }
        }
    }
    // Those that differ already are looked at first.
    first.append(&mut rest);
    rows.extend(look_closer(estate, before, first, report).await);
    rows
}

type Before = std::collections::BTreeMap<Vmid, Kept>;

/// Guests of the baseline that are gone. One that the token may not see is not called gone.
fn missing<'a>(
    estate: &Estate,
    before: impl Iterator<Item = &'a Kept>,
    filter: &Filter,
    report: &mut Report,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for kept in before.filter(|kept| !estate.guests.contains_key(&kept.at.vmid)) {
        if !estate.held.has(&kept.at.acl_path(), "VM.Audit") {
            report.missed(&[], Gap::lacks("VM.Audit", "/vms"));
            continue;
        }
        if filter.is_empty() || as_it_was(kept).is_some_and(|row| filter.matches(&row)) {
            let what = format!("was on {}", kept.at.node);
            rows.push(row(estate, &kept.at, &kept.name, State::Missing, what));
        }
    }
    rows
}

/// A guest of the baseline as a filter sees it.
fn as_it_was(kept: &Kept) -> Option<Resource> {
    let tags = kept
        .setup
        .as_ref()
        .and_then(|setup| setup.settings.get("tags"));
    let row = serde_json::json!({
        "type": kept.at.kind, "vmid": kept.at.vmid, "node": kept.at.node, "name": kept.name, "tags": tags,
    });
    serde_json::from_value(row).ok()
}

/// Compares settings, as far as that is affordable.
async fn look_closer(
    estate: &Estate,
    before: &Before,
    guests: Vec<(GuestRef, String, Vec<String>)>,
    report: &mut Report,
) -> Vec<Row> {
    let total = guests.len();
    if total > CLOSELY {
        let place = format!("{CLOSELY} of {total} guests; narrow it with filter");
        report.missed(&[], Gap::because("settings were compared for", &place));
    }
    let closely: Vec<_> = guests
        .iter()
        .take(CLOSELY)
        .map(|(at, ..)| (at.clone(), estate.is_online(&at.node)))
        .collect();
    let configs = ask::each(closely, |(at, online)| {
        let cluster = estate.cluster.clone();
        async move {
            if online {
                Some(cluster.pve.guest_config(&at).await)
            } else {
                None
            }
        }
    })
    .await;
    let mut configs = configs.into_iter();
    let mut rows = Vec::new();
    for (at, name, mut changes) in guests {
        let old = before.get(&at.vmid).and_then(|kept| kept.setup.as_ref());
        let now = match configs.next() {
            Some(Some(Ok(config))) => Some(Setup::of(&at, &config)),
            Some(Some(Err(error))) => {
                report.missed(&[], Gap::of(&error, &at.to_string()));
                None
            }
            Some(None) => {
                report.missed(&[], Gap::offline(&at.node));
                None
            }
            None => None,
        };
        match (old, now) {
            (Some(old), Some(now)) => {
                if let Some(why) = compare::replaced(&old.identity, &now.identity) {
                    rows.push(row(
                        estate,
                        &at,
                        &name,
                        State::Replaced,
                        words::clip(&why, 200),
                    ));
                    continue;
                }
                // The name is told already where the resource list shows it.
                let renamed = changes.iter().any(|change| change.starts_with("name "));
                let settings = compare::settings(old, &now).into_iter();
                changes.extend(settings.filter(|change| {
                    !(renamed && (change.starts_with("name ") || change.starts_with("hostname ")))
                }));
            }
            (None, Some(_)) => {
                let gap = Gap::because("the baseline knows no settings of", &at.vmid.to_string());
                report.missed(&[], gap);
            }
            _ => {}
        }
        if !changes.is_empty() {
            rows.push(row(
                estate,
                &at,
                &name,
                State::Changed,
                compare::line(&changes),
            ));
        }
    }
    rows
}

fn row(estate: &Estate, at: &GuestRef, name: &str, state: State, what: String) -> Row {
    let what = match state {
        State::New => format!("on {}", at.node),
        _ => what,
    };
    Row {
        vmid: at.vmid,
        guest: words::clip(&label(at, name), 60),
        cluster: Some(estate.cluster.name.clone()),
        state,
        what,
    }
}

impl Answer for Drift {
    fn text(&self) -> String {
        let mut out = String::new();
        if let Some(taken) = &self.taken {
            let _ = match self.total {
                0 => writeln!(out, "nothing differs from the baseline of {taken}"),
                total => writeln!(
                    out,
                    "{} from the baseline of {taken}",
                    if total == 1 {
                        "1 guest differs".to_owned()
                    } else {
                        format!("{total} guests differ")
                    }
                ),
            };
        }
        let rows: Vec<_> = self
            .guests
            .iter()
            .map(|row| {
                let cluster = row.cluster.as_ref().map(|name| format!("{name}: "));
                let guest = format!("{}{}", cluster.unwrap_or_default(), row.guest);
                [words::word(&row.state), guest, row.what.clone()]
            })
            .collect();
        if !rows.is_empty() {
            out.push_str(&words::table(["state", "guest", "what"], &rows));
        }
        if rows.len() < self.total {
            line!(
                out,
                "{} of {} shown; more with limit",
                rows.len(),
                self.total
            );
        }
        for gap in &self.unchecked {
            line!(out, "not compared: {gap}");
        }
        out
    }
}
