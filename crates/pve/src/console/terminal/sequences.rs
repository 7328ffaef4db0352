//! What a terminal's bytes mean: letters, control characters, and the sequences that move, erase and scroll.
//!
//! Colours and everything else that does not change the text is passed over.
//!
//! Written here and not taken from a crate: the ones at hand panic on letters that become wide at the end of a row, or
//! repeat one letter for as long as a server likes.

use unicode_width::UnicodeWidthChar;
use vte::{Params, Perform};

use super::Size;
use super::grid::Grid;

/// The screen, and the other one that programs take to leave it as it was.
pub(super) struct Painter {
    main: Grid,
    alternate: Grid,
    pub(super) is_taken: bool,
    last_letter: Option<(char, usize)>,
}

impl Painter {
    pub(super) fn new(size: Size) -> Self {
        Self {
            main: Grid::new(size),
            alternate: Grid::forgetful(size),
            is_taken: false,
            last_letter: None,
        }
    }

    /// What is shown.
    pub(super) fn grid(&self) -> &Grid {
        if self.is_taken {
            &self.alternate
        } else {
            &self.main
        }
    }

    fn grid_mut(&mut self) -> &mut Grid {
        if self.is_taken {
            &mut self.alternate
        } else {
            &mut self.main
        }
    }

    /// A mode that a sequence sets or resets.
    fn set_mode(&mut self, mode: u16, on: bool) {
        match (mode, on) {
            (6, _) => self.grid_mut().count_from_scrolling(on),
            (47 | 1047, _) => self.is_taken = on,
            (1048, true) => self.grid_mut().save_cursor(),
            (1048, false) => self.grid_mut().restore_cursor(),
            (1049, true) => {
                self.main.save_cursor();
                self.alternate.reset();
                self.is_taken = true;
            }
            (1049, false) => {
                self.is_taken = false;
                self.main.restore_cursor();
            }
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.main.reset();
        self.alternate.reset();
        self.is_taken = false;
        self.last_letter = None;
    }

    fn repeat(&mut self, count: usize) {
        if let Some((letter, width)) = self.last_letter {
            // More than the screen holds would only push out what it wrote itself.
            for _ in 0..count.min(self.grid().cells()) {
                self.grid_mut().write(letter, width);
            }
        }
    }
}

impl Perform for Painter {
    fn print(&mut self, letter: char) {
        match letter.width() {
            // What stands for bytes that are no letter.
            _ if letter == char::REPLACEMENT_CHARACTER => {}
            None => {}
            Some(0) => self.grid_mut().mark(letter),
            Some(width) => {
                self.grid_mut().write(letter, width);
                self.last_letter = Some((letter, width));
            }
        }
    }

    fn execute(&mut self, byte: u8) {
        let grid = self.grid_mut();
        match byte {
            b'\x08' => grid.left(1),
            b'\t' => grid.tab(),
            b'\n' | b'\x0b' | b'\x0c' => grid.line_feed(),
            b'\r' => grid.go_to_column(0),
            _ => {}
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _: bool, byte: u8) {
        if !intermediates.is_empty() {
            return;
        }
        match byte {
            b'7' => self.grid_mut().save_cursor(),
            b'8' => self.grid_mut().restore_cursor(),
            b'D' => self.grid_mut().line_feed(),
            b'E' => {
                self.grid_mut().line_feed();
                self.grid_mut().go_to_column(0);
            }
            b'M' => self.grid_mut().reverse_line_feed(),
            b'c' => self.reset(),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        match (intermediates, action) {
            ([b'?'], 'h' | 'l') => {
                for mode in params.iter().filter_map(|parts| parts.first()) {
                    self.set_mode(*mode, action == 'h');
                }
            }
            ([] | [b'?'], 'J' | 'K') => erase(self.grid_mut(), params, action),
            ([], 'b') => self.repeat(count(params, 0)),
            ([], _) => change(self.grid_mut(), params, action),
            _ => {}
        }
    }
}

/// A number of a sequence; none, and zero, mean one.
fn count(params: &Params, at: usize) -> usize {
    number(params, at).max(1).into()
}

/// A number of a sequence; none means zero.
fn number(params: &Params, at: usize) -> u16 {
    let parts = params.iter().nth(at).unwrap_or_default();
    parts.first().copied().unwrap_or(0)
}

fn erase(grid: &mut Grid, params: &Params, action: char) {
    match (action, number(params, 0)) {
        ('J', 0) => grid.erase_below(),
        ('J', 1) => grid.erase_above(),
        ('J', 2) => grid.erase_all(),
        ('J', 3) => grid.forget(),
        ('K', 0) => grid.erase_right(),
        ('K', 1) => grid.erase_left(),
        ('K', 2) => grid.erase_row(),
        _ => {}
    }
}

/// Moves the cursor, or what is on the screen. Sequences count from one.
fn change(grid: &mut Grid, params: &Params, action: char) {
    let first = count(params, 0);
    match action {
        '@' => grid.insert_cells(first),
        'A' => grid.up(first),
        'B' | 'e' => grid.down(first),
        'C' | 'a' => grid.right(first),
        'D' => grid.left(first),
        'E' => {
            grid.down(first);
            grid.go_to_column(0);
        }
        'F' => {
            grid.up(first);
            grid.go_to_column(0);
        }
        'G' | '`' => grid.go_to_column(first - 1),
        'H' | 'f' => {
            grid.go_to_named_row(first - 1);
            grid.go_to_column(count(params, 1) - 1);
        }
        'L' => grid.insert_rows(first),
        'M' => grid.delete_rows(first),
        'P' => grid.delete_cells(first),
        'S' => grid.scroll_up(first),
        'T' => grid.scroll_down(first),
        'X' => grid.erase_cells(first),
        'd' => grid.go_to_named_row(first - 1),
        'r' => {
            let last = match number(params, 1) {
                0 => usize::MAX,
                last => last.into(),
            };
            grid.set_scrolling(first - 1..last);
        }
        's' => grid.save_cursor(),
        'u' => grid.restore_cursor(),
        _ => {}
    }
}
