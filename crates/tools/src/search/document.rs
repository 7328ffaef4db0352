//! What can be found.

use std::borrow::Cow;

use pve::Method as Verb;

/// A part of a document; `weight` says how much a word in it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// What it is about: the last word of a path, the object in a tool's name.
    Subject,
    /// What people say instead of its words.
    Everyday,
    /// Its own name.
    Name,
    /// Where it belongs: the earlier words of a path.
    Place,
    /// Its description.
    Description,
    /// Names of its parameters.
    Parameters,
    /// What is said about its parameters.
    ParameterText,
}

impl Field {
    pub(super) const COUNT: usize = 7;

    pub(super) fn weight(self) -> f32 {
        match self {
            Self::Subject => 2.3,
            Self::Everyday => 2.2,
            Self::Name => 0.4,
            Self::Place => 2.4,
            Self::Description => 1.1,
            Self::Parameters => 0.6,
            Self::ParameterText => 0.1,
        }
    }

    /// How much a long text thins its words out, from 0 (not at all) to 1.
    pub(super) fn thinning(self) -> f32 {
        match self {
            Self::Subject | Self::Place | Self::Name => 0.2,
            Self::Everyday => 0.1,
            Self::Description => 0.5,
            Self::Parameters | Self::ParameterText => 0.75,
        }
    }
}

/// One thing that can be found.
#[derive(Debug, Clone, Default)]
pub struct Document<'a> {
    pub(super) fields: Vec<(Field, Cow<'a, str>)>,
    pub(super) verb: Option<Verb>,
    pub(super) scope: Vec<(f32, String)>,
    pub(super) prior: f32,
    pub(super) one: bool,
}

impl<'a> Document<'a> {
    /// With this text in this field; a field may be given several times.
    #[must_use]
    pub fn with(mut self, field: Field, text: impl Into<Cow<'a, str>>) -> Self {
        self.fields.push((field, text.into()));
        self
    }

    /// Done by this verb: suits requests that ask for such a thing.
    #[must_use]
    pub fn verb(mut self, verb: Verb) -> Self {
        self.verb = Some(verb);
        self
    }

    /// Lives in a place that a request for it would name by one of these words (`firewall`, `snapshot`). A request
    /// that says none of them probably means something else; `surely` from 0 to 1 tells how probably.
    #[must_use]
    pub fn within(mut self, surely: f32, words: impl Into<String>) -> Self {
        self.scope.push((surely, words.into()));
        self
    }

    /// About one thing out of many, rather than about all of them.
    #[must_use]
    pub fn one(mut self, one: bool) -> Self {
        self.one = one;
        self
    }

    /// Likelier (above 0) or less likely (below 0) to be meant than others, whatever the request.
    #[must_use]
    pub fn likelier(mut self, by: f32) -> Self {
        self.prior += by;
        self
    }
}
