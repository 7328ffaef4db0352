//! How much may happen without asking, everywhere and at single clusters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Policy;
use crate::fault::Fault;
use crate::spec::Risk;

/// How much oxmox may do on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Nothing changes, whatever the rules say.
    ReadOnly,
    /// Changes run; what interrupts asks first, what destroys or grants needs a person's yes.
    #[default]
    Ask,
    /// Nothing asks.
    Trusted,
}

impl Mode {
    /// The worst that it lets happen.
    pub fn most(self) -> Risk {
        match self {
            Self::ReadOnly => Risk::Read,
            Self::Ask | Self::Trusted => Risk::Grant,
        }
    }

    /// The one of the two that lets less happen unasked.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::ReadOnly, _) | (_, Self::ReadOnly) => Self::ReadOnly,
            (Self::Ask, _) | (_, Self::Ask) => Self::Ask,
            (Self::Trusted, Self::Trusted) => Self::Trusted,
        }
    }

    /// As written after `--mode`.
    pub fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::Trusted => "trusted",
        }
    }

    /// The mode that is written so.
    pub fn parse(word: &str) -> Option<Self> {
        let mut all = [Self::ReadOnly, Self::Ask, Self::Trusted].into_iter();
        all.find(|mode| mode.word() == word)
    }
}

impl Policy {
    /// The same for the caller who may do most.
    pub(crate) fn widest(&self) -> Risk {
        let modes = self.modes.values().map(|mode| mode.most());
        modes.max().unwrap_or_else(|| self.mode.most())
    }

    /// How much oxmox may do on its own at this cluster.
    pub(super) fn mode_at(&self, cluster: &str) -> Mode {
        let own = self.modes.get(cluster).copied();
        own.map_or(self.mode, |own| match self.mode {
            Mode::ReadOnly => Mode::ReadOnly,
            _ => own,
        })
    }

    /// Why nothing is changed there.
    pub(super) fn only_looks(&self, cluster: &str) -> Fault {
        const LOOK: &str = "preview_proxmox_change shows what it would do; a person can";
        if self.mode == Mode::ReadOnly {
            return Fault::refused("oxmox runs in read-only mode: nothing is changed")
                .hint(format!("{LOOK} start oxmox with --mode ask"));
        }
        let what =
            format!("the cluster {cluster} is configured as read-only: nothing is changed there");
        Fault::refused(what).hint(format!("{LOOK} change its mode in the configuration"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(Mode, &str); 3] = [
        (Mode::ReadOnly, "read-only"),
        (Mode::Ask, "ask"),
        (Mode::Trusted, "trusted"),
    ];

    #[test]
    fn a_mode_is_read_as_it_is_written() {
        for (mode, word) in ALL {
            assert_eq!(mode.word(), word);
            assert_eq!(Mode::parse(word), Some(mode));
        }
        assert_eq!(Mode::parse("Trusted"), None);
    }

    #[test]
    fn of_two_modes_the_stricter_comes_first_in_the_list() {
        for (place, (mode, _)) in ALL.into_iter().enumerate() {
            for (other_place, (other, _)) in ALL.into_iter().enumerate() {
                let stricter = ALL[place.min(other_place)].0;
                assert_eq!(mode.stricter(other), stricter, "{mode:?} {other:?}");
            }
        }
    }

    /// A cluster's own mode holds there, but for a process that only looks anywhere.
    #[test]
    fn a_clusters_mode_is_its_own_unless_nothing_may_be_changed() {
        let at = |mode, own| {
            let policy = Policy {
                mode,
                modes: [("lab".to_owned(), own)].into(),
                ..Policy::default()
            };
            (policy.mode_at("lab"), policy.mode_at("elsewhere"))
        };
        assert_eq!(at(Mode::Ask, Mode::Trusted), (Mode::Trusted, Mode::Ask));
        let only_looks = (Mode::ReadOnly, Mode::ReadOnly);
        assert_eq!(at(Mode::ReadOnly, Mode::Trusted), only_looks);
    }
}
