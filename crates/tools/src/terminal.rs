//! Terminals of guests, as far as planning and applying must agree about them.

use std::time::Duration;

use pve::console::{Size, Stands, TerminalScreen, TerminalView, Until, Waited};
use pve::{GuestRef, Reader};
use serde::{Deserialize, Serialize};

use crate::clean;

/// How long a terminal may take to open and to draw itself.
pub(crate) const OPENING: Duration = Duration::from_secs(15);
/// A terminal that has written nothing for so long has nothing more to say for now.
pub(crate) const STILL: Duration = Duration::from_millis(600);
/// Characters that are shown of what a terminal wrote.
const SHOWN: usize = 16_000;

/// What a terminal seems to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Nothing that could be seen.
    Blank,
    /// A user's name.
    Login,
    /// A password.
    Password,
    /// A command.
    Prompt,
    /// The rest of a line that somebody has begun.
    HalfTyped,
    /// Most likely the end of a program.
    Busy,
}

impl Found {
    /// What a screen tells.
    pub(crate) fn on(screen: &TerminalScreen) -> Self {
        match screen.stands() {
            Stands::Blank => Self::Blank,
            Stands::Login => Self::Login,
            Stands::Password => Self::Password,
            Stands::Prompt => Self::Prompt,
            Stands::HalfTyped(_) => Self::HalfTyped,
            Stands::Busy(_) => Self::Busy,
        }
    }

    /// For people. It quotes nothing of the terminal.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Blank => "shows nothing yet",
            Self::Login => "asks for a user's name",
            Self::Password => "asks for a password",
            Self::Prompt => "waits for a command",
            Self::HalfTyped => "holds a line that somebody has begun to type",
            Self::Busy => "seems to run a program",
        }
    }

    /// Whether typing there joins in what somebody else has begun.
    pub(crate) fn is_somebodys(self) -> bool {
        matches!(self, Self::HalfTyped | Self::Busy)
    }

    /// Whether what was planned for a terminal that stood like this may be typed on one that stands like that: a name is
    /// no command, and nobody's line is joined that was not seen before. What shows nothing contradicts nothing.
    pub(crate) fn still_fits(self, now: Self) -> bool {
        self == now || now == Self::Blank || self == Self::Blank && !now.is_somebodys()
    }

    /// Whether a secret that would not have been shown here would be there.
    pub(crate) fn is_safer_than(self, now: Self) -> bool {
        let hides = |found| matches!(found, Self::Password | Self::Blank);
        hides(self) && !hides(now)
    }
}

/// Opens a terminal, types nothing, and waits until it has drawn itself.
pub(crate) async fn watch(
    pve: &Reader,
    at: &GuestRef,
) -> Result<(TerminalView, Waited), pve::Error> {
    let mut view = pve.watch_terminal(at, Size::default(), OPENING).await?;
    let waited = view.wait(&Until::Quiet(STILL), OPENING).await?;
    Ok((view, waited))
}

/// The end of a text, harmless, and whether its beginning was left off.
pub(crate) fn tail(text: &str, lines: usize) -> (String, bool) {
    let text = clean::text(text);
    let count = text.lines().count();
    let kept: Vec<&str> = text.lines().skip(count.saturating_sub(lines)).collect();
    let kept = kept.join("\n");
    let length = kept.chars().count();
    let cut: String = kept.chars().skip(length.saturating_sub(SHOWN)).collect();
    (cut, count > lines || length > SHOWN)
}

/// The beginning of a text, harmless, and whether its end was left off.
pub(crate) fn head(text: &str) -> (String, bool) {
    let text = clean::text(text);
    let is_cut = text.chars().count() > SHOWN;
    (text.chars().take(SHOWN).collect(), is_cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_planned_for_a_terminal_fits_no_other() {
        use Found::{Blank, Busy, HalfTyped, Login, Password, Prompt};
        for (planned, now, fits, is_safer) in [
            (Prompt, Prompt, true, false),
            (Prompt, Blank, true, false),
            (Blank, Prompt, true, true),
            (Blank, Busy, false, true),
            (Login, Prompt, false, false),
            (Password, Prompt, false, true),
            (Password, Login, false, true),
            (Prompt, HalfTyped, false, false),
            (Busy, Busy, true, false),
        ] {
            let case = format!("{planned:?} {now:?}");
            assert_eq!(planned.still_fits(now), fits, "{case}");
            assert_eq!(planned.is_safer_than(now), is_safer, "{case}");
        }
    }

    #[test]
    fn only_so_much_is_shown_and_told_so() {
        assert_eq!(tail("a\nb\nc", 2), ("b\nc".to_owned(), true));
        assert_eq!(tail("a\u{1b}b", 2), ("ab".to_owned(), false));
        let (long, cut) = tail(&"x".repeat(20_000), 5);
        assert!(cut && long.len() == SHOWN);
        assert_eq!(head("a"), ("a".to_owned(), false));
        assert!(head(&"x".repeat(20_000)).1);
    }
}
