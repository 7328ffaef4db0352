//! What a terminal shows, as text.

use super::Size;
use super::sequences::Painter;
use super::stands::Stands;

/// The text of a terminal: what its bytes have painted, and the lines that have left at the top.
pub struct TerminalScreen {
    parser: vte::Parser,
    painter: Painter,
    /// The beginning of a character whose end has not come yet.
    begun: Vec<u8>,
}

impl TerminalScreen {
    /// An empty terminal. No size is too small.
    pub(super) fn new(size: Size) -> Self {
        Self {
            parser: vte::Parser::new(),
            painter: Painter::new(size),
            begun: Vec::new(),
        }
    }

    /// Paints what the terminal writes, whatever it is.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        // The parser takes characters in two pieces, but may lose the letter behind one; so it gets whole ones only.
        let mut whole = std::mem::take(&mut self.begun);
        whole.extend(bytes);
        self.begun = whole.split_off(whole.len() - begun_character(&whole));
        self.parser.advance(&mut self.painter, &whole);
    }

    /// Everything that is kept, oldest first, without blanks at the ends of lines and empty lines at both ends.
    pub fn text(&self) -> String {
        let text = self.written();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n").trim_matches('\n').to_owned()
    }

    /// Everything that is kept, with the blanks that were written.
    pub(super) fn written(&self) -> String {
        self.painter.grid().written()
    }

    /// The line that the cursor is in, up to the cursor and after it.
    pub fn cursor_line(&self) -> (String, String) {
        self.painter.grid().cursor_line()
    }

    /// Whether a program has taken the whole screen for itself, as editors and pagers do.
    pub fn is_taken(&self) -> bool {
        self.painter.is_taken
    }

    /// What the terminal seems to wait for.
    pub fn stands(&self) -> Stands {
        Stands::of(self)
    }
}

/// How many bytes at the end are the beginning of a character.
fn begun_character(bytes: &[u8]) -> usize {
    const LONGEST: usize = 3;
    let is_begun = |count: &usize| {
        let error = std::str::from_utf8(&bytes[bytes.len() - count..]).err();
        error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    let counts = 1..=LONGEST.min(bytes.len());
    counts.rev().find(is_begun).unwrap_or(0)
}

/// Without the text: it may be what somebody typed.
impl std::fmt::Debug for TerminalScreen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TerminalScreen")
    }
}
