//! What a plan does, apart from the words about it: what a person's yes is a yes to.

use std::collections::BTreeSet;

use super::{Effect, Impact, Plan};
use crate::words;

impl Plan {
    /// What the same call, planned again by now, would do to the same guests that this plan does not show, in words: then
    /// this plan, too, would do it. Free space, ages and other figures move from minute to minute and make no
    /// difference; what is destroyed, interrupted, changed or made does. Where the call is about other guests by now (a
    /// filter, a next free id, a move), this plan stands as it is, and its guards tell whether it holds.
    pub fn difference(&self, now: &Self) -> Option<String> {
        let guests =
            |plan: &Self| -> Vec<_> { plan.targets.iter().map(|t| t.at.clone()).collect() };
        if guests(self) != guests(now) {
            return None;
        }
        if self.risk() != now.risk() {
            return Some(format!(
                "the risk was {} and is {}",
                self.risk.word(),
                now.risk.word()
            ));
        }
        let (before, after) = (affected(self), affected(now));
        let new: Vec<_> = after.difference(&before).map(String::as_str).collect();
        if !new.is_empty() {
            return Some(format!("now {}", words::list(&new)));
        }
        let gone: Vec<_> = before.difference(&after).map(String::as_str).collect();
        if !gone.is_empty() {
            return Some(format!("no longer {}", words::list(&gone)));
        }
        // Not the summaries: one may say why a node was chosen, with how much it has free.
        let said = |plan: &Self| -> Vec<_> { plan.steps.iter().map(|s| s.says.clone()).collect() };
        (said(self) != said(now)).then(|| now.summary.clone())
    }
}

/// "destroyed: backup nas:backup/vzdump-…", one for each thing that does not stay as it is.
fn affected(plan: &Plan) -> BTreeSet<String> {
    let touched = plan
        .impact
        .iter()
        .filter(|item| item.effect != Effect::Kept);
    touched.map(named).collect()
}

/// With the note only where something is lost: the same name can stand for another snapshot by now.
fn named(item: &Impact) -> String {
    let note = match item.effect {
        Effect::Destroyed => item.note.as_deref(),
        _ => None,
    };
    let name = format!("{}: {} {}", item.effect.word(), item.kind, item.id);
    crate::clean::line(&match note {
        Some(note) => format!("{name} ({note})"),
        None => name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Undo;
    use crate::risk::Judgement;
    use crate::spec::Risk;

    fn plan() -> Plan {
        let tool = crate::registry::all().next().unwrap();
        let mut plan = Plan::new(tool.spec(), "home", "Back up VM 100");
        plan.judged(vec![Judgement::new(Risk::Disrupt, "stops it")]);
        plan.impact = vec![
            Impact::new(Effect::Created, "backup", "of VM 100").note("12 GiB free"),
            Impact::new(Effect::Destroyed, "backup", "a"),
        ];
        plan
    }

    #[test]
    fn figures_make_no_difference() {
        let mut now = plan();
        now.impact[0].note = Some("11 GiB free".to_owned());
        now.summary
            .push_str(" (nas has the most free space, 11 GiB)");
        now.warnings.push("little space".to_owned());
        now.undo = Undo::Impossible {
            because: "other words".to_owned(),
        };
        assert_eq!(plan().difference(&now), None);
    }

    #[test]
    fn what_is_lost_does() {
        let differs = |change: &dyn Fn(&mut Plan)| {
            let mut now = plan();
            change(&mut now);
            plan().difference(&now).unwrap()
        };
        let another = Impact::new(Effect::Destroyed, "backup", "b");
        let said = differs(&|now| now.impact.push(another.clone()));
        assert_eq!(said, "now destroyed: backup b");
        let said = differs(&|now| drop(now.impact.pop()));
        assert_eq!(said, "no longer destroyed: backup a");
        let said = differs(&|now| now.impact[1].note = Some("another one".to_owned()));
        assert!(said.contains("another one"), "{said}");
        let destroys = || Judgement::new(Risk::Destroy, "deletes it");
        let said = differs(&|now| now.also_judged(destroys()));
        assert_eq!(said, "the risk was disrupt and is destroy");
    }
}
