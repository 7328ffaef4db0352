//! PNG files, of few colours or of all.

use std::collections::HashMap;

use miniz_oxide::deflate::compress_to_vec_zlib;

use super::Colour;

/// Levels between nothing and everything for how hard zlib tries.
const EFFORT: u8 = 7;
/// The most colours that a palette holds.
const PALETTE: usize = 256;
/// The kinds of pixels: a number in the palette, or red, green and blue.
const BY_PALETTE: u8 = 3;
const BY_COLOUR: u8 = 2;

/// A picture whose pixels are numbers in a palette.
pub fn indexed(width: usize, pixels: &[u8], palette: &[Colour]) -> Vec<u8> {
    let mut file = Vec::new();
    begin(&mut file, width, pixels.len() / width.max(1), BY_PALETTE);
    chunk(&mut file, *b"PLTE", palette.as_flattened());
    let mut rows = Vec::with_capacity(pixels.len() + pixels.len() / width.max(1));
    for row in pixels.chunks(width.max(1)) {
        // Each row is stored as it is: flat colours pack well without a filter.
        rows.push(0);
        rows.extend(row);
    }
    end(file, &rows)
}

/// A picture of any colours; of a few, it is stored by a palette, which is far smaller.
pub fn true_colour(width: usize, pixels: &[Colour]) -> Vec<u8> {
    if let Some((numbers, palette)) = few_colours(pixels) {
        return indexed(width, &numbers, &palette);
    }
    let width = width.max(1);
    let mut file = Vec::new();
    begin(&mut file, width, pixels.len() / width, BY_COLOUR);
    let mut rows = Vec::with_capacity(pixels.len() * 3 + pixels.len() / width);
    let mut above = vec![[0; 3]; width];
    for row in pixels.chunks(width) {
        // Each pixel as its difference to the one above: what does not change from row to row becomes nothing.
        rows.push(2);
        let differences = row.iter().zip(&above);
        rows.extend(differences.flat_map(|(pixel, above)| {
            [0, 1, 2].map(|part| pixel[part].wrapping_sub(above[part]))
        }));
        above[..row.len()].copy_from_slice(row);
    }
    end(file, &rows)
}

/// The pixels as numbers in a palette, if that holds all their colours.
fn few_colours(pixels: &[Colour]) -> Option<(Vec<u8>, Vec<Colour>)> {
    let (mut palette, mut known) = (Vec::new(), HashMap::new());
    let mut numbers = Vec::with_capacity(pixels.len());
    let mut last: Option<(Colour, u8)> = None;
    for pixel in pixels {
        let number = match last {
            Some((colour, number)) if colour == *pixel => number,
            _ => match known.get(pixel) {
                Some(number) => *number,
                None if palette.len() == PALETTE => return None,
                None => {
                    let number = u8::try_from(palette.len()).ok()?;
                    palette.push(*pixel);
                    known.insert(*pixel, number);
                    number
                }
            },
        };
        last = Some((*pixel, number));
        numbers.push(number);
    }
    Some((numbers, palette))
}

fn begin(file: &mut Vec<u8>, width: usize, height: usize, kind: u8) {
    file.extend(b"\x89PNG\r\n\x1a\n");
    let mut header = Vec::new();
    for side in [width, height] {
        header.extend(u32::try_from(side).unwrap_or_default().to_be_bytes());
    }
    // Eight bits per part, the usual packing and filters, no interlacing.
    header.extend([8, kind, 0, 0, 0]);
    chunk(file, *b"IHDR", &header);
}

fn end(mut file: Vec<u8>, rows: &[u8]) -> Vec<u8> {
    chunk(&mut file, *b"IDAT", &compress_to_vec_zlib(rows, EFFORT));
    chunk(&mut file, *b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    file.extend(u32::try_from(data.len()).unwrap_or_default().to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(data);
    let sum = crc(&file[start..]);
    file.extend(sum.to_be_bytes());
}

/// The checksum of PNG, bit by bit: pictures are small.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 * (sum & 1))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_png() {
        assert_eq!(crc(b"IEND"), 0xae42_6082);
    }

    #[test]
    fn few_colours_make_a_palette_and_many_do_not() {
        let kind_of = |file: &[u8]| file[25];
        let few = true_colour(2, &[[1, 2, 3], [4, 5, 6], [1, 2, 3], [1, 2, 3]]);
        assert_eq!(kind_of(&few), BY_PALETTE);
        let many: Vec<Colour> = (0..=u8::MAX).flat_map(|n| [[n, 0, 0], [0, n, 7]]).collect();
        let many = true_colour(16, &many);
        assert_eq!(kind_of(&many), BY_COLOUR);
        assert!(many.ends_with(&[0xae, 0x42, 0x60, 0x82]));
    }
}
