//! A text of which a person must see everything, because it is what they agree to.

use std::fmt::Write as _;

use super::is_hostile;

/// All of a text, on one line and as one value: in quotes where it could be taken for several. What would break the line or
/// hide is written as an escape, and a run of blanks, which can push the rest out of sight, says how long it is.
pub fn whole(text: &str) -> String {
    let is_plain = |c: char| !c.is_whitespace() && !is_hostile(c) && c != '"';
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_hostile(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out.push('"');
    marked(&out)
}

/// A text with each run of blanks made visible: `a [12 blanks] b`. A line's end counts as one.
pub fn marked(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find(char::is_whitespace) {
        let (before, after) = rest.split_at(start);
        out.push_str(before);
        rest = after.trim_start_matches(char::is_whitespace);
        let run = &after[..after.len() - rest.len()];
        match run.chars().count() {
            1 => out.push_str(run),
            blanks => {
                let _ = write!(out, " [{blanks} blanks] ");
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden_and_nothing_is_cut() {
        for (text, shown) in [
            ("local-lvm:8,ssd=1", "local-lvm:8,ssd=1"),
            ("", r#""""#),
            ("a b", r#""a b""#),
            ("x\ny", r#""x\ny""#),
            ("x y=\"z\"", r#""x y=\"z\"""#),
            ("a\u{202e}b", r#""a\u{202e}b""#),
        ] {
            assert_eq!(whole(text), shown);
        }
        let long = "x".repeat(70_000);
        assert_eq!(whole(&long), long);
    }

    #[test]
    fn a_run_of_blanks_says_how_long_it_is() {
        let far = format!("echo hello{}; rm -rf /", " ".repeat(1000));
        assert_eq!(whole(&far), r#""echo hello [1000 blanks] ; rm -rf /""#);
        assert_eq!(marked("a\r\nb  c"), "a\nb [2 blanks] c");
        assert_eq!(marked("one two"), "one two");
    }
}
