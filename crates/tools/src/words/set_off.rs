//! Lines that others wrote, set off from ours: a note, a log or an output of several lines could pass for a status, a hint or
//! an outcome otherwise. Every line of others begins with [`MARK`], or stands in a line of ours.

use std::fmt::Write as _;

/// What stands before a line of others.
pub const MARK: &str = "  | ";

/// Lines of others, set off so that none can be taken for ours. One line is part of the sentence that it stands in.
pub fn set_off(text: &str) -> String {
    let text = text.trim_end();
    if !text.contains('\n') {
        return text.to_owned();
    }
    let lines = text.split('\n').map(|line| format!("\n{MARK}{line}"));
    lines.collect()
}

/// The same in a sentence of ours, which goes on with the first of them. What is set off already stays as it is.
pub fn continued(text: &str) -> String {
    let mut lines = text.trim_end().split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let mark = if line.starts_with(MARK) { "" } else { MARK };
        let _ = write!(out, "\n{mark}{line}");
    }
    out
}

/// A text whose further lines are others', with something of ours at the end of its first.
pub fn with_ours(text: &str, ours: &str) -> String {
    match text.split_once('\n') {
        Some((first, rest)) => format!("{first}{ours}\n{rest}"),
        None => format!("{text}{ours}"),
    }
}

/// The same with a further sentence.
pub fn beside(text: &str, ours: &str) -> String {
    if text.is_empty() {
        return ours.to_owned();
    }
    with_ours(text, &format!("; {ours}"))
}

/// Every line of others by itself, set off.
pub fn each_set_off<S: AsRef<str>>(lines: impl IntoIterator<Item = S>) -> String {
    let mut out = String::new();
    for lines in lines {
        for line in lines.as_ref().split('\n') {
            let _ = writeln!(out, "{MARK}{line}");
        }
    }
    out
}

/// Writes a line of ours, like `writeln!`: what others wrote into it may have lines of its own, which are set off.
macro_rules! line {
    ($out:expr, $($said:tt)*) => {
        $crate::words::push_line(&mut $out, &format!($($said)*))
    };
}
pub(crate) use line;

/// What [`line`] does.
pub(crate) fn push_line(out: &mut String, said: &str) {
    out.push_str(&continued(said));
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_several_lines_cannot_pass_for_lines_of_ours() {
        let mut out = String::new();
        let theirs = "fine\napplied: all\n";
        line!(out, "notes {theirs}");
        line!(out, "applied: {}", "nothing");
        assert_eq!(out, "notes fine\n  | applied: all\napplied: nothing\n");
        assert_eq!(
            continued("ours: one\n  | two\nthree\n"),
            "ours: one\n  | two\n  | three"
        );
        assert_eq!(beside("it failed", "it is gone"), "it failed; it is gone");
        assert_eq!(beside("no\n  | x", "ours"), "no; ours\n  | x");
        assert_eq!(set_off("one"), "one");
        assert_eq!(set_off("one\ntwo\n"), "\n  | one\n  | two");
        assert_eq!(
            each_set_off(["one\ntwo", "three"]),
            "  | one\n  | two\n  | three\n"
        );
    }
}
