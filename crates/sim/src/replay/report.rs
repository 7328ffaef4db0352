//! What a replay found, and its table.

use std::collections::BTreeMap;
use std::fmt;

use super::Exchange;

/// What became of one exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The same answer.
    Match,
    /// Another answer: how it differs.
    Mismatch(Vec<String>),
    /// There is no such route here.
    Unmodelled,
    /// It builds on a step that is not modelled.
    Blocked,
    /// The recording itself is not what a production PVE answers.
    Deviates,
}

/// Verdicts by id.
#[derive(Debug, Default)]
pub struct Report {
    verdicts: BTreeMap<String, (String, Verdict)>,
}

impl Report {
    pub(super) fn add(&mut self, exchange: &Exchange, verdict: Verdict) {
        self.verdicts
            .insert(exchange.id.clone(), (exchange.scenario.clone(), verdict));
    }

    /// The exchanges that were answered differently, with how.
    pub fn mismatches(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.verdicts
            .iter()
            .filter_map(|(id, (_, verdict))| match verdict {
                Verdict::Mismatch(how) => Some((id.as_str(), how.as_slice())),
                _ => None,
            })
    }

    /// How many exchanges came out as `verdict` in a scenario; any mismatch counts as one.
    fn count(&self, scenario: &str, wanted: &Verdict) -> usize {
        let same =
            |verdict: &Verdict| std::mem::discriminant(verdict) == std::mem::discriminant(wanted);
        let all = scenario.is_empty();
        self.verdicts
            .values()
            .filter(|(name, verdict)| (all || name == scenario) && same(verdict))
            .count()
    }

    /// How many exchanges were answered alike.
    pub fn matched(&self) -> usize {
        self.count("", &Verdict::Match)
    }

    /// How many exchanges there are, but for those with this verdict.
    pub fn all_but(&self, verdict: Option<&Verdict>) -> usize {
        self.verdicts.len() - verdict.map_or(0, |verdict| self.count("", verdict))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| scenario | alike | different | builds on what is not modelled | not modelled | deviates itself |"
        )?;
        writeln!(f, "|---|---:|---:|---:|---:|---:|")?;
        let mut names: Vec<&str> = self
            .verdicts
            .values()
            .map(|(scenario, _)| scenario.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        let columns = [
            Verdict::Match,
            Verdict::Mismatch(Vec::new()),
            Verdict::Blocked,
            Verdict::Unmodelled,
            Verdict::Deviates,
        ];
        for name in names.into_iter().chain([""]) {
            write!(f, "| {} |", if name.is_empty() { "all" } else { name })?;
            for column in &columns {
                write!(f, " {} |", self.count(name, column))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
