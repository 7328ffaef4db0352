//! The judgement on one action. Pure: an action and facts in, judgements out.

use pve::{Request, Value, Vmid};
use serde::{Deserialize, Serialize};

use super::facts::{Fact, Facts};
use super::path::ApiPath;
use super::property::{Part, flag, list, parts};
use super::row::{Finding, Level, Params, Properties, Row, Rule, found};
use super::setting::{Old, Setting};
use super::table;
use crate::plan::Action;
use crate::spec::Risk;

/// One reason for the risk of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// How much it can cost.
    pub risk: Risk,
    /// Why, for the person who approves: "scsi0: discards what is written to the disk at every stop".
    pub because: String,
    /// The facts that keep it from being worse.
    #[serde(skip)]
    pub(crate) relies_on: Vec<Fact>,
    /// Whether it is power over the node, and not over a guest alone.
    #[serde(skip)]
    pub(crate) over_node: bool,
}

impl Judgement {
    /// A reason that relies on no fact.
    pub(crate) fn new(risk: Risk, because: impl Into<String>) -> Self {
        Self {
            risk,
            because: because.into(),
            relies_on: Vec::new(),
            over_node: false,
        }
    }
}

/// Parameters whose values have several lines by nature.
const MULTILINE: &[&str] = &["comments", "comments6", "description", "notes"];

/// Why an action costs what it costs. Never empty.
pub(crate) fn judge(action: &Action, facts: &Facts) -> Vec<Judgement> {
    match action {
        Action::Request(request) => judge_request(request, facts),
        Action::Upload(upload) => judge_request(&upload.request, facts),
        Action::Download(download) => judge_request(&download.request, facts),
        Action::Keys(_) => grant("presses keys on the console of the VM"),
        Action::AgentExec(_) | Action::TerminalExec(_) => grant("runs a command in the guest"),
        Action::AgentFile(_) => grant("reads a file of the guest"),
        Action::TerminalLine(_) => grant("types on the terminal of the guest"),
    }
}

fn grant(because: &str) -> Vec<Judgement> {
    vec![Judgement::new(Risk::Grant, because)]
}

/// The same for one request.
pub(crate) fn judge_request(request: &Request, facts: &Facts) -> Vec<Judgement> {
    let Some((row, path)) = table::find(request.method, &request.path) else {
        return grant("the risk table of oxmox does not know this method");
    };
    let subject = Judged {
        row,
        guest: guest(&path, request),
        path,
        facts,
    };
    subject.judge(request)
}

/// The worst that a request can do, as far as it tells by itself.
pub(crate) fn worst_risk(request: &Request) -> Risk {
    let judged = judge_request(request, &Facts::default()).into_iter();
    judged.map(|it| it.risk).max().unwrap_or(Risk::Grant)
}

/// The worst that a method can do with these parameters, each with the only values that it takes or with any.
#[cfg(test)]
pub(crate) fn worst_of_method(verb: pve::Method, path: &str, params: &[(&str, Vec<&str>)]) -> Risk {
    let Some((row, _)) = table::find(verb, path) else {
        return Risk::Grant;
    };
    let of_param = |(name, values): &(&str, Vec<&str>)| -> Risk {
        let name = name.replace("[n]", "0");
        let Some(rule) = row.rule(&name) else {
            return Risk::Grant;
        };
        let risk = |found: Option<Finding>| found.map_or(Risk::Read, |finding| finding.risk);
        match (&rule.level, values.as_slice()) {
            (Level::By(_), []) | (Level::Setting(_), _) => Risk::Grant,
            (level @ (Level::By(_) | Level::On(..) | Level::Off(..)), values @ [_, ..]) => {
                let each = values.iter().map(|value| risk(of_value(level, value)));
                each.max().unwrap_or(Risk::Read)
            }
            // Any setting that the method has.
            (Level::Unsets, _) => {
                let rules = row.rules.iter().flat_map(|rules| rules.iter());
                let each = rules.map(|rule| risk(worst_of(&rule.level)));
                each.max().unwrap_or(Risk::Read)
            }
            (level, _) => risk(worst_of(level)),
        }
    };
    let worst = params.iter().map(of_param).max().unwrap_or(Risk::Read);
    let any = params
        .iter()
        .map(|(name, _)| ((*name).to_owned(), "x".to_owned()));
    let any: Vec<_> = any.collect();
    let together = row.whole.and_then(|whole| whole(&Params(&any)));
    let together = together.map_or(Risk::Read, |finding| finding.risk);
    row.base.max(worst).max(together)
}

/// The node that a request gives power over by what it makes of a guest there: rules about the guest alone do not allow
/// that.
pub(crate) fn node_power(request: &Request) -> Option<String> {
    let (_, path) = table::find(request.method, &request.path)?;
    let node = path.value("node")?.to_owned();
    let mut judged = judge_request(request, &Facts::default()).into_iter();
    judged.any(|it| it.over_node).then_some(node)
}

/// What a method does whatever goes along.
pub(crate) fn least_risk(verb: pve::Method, path: &str) -> Risk {
    table::find(verb, path).map_or(Risk::Grant, |(row, _)| row.base)
}

/// What a GET does: what its row says, and without a row it reads.
pub(crate) fn read_risk(path: &str) -> Risk {
    table::find(pve::Method::Get, path).map_or(Risk::Read, |(row, _)| row.base)
}

/// The guest that a request is sent to, or that it creates.
fn guest(path: &ApiPath, request: &Request) -> Option<Vmid> {
    let in_path = path.value("vmid").map(str::to_owned);
    let is_new = matches!(path.template, "/nodes/{node}/qemu" | "/nodes/{node}/lxc");
    let named = || {
        request
            .param("vmid")
            .filter(|_| is_new)
            .map(Value::to_string)
    };
    in_path.or_else(named)?.parse().ok()
}

/// A request on its row of the table.
struct Judged<'a> {
    row: &'static Row,
    path: ApiPath,
    guest: Option<Vmid>,
    facts: &'a Facts,
}

impl Judged<'_> {
    fn judge(&self, request: &Request) -> Vec<Judgement> {
        let mut all = vec![self.base()];
        let mut seen = Vec::new();
        for (name, value) in &request.params {
            match value {
                Value::Hole(_) | Value::Filled(_) => all.extend(self.hidden(name)),
                shown => {
                    let text = shown.to_string();
                    all.extend(self.parameter(name, &text));
                    seen.push((name.clone(), text));
                }
            }
        }
        let hidden = request
            .params
            .iter()
            .filter(|(_, value)| matches!(value, Value::Hole(_) | Value::Filled(_)));
        seen.extend(hidden.map(|(name, _)| (name.clone(), String::new())));
        let together = self.row.whole.and_then(|whole| whole(&Params(&seen)));
        all.extend(together.map(|it| Judgement {
            over_node: it.over_node,
            ..Judgement::new(it.risk, it.why)
        }));
        for judgement in &mut all {
            self.lower_disruption(judgement, request);
        }
        all
    }

    /// What the method does whatever goes along.
    fn base(&self) -> Judgement {
        let base = Judgement::new(self.row.base, self.row.why);
        let is_of_guest = self.path.value("vmid").is_some();
        match self
            .guest
            .filter(|_| is_of_guest && self.row.base != Risk::Grant)
        {
            Some(guest) if self.facts.created.contains(&guest) && base.risk > Risk::Change => {
                Judgement {
                    risk: Risk::Change,
                    relies_on: vec![Fact::CreatedByThisPlan(guest)],
                    ..base
                }
            }
            _ => base,
        }
    }

    /// A parameter whose value is a secret: at its worst, unless all values do the same.
    fn hidden(&self, name: &str) -> Option<Judgement> {
        let judged = match self.row.rule(name).map(|rule| &rule.level) {
            Some(Level::Is(risk, why)) => found(*risk, why),
            Some(Level::Credential(why)) => return self.credential(name, why),
            Some(_) | None => found(Risk::Grant, "is a value that nobody can judge"),
        };
        named(name, judged)
    }

    fn parameter(&self, name: &str, text: &str) -> Vec<Judgement> {
        let Some(rule) = self.row.rule(name) else {
            return vec![unknown(name)];
        };
        // PVE writes some values to its files as they are, where a new line begins another setting.
        let has_lines = text.contains('\n') && !MULTILINE.contains(&name);
        if has_lines || text.contains(['\r', '\0']) {
            return named(
                name,
                found(
                    Risk::Grant,
                    "has a line break, which can add lines to a file of PVE",
                ),
            )
            .into_iter()
            .collect();
        }
        match &rule.level {
            Level::Unsets => {
                let names = list(text).into_iter();
                return names.filter_map(|name| self.unset(name)).collect();
            }
            Level::Setting(judge) => self.setting(*judge, name, Some(text)),
            Level::Credential(why) => self.credential(name, why),
            Level::Properties(properties) => named(name, in_properties(properties, text)),
            level => named(name, of_value(level, text)),
        }
        .into_iter()
        .collect()
    }

    /// A setting that is taken away.
    fn unset(&self, name: &str) -> Option<Judgement> {
        let Some(rule) = self.row.rule(name) else {
            return Some(unknown(name));
        };
        match &rule.level {
            Level::Setting(judge) => self.setting(*judge, name, None),
            Level::Credential(_) => None,
            level => named(name, worst_of(level)),
        }
    }

    fn credential(&self, name: &str, why: &'static str) -> Option<Judgement> {
        let mut judgement = named(name, found(Risk::Grant, why))?;
        if let Some(guest) = self
            .guest
            .filter(|guest| self.facts.created.contains(guest))
        {
            judgement.risk = Risk::Change;
            judgement.relies_on.push(Fact::CreatedByThisPlan(guest));
        }
        Some(judgement)
    }

    fn setting(
        &self,
        judge: fn(&Setting<'_>) -> Option<Finding>,
        name: &str,
        new: Option<&str>,
    ) -> Option<Judgement> {
        let at = |old| {
            let vmid = self.guest;
            judge(&Setting { vmid, new, old })
        };
        let worst = named(name, at(Old::Unknown))?;
        let Some(guest) = self.guest else {
            return Some(worst);
        };
        if self.facts.created.contains(&guest) {
            let fact = Fact::CreatedByThisPlan(guest);
            return Some(lowered(name, &worst, at(Old::New), fact));
        }
        let Some(config) = self.facts.configs.get(&guest) else {
            return Some(worst);
        };
        // PVE has another name for the second place of the IDE bus.
        let key = if name == "cdrom" { "ide2" } else { name };
        let old = config.text(key);
        let old = old.as_deref().map_or(Old::Unset, Old::Is);
        Some(lowered(name, &worst, at(old), Fact::Config(guest)))
    }

    /// A guest that does not run is not interrupted. What a schedule does comes later, when it may run.
    fn lower_disruption(&self, judgement: &mut Judgement, request: &Request) {
        if judgement.risk != Risk::Disrupt || self.row.later {
            return;
        }
        let guests = self.interrupted(request);
        let stopped =
            |guest: &Vmid| self.facts.stopped.contains(guest) || self.facts.created.contains(guest);
        if !guests.is_empty() && guests.iter().all(stopped) {
            judgement.risk = Risk::Change;
            let facts = guests.into_iter().map(|guest| {
                if self.facts.created.contains(&guest) {
                    Fact::CreatedByThisPlan(guest)
                } else {
                    Fact::Stopped(guest)
                }
            });
            judgement.relies_on.extend(facts);
        }
    }

    fn interrupted(&self, request: &Request) -> Vec<Vmid> {
        interrupted(&self.path, request)
    }
}

/// The guests that a request interrupts, where it names all of them; nothing where it may interrupt others, too.
fn interrupted(path: &ApiPath, request: &Request) -> Vec<Vmid> {
    if let Some(vmid) = path.value("vmid") {
        return vmid.parse().into_iter().collect();
    }
    if path.template != "/nodes/{node}/vzdump" {
        return Vec::new();
    }
    let text = |name: &str| request.param(name).map(Value::to_string);
    if ["all", "exclude", "pool"]
        .iter()
        .any(|name| text(name).is_some())
    {
        return Vec::new();
    }
    let named = text("vmid").unwrap_or_default();
    let vmids: Result<Vec<_>, _> = list(&named).iter().map(|word| word.parse()).collect();
    vmids.unwrap_or_default()
}

/// The guests whose state would lower the risk of a request: their settings are changed, or they are interrupted.
pub(crate) fn depends_on(request: &Request) -> Vec<Vmid> {
    match table::find(request.method, &request.path) {
        Some((row, path)) if !row.later => interrupted(&path, request),
        _ => Vec::new(),
    }
}

/// What a finding is with a fact, where that makes it less than without.
fn lowered(name: &str, worst: &Judgement, with: Option<Finding>, fact: Fact) -> Judgement {
    match named(name, with) {
        None => Judgement {
            risk: Risk::Read,
            because: String::new(),
            relies_on: vec![fact],
            over_node: false,
        },
        Some(mut judgement) => {
            if judgement.risk < worst.risk {
                judgement.relies_on.push(fact);
            }
            judgement
        }
    }
}

fn unknown(name: &str) -> Judgement {
    let name = crate::words::clip(name, 40);
    Judgement::new(
        Risk::Grant,
        format!("{name}: the risk table of oxmox does not know this parameter"),
    )
}

fn named(name: &str, finding: Option<Finding>) -> Option<Judgement> {
    let finding = finding.filter(|finding| finding.risk > Risk::Read)?;
    let name = crate::words::clip(name, 40);
    Some(Judgement {
        over_node: finding.over_node,
        ..Judgement::new(finding.risk, format!("{name}: {}", finding.why))
    })
}

/// What a value does, where its level looks at nothing else.
fn of_value(level: &Level, text: &str) -> Option<Finding> {
    match level {
        Level::Is(risk, why) => found(*risk, why),
        Level::On(risk, why) if flag(text) != Some(false) => found(*risk, why),
        Level::Off(risk, why) if flag(text) != Some(true) => found(*risk, why),
        Level::On(..) | Level::Off(..) => None,
        Level::By(judge) => judge(text),
        Level::Properties(properties) => in_properties(properties, text),
        Level::Credential(why) => found(Risk::Grant, why),
        Level::Setting(_) | Level::Unsets => {
            found(Risk::Grant, "cannot be judged by its value alone")
        }
    }
}

/// The worst that a property string does by any of its keys.
fn in_properties(properties: &Properties, text: &str) -> Option<Finding> {
    let of_part = |part: Part<'_>| match part {
        Part::Malformed(_) => found(Risk::Grant, "cannot be read"),
        Part::Pair(key, value) => of_key(properties, key, value),
        Part::Default(value) => match properties.default {
            Some(key) => of_key(properties, key, value),
            None => found(Risk::Grant, "cannot be read"),
        },
    };
    worst(parts(text).map(of_part))
}

fn of_key(properties: &Properties, key: &str, value: &str) -> Option<Finding> {
    match properties.keys.iter().find(|rule| rule.names(key)) {
        Some(rule) => of_value(&rule.level, value),
        None => found(
            Risk::Grant,
            "has a key that the risk table of oxmox does not know",
        ),
    }
}

/// What a value does, where its level looks at nothing else.
pub(crate) fn value_risk(level: &Level, text: &str) -> Option<Risk> {
    of_value(level, text).map(|finding| finding.risk)
}

/// The worst that any value of a parameter does.
pub(crate) fn worst_of(level: &Level) -> Option<Finding> {
    match level {
        Level::Is(risk, why) | Level::On(risk, why) | Level::Off(risk, why) => found(*risk, why),
        Level::Credential(why) => found(Risk::Grant, why),
        Level::Properties(properties) => worst(
            properties
                .keys
                .iter()
                .map(|rule: &Rule| worst_of(&rule.level)),
        ),
        // Every such function judges the empty text as the default of PVE.
        Level::By(judge) => judge(""),
        Level::Setting(judge) => judge(&Setting {
            vmid: None,
            new: None,
            old: Old::Unknown,
        }),
        Level::Unsets => None,
    }
}

fn worst(findings: impl Iterator<Item = Option<Finding>>) -> Option<Finding> {
    findings
        .flatten()
        .reduce(|one, other| if other.risk > one.risk { other } else { one })
}
