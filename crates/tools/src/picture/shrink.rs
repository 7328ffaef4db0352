//! Smaller pictures: each new pixel is the mean of those that it stands for.

use super::Colour;

/// A picture of the new size, which must be no larger than the old.
pub fn shrink(pixels: &[Colour], from: (usize, usize), to: (usize, usize)) -> Vec<Colour> {
    let span = |at: usize, from: usize, to: usize| {
        let start = at * from / to;
        start..((at + 1) * from).div_ceil(to).max(start + 1)
    };
    let mut small = Vec::with_capacity(to.0 * to.1);
    for y in 0..to.1 {
        let rows = span(y, from.1, to.1);
        for x in 0..to.0 {
            let columns = span(x, from.0, to.0);
            let (mut sums, mut count) = ([0_usize; 3], 0);
            for row in rows.clone() {
                let line = row * from.0;
                let part = pixels.get(line + columns.start..line + columns.end);
                for pixel in part.unwrap_or_default() {
                    for (sum, value) in sums.iter_mut().zip(pixel) {
                        *sum += usize::from(*value);
                    }
                    count += 1;
                }
            }
            small.push(sums.map(|sum| u8::try_from(sum / count.max(1)).unwrap_or(u8::MAX)));
        }
    }
    small
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_is_the_mean_of_what_it_stands_for() {
        let pixels = [[0; 3], [100; 3], [200; 3], [40; 3]];
        assert_eq!(shrink(&pixels, (2, 2), (1, 1)), [[85; 3]]);
        assert_eq!(shrink(&pixels, (2, 2), (2, 2)), pixels);
        assert_eq!(shrink(&pixels, (4, 1), (2, 1)), [[50; 3], [120; 3]]);
    }
}
