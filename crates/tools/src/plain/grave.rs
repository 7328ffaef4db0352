//! How grave a plain change is, which may depend on its arguments.

use super::{Plain, word};
use crate::spec::Risk;
use crate::tool::Object;

/// When a change is as grave as it declares; otherwise it is a mere change.
#[derive(Debug, Clone, Copy)]
pub(super) enum Grave {
    Always,
    /// With one of these arguments and, where any are named, one of these values.
    With(&'static [(&'static str, &'static [&'static str])]),
    /// Unless this argument has this value.
    Unless(&'static str, &'static str),
    /// As grave as the gravest of these arguments that is given and, where any are named, has one of these values.
    By(&'static [(&'static str, &'static [&'static str], Risk)]),
}

impl Plain {
    /// It is as grave as it declares only with one of these arguments and, where any are named, one of these values;
    /// otherwise it is a mere change.
    pub(crate) const fn grave_with(
        mut self,
        grave: &'static [(&'static str, &'static [&'static str])],
    ) -> Self {
        self.grave = Grave::With(grave);
        self
    }

    /// Each of these arguments, with one of these values where any are named, makes it so grave; without any of them it is
    /// a mere change.
    pub(crate) const fn grave_by(
        mut self,
        grave: &'static [(&'static str, &'static [&'static str], Risk)],
    ) -> Self {
        self.grave = Grave::By(grave);
        self
    }

    /// With this value of this argument it is a mere change.
    pub(crate) const fn calm_if(mut self, argument: &'static str, value: &'static str) -> Self {
        self.grave = Grave::Unless(argument, value);
        self
    }

    /// How grave it is at the least.
    pub(crate) fn least_risk(&self) -> Risk {
        match self.grave {
            Grave::Always => self.spec.risk,
            Grave::With(_) | Grave::Unless(..) | Grave::By(_) => Risk::Change,
        }
    }

    /// How grave these arguments are.
    pub(crate) fn risk(&self, values: &Object) -> Risk {
        let is = |name: &str, words: &[&str]| {
            let value = values.get(name);
            value.is_some() && (words.is_empty() || words.contains(&word(value).as_str()))
        };
        let grave = match self.grave {
            Grave::Always => true,
            Grave::With(arguments) => arguments.iter().any(|(name, words)| is(name, words)),
            Grave::By(arguments) => {
                let given = arguments.iter().filter(|(name, words, _)| is(name, words));
                return given.fold(Risk::Change, |worst, (_, _, risk)| worst.max(*risk));
            }
            Grave::Unless(name, calm) => word(values.get(name)) != calm,
        };
        if grave { self.spec.risk } else { Risk::Change }
    }
}
