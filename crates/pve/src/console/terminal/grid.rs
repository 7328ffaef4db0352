//! The rows of a terminal and its cursor, and how sequences move and change them.
//!
//! Every place that a server names is brought back onto the grid first, so that nothing here can be out of it.

mod edit;

use std::collections::VecDeque;
use std::ops::Range;

use super::Size;
use super::row::Row;

/// Lines that are kept after they have left the screen.
const KEPT_LINES: usize = 1000;
const TAB: usize = 8;

/// Where the next letter goes. The column is one too many when a row is full: only the next letter begins a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cursor {
    pub(super) row: usize,
    pub(super) column: usize,
}

/// A line that has left the screen at its top.
struct Line {
    text: String,
    is_broken: bool,
}

/// A screen full of rows. Not to be printed for debugging: it may show what somebody typed.
pub(super) struct Grid {
    columns: usize,
    rows: Vec<Row>,
    above: VecDeque<Line>,
    kept: usize,
    cursor: Cursor,
    /// The cursor that comes back, and how rows were counted then.
    saved: (Cursor, bool),
    /// The rows that scroll: those above and below stay where they are.
    scrolling: Range<usize>,
    /// Whether rows are counted from the first that scrolls.
    counts_from_scrolling: bool,
}

impl Grid {
    /// An empty one that keeps what leaves it. No size is too small.
    pub(super) fn new(size: Size) -> Self {
        let (columns, rows) = (size.columns.max(1).into(), size.rows.max(1).into());
        Self {
            columns,
            rows: vec![Row::new(columns); rows],
            above: VecDeque::new(),
            kept: KEPT_LINES,
            cursor: Cursor::default(),
            saved: Default::default(),
            scrolling: 0..rows,
            counts_from_scrolling: false,
        }
    }

    /// An empty one that keeps nothing of what leaves it.
    pub(super) fn forgetful(size: Size) -> Self {
        Self {
            kept: 0,
            ..Self::new(size)
        }
    }

    /// Everything but the kept lines, as it was in the beginning.
    pub(super) fn reset(&mut self) {
        self.erase_all();
        self.cursor = Cursor::default();
        self.saved = Default::default();
        self.scrolling = 0..self.rows.len();
        self.counts_from_scrolling = false;
    }

    /// How many letters it holds.
    pub(super) fn cells(&self) -> usize {
        self.columns * self.rows.len()
    }

    /// The kept lines and the rows, each with a line end unless the terminal broke it.
    pub(super) fn written(&self) -> String {
        let mut text = String::new();
        let mut add = |line: &str, is_broken: bool| {
            text.push_str(line);
            if !is_broken {
                text.push('\n');
            }
        };
        for line in &self.above {
            add(&line.text, line.is_broken);
        }
        for row in &self.rows {
            add(&row.whole(), row.is_broken);
        }
        text
    }

    /// The line that the cursor is in, up to the cursor and after it.
    pub(super) fn cursor_line(&self) -> (String, String) {
        let Cursor { row, column } = self.cursor;
        let above = self.rows.iter().take(row).rev();
        let mut before: Vec<String> = above
            .take_while(|row| row.is_broken)
            .map(Row::whole)
            .collect();
        before.reverse();
        let Some(row) = self.rows.get(row) else {
            return (before.concat(), String::new());
        };
        before.push(row.text(0..column));
        let after = row.text(column..self.columns);
        (before.concat(), after.trim_end().to_owned())
    }

    /// Writes a letter of so many cells at the cursor.
    pub(super) fn write(&mut self, letter: char, width: usize) {
        let width = width.min(self.columns);
        if self.cursor.column + width > self.columns {
            let next = self.cursor.row + 1;
            // Below what scrolls, the last row is written over.
            let goes_on = next == self.scrolling.end || next < self.rows.len();
            self.row().is_broken = goes_on;
            self.cursor.column = 0;
            self.line_feed();
        }
        let column = self.cursor.column;
        self.row().write(column, letter, width);
        self.cursor.column += width;
    }

    /// Puts an accent on the letter before the cursor.
    pub(super) fn mark(&mut self, mark: char) {
        let column = self.cursor.column;
        self.row().mark(column, mark);
    }

    /// One row down; at the last that scrolls, the others go up.
    pub(super) fn line_feed(&mut self) {
        if self.cursor.row + 1 == self.scrolling.end {
            self.scroll_up(1);
        } else {
            self.go_to_row(self.cursor.row + 1);
        }
    }

    /// One row up; at the first that scrolls, the others go down.
    pub(super) fn reverse_line_feed(&mut self) {
        if self.cursor.row == self.scrolling.start {
            self.scroll_down(1);
        } else {
            self.cursor.row = self.cursor.row.saturating_sub(1);
        }
    }

    /// To a column, or the last.
    pub(super) fn go_to_column(&mut self, column: usize) {
        self.cursor.column = column.min(self.columns - 1);
    }

    pub(super) fn left(&mut self, count: usize) {
        self.go_to_column(self.column().saturating_sub(count));
    }

    pub(super) fn right(&mut self, count: usize) {
        self.go_to_column(self.column() + count);
    }

    pub(super) fn tab(&mut self) {
        self.go_to_column((self.column() / TAB + 1) * TAB);
    }

    /// Up, but not out of the rows that scroll.
    pub(super) fn up(&mut self, count: usize) {
        let row = self.cursor.row;
        let inside = row >= self.scrolling.start;
        let first = if inside { self.scrolling.start } else { 0 };
        self.cursor.row = row.saturating_sub(count).max(first);
    }

    /// Down, but not out of the rows that scroll.
    pub(super) fn down(&mut self, count: usize) {
        let row = self.cursor.row;
        let inside = row < self.scrolling.end;
        let end = if inside {
            self.scrolling.end
        } else {
            self.rows.len()
        };
        self.cursor.row = (row + count).min(end - 1);
    }

    /// To a row as a server counts them.
    pub(super) fn go_to_named_row(&mut self, row: usize) {
        if self.counts_from_scrolling {
            let row = row + self.scrolling.start;
            self.cursor.row = row.min(self.scrolling.end - 1);
        } else {
            self.go_to_row(row);
        }
    }

    pub(super) fn save_cursor(&mut self) {
        self.saved = (self.cursor, self.counts_from_scrolling);
    }

    pub(super) fn restore_cursor(&mut self) {
        (self.cursor, self.counts_from_scrolling) = self.saved;
    }

    /// Whether rows are counted from the first that scrolls; the cursor goes to the first.
    pub(super) fn count_from_scrolling(&mut self, yes: bool) {
        self.counts_from_scrolling = yes;
        self.go_home();
    }

    /// Which rows scroll, all if that makes no sense; the cursor goes to the first.
    pub(super) fn set_scrolling(&mut self, rows: Range<usize>) {
        let rows = rows.start..rows.end.min(self.rows.len());
        self.scrolling = if rows.len() > 1 {
            rows
        } else {
            0..self.rows.len()
        };
        self.go_home();
    }

    fn go_home(&mut self) {
        self.cursor = Cursor::default();
        self.go_to_named_row(0);
    }

    fn go_to_row(&mut self, row: usize) {
        self.cursor.row = row.min(self.rows.len() - 1);
    }

    /// The cursor's column; the last one for a full row.
    fn column(&self) -> usize {
        self.cursor.column.min(self.columns - 1)
    }

    /// The cursor's row.
    fn row(&mut self) -> &mut Row {
        &mut self.rows[self.cursor.row]
    }
}
