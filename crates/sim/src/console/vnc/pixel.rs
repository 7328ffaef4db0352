//! How a client wants its pixels.

/// Where the three colours are in a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The highest value of red, green and blue.
    pub(super) max: [u16; 3],
    /// By how many bits each is shifted.
    pub(super) shift: [u8; 3],
}

/// A form of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    bits: u8,
    depth: u8,
    big_endian: bool,
    layout: Layout,
}

impl Format {
    /// The form that QEMU offers: four bytes, little endian, blue first.
    pub(super) const OFFERED: Self = Self {
        bits: 32,
        depth: 24,
        big_endian: false,
        layout: Layout {
            max: [255; 3],
            shift: [16, 8, 0],
        },
    };

    /// A form with pixels of so many bits; `None` if there is no such form.
    pub(super) fn new((bits, depth): (u8, u8), big_endian: bool, layout: Layout) -> Option<Self> {
        let sound = layout.shift.iter().all(|shift| *shift < bits);
        (matches!(bits, 8 | 16 | 32) && sound).then_some(Self {
            bits,
            depth,
            big_endian,
            layout,
        })
    }

    /// The sixteen bytes that describe it.
    pub(super) fn describe(&self) -> [u8; 16] {
        let [[r1, r2], [g1, g2], [b1, b2]] = self.layout.max.map(u16::to_be_bytes);
        let [red, green, blue] = self.layout.shift;
        let endian = u8::from(self.big_endian);
        [
            self.bits, self.depth, endian, 1, r1, r2, g1, g2, b1, b2, red, green, blue, 0, 0, 0,
        ]
    }

    fn bytes(&self) -> usize {
        usize::from(self.bits / 8)
    }

    /// Writes a pixel.
    pub(super) fn write(&self, colour: [u8; 3], out: &mut Vec<u8>) {
        out.extend(&self.pixel(colour)[..self.bytes()]);
    }

    /// Writes a pixel as ZRLE does: without a byte that holds no colour.
    pub(super) fn write_compact(&self, colour: [u8; 3], out: &mut Vec<u8>) {
        let pixel = self.pixel(colour);
        let used = (0..3).fold(0_u32, |used, at| {
            used | u32::from(self.layout.max[at]).unbounded_shl(self.layout.shift[at].into())
        });
        let compact = self.bits == 32 && self.depth <= 24;
        let (low, high) = (used.leading_zeros() >= 8, used.trailing_zeros() >= 8);
        let first_three = if self.big_endian { high } else { low };
        let last_three = if self.big_endian { low } else { high };
        if compact && first_three {
            out.extend(&pixel[..3]);
        } else if compact && last_three {
            out.extend(&pixel[1..]);
        } else {
            out.extend(&pixel[..self.bytes()]);
        }
    }

    /// The bytes of a pixel, of which the first few count.
    fn pixel(&self, colour: [u8; 3]) -> [u8; 4] {
        let value = (0..3).fold(0_u32, |value, at| {
            let scaled = u32::from(colour[at]) * u32::from(self.layout.max[at]) / 255;
            value | scaled.unbounded_shl(self.layout.shift[at].into())
        });
        if self.big_endian {
            value.unbounded_shl(32 - u32::from(self.bits)).to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORANGE: [u8; 3] = [0xff, 0x80, 0x00];

    fn written(format: &Format) -> (Vec<u8>, Vec<u8>) {
        let (mut whole, mut compact) = (Vec::new(), Vec::new());
        format.write(ORANGE, &mut whole);
        format.write_compact(ORANGE, &mut compact);
        (whole, compact)
    }

    #[test]
    fn colours_are_where_the_client_wants_them() {
        let offered = written(&Format::OFFERED);
        assert_eq!(offered, (vec![0x00, 0x80, 0xff, 0], vec![0x00, 0x80, 0xff]));
        let layout = Format::OFFERED.layout;
        let big = Format::new((32, 24), true, layout).expect("a format");
        assert_eq!(written(&big), (vec![0, 0xff, 0x80, 0], vec![0xff, 0x80, 0]));
        let high = Layout {
            shift: [24, 16, 8],
            ..layout
        };
        let high = Format::new((32, 24), false, high).expect("a format");
        assert_eq!(
            written(&high),
            (vec![0, 0, 0x80, 0xff], vec![0, 0x80, 0xff])
        );
        let small = Layout {
            max: [31, 63, 31],
            shift: [11, 5, 0],
        };
        let small = Format::new((16, 16), false, small).expect("a format");
        assert_eq!(written(&small).0, 0xfbe0_u16.to_le_bytes());
    }

    #[test]
    fn a_shift_beyond_the_pixel_is_refused() {
        let layout = Layout {
            max: [255; 3],
            shift: [32, 8, 0],
        };
        assert_eq!(Format::new((32, 24), false, layout), None);
        assert_eq!(Format::new((24, 24), false, Format::OFFERED.layout), None);
    }
}
