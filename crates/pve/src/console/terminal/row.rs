//! One row of a terminal.

use std::ops::Range;

/// A letter carries no more accents than this.
const MOST_MARKS: usize = 4;

/// A place for one letter.
#[derive(Clone, Default)]
enum Cell {
    /// Nothing was written here.
    #[default]
    Empty,
    /// A letter, with the accents that came after it.
    Letter(char, Vec<char>),
    /// The second half of a letter that is two cells wide.
    Half,
}

/// A row of cells.
#[derive(Clone)]
pub(super) struct Row {
    cells: Vec<Cell>,
    /// Whether the terminal itself began the next row, because this one was full.
    pub(super) is_broken: bool,
}

impl Row {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            cells: vec![Cell::Empty; columns],
            is_broken: false,
        }
    }

    /// Writes a letter of one or two cells, which takes both halves of a wide one that it covers in part.
    pub(super) fn write(&mut self, column: usize, letter: char, width: usize) {
        if matches!(self.cells.get(column), Some(Cell::Half)) {
            self.erase(column.saturating_sub(1)..column);
        }
        if matches!(self.cells.get(column + width), Some(Cell::Half)) {
            self.erase(column + width..column + width + 1);
        }
        if column + width == self.cells.len() {
            self.is_broken = false;
        }
        for (at, cell) in self.cells.iter_mut().skip(column).take(width).enumerate() {
            *cell = if at == 0 {
                Cell::Letter(letter, Vec::new())
            } else {
                Cell::Half
            };
        }
    }

    /// Puts an accent on the letter before a column.
    pub(super) fn mark(&mut self, column: usize, mark: char) {
        let before = self.cells.iter_mut().take(column).rev();
        let mut letters = before.skip_while(|cell| matches!(cell, Cell::Half));
        if let Some(Cell::Letter(_, marks)) = letters.next()
            && marks.len() < MOST_MARKS
        {
            marks.push(mark);
        }
    }

    /// Empties cells.
    pub(super) fn erase(&mut self, columns: Range<usize>) {
        let end = columns.end.min(self.cells.len());
        if end == self.cells.len() {
            self.is_broken = false;
        }
        if let Some(cells) = self.cells.get_mut(columns.start..end) {
            cells.fill(Cell::Empty);
        }
    }

    /// Moves what is at a column and behind it to the right.
    pub(super) fn insert(&mut self, column: usize, count: usize) {
        if let Some(cells) = self.cells.get_mut(column..) {
            let count = count.min(cells.len());
            cells.rotate_right(count);
            self.is_broken = false;
            self.erase(column..column + count);
        }
    }

    /// Takes out cells; what is behind them moves to the left.
    pub(super) fn delete(&mut self, column: usize, count: usize) {
        if let Some(cells) = self.cells.get_mut(column..) {
            let count = count.min(cells.len());
            cells.rotate_left(count);
            let end = self.cells.len();
            self.erase(end - count..end);
        }
    }

    /// What is written in these columns, without the empty cells at their end.
    pub(super) fn text(&self, columns: Range<usize>) -> String {
        let end = columns.end.min(self.cells.len());
        let cells = self.cells.get(columns.start..end).unwrap_or_default();
        let is_written = |cell: &Cell| !matches!(cell, Cell::Empty);
        let written = cells
            .iter()
            .rposition(is_written)
            .map_or(0, |last| last + 1);
        let mut text = String::with_capacity(written);
        for cell in &cells[..written] {
            match cell {
                Cell::Empty => text.push(' '),
                Cell::Letter(letter, marks) => {
                    text.push(*letter);
                    text.extend(marks);
                }
                Cell::Half => {}
            }
        }
        text
    }

    /// All that is written.
    pub(super) fn whole(&self) -> String {
        self.text(0..self.cells.len())
    }
}
