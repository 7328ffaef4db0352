//! ZRLE: tiles of one colour, of few, or of many, in one stream of zlib per client.

use std::fmt;

use miniz_oxide::DataFormat;
use miniz_oxide::deflate::core::{CompressorOxide, TDEFLFlush, compress_to_output};

use super::length;
use super::message::Area;
use super::pixel::Format;

/// The side of a tile.
const TILE: u16 = 64;
/// The most colours that are sent as numbers in a palette.
const PALETTE: usize = 16;

/// The stream of a client; what it has seen before is part of what it sees next.
pub(super) struct Packer(Box<CompressorOxide>);

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Packer")
    }
}

impl Packer {
    /// A stream at its beginning.
    pub(super) fn new() -> Self {
        let mut packer = Box::<CompressorOxide>::default();
        packer.set_format_and_level(DataFormat::Zlib, 3);
        Self(packer)
    }

    /// Writes an area, its length in front.
    pub(super) fn write(
        &mut self,
        area: Area,
        format: &Format,
        colour: impl Fn(u16, u16) -> [u8; 3],
        out: &mut Vec<u8>,
    ) {
        let mut tiles = Vec::new();
        for y in (area.y..area.y + area.height).step_by(TILE.into()) {
            for x in (area.x..area.x + area.width).step_by(TILE.into()) {
                let tile = Area {
                    x,
                    y,
                    width: TILE,
                    height: TILE,
                };
                if let Some(tile) = tile.within(area) {
                    write_tile(tile, format, &colour, &mut tiles);
                }
            }
        }
        let packed = self.pack(&tiles);
        out.extend(length(&packed));
        out.extend(packed);
    }

    fn pack(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        compress_to_output(&mut self.0, bytes, TDEFLFlush::Sync, |part| {
            packed.extend(part);
            true
        });
        packed
    }
}

fn write_tile(
    tile: Area,
    format: &Format,
    colour: impl Fn(u16, u16) -> [u8; 3],
    out: &mut Vec<u8>,
) {
    let rows: Vec<Vec<[u8; 3]>> = (tile.y..tile.y + tile.height)
        .map(|y| {
            (tile.x..tile.x + tile.width)
                .map(|x| colour(x, y))
                .collect()
        })
        .collect();
    let mut palette: Vec<[u8; 3]> = Vec::new();
    for pixel in rows.iter().flatten() {
        if palette.len() <= PALETTE && !palette.contains(pixel) {
            palette.push(*pixel);
        }
    }
    match palette.len() {
        1 => {
            out.push(1);
            format.write_compact(palette[0], out);
        }
        2..=PALETTE => write_palette(&rows, &palette, format, out),
        _ => {
            out.push(0);
            for pixel in rows.iter().flatten() {
                format.write_compact(*pixel, out);
            }
        }
    }
}

/// Numbers of one, two or four bits; every row begins with a new byte.
fn write_palette(rows: &[Vec<[u8; 3]>], palette: &[[u8; 3]], format: &Format, out: &mut Vec<u8>) {
    let bits = match palette.len() {
        ..=2 => 1,
        3..=4 => 2,
        _ => 4,
    };
    out.push(u8::try_from(palette.len()).unwrap_or_default());
    for colour in palette {
        format.write_compact(*colour, out);
    }
    let number = |pixel| palette.iter().position(|colour| colour == pixel);
    for row in rows {
        for group in row.chunks(8 / bits) {
            let byte = group.iter().enumerate().fold(0, |byte, (at, pixel)| {
                let number = u8::try_from(number(pixel).unwrap_or_default()).unwrap_or_default();
                byte | number << (8 - bits * (at + 1))
            });
            out.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(width: u16, height: u16, colour: impl Fn(u16, u16) -> [u8; 3]) -> Vec<u8> {
        let area = Area {
            x: 0,
            y: 0,
            width,
            height,
        };
        let mut out = Vec::new();
        write_tile(area, &Format::OFFERED, colour, &mut out);
        out
    }

    #[test]
    fn tiles_are_as_small_as_their_colours_allow() {
        assert_eq!(tile(64, 64, |_, _| [1, 2, 3]), [1, 3, 2, 1]);
        let striped = tile(3, 2, |x, _| if x == 1 { [255; 3] } else { [0; 3] });
        let two = [2, 0, 0, 0, 255, 255, 255, 0b0100_0000, 0b0100_0000];
        assert_eq!(striped, two);
        let many = tile(64, 1, |x, _| [u8::try_from(x).expect("small"), 0, 0]);
        assert_eq!(many.len(), 1 + 64 * 3);
        assert_eq!(many[..7], [0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn one_stream_goes_through_all_updates() {
        let area = Area {
            x: 10,
            y: 0,
            width: 70,
            height: 20,
        };
        let mut packer = Packer::new();
        let (mut stream, mut lengths) = (Vec::new(), Vec::new());
        for shade in [1, 2] {
            let mut out = Vec::new();
            packer.write(area, &Format::OFFERED, |_, _| [shade; 3], &mut out);
            let (head, body) = out.split_at(4);
            lengths.push((head.to_vec(), body.len()));
            stream.extend(body);
        }
        for (head, actual) in lengths {
            assert_eq!(head, u32::try_from(actual).expect("short").to_be_bytes());
        }
        let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib(&stream);
        // The stream is flushed and not finished, which the unpacker reports with all that has come, and room for more.
        let unpacked = unpacked.expect_err("unfinished").output;
        let tiles = [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 2, 2, 2];
        assert!(unpacked.starts_with(&tiles), "{unpacked:?}");
    }
}
