//! What a terminal shows, as text.

use std::num::NonZeroU16;

use super::Size;
use super::stands::Stands;

/// Lines that are kept after they have left the screen.
const KEPT_LINES: usize = 1000;

/// The text of a terminal: what its bytes have painted, and the lines that have left at the top.
pub struct TerminalScreen {
    parser: vt100::Parser,
}

impl TerminalScreen {
    /// An empty terminal. No size is too small.
    pub(super) fn new(size: Size) -> Self {
        let at_least_one = |count: u16| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
        let (rows, columns) = (at_least_one(size.rows), at_least_one(size.columns));
        Self {
            parser: vt100::Parser::new(rows, columns, KEPT_LINES),
        }
    }

    /// Paints what the terminal writes, whatever it is.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    /// Everything that is kept, oldest first, without blanks at the ends of lines and empty lines at both ends.
    pub fn text(&self) -> String {
        let text = self.written();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n").trim_matches('\n').to_owned()
    }

    /// Everything that is kept, with the blanks that were written.
    pub(super) fn written(&self) -> String {
        let mut screen = self.parser.screen().clone();
        let rows = usize::from(screen.size().0.get());
        let mut above = screen.scrollback_len();
        let mut text = String::new();
        while above > 0 {
            screen.set_scrollback(above);
            let count = above.min(rows);
            add_rows(&screen, count, &mut text);
            above -= count;
        }
        screen.set_scrollback(0);
        add_rows(&screen, rows, &mut text);
        text
    }

    /// The line that the cursor is in, up to the cursor and after it.
    pub fn cursor_line(&self) -> (String, String) {
        let screen = self.parser.screen();
        let (row, column) = screen.cursor_position();
        let columns = screen.size().1.get();
        let mut first = row;
        while first > 0 && screen.row_wrapped(first - 1) {
            first -= 1;
        }
        let before = screen.contents_between(first, 0, row, column);
        let after = screen.contents_between(row, column, row, columns);
        // A cursor that was moved to the right leaves cells that nothing was written to.
        (before.replace('\n', ""), after.trim_end().to_owned())
    }

    /// Whether a program has taken the whole screen for itself, as editors and pagers do.
    pub fn is_taken(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// What the terminal seems to wait for.
    pub fn stands(&self) -> Stands {
        Stands::of(self)
    }
}

/// Adds the first rows, joining those that the terminal itself has broken.
fn add_rows(screen: &vt100::Screen, count: usize, text: &mut String) {
    let columns = screen.size().1.get();
    for (index, row) in screen.rows(0, columns).take(count).enumerate() {
        text.push_str(&row);
        let is_broken = u16::try_from(index).is_ok_and(|index| screen.row_wrapped(index));
        if !is_broken {
            text.push('\n');
        }
    }
}

impl std::fmt::Debug for TerminalScreen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rows, columns) = self.parser.screen().size();
        write!(f, "TerminalScreen({columns}x{rows})")
    }
}
