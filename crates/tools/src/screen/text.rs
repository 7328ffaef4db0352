//! Reading the text of a screen that shows nothing else: firmware, boot loaders, a console. Each cell is held against the
//! letters that every PC's graphics card has had since the VGA; what is not one of them is not guessed.

use std::collections::HashMap;
use std::sync::OnceLock;

use pve::console::Area;

use crate::picture::Colour;

/// The letters, 16 rows of 8 pixels each, the leftmost in the highest bit; measured on QEMU's own card.
const LETTERS: &[u8; 256 * 16] = include_bytes!("vga8x16.bin");
/// What they mean: code page 437.
const MEANS: &str = "\
\x20☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼\
\x20!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~⌂\
ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■ ";
const HEIGHT: usize = 16;
/// A letter or two may be unknown; more that cannot be read, and the screen shows something else than text.
const UNREADABLE: usize = 2;
/// The rows in which a cursor underlines a letter.
const CURSOR: std::ops::Range<usize> = 12..16;

type Shape = [u8; HEIGHT];

/// The lines of a part of a screen of so many pixels across; `None` if it shows something else than text, or cuts through
/// letters.
pub(super) fn read(pixels: &[Colour], area: Area, across: usize) -> Option<String> {
    // The card's own text mode draws letters 9 pixels wide; consoles drawn by a system, 8.
    let cell = if across == 720 { 9 } else { 8 };
    if !area.x.is_multiple_of(cell) || !area.y.is_multiple_of(HEIGHT) {
        return None;
    }
    let width = area.width;
    let (columns, rows) = (width / cell, area.height / HEIGHT);
    let mut unreadable = 0;
    let mut text = String::new();
    for row in 0..rows {
        let mut line = String::new();
        for column in 0..columns {
            let first = row * HEIGHT * width + column * cell;
            match letter(pixels, first, width) {
                Cell::Letter(letter) => line.push(letter),
                Cell::Other if unreadable == UNREADABLE => return None,
                Cell::Other => {
                    unreadable += 1;
                    line.push(char::REPLACEMENT_CHARACTER);
                }
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let text = text.trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}

/// What a cell shows.
enum Cell {
    Letter(char),
    /// A cursor, or no text at all.
    Other,
}

/// What the cell shows that begins at a pixel. A cell of text has two colours.
fn letter(pixels: &[Colour], first: usize, width: usize) -> Cell {
    let rows = (0..HEIGHT).map(|y| pixels.get(first + y * width..first + y * width + 8));
    let Some(rows) = rows.collect::<Option<Vec<_>>>() else {
        return Cell::Other;
    };
    let paper = rows[0][0];
    let mut ink = None;
    let mut shape = [0; HEIGHT];
    for (bits, row) in shape.iter_mut().zip(rows) {
        for (x, pixel) in row.iter().enumerate().filter(|(_, pixel)| **pixel != paper) {
            if *ink.get_or_insert(*pixel) != *pixel {
                return Cell::Other;
            }
            *bits |= 0x80 >> x;
        }
    }
    if ink.is_none() {
        return Cell::Letter(' ');
    }
    // The first pixel need not be paper: a letter may begin there.
    let other = shape.map(|bits| !bits);
    let shapes = shapes();
    let known = shapes.get(&shape).or_else(|| shapes.get(&other));
    match known {
        Some(letter) => Cell::Letter(*letter),
        None if is_underlined_blank(&shape) => Cell::Letter(' '),
        None => Cell::Other,
    }
}

/// A cursor where nothing is written.
fn is_underlined_blank(shape: &Shape) -> bool {
    let mut rows = shape.iter().enumerate();
    rows.all(|(row, bits)| *bits == 0 || *bits == 0xff && CURSOR.contains(&row))
}

fn shapes() -> &'static HashMap<Shape, char> {
    static SHAPES: OnceLock<HashMap<Shape, char>> = OnceLock::new();
    SHAPES.get_or_init(|| {
        let (letters, _) = LETTERS.as_chunks::<HEIGHT>();
        let mut shapes = HashMap::new();
        // Letters before signs: where two look alike, the text has the letter.
        let mut all: Vec<(&Shape, char)> = letters.iter().zip(MEANS.chars()).collect();
        all.sort_by_key(|(_, letter)| !letter.is_ascii_graphic());
        for (shape, letter) in all {
            shapes.entry(*shape).or_insert(letter);
        }
        shapes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Colour = [0; 3];
    const INK: Colour = [170; 3];

    /// A screen that shows these lines.
    fn drawn(lines: &[&str], columns: usize, cell: usize) -> (Vec<Colour>, Area) {
        let width = columns * cell;
        let mut pixels = vec![PAPER; width * lines.len() * HEIGHT];
        for (row, line) in lines.iter().enumerate() {
            for (column, letter) in line.chars().enumerate() {
                let number = MEANS.chars().position(|known| known == letter).unwrap();
                for y in 0..HEIGHT {
                    for x in 0..8 {
                        if LETTERS[number * HEIGHT + y] & (0x80 >> x) != 0 {
                            pixels[(row * HEIGHT + y) * width + column * cell + x] = INK;
                        }
                    }
                }
            }
        }
        let area = Area {
            x: 0,
            y: 0,
            width,
            height: lines.len() * HEIGHT,
        };
        (pixels, area)
    }

    #[test]
    fn there_is_a_meaning_for_every_letter() {
        assert_eq!(MEANS.chars().count(), 256);
        assert_eq!(MEANS.chars().nth(65), Some('A'));
        assert_eq!(MEANS.chars().nth(219), Some('█'));
    }

    #[test]
    fn text_is_read_in_both_widths_of_letters() {
        let lines = [
            "SeaBIOS (version 1.16)",
            "",
            "root@web:~# ls -l | grep \"{x}\"  ├─┤",
        ];
        for (columns, cell) in [(80, 9), (128, 8)] {
            let (pixels, area) = drawn(&lines, columns, cell);
            assert_eq!(read(&pixels, area, area.width), Some(lines.join("\n")));
        }
    }

    #[test]
    fn a_cursor_does_not_matter_and_a_picture_is_no_text() {
        let (mut pixels, area) = drawn(&["login: x"], 80, 9);
        for y in 13..15 {
            for x in 0..8 {
                pixels[y * area.width + 9 * 9 + x] = INK;
            }
        }
        assert_eq!(read(&pixels, area, 720), Some("login: x".to_owned()));
        // Something else in a cell is not left out without a word.
        pixels[3 * area.width + 7 * 9 + 1] = INK;
        assert_eq!(read(&pixels, area, 720), Some("login: \u{fffd}".to_owned()));
        let beside = Area { x: 4, ..area };
        assert_eq!(read(&pixels, beside, 720), None);
        let photo: Vec<Colour> = (0..720 * 400)
            .map(|n: u32| [n.to_le_bytes()[0]; 3])
            .collect();
        let whole = Area {
            height: 400,
            ..area
        };
        assert_eq!(read(&photo, whole, 720), None);
        assert_eq!(read(&vec![PAPER; 720 * 400], whole, 720), None);
    }
}
