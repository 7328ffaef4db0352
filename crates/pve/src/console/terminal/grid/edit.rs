//! Scrolling, inserting, deleting and erasing.

use std::mem::replace;
use std::ops::Range;

use super::{Grid, Line, Row};

impl Grid {
    /// Moves what scrolls up; what leaves the screen at its top is kept.
    pub(in crate::console::terminal) fn scroll_up(&mut self, count: usize) {
        let leaves_the_screen = self.scrolling.start == 0;
        let gone = self.lift(self.scrolling.clone(), count);
        if leaves_the_screen && self.kept > 0 {
            self.above.extend(gone.iter().map(|row| Line {
                text: row.whole(),
                is_broken: row.is_broken,
            }));
            let too_many = self.above.len().saturating_sub(self.kept);
            self.above.drain(..too_many);
        }
    }

    /// Moves what scrolls down.
    pub(in crate::console::terminal) fn scroll_down(&mut self, count: usize) {
        self.lower(self.scrolling.clone(), count);
    }

    /// Moves the rows from the cursor on down, within those that scroll.
    pub(in crate::console::terminal) fn insert_rows(&mut self, count: usize) {
        if self.scrolling.contains(&self.cursor.row) {
            self.lower(self.cursor.row..self.scrolling.end, count);
        }
    }

    /// Takes out rows from the cursor on, within those that scroll.
    pub(in crate::console::terminal) fn delete_rows(&mut self, count: usize) {
        if self.scrolling.contains(&self.cursor.row) {
            self.lift(self.cursor.row..self.scrolling.end, count);
        }
    }

    /// Moves some of the rows up; those that had to go.
    fn lift(&mut self, rows: Range<usize>, count: usize) -> Vec<Row> {
        let columns = self.columns;
        let Some(rows) = self.rows.get_mut(rows) else {
            return Vec::new();
        };
        let count = count.min(rows.len());
        rows.rotate_left(count);
        let last = rows.iter_mut().rev().take(count).rev();
        last.map(|row| replace(row, Row::new(columns))).collect()
    }

    /// Moves some of the rows down.
    fn lower(&mut self, rows: Range<usize>, count: usize) {
        let columns = self.columns;
        if let Some(rows) = self.rows.get_mut(rows) {
            let count = count.min(rows.len());
            rows.rotate_right(count);
            rows.iter_mut()
                .take(count)
                .for_each(|row| *row = Row::new(columns));
            // What it went on in is gone.
            if let Some(last) = rows.last_mut() {
                last.is_broken = false;
            }
        }
    }

    /// Empties the screen from the cursor on.
    pub(in crate::console::terminal) fn erase_below(&mut self) {
        self.erase_right();
        self.erase_rows(self.cursor.row + 1..self.rows.len());
    }

    /// Empties the screen up to the cursor.
    pub(in crate::console::terminal) fn erase_above(&mut self) {
        self.erase_left();
        self.erase_rows(0..self.cursor.row);
    }

    /// Empties the screen.
    pub(in crate::console::terminal) fn erase_all(&mut self) {
        self.erase_rows(0..self.rows.len());
    }

    /// Forgets what has left the screen.
    pub(in crate::console::terminal) fn forget(&mut self) {
        self.above.clear();
    }

    pub(in crate::console::terminal) fn erase_right(&mut self) {
        let columns = self.column()..self.columns;
        self.row().erase(columns);
    }

    pub(in crate::console::terminal) fn erase_left(&mut self) {
        let columns = 0..self.column() + 1;
        self.row().erase(columns);
    }

    pub(in crate::console::terminal) fn erase_row(&mut self) {
        let columns = 0..self.columns;
        self.row().erase(columns);
    }

    pub(in crate::console::terminal) fn erase_cells(&mut self, count: usize) {
        let columns = self.column()..self.column() + count;
        self.row().erase(columns);
    }

    pub(in crate::console::terminal) fn insert_cells(&mut self, count: usize) {
        let column = self.column();
        self.row().insert(column, count);
    }

    pub(in crate::console::terminal) fn delete_cells(&mut self, count: usize) {
        let column = self.column();
        self.row().delete(column, count);
    }

    fn erase_rows(&mut self, rows: Range<usize>) {
        for row in self.rows.get_mut(rows).into_iter().flatten() {
            *row = Row::new(self.columns);
        }
    }
}
