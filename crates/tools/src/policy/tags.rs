//! Rules go by tags: who sets one that a rule names chooses what holds for the guest.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Policy;
use crate::plan::{Effect, Impact, Plan, Target, parts};
use crate::risk::Judgement;
use crate::spec::Risk;

impl Policy {
    /// The tags that rules name and that a plan gives to a guest or takes from it.
    pub(super) fn tags_changed(&self, plan: &Plan) -> BTreeSet<String> {
        let rules = self.rules.iter().filter_map(|rule| rule.tag.as_deref());
        let named: BTreeSet<_> = rules.map(str::to_ascii_lowercase).collect();
        if named.is_empty() {
            return named;
        }
        let made: Vec<_> = plan.made().map(|target| &target.at).collect();
        let changed = plan.targets.iter().flat_map(|target| {
            let said: BTreeSet<_> = (target.tags.iter())
                .map(|tag| tag.to_ascii_lowercase())
                .collect();
            let get = new_tags(plan, target).unwrap_or_else(|| said.clone());
            // One that comes to be has none yet: what is said of it is what it gets.
            let is_new = made.contains(&&target.at);
            let have = if is_new { BTreeSet::new() } else { said };
            have.symmetric_difference(&get).cloned().collect::<Vec<_>>()
        });
        changed.filter(|tag| named.contains(tag)).collect()
    }

    /// A plan that changes which rules hold for a guest hands out what they allow: a person decides on that, and not the
    /// model that would use it.
    pub(crate) fn weigh_tags(&self, plan: &mut Plan) {
        for tag in self.tags_changed(plan) {
            plan.also_judged(Judgement::new(
                Risk::Grant,
                format!("tag {tag}: a rule in the configuration of oxmox goes by it"),
            ));
            let rule = Impact::new(Effect::Changed, "what oxmox may do", format!("tag {tag}"));
            plan.impact
                .push(rule.note("a rule in the configuration of oxmox goes by it"));
        }
    }
}

/// The tags that a guest has afterwards, where the plan says so.
fn new_tags(plan: &Plan, target: &Target) -> Option<BTreeSet<String>> {
    let config = target.at.path("config");
    let requests = plan.requests().filter(|request| request.path == config);
    requests
        .filter_map(|request| {
            let words = |name: &str| {
                let value = request.param(name)?.to_string();
                Some(parts(&Value::String(value)))
            };
            let removed = words("delete").is_some_and(|names| names.iter().any(|it| it == "tags"));
            match words("tags") {
                Some(tags) => Some(tags.iter().map(|tag| tag.to_ascii_lowercase()).collect()),
                None => removed.then(BTreeSet::new),
            }
        })
        .last()
}
