//! Whether a plan may run, must be confirmed, or is refused. Pure: a plan and settings in, a decision out.

mod deed;
mod ha;
mod mode;
mod subjects;
mod tags;

pub use deed::of as deeds;
pub use mode::Mode;
pub(crate) use subjects::beyond;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use pve::NodeName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Bounds;
use crate::context::label;
use crate::fault::{Fault, Kind};
use crate::plan::{Plan, Target};
use crate::risk::node_power;
use crate::spec::Risk;

/// What a rule orders, the strictest last.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Run it without asking.
    Allow,
    /// Ask a person.
    Ask,
    /// Refuse it.
    Deny,
}

/// A refinement of the mode. Every condition that is given must hold; the first rule that matches decides. A plan that
/// does several things, or is about several guests, is decided on for each of them, and the strictest verdict holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    /// The tool's name. A rule for a tool of `core` holds for its other names too, such as `manage_proxmox_vm` for
    /// `start_proxmox_vm`. One that asks or denies holds for whatever sends the same: a raw request, `stopall_node`, or a
    /// delete that stops the guest first, for `stop_proxmox_vm`. Each thing that a plan does is looked up on its own, and the
    /// strictest holds: a rule that allows one of them shadows none that denies another. One that allows is for its tool alone.
    #[schemars(extend("toml" = "\"clone_proxmox_vm\""))]
    pub tool: Option<String>,
    /// What the plan would do, not the worst that the tool can. A plan that does several of them is decided on for each, and
    /// the strictest verdict holds.
    #[schemars(extend("toml" = "\"destroy\""))]
    pub risk: Option<Risk>,
    /// The cluster's name.
    #[schemars(extend("toml" = "\"home\""))]
    pub cluster: Option<String>,
    /// A tag that the cluster has, from `tags` in its table.
    #[schemars(extend("toml" = "\"prod\""))]
    pub cluster_tag: Option<String>,
    /// Where a guest of the plan is or goes; also a node that the plan itself acts on: its disks, its services, its power.
    #[schemars(extend("toml" = "\"pve1\""))]
    pub node: Option<String>,
    /// A pool that a guest of the plan is in.
    #[schemars(extend("toml" = "\"lab\""))]
    pub pool: Option<String>,
    /// A tag that a guest of the plan has.
    #[schemars(extend("toml" = "\"prod\""))]
    pub tag: Option<String>,
    /// The guest's number, or a range of them.
    #[schemars(extend("toml" = "\"5000-5999\""))]
    pub vmid: Option<String>,
    /// What then: `allow` runs it without asking, `ask` asks a person, `deny` refuses it. A rule has to say.
    #[schemars(extend("toml" = "\"ask\""))]
    pub verdict: Option<Verdict>,
}

/// Who may confirm a plan that interrupts a running guest or service, where no person can be asked. All that destroys or
/// grants is a person's to approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confirm {
    /// The client, by repeating the call with the `confirm` value that the first answer gave.
    #[default]
    Client,
    /// A person.
    Person,
}

/// The settings that decide.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// How much oxmox may do on its own.
    pub mode: Mode,
    /// The same for clusters that are not as the others.
    pub modes: BTreeMap<String, Mode>,
    /// Refinements, the first match decides.
    pub rules: Vec<Rule>,
    /// Who may confirm a plan that interrupts, where no person can be asked.
    pub confirm: Confirm,
    /// Whether whoever asks for a change may not be the one who says yes to it.
    pub four_eyes: bool,
    /// While this file exists, nothing is sent.
    pub freeze: Option<PathBuf>,
    /// How far this caller may go.
    pub bounds: Bounds,
}

/// What becomes of a plan.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It runs.
    Run,
    /// It waits for a person.
    Ask,
    /// It does not run.
    Deny(Fault),
}

impl Policy {
    /// The decision on a plan.
    pub fn decide(&self, plan: &Plan) -> Decision {
        if self.mode_at(&plan.cluster) == Mode::ReadOnly {
            return Decision::Deny(self.only_looks(&plan.cluster));
        }
        if let Some(fault) = self.bounds.refuse(plan) {
            return Decision::Deny(fault);
        }
        // A plan without steps sends nothing that could be stopped.
        if let Some(fault) = self.frozen().filter(|_| !plan.steps.is_empty()) {
            return Decision::Deny(fault);
        }
        if let Some(fault) = protection(plan) {
            return Decision::Deny(fault);
        }
        if let Some(fault) = blocked(plan) {
            return Decision::Deny(fault);
        }
        let verdicts = plan
            .does()
            .into_iter()
            .map(|risk| self.strictest(plan, risk));
        match verdicts.max().unwrap_or(Verdict::Ask) {
            Verdict::Allow if types_on_protected(plan) => Decision::Ask,
            Verdict::Allow => Decision::Run,
            Verdict::Ask => Decision::Ask,
            Verdict::Deny => Decision::Deny(
                Fault::refused(format!(
                    "a rule in the configuration of oxmox denies this: {}",
                    plan.summary
                ))
                .hint("a person can change the rule; there is nothing to send instead"),
            ),
        }
    }

    /// The strictest of the verdicts on each guest and each node that a plan does one of its things to. A guest that is
    /// only read from loses nothing, whatever the plan does elsewhere.
    fn strictest(&self, plan: &Plan, risk: Risk) -> Verdict {
        let (read, done_to): (Vec<_>, Vec<_>) =
            plan.targets.iter().partition(|target| target.only_read);
        let verdict = |risk, target: &Target| self.verdict(plan, risk, On::Guest(target));
        // Where a guest goes it is as much as where it is.
        let moved = moved(plan, &done_to);
        let untagged = untagged(plan);
        let done_to = done_to.into_iter().chain(&moved).chain(&untagged);
        let done_to = done_to.map(|target| verdict(risk, target));
        let mut nodes = plan.nodes();
        nodes.extend(plan.requests().filter_map(|it| node_power(&it)));
        let nodes = nodes
            .iter()
            .map(|node| self.verdict(plan, risk, On::Node(node)));
        let read = read
            .into_iter()
            .map(|it| verdict(what_a_read_can_do(risk), it));
        let on_plan = done_to
            .chain(nodes)
            .max()
            .unwrap_or_else(|| self.verdict(plan, risk, On::Nothing));
        read.fold(on_plan, Verdict::max)
    }

    /// What the first rule that matches orders, or else the mode; and no less than what is ordered for each tool that does
    /// something of the same. What these are allowed is not allowed to a tool that does it among other things.
    fn verdict(&self, plan: &Plan, risk: Risk, on: On<'_>) -> Verdict {
        let mut names: BTreeSet<&str> = plan.proper.as_deref().into_iter().collect();
        names.insert(&plan.tool);
        let called = self.called(&names, plan, risk, on);
        if self.rules.iter().all(|rule| rule.tool.is_none()) {
            return called;
        }
        let deeds = deeds(plan).into_iter();
        // Each on its own: what allows the one says nothing about the other.
        let done = deeds.filter_map(|deed| {
            let rule = self.first(&[deed].into(), plan, risk, on)?;
            // A rule for all tools has had its say under the name that was called.
            rule.tool.as_ref().and(rule.verdict)
        });
        done.fold(called, Verdict::max)
    }

    /// The rule that decides on what has one of these names.
    fn first(&self, names: &BTreeSet<&str>, plan: &Plan, risk: Risk, on: On<'_>) -> Option<&Rule> {
        let rules = &mut self.rules.iter();
        rules.find(|rule| rule.matches(names, plan, risk, on))
    }

    fn called(&self, names: &BTreeSet<&str>, plan: &Plan, risk: Risk, on: On<'_>) -> Verdict {
        let rule = self.first(names, plan, risk, on);
        let trusted =
            || self.mode_at(&plan.cluster) == Mode::Trusted && self.tags_changed(plan).is_empty();
        match rule.and_then(|rule| rule.verdict) {
            Some(verdict) => verdict,
            None if (risk <= Risk::Change && !plan.raw) || trusted() => Verdict::Allow,
            None => Verdict::Ask,
        }
    }

    /// The fault that stops every step while a person has frozen oxmox.
    pub fn frozen(&self) -> Option<Fault> {
        // What cannot be looked at counts as frozen.
        self.freeze
            .as_ref()
            .filter(|file| file.try_exists().unwrap_or(true))?;
        Some(
            Fault::refused("oxmox is frozen: a person stopped all changes")
                .hint("there is nothing to send until a person lets changes run again"),
        )
    }

    /// The worst that can happen under it.
    pub fn most(&self) -> Risk {
        self.widest().min(self.bounds.scope.most())
    }

    /// The same for a caller with these bounds.
    #[must_use]
    pub fn within(&self, bounds: &Bounds) -> Self {
        Self {
            bounds: bounds.clone(),
            ..self.clone()
        }
    }

    /// Whether the client may confirm this plan itself, by a `confirm` value: only one that interrupts and does nothing worse.
    pub fn client_may_confirm(&self, plan: &Plan) -> bool {
        !self.four_eyes
            && self.confirm == Confirm::Client
            && plan.risk() <= Risk::Disrupt
            && !plan.raw
    }

    /// Whether `by` may say yes to what `caller` asked for.
    pub fn may_approve(&self, caller: &str, by: &str) -> Result<(), Fault> {
        if !self.four_eyes || !crate::caller::may_be_one_person(caller, by) {
            return Ok(());
        }
        Err(Fault::refused(format!(
            "{by} asked for it and cannot approve it: four_eyes is set"
        ))
        .hint("another person has to approve it"))
    }
}

/// Everything that stands in a plan's way, and what to do about each: a caller who mends only the first comes back for
/// nothing.
fn blocked(plan: &Plan) -> Option<Fault> {
    let mut instead: Vec<&str> = Vec::new();
    for blocker in &plan.blockers {
        if !instead.contains(&blocker.instead.as_str()) {
            instead.push(&blocker.instead);
        }
    }
    let because: Vec<_> = plan
        .blockers
        .iter()
        .map(|blocker| blocker.because.as_str())
        .collect();
    (!because.is_empty())
        .then(|| Fault::new(Kind::Conflict, because.join("; ")).hint(instead.join("; ")))
}

/// Why a plan is denied in every mode: it destroys something of a guest that a person marked as not to be destroyed.
pub fn protection(plan: &Plan) -> Option<Fault> {
    let mut at_stake = plan.targets.iter().filter(|target| !target.only_read);
    let (target, why) = at_stake
        .find_map(|target| Some((target, target.protected_by()?)))
        .filter(|_| plan.destroys())?;
    Some(
        Fault::refused(format!(
            "{} is protected ({why}) and is not destroyed",
            label(&target.at, &target.name)
        ))
        .hint("there is nothing to send instead; what becomes of it is for a person to decide"),
    )
}

/// Whether a plan types on a protected guest: whatever is typed there may destroy it, so that each such plan is asked about,
/// whatever mode and rules say.
fn types_on_protected(plan: &Plan) -> bool {
    let types = plan.steps.iter().any(|step| step.action.types());
    types && plan.targets.iter().any(Target::is_protected)
}

/// What a plan does something to.
#[derive(Clone, Copy)]
enum On<'a> {
    Guest(&'a Target),
    Node(&'a str),
    /// Neither: the cluster's settings.
    Nothing,
}

/// The guests of a plan as they will be on the nodes that it moves or copies them to.
fn moved(plan: &Plan, done_to: &[&Target]) -> Vec<Target> {
    let nodes = deed::destinations(plan);
    let on = |node: &NodeName| {
        let node = node.clone();
        done_to.iter().map(move |target| {
            let mut target = Target::clone(target);
            target.at.node.clone_from(&node);
            target
        })
    };
    nodes.iter().flat_map(on).collect()
}

/// The guests of a plan that come to be, as they would be without the tags that it gives them: a tag that nobody but the
/// plan itself has put there allows nothing.
fn untagged(plan: &Plan) -> Vec<Target> {
    let tagged = plan.made().filter(|target| !target.tags.is_empty());
    let without = tagged.map(|target| Target {
        tags: Vec::new(),
        ..target.clone()
    });
    without.collect()
}

/// Reading neither interrupts a guest nor destroys anything of it, but what is read can be handed out.
fn what_a_read_can_do(risk: Risk) -> Risk {
    match risk {
        Risk::Disrupt | Risk::Destroy => Risk::Change,
        risk => risk,
    }
}

impl Rule {
    fn matches(&self, names: &BTreeSet<&str>, plan: &Plan, risk: Risk, on: On<'_>) -> bool {
        let is = |wanted: &Option<String>, have: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == have)
        };
        let on_target = |wanted: &Option<String>, test: &dyn Fn(&Target, &str) -> bool| {
            let Some(wanted) = wanted.as_deref() else {
                return true;
            };
            matches!(on, On::Guest(target) if test(target, wanted))
        };
        let node = match on {
            On::Guest(target) => Some(target.at.node.as_str()),
            On::Node(node) => Some(node),
            On::Nothing => None,
        };
        let by_name = self.tool.as_deref();
        by_name.is_none_or(|tool| names.contains(tool))
            && self.risk.is_none_or(|wanted| wanted == risk)
            && is(&self.cluster, &plan.cluster)
            && self.cluster_tag.is_none()
            && self
                .node
                .as_deref()
                .is_none_or(|wanted| node == Some(wanted))
            && on_target(&self.pool, &|target, pool| {
                target.pool.as_deref() == Some(pool)
            })
            && on_target(&self.tag, &|target, tag| {
                target
                    .tags
                    .iter()
                    .any(|have| have.eq_ignore_ascii_case(tag))
            })
            && on_target(&self.vmid, &|target, range| {
                vmid_range(range).is_some_and(|range| range.contains(&target.at.vmid.get()))
            })
    }

    /// What is wrong with the rule itself, found when the configuration is read and not when it is needed.
    pub fn fault(&self) -> Option<String> {
        if self.verdict.is_none() {
            return Some("a rule needs a verdict: allow, ask or deny".to_owned());
        }
        match &self.vmid {
            Some(range) if vmid_range(range).is_none() => Some(format!(
                "vmid = \"{range}\" is neither an id (105) nor a range (100-199)"
            )),
            _ => None,
        }
    }
}

/// `105` or `100-199`.
pub(crate) fn vmid_range(text: &str) -> Option<RangeInclusive<u32>> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let range = low.trim().parse().ok()?..=high.trim().parse().ok()?;
    (!range.is_empty()).then_some(range)
}
