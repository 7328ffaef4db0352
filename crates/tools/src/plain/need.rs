//! The privileges that a tool takes, as data.

use crate::plan::{Needs, parts};
use crate::spec::Risk;
use crate::tool::Object;

/// What a call takes. Paths may hold `{argument}`s.
#[derive(Debug, Clone, Copy)]
pub enum Need {
    /// Any login will do.
    Nothing,
    /// This privilege on this path.
    On(&'static str, &'static str),
    /// Each of these.
    All(&'static [Need]),
    /// Any one of these will do.
    Any(&'static [Need]),
    /// The first of these that PVE knows: its versions take different ones.
    First(&'static [Need]),
    /// This, if the argument is given.
    If(&'static str, &'static Need),
    /// This for each of the words in the argument, which stands for one of them in it.
    Each(&'static str, &'static Need),
    /// This, if the argument is one of these.
    IfIs(&'static str, &'static [&'static str], &'static Need),
    /// At least one of these, by rules that only the tool knows: having another will not do.
    AtLeastOne(&'static [Need]),
    /// None or some of these, by rules that only the tool knows.
    May(&'static [Need]),
    /// This, which lets a token do what is as bad as that: a role for less goes without it.
    At(Risk, &'static Need),
}

impl Need {
    /// For these arguments.
    pub(super) fn of(self, values: &Object) -> Needs {
        let each = |parts: &[Self]| parts.iter().map(|part| part.of(values)).collect();
        match self {
            Self::On(path, privilege) => Needs::on(super::fill(path, values), privilege),
            Self::All(parts) => Needs::All(each(parts)),
            Self::Any(parts) | Self::First(parts) => Needs::Any(each(parts)),
            Self::If(argument, need) if values.contains_key(argument) => need.of(values),
            Self::IfIs(argument, words, need)
                if words.contains(&super::word(values.get(argument)).as_str()) =>
            {
                need.of(values)
            }
            Self::Each(argument, need) => {
                let words = values.get(argument).map(parts).unwrap_or_default();
                let one = |word: String| {
                    let mut values = values.clone();
                    values.insert(argument.to_owned(), word.into());
                    need.of(&values)
                };
                Needs::All(words.into_iter().map(one).collect())
            }
            Self::At(_, need) => need.of(values),
            Self::Nothing | Self::If(..) | Self::IfIs(..) | Self::AtLeastOne(_) | Self::May(_) => {
                Needs::Nothing
            }
        }
    }
}
