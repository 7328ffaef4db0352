//! A small picture of few colours: lines, boxes and letters.

use super::font;

/// A colour of the palette. Background and ink keep their contrast on white and on black pages alike, because the picture
/// brings its own paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Ink {
    Paper,
    Panel,
    Grid,
    Text,
    Faint,
    First,
    Second,
    Third,
}

/// Red, green and blue of each, in the order of [`Ink`].
const PALETTE: [[u8; 3]; 8] = [
    [0xf7, 0xf8, 0xfa],
    [0xff, 0xff, 0xff],
    [0xe1, 0xe5, 0xea],
    [0x1f, 0x29, 0x33],
    [0x6b, 0x77, 0x85],
    [0x1f, 0x6f, 0xc4],
    [0xd9, 0x6b, 0x0b],
    [0x2e, 0x8b, 0x57],
];

/// The picture.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    /// An empty one.
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            pixels: vec![Ink::Paper as u8; width * height],
        }
    }

    /// One point; what lies outside is left out.
    pub(super) fn dot(&mut self, x: i32, y: i32, ink: Ink) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
            return;
        };
        if x < self.width && y < self.height {
            self.pixels[y * self.width + x] = ink as u8;
        }
    }

    /// A filled box.
    pub(super) fn fill(&mut self, x: i32, y: i32, width: i32, height: i32, ink: Ink) {
        for row in y..y + height {
            for column in x..x + width {
                self.dot(column, row, ink);
            }
        }
    }

    /// A line two points thick.
    pub(super) fn line(&mut self, from: (i32, i32), to: (i32, i32), ink: Ink) {
        let (dx, dy) = ((to.0 - from.0).abs(), -(to.1 - from.1).abs());
        let step = |a: i32, b: i32| if a < b { 1 } else { -1 };
        let (sx, sy) = (step(from.0, to.0), step(from.1, to.1));
        let ((mut x, mut y), mut error) = (from, dx + dy);
        loop {
            self.fill(x, y, 2, 2, ink);
            if (x, y) == to {
                return;
            }
            let doubled = 2 * error;
            if doubled >= dy {
                error += dy;
                x += sx;
            }
            if doubled <= dx {
                error += dx;
                y += sy;
            }
        }
    }

    /// Words, their upper left corner here.
    pub(super) fn text(&mut self, x: i32, y: i32, words: &str, ink: Ink) {
        let mut left = x;
        for letter in words.chars() {
            for (column, bits) in font::columns(letter).into_iter().enumerate() {
                for row in 0..font::HEIGHT {
                    if bits >> row & 1 == 1 {
                        let at = i32::try_from(column).unwrap_or_default();
                        self.fill(
                            left + at * font::SCALE,
                            y + row * font::SCALE,
                            font::SCALE,
                            font::SCALE,
                            ink,
                        );
                    }
                }
            }
            left += font::ADVANCE;
        }
    }

    /// Words that end here.
    pub(super) fn text_to(&mut self, right: i32, y: i32, words: &str, ink: Ink) {
        self.text(right - font::width(words), y, words, ink);
    }

    /// As a PNG file.
    pub(super) fn png(&self) -> Vec<u8> {
        crate::picture::indexed(self.width, &self.pixels, &PALETTE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_outside_is_left_out() {
        let mut canvas = Canvas::new(4, 4);
        canvas.line((-5, -5), (9, 9), Ink::First);
        canvas.text(2, 2, "wide", Ink::Text);
        let png = canvas.png();
        assert!(png.starts_with(b"\x89PNG") && png.ends_with(&[0xae, 0x42, 0x60, 0x82]));
    }
}
