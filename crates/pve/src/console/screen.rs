//! A picture of a screen.

/// The largest screen that is taken: that of a 5K display.
pub(super) const MAX_PIXELS: usize = 5120 * 2880;

/// What a screen shows: red, green and blue of each pixel, row by row.
#[derive(Clone, PartialEq, Eq)]
pub struct Screen {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

/// A part of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Pixels from the left.
    pub x: usize,
    /// Pixels from the top.
    pub y: usize,
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
}

impl Screen {
    /// A black screen; `None` if it has no pixel, or more than any real one.
    pub fn black(width: usize, height: usize) -> Option<Self> {
        let count = width
            .checked_mul(height)
            .filter(|count| (1..=MAX_PIXELS).contains(count))?;
        Some(Self {
            width,
            height,
            pixels: vec![[0; 3]; count],
        })
    }

    /// Pixels across.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Pixels down.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The pixels, row by row from the top, each from the left.
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// One row of pixels; empty below the screen.
    pub fn row(&self, y: usize) -> &[[u8; 3]] {
        let from = y.saturating_mul(self.width);
        self.pixels.get(from..from + self.width).unwrap_or_default()
    }

    /// The smallest part that holds every pixel in which two screens differ; all of it if their sizes differ, `None` if
    /// they are equal.
    pub fn difference(&self, other: &Self) -> Option<Area> {
        if (self.width, self.height) != (other.width, other.height) {
            return Some(self.whole());
        }
        let differs = |y: &usize| self.row(*y) != other.row(*y);
        let top = (0..self.height).find(differs)?;
        let bottom = (top..self.height).rfind(differs)?;
        let (mut left, mut right) = (self.width, 0);
        for y in top..=bottom {
            let pairs = || self.row(y).iter().zip(other.row(y));
            let first = pairs().position(|(one, two)| one != two);
            let last = pairs().rposition(|(one, two)| one != two);
            left = left.min(first.unwrap_or(left));
            right = right.max(last.unwrap_or(right));
        }
        Some(Area {
            x: left,
            y: top,
            width: right + 1 - left,
            height: bottom + 1 - top,
        })
    }

    /// All of it.
    pub fn whole(&self) -> Area {
        Area {
            x: 0,
            y: 0,
            width: self.width,
            height: self.height,
        }
    }

    /// Whether a part lies on the screen.
    pub fn holds(&self, area: Area) -> bool {
        area.x + area.width <= self.width && area.y + area.height <= self.height
    }

    /// A row of a part, to be painted. The part must lie on the screen.
    pub(super) fn row_mut(&mut self, area: Area, y: usize) -> &mut [[u8; 3]] {
        let from = (area.y + y) * self.width + area.x;
        &mut self.pixels[from..from + area.width]
    }

    /// Copies a part of the same size from elsewhere on the screen, where they may overlap. Both must lie on it.
    pub(super) fn copy(&mut self, from: (usize, usize), to: Area) {
        let start = |x: usize, y: usize| y * self.width + x;
        let upwards = from.1 >= to.y;
        for step in 0..to.height {
            let y = if upwards { step } else { to.height - 1 - step };
            let source = start(from.0, from.1 + y);
            let target = start(to.x, to.y + y);
            self.pixels.copy_within(source..source + to.width, target);
        }
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Screen({}x{})", self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [u8; 3] = [255, 0, 0];

    #[test]
    fn a_difference_is_as_small_as_can_be() {
        let black = Screen::black(10, 8).unwrap();
        assert_eq!(black.difference(&black), None);
        let mut other = black.clone();
        let area = Area {
            x: 3,
            y: 2,
            width: 4,
            height: 1,
        };
        other.row_mut(area, 0).fill(RED);
        assert_eq!(black.difference(&other), Some(area));
        let larger = Screen::black(11, 8).unwrap();
        assert_eq!(black.difference(&larger), Some(black.whole()));
    }

    #[test]
    fn overlapping_copies_keep_their_content() {
        for (from, to) in [(0, 1), (1, 0)] {
            let mut screen = Screen::black(1, 4).unwrap();
            for y in 0..4 {
                screen.pixels[y] = [u8::try_from(y).unwrap(), 0, 0];
            }
            let area = Area {
                x: 0,
                y: to,
                width: 1,
                height: 3,
            };
            screen.copy((0, from), area);
            let moved: Vec<u8> = (0..3).map(|y| screen.pixels[to + y][0]).collect();
            let expected: Vec<u8> = (0..3).map(|y| u8::try_from(from + y).unwrap()).collect();
            assert_eq!(moved, expected);
        }
    }

    #[test]
    fn absurd_sizes_are_no_screens() {
        assert!(Screen::black(0, 5).is_none());
        assert!(Screen::black(65_535, 65_535).is_none());
    }
}
