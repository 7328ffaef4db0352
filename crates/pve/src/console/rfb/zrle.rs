//! ZRLE: tiles of 64 by 64 pixels, each plain, of few colours, or in runs, in one zlib stream that lasts as long as the
//! connection.

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

use crate::console::broken;
use crate::console::screen::{Area, Screen};
use crate::error::Error;

const TILE: usize = 64;
/// Bytes of a pixel in here: the fourth, unused byte is left out.
const PIXEL: usize = 3;

/// The zlib stream of a connection.
pub(super) struct Inflater(Box<InflateState>);

impl std::fmt::Debug for Inflater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Inflater")
    }
}

impl Inflater {
    pub(super) fn new() -> Self {
        Self(InflateState::new_boxed(DataFormat::Zlib))
    }

    /// Unpacks what belongs to one part of the screen; more than that part can need is refused.
    pub(super) fn inflate(&mut self, packed: &[u8], area: Area) -> Result<Vec<u8>, Error> {
        const STEP: usize = 64 * 1024;
        let tiles = area.width.div_ceil(TILE) * area.height.div_ceil(TILE);
        // The worst that a tile can take: a palette of 127 colours, then each pixel as a run with its own length byte.
        let most = tiles * (1 + 127 * PIXEL) + area.width * area.height * (PIXEL + 1);
        let (mut plain, mut rest) = (Vec::new(), packed);
        loop {
            let at = plain.len();
            plain.resize(at + STEP, 0);
            let result = inflate(&mut self.0, rest, &mut plain[at..], MZFlush::Sync);
            plain.truncate(at + result.bytes_written);
            rest = rest.get(result.bytes_consumed..).unwrap_or_default();
            if plain.len() > most {
                return Err(broken("packed pixels unpack to too many"));
            }
            let is_full = result.bytes_written == STEP;
            match result.status {
                Ok(MZStatus::Ok) if !rest.is_empty() || is_full => {}
                Ok(MZStatus::Ok | MZStatus::StreamEnd) | Err(MZError::Buf) => return Ok(plain),
                _ => return Err(broken("packed pixels cannot be unpacked")),
            }
        }
    }
}

/// Paints the tiles of a part of the screen.
pub(super) fn paint(plain: &[u8], area: Area, screen: &mut Screen) -> Result<(), Error> {
    let mut input = Input(plain);
    for y in (0..area.height).step_by(TILE) {
        for x in (0..area.width).step_by(TILE) {
            let tile = Area {
                x: area.x + x,
                y: area.y + y,
                width: TILE.min(area.width - x),
                height: TILE.min(area.height - y),
            };
            let painted = paint_tile(&mut input, tile, screen);
            painted.ok_or_else(|| broken("a tile of pixels is broken"))?;
        }
    }
    Ok(())
}

/// Paints one tile; `None` if it makes no sense.
fn paint_tile(input: &mut Input<'_>, tile: Area, screen: &mut Screen) -> Option<()> {
    let kind = usize::from(input.byte()?);
    match kind {
        0 => {
            for y in 0..tile.height {
                for pixel in screen.row_mut(tile, y) {
                    *pixel = input.pixel()?;
                }
            }
        }
        1 => {
            let colour = input.pixel()?;
            for y in 0..tile.height {
                screen.row_mut(tile, y).fill(colour);
            }
        }
        2..=16 => {
            let palette = input.palette(kind)?;
            let bits = match kind {
                2 => 1,
                3..=4 => 2,
                _ => 4,
            };
            for y in 0..tile.height {
                packed_row(input, bits, &palette, screen.row_mut(tile, y))?;
            }
        }
        128 => runs(tile, screen, || {
            let colour = input.pixel()?;
            Some((colour, input.run_length()?))
        })?,
        130..=255 => {
            let palette = input.palette(kind - 128)?;
            runs(tile, screen, || {
                let index = input.byte()?;
                let colour = *palette.get(usize::from(index & 0x7f))?;
                let length = if index & 0x80 == 0 {
                    1
                } else {
                    input.run_length()?
                };
                Some((colour, length))
            })?;
        }
        _ => return None,
    }
    Some(())
}

/// A row of palette indices, packed into bytes from the highest bit down.
fn packed_row(
    input: &mut Input<'_>,
    bits: usize,
    palette: &[[u8; 3]],
    row: &mut [[u8; 3]],
) -> Option<()> {
    let per_byte = 8 / bits;
    for pixels in row.chunks_mut(per_byte) {
        let byte = usize::from(input.byte()?);
        for (place, pixel) in pixels.iter_mut().enumerate() {
            let index = (byte >> (8 - bits * (place + 1))) & ((1 << bits) - 1);
            *pixel = *palette.get(index)?;
        }
    }
    Some(())
}

/// Fills a tile with runs of one colour each, which go on from row to row and end with the tile.
fn runs(
    tile: Area,
    screen: &mut Screen,
    mut next: impl FnMut() -> Option<([u8; 3], usize)>,
) -> Option<()> {
    let total = tile.width * tile.height;
    let mut done = 0;
    while done < total {
        let (colour, length) = next()?;
        if length > total - done {
            return None;
        }
        let mut at = done;
        while at < done + length {
            let (y, x) = (at / tile.width, at % tile.width);
            let end = tile.width.min(x + done + length - at);
            screen.row_mut(tile, y)[x..end].fill(colour);
            at += end - x;
        }
        done += length;
    }
    Some(())
}

/// What is left of the unpacked bytes.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn pixel(&mut self) -> Option<[u8; 3]> {
        let ([blue, green, red], rest) = self.0.split_first_chunk::<PIXEL>()?;
        self.0 = rest;
        Some([*red, *green, *blue])
    }

    fn palette(&mut self, size: usize) -> Option<Vec<[u8; 3]>> {
        (0..size).map(|_| self.pixel()).collect()
    }

    /// One more than the sum of bytes of which all but the last are 255.
    fn run_length(&mut self) -> Option<usize> {
        let mut length = 1;
        loop {
            let byte = self.byte()?;
            length += usize::from(byte);
            if byte != 255 {
                return Some(length);
            }
        }
    }
}
