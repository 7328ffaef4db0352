//! Sizes as PVE writes them in configurations.

/// Reads `32G`, `528K`, `1.5T` or plain bytes, as a number of bytes; units are powers of 1024.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit = text.chars().next_back()?;
    let shift = match unit.to_ascii_uppercase() {
        'K' => 10,
        'M' => 20,
        'G' => 30,
        'T' => 40,
        _ if unit.is_ascii_digit() => 0,
        _ => return None,
    };
    let digits = if shift == 0 {
        text
    } else {
        &text[..text.len() - 1]
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let bytes = whole.checked_mul(1 << shift)?;
    bytes.checked_add(part_of(fraction, 1 << shift))
}

/// `0.fraction` of a unit, rounded down. Nine digits are finer than a byte of a gigabyte.
fn part_of(fraction: &str, unit: u64) -> u64 {
    let digits = &fraction[..fraction.len().min(9)];
    let value: u128 = digits.parse().unwrap_or(0);
    let scale = 10_u128.pow(u32::try_from(digits.len()).unwrap_or(9));
    u64::try_from(value * u128::from(unit) / scale).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_of_real_configurations_are_read() {
        for (text, bytes) in [
            ("32G", 32 << 30),
            ("528K", 528 << 10),
            ("4M", 4 << 20),
            ("1.5T", 3 << 39),
            ("2048", 2048),
            ("0.5K", 512),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_sizes() {
        for text in [
            "",
            "G",
            "-1G",
            "1.G",
            ".5G",
            "1e3",
            "1 G",
            "32GB",
            "99999999999T",
            "1ä",
        ] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whole_sizes_are_exact(number in 0_u64..1_000_000, unit in 0_usize..5) {
            let text = format!("{number}{}", ["", "K", "M", "G", "T"][unit]);
            prop_assert_eq!(parse_size(&text), Some(number << (10 * unit)));
        }

        #[test]
        fn parsing_never_panics(text in any::<String>()) {
            let _ = parse_size(&text);
        }
    }
}
