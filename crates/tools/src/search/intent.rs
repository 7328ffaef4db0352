//! What a request wants done, as far as its words tell.

use pve::Method as Verb;

/// The five things that can be done to a thing. Requests often say none of them outright.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    /// Look at it.
    Read,
    /// Make a new one.
    Create,
    /// Put something to what is there: a new one, or a change of the whole.
    Extend,
    /// Make it different.
    Change,
    /// Make it gone.
    Remove,
}

impl Intent {
    /// The intent that a section of the vocabulary is about.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "read" => Self::Read,
            "create" => Self::Create,
            "extend" => Self::Extend,
            "change" => Self::Change,
            "remove" => Self::Remove,
            _ => return None,
        })
    }

    /// How likely a verb is meant where nothing was said, as [`Intent::suits`]: hardly anybody removes without saying
    /// so, and what is neither a question nor a wish to see is rather something to do.
    pub(super) fn unsaid(verb: Verb) -> f32 {
        match verb {
            Verb::Get => -0.1,
            Verb::Post => 0.1,
            Verb::Put => 0.0,
            Verb::Delete => -0.7,
        }
    }

    /// How well a verb of PVE's API serves this intent, from -1 to 1.
    pub(super) fn suits(self, verb: Verb) -> f32 {
        match (self, verb) {
            (Self::Read, Verb::Get)
            | (Self::Create | Self::Extend, Verb::Post)
            | (Self::Change, Verb::Put)
            | (Self::Remove, Verb::Delete) => 1.0,
            (Self::Extend, Verb::Put) => 0.8,
            // PVE's actions are all POST, and some things are created or removed by changing a list.
            (Self::Change, Verb::Post) => 0.4,
            (Self::Create | Self::Remove, Verb::Put) => 0.2,
            (Self::Read | Self::Remove, Verb::Post) => -0.5,
            (Self::Read, Verb::Put) | (Self::Change, Verb::Delete) => -0.7,
            (_, Verb::Get | Verb::Delete) => -1.0,
        }
    }
}
