//! A text screen as pixels: the font and the colours of VGA.

use crate::world::display::{Cell, TextScreen};

/// 256 characters of 16 rows, a byte for each row with the leftmost pixel in the highest bit. Read off a screen of
/// QEMU's VGA adapter in text mode that showed all characters.
const FONT: &[u8; 4096] = include_bytes!("vga8x16.bin");
/// The height of a character.
pub(super) const CELL_HEIGHT: u16 = 16;
/// The rows of a character that the cursor covers.
const CURSOR: std::ops::Range<u16> = 14..16;

/// The sixteen colours.
const COLOURS: [[u8; 3]; 16] = [
    [0x00, 0x00, 0x00],
    [0x00, 0x00, 0xaa],
    [0x00, 0xaa, 0x00],
    [0x00, 0xaa, 0xaa],
    [0xaa, 0x00, 0x00],
    [0xaa, 0x00, 0xaa],
    [0xaa, 0x55, 0x00],
    [0xaa, 0xaa, 0xaa],
    [0x55, 0x55, 0x55],
    [0x55, 0x55, 0xff],
    [0x55, 0xff, 0x55],
    [0x55, 0xff, 0xff],
    [0xff, 0x55, 0x55],
    [0xff, 0x55, 0xff],
    [0xff, 0xff, 0x55],
    [0xff, 0xff, 0xff],
];

/// Width and height of a screen in pixels.
pub(super) fn size(screen: &TextScreen) -> (u16, u16) {
    let mode = screen.mode();
    (mode.columns * mode.cell_width, mode.rows * CELL_HEIGHT)
}

/// The colour of a pixel; beyond the screen there is black.
pub(super) fn colour(screen: &TextScreen, x: u16, y: u16) -> [u8; 3] {
    let width = screen.mode().cell_width;
    let (column, row) = (x / width, y / CELL_HEIGHT);
    let Some(cell) = screen.cell(column, row) else {
        return COLOURS[0];
    };
    let lit = is_lit(cell, x % width, y % CELL_HEIGHT)
        || (screen.cursor() == Some((column, row)) && CURSOR.contains(&(y % CELL_HEIGHT)));
    let shade = if lit { cell.ink } else { cell.paper };
    COLOURS[usize::from(shade & 15)]
}

/// The ninth column is empty, except for the signs of which lines are drawn.
fn is_lit(cell: Cell, x: u16, y: u16) -> bool {
    let is_line = (192..=223).contains(&cell.code);
    let x = match x {
        0..=7 => x,
        _ if is_line => 7,
        _ => return false,
    };
    let bits = FONT[usize::from(cell.code) * 16 + usize::from(y)];
    bits & (0x80 >> x) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_drawn() {
        let mut screen = TextScreen::default();
        screen.print("A");
        assert_eq!(size(&screen), (720, 400));
        let row = |y: u16| {
            let lit = |x| colour(&screen, x, y) != COLOURS[0];
            (0..9)
                .map(|x| if lit(x) { '#' } else { '.' })
                .collect::<String>()
        };
        let drawn: Vec<String> = (0..16).map(row).collect();
        let rows = drawn.iter().filter(|row| row.contains('#')).count();
        assert_eq!(rows, 10, "{drawn:#?}");
        assert!(drawn.iter().any(|row| row == "#######.."), "{drawn:#?}");
        // The cursor stands behind it.
        assert_eq!(colour(&screen, 9, 15), COLOURS[7]);
        assert_eq!(colour(&screen, 9, 13), COLOURS[0]);
        assert_eq!(colour(&screen, 5000, 5000), COLOURS[0]);
    }

    #[test]
    fn lines_join_across_characters() {
        let line = Cell {
            code: 196,
            ..Cell::default()
        };
        let rows = (0..16).filter(|y| is_lit(line, 8, *y)).count();
        assert_eq!(rows, 1);
    }
}
