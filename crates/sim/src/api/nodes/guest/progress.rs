//! How long copies take, and how task logs show them.

use crate::world::work::Work;

/// Bytes a second that a disk is copied at.
const SPEED: u64 = 200 << 20;
/// More lines than this show no copy, however long it takes: QEMU tells whole percents.
const MAX_LINES: u64 = 100;

/// Seconds it takes to copy that many bytes.
pub(crate) fn seconds_to_copy(bytes: u64) -> u64 {
    bytes.div_ceil(SPEED).max(1)
}

/// Lets a copy of `total` bytes take its time, with the lines that `line` makes of how much is done after how many
/// seconds: nothing first, everything last.
pub(crate) fn copy(
    work: Work,
    total: u64,
    seconds: u64,
    line: impl Fn(u64, u64) -> String,
) -> Work {
    let step = seconds.div_ceil(MAX_LINES);
    let moments = (0..seconds).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    let mut work = work;
    let mut passed = 0;
    for moment in moments.chain([seconds]) {
        let done = u128::from(total) * u128::from(moment) / u128::from(seconds);
        let done = u64::try_from(done).unwrap_or(total);
        work = work.wait(moment - passed).log(line(done, moment));
        passed = moment;
    }
    work
}

/// `transferred 1.2 GiB of 16.0 GiB (7.50%)`.
pub(crate) fn transferred(done: u64, total: u64) -> String {
    let hundredths = u128::from(done) * 10_000 / u128::from(total.max(1));
    format!(
        "transferred {} of {} ({}.{:02}%)",
        human(done, 1),
        human(total, 1),
        hundredths / 100,
        hundredths % 100
    )
}

/// `16.0 GiB`, `0.0 B`, with that many digits after the point.
pub(crate) fn human(bytes: u64, digits: u32) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B")];
    let (shift, unit) = units
        .into_iter()
        .find(|(shift, _)| bytes >> shift > 0)
        .unwrap_or((0, "B"));
    let scale = 10_u128.pow(digits);
    let parts = ((u128::from(bytes) * scale) + (1 << shift >> 1)) >> shift;
    let (whole, rest) = (parts / scale, parts % scale);
    let width = usize::try_from(digits).unwrap_or_default();
    format!("{whole}.{rest:0width$} {unit}")
}

/// `1m 22s`, `2h 5m 1s`.
pub(crate) fn duration(seconds: u64) -> String {
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m")];
    let mut words: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect();
    words.push(format!("{}s", seconds % 60));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_those_of_pve() {
        assert_eq!(
            transferred(6 << 28, 20 << 30),
            "transferred 1.5 GiB of 20.0 GiB (7.50%)"
        );
        assert_eq!(
            transferred(0, 1 << 30),
            "transferred 0.0 B of 1.0 GiB (0.00%)"
        );
        assert_eq!(human(1500 << 20, 1), "1.5 GiB");
        assert_eq!(human(291, 2), "291.00 B");
        assert_eq!(duration(82), "1m 22s");
        assert_eq!(duration(0), "0s");
    }
}
