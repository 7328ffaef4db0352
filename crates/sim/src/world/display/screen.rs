//! A screen of characters.

/// A character on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its code in the set of the PC (code page 437).
    pub code: u8,
    /// The colour of the character, of VGA's sixteen.
    pub ink: u8,
    /// The colour behind it.
    pub paper: u8,
}

impl Default for Cell {
    fn default() -> Self {
        Self {
            code: b' ',
            ink: 7,
            paper: 0,
        }
    }
}

/// How many characters there are, and how wide each is in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
    /// The width of a character.
    pub cell_width: u16,
}

impl Mode {
    /// VGA's text mode: 720 x 400 pixels.
    pub const TEXT: Self = Self {
        columns: 80,
        rows: 25,
        cell_width: 9,
    };
    /// The console that a kernel draws by itself on a display of 1280 x 800 pixels.
    pub const GRAPHIC: Self = Self {
        columns: 160,
        rows: 50,
        cell_width: 8,
    };

    fn cells(self) -> usize {
        usize::from(self.columns) * usize::from(self.rows)
    }
}

/// A screen with a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextScreen {
    mode: Mode,
    cells: Vec<Cell>,
    column: u16,
    row: u16,
    ink: u8,
}

impl Default for TextScreen {
    fn default() -> Self {
        Self::new(Mode::TEXT)
    }
}

impl TextScreen {
    /// An empty screen.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            cells: vec![Cell::default(); mode.cells()],
            column: 0,
            row: 0,
            ink: 7,
        }
    }

    /// Its size.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Column and row of the cursor.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        (self.column < self.mode.columns).then_some((self.column, self.row))
    }

    /// A character; `None` beyond the screen.
    pub fn cell(&self, column: u16, row: u16) -> Option<Cell> {
        self.cells.get(self.place(column, row)?).copied()
    }

    /// The rows as text, without blanks at the end.
    pub fn lines(&self) -> Vec<String> {
        let rows = self.cells.chunks(usize::from(self.mode.columns));
        let text = |row: &[Cell]| row.iter().map(|cell| char::from(cell.code)).collect();
        rows.map(|row| {
            let row: String = text(row);
            row.trim_end().to_owned()
        })
        .collect()
    }

    /// Changes the colour of what is printed from now on.
    pub fn set_ink(&mut self, ink: u8) {
        self.ink = ink;
    }

    /// Prints text. What goes beyond the last row moves everything up.
    pub fn print(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\n' => self.new_line(),
                '\r' => self.column = 0,
                '\t' => {
                    let blanks = 8 - self.column % 8;
                    (0..blanks).for_each(|_| self.put(b' '));
                }
                c if c.is_control() => {}
                c => self.put(u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(b'?')),
            }
        }
    }

    /// Takes the last character back.
    pub fn erase_last(&mut self) {
        if self.column > 0 {
            self.column -= 1;
        } else if self.row > 0 {
            self.row -= 1;
            self.column = self.mode.columns - 1;
        }
        self.set(self.column, self.row, Cell::default());
    }

    /// Empties it.
    pub fn clear(&mut self) {
        *self = Self::new(self.mode);
    }

    fn put(&mut self, code: u8) {
        if self.column >= self.mode.columns {
            self.new_line();
        }
        let ink = self.ink;
        self.set(
            self.column,
            self.row,
            Cell {
                code,
                ink,
                paper: 0,
            },
        );
        self.column += 1;
    }

    fn new_line(&mut self) {
        self.column = 0;
        if self.row + 1 < self.mode.rows {
            self.row += 1;
        } else {
            self.cells.drain(..usize::from(self.mode.columns));
            self.cells.resize(self.mode.cells(), Cell::default());
        }
    }

    fn set(&mut self, column: u16, row: u16, cell: Cell) {
        if let Some(place) = self.place(column, row) {
            self.cells[place] = cell;
        }
    }

    fn place(&self, column: u16, row: u16) -> Option<usize> {
        let there = column < self.mode.columns && row < self.mode.rows;
        there.then(|| usize::from(row) * usize::from(self.mode.columns) + usize::from(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_wrap_and_old_ones_leave() {
        let mut screen = TextScreen::default();
        screen.print(&format!("{}b", "a".repeat(80)));
        assert_eq!(screen.lines()[1], "b");
        screen.print(&"\nc".repeat(24));
        let lines = screen.lines();
        assert_eq!((lines[0].as_str(), lines[24].as_str()), ("b", "c"));
        assert_eq!(screen.cursor(), Some((1, 24)));
    }

    #[test]
    fn characters_are_taken_back() {
        let mut screen = TextScreen::default();
        screen.print("ab\tc\u{1b}é");
        assert_eq!(screen.lines()[0], "ab      c?");
        screen.erase_last();
        screen.erase_last();
        assert_eq!(screen.lines()[0], "ab");
        assert_eq!(screen.cursor(), Some((8, 0)));
        screen.clear();
        assert_eq!(screen, TextScreen::default());
    }
}
