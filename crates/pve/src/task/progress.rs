//! How far a task is, as far as its log lines tell.

/// The percentage that a log line names last, between 0 and 100.
///
/// `transferred 1.2 GiB of 8.0 GiB (15.00%)`, `progress 42%`, `status: 3% (96/3072), sparse 0%`: the share that counts
/// stands in parentheses or after a word for progress; otherwise the first one is taken.
pub fn percent(line: &str) -> Option<f64> {
    let found: Vec<(usize, f64)> = line
        .match_indices('%')
        .filter_map(|(at, _)| number_before(line, at))
        .collect();
    let in_parentheses = found
        .iter()
        .find(|(start, _)| line[..*start].ends_with('('));
    in_parentheses.or(found.first()).map(|(_, share)| *share)
}

fn number_before(line: &str, end: usize) -> Option<(usize, f64)> {
    let head = line[..end].trim_end();
    let start = head
        .rfind(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map_or(0, |at| {
            at + head[at..].chars().next().map_or(1, char::len_utf8)
        });
    let share: f64 = head[start..].parse().ok()?;
    (0.0..=100.0).contains(&share).then_some((start, share))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_lines_that_pve_writes_are_read() {
        for (line, share) in [
            ("transferred 1.2 GiB of 8.0 GiB (15.00%)", 15.0),
            ("progress 42%", 42.0),
            (
                "INFO:   3% (96.0 MiB of 3.0 GiB) in 3s, read: 32.0 MiB/s, write: 31.5 MiB/s",
                3.0,
            ),
            (
                "INFO: status: 7% (72351744/1073741824), sparse 2% (30), duration 4",
                7.0,
            ),
            (
                "drive-scsi0: transferred 5.0 GiB of 10.0 GiB (50.00%) in 20s",
                50.0,
            ),
            (
                "progress 100% (read 34359738368 bytes, duration 93 sec)",
                100.0,
            ),
            ("downloaded 10 %", 10.0),
        ] {
            assert_eq!(percent(line), Some(share), "{line}");
        }
    }

    #[test]
    fn other_lines_have_none() {
        for line in ["", "%", "TASK OK", "usage 250%", "a%b", "ä%"] {
            assert_eq!(percent(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn it_never_panics_and_stays_in_range(line in any::<String>()) {
            prop_assert!(percent(&line).is_none_or(|share| (0.0..=100.0).contains(&share)));
        }

        #[test]
        fn a_named_share_is_found(share in 0_u8..=100, noise in "[a-z ]{0,20}") {
            prop_assert_eq!(percent(&format!("{noise} {share}%")), Some(f64::from(share)));
        }
    }
}
