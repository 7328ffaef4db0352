//! Secrets taken out of a text that may repeat them: an error goes to terminals, logs and models.

/// What a text ends with that was cut.
const CUT: &str = " [cut]";

/// Nothing shorter, in bytes, is looked for: it would blank letters of ordinary words, and tell by that what it is.
const SHORTEST: usize = 4;

/// At most so many characters of a text, and a mark where there were more.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}{CUT}", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text with something else in the place of a secret: of the whole of it; of its lines, where there are several, since others
/// may have been put between them; and of what a cut has left of it.
pub fn conceal(text: &str, secret: &str, instead: &str) -> String {
    let mut text = text.to_owned();
    // The longest first: one line may be the beginning of another.
    let mut parts: Vec<_> = secret.lines().map(str::trim).collect();
    parts.push(secret.trim());
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    parts.dedup();
    for part in parts {
        if part.len() < SHORTEST {
            continue;
        }
        if text.contains(part) {
            text = text.replace(part, instead);
        }
        if text.contains(CUT) {
            text = without_beginning(&text, part, instead);
        }
    }
    text
}

/// Without the beginning of a secret where a text was cut in the middle of it.
fn without_beginning(text: &str, secret: &str, instead: &str) -> String {
    let ends = secret.char_indices().map(|(end, _)| end);
    let ends: Vec<_> = ends.filter(|end| *end >= SHORTEST).collect();
    let left = |part: &str| {
        let fitting = ends.partition_point(|end| *end <= part.len());
        let mut ends = ends[..fitting].iter().rev().copied();
        ends.find(|end| part.ends_with(&secret[..*end]))
    };
    let parts = text.split(CUT);
    let shown = parts.map(|part| match left(part) {
        Some(length) => format!("{}{instead}", &part[..part.len() - length]),
        None => part.to_owned(),
    });
    shown.collect::<Vec<_>>().join(CUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----\n";

    #[test]
    fn a_text_is_cut_with_a_mark() {
        assert_eq!(cut("größer", 6), "größer");
        assert_eq!(cut("größer", 3), "grö [cut]");
    }

    #[test]
    fn a_secret_of_several_lines_goes_with_what_was_put_between_them() {
        let said = format!("wrong key: {}", KEY.replace('\n', "\n  | "));
        let shown = conceal(&said, KEY, "***");
        assert_eq!(shown, "wrong key: ***\n  | ***\n  | ***\n  | ***\n  | ");
    }

    #[test]
    fn what_a_cut_leaves_of_a_secret_goes_too() {
        let secret = "correct horse";
        for end in 1..secret.len() {
            let shown = conceal(
                &format!("no: {} [cut]; more", &secret[..end]),
                secret,
                "***",
            );
            let is_told = end >= SHORTEST && shown.contains(&secret[..end]);
            assert!(!is_told, "{shown}");
        }
        let half = cut(&format!("no: {KEY}"), 35);
        assert!(!conceal(&half, KEY, "***").contains("MIIE"), "{half}");
        assert_eq!(conceal("cork [cut]", secret, "***"), "cork [cut]");
    }

    #[test]
    fn a_line_that_another_begins_with_leaves_nothing_of_it() {
        assert_eq!(conceal("abcdef", "abcd\nabcdef", "***"), "***");
        assert_eq!(conceal("x 密码锁", "密码锁", "***"), "x ***");
    }

    #[test]
    fn what_is_hardly_a_secret_spoils_no_text() {
        assert_eq!(conceal("what a day", "a", "***"), "what a day");
        assert_eq!(conceal("what a day", "", "***"), "what a day");
    }
}
