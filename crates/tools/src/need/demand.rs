//! What calls ask of a role, whatever the path: a list of demands, each of which can be met in one or several ways.

use std::collections::BTreeSet;

use super::Need;
use crate::spec::Risk;

/// Privileges by name.
pub type Privileges = BTreeSet<&'static str>;

/// Met by whoever holds all of any one of these. The first is the one that the tool would rather have.
type Demand = Vec<Privileges>;

/// Whose needs they are.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<'a> {
    /// The worst that may happen: what takes more than that is no demand.
    pub(crate) most: Risk,
    /// The privileges that there are to hold. PVE's come and go with its versions.
    pub(crate) knows: &'a dyn Fn(&str) -> bool,
    /// Whether what only some calls take counts.
    pub(crate) each_call: bool,
}

/// What some tools ask for together.
#[derive(Debug, Default)]
pub(crate) struct Demands(Vec<Demand>);

impl Demands {
    /// With those of one more tool.
    pub(crate) fn add(&mut self, need: Need, bounds: Bounds<'_>) {
        need.demand(bounds, &mut self.0);
    }

    /// What meets them all, by the first way of each.
    pub(crate) fn by_first_ways(&self) -> Privileges {
        self.0
            .iter()
            .filter_map(|ways| ways.first())
            .flatten()
            .copied()
            .collect()
    }

    /// What meets them all, and nothing that could be left out of it: of several ways none, where other demands bring one
    /// along.
    pub(crate) fn least(&self) -> Privileges {
        let only_way = self.0.iter().filter(|ways| ways.len() == 1);
        let certain: Privileges = only_way.flatten().flatten().copied().collect();
        let mut held = certain.clone();
        for ways in &self.0 {
            if !is_met(ways, &held)
                && let Some(first) = ways.first()
            {
                held.extend(first);
            }
        }
        // A later choice may have brought along what makes an earlier one needless.
        for chosen in held.difference(&certain).copied().collect::<Vec<_>>() {
            held.remove(chosen);
            if !self.are_met_by(&held) {
                held.insert(chosen);
            }
        }
        held
    }

    /// Whether these are enough.
    pub(crate) fn are_met_by(&self, held: &Privileges) -> bool {
        self.0.iter().all(|ways| is_met(ways, held))
    }

    /// What would have to come to these.
    pub(crate) fn beyond(self, held: &Privileges) -> Privileges {
        let unmet = self.0.into_iter().filter(|ways| !is_met(ways, held));
        &Self(unmet.collect()).least() - held
    }
}

fn is_met(ways: &Demand, held: &Privileges) -> bool {
    ways.iter().any(|way| way.is_subset(held))
}

impl Need {
    /// Puts down what it demands. Whether every call finds what it takes among that: PVE may not know something, or it is
    /// out of bounds.
    fn demand(self, bounds: Bounds<'_>, into: &mut Vec<Demand>) -> bool {
        match self {
            Self::Nothing => true,
            Self::On(_, privilege) => {
                let is_known = (bounds.knows)(privilege);
                into.extend(is_known.then(|| vec![Privileges::from([privilege])]));
                is_known
            }
            Self::At(risk, _) if risk > bounds.most => false,
            Self::At(_, need) => need.demand(bounds, into),
            Self::All(parts) | Self::AtLeastOne(parts) => {
                let mut whole = true;
                for part in parts {
                    whole &= part.demand(bounds, into);
                }
                whole
            }
            Self::Any(ways) => {
                let possible: Demand = ways.iter().flat_map(|way| way.ways(bounds)).collect();
                let is_possible = !possible.is_empty();
                into.extend(is_possible.then_some(possible));
                is_possible
            }
            Self::First(ways) => {
                let mut known = ways.iter().map(|way| way.ways(bounds));
                let first = known.find(|ways| !ways.is_empty());
                let is_possible = first.is_some();
                into.extend(first);
                is_possible
            }
            // Calls that take nothing of it are calls, too.
            Self::May(_) | Self::If(..) | Self::Each(..) | Self::IfIs(..) if !bounds.each_call => {
                true
            }
            Self::May(parts) => {
                for part in parts {
                    part.demand(bounds, into);
                }
                true
            }
            Self::If(_, need) | Self::Each(_, need) | Self::IfIs(_, _, need) => {
                need.demand(bounds, into);
                true
            }
        }
    }

    /// All ways to meet it; none if it cannot be met as a whole.
    fn ways(self, bounds: Bounds<'_>) -> Vec<Privileges> {
        let mut parts = Vec::new();
        if !self.demand(bounds, &mut parts) {
            return Vec::new();
        }
        parts
            .into_iter()
            .fold(vec![Privileges::new()], |begun, ways| {
                let further = |way: &Privileges| ways.iter().map(|more| way | more).collect();
                begun.iter().flat_map::<Vec<_>, _>(further).collect()
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::need::{OLD_AGENT, WHOLE_AGENT, guest, storage};

    const READ_FILE: Need = Need::Any(&[guest("VM.GuestAgent.FileRead"), WHOLE_AGENT, OLD_AGENT]);
    const DOWNLOAD: Need = Need::Any(&[
        guest("Sys.AccessNetwork"),
        Need::All(&[guest("Sys.Audit"), guest("Sys.Modify")]),
    ]);

    fn least(needs: &[Need], most: Risk, knows: &dyn Fn(&str) -> bool) -> Vec<&'static str> {
        let mut demands = Demands::default();
        let bounds = Bounds {
            most,
            knows,
            each_call: true,
        };
        for need in needs {
            demands.add(*need, bounds);
        }
        let least = demands.least();
        assert!(demands.are_met_by(&least));
        least.into_iter().collect()
    }

    fn every(needs: &[Need]) -> Vec<&'static str> {
        least(needs, Risk::Grant, &|_| true)
    }

    #[test]
    fn what_is_held_anyhow_is_chosen() {
        assert_eq!(every(&[READ_FILE]), ["VM.GuestAgent.FileRead"]);
        for needs in [[READ_FILE, WHOLE_AGENT], [WHOLE_AGENT, READ_FILE]] {
            assert_eq!(every(&needs), ["VM.GuestAgent.Unrestricted"]);
        }
    }

    #[test]
    fn a_way_of_several_privileges_has_to_be_held_whole() {
        let (audit, modify) = (guest("Sys.Audit"), guest("Sys.Modify"));
        assert_eq!(
            every(&[DOWNLOAD, modify]),
            ["Sys.AccessNetwork", "Sys.Modify"]
        );
        assert_eq!(
            every(&[DOWNLOAD, modify, audit]),
            ["Sys.Audit", "Sys.Modify"]
        );
    }

    #[test]
    fn a_choice_that_a_later_one_makes_needless_is_taken_back() {
        const FIRST: Need = Need::Any(&[guest("VM.Audit"), guest("VM.Backup")]);
        const LATER: Need = Need::Any(&[guest("VM.Backup"), storage("Datastore.Allocate")]);
        assert_eq!(every(&[FIRST, LATER]), ["VM.Backup"]);
    }

    #[test]
    fn a_way_that_there_is_not_is_no_way() {
        const WORSE: Need = Need::Any(&[WHOLE_AGENT, guest("VM.GuestAgent.Audit")]);
        let version_8 = |name: &str| !name.contains("GuestAgent");
        let needs = [READ_FILE];
        assert_eq!(least(&needs, Risk::Grant, &version_8), ["VM.Monitor"]);
        assert_eq!(least(&needs, Risk::Grant, &|_| false), [""; 0]);
        let known = |_: &str| true;
        assert_eq!(least(&[WORSE], Risk::Read, &known), ["VM.GuestAgent.Audit"]);
    }

    #[test]
    fn choices_inside_of_choices_are_choices() {
        const INSIDE: Need = Need::Any(&[
            Need::All(&[guest("VM.Clone"), READ_FILE]),
            guest("VM.Allocate"),
        ]);
        assert_eq!(every(&[INSIDE]), ["VM.Clone", "VM.GuestAgent.FileRead"]);
        assert_eq!(
            every(&[INSIDE, guest("VM.Clone"), WHOLE_AGENT]),
            ["VM.Clone", "VM.GuestAgent.Unrestricted"]
        );
        assert_eq!(every(&[INSIDE, guest("VM.Allocate")]), ["VM.Allocate"]);
    }

    #[test]
    fn what_an_older_version_takes_does_not_do_for_a_newer_one() {
        const REPLICATE: Need =
            Need::First(&[guest("VM.Replicate"), storage("Datastore.Allocate")]);
        let needs = [storage("Datastore.Allocate"), REPLICATE];
        assert_eq!(every(&needs), ["Datastore.Allocate", "VM.Replicate"]);
        let version_8 = |name: &str| name != "VM.Replicate";
        let old = least(&needs, Risk::Grant, &version_8);
        assert_eq!(old, ["Datastore.Allocate"]);
    }

    #[test]
    fn what_only_some_calls_take_counts_if_it_is_wanted() {
        const NEED: Need = Need::All(&[guest("VM.Audit"), Need::May(&[guest("VM.Backup")])]);
        let held = Privileges::from(["VM.Audit"]);
        let lacks = |each_call| {
            let mut demands = Demands::default();
            let bounds = Bounds {
                most: Risk::Grant,
                knows: &|_| true,
                each_call,
            };
            demands.add(NEED, bounds);
            demands.beyond(&held)
        };
        assert!(lacks(false).is_empty());
        assert_eq!(lacks(true), Privileges::from(["VM.Backup"]));
    }
}
