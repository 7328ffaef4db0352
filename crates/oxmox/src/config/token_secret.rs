//! What looks like the secret of a token, in any text: PVE makes UUIDs, which nothing that people write here would be.

/// Whether one stands in a text.
pub(crate) fn is_in(text: &str) -> bool {
    text.split(is_between).any(is_uuid)
}

/// The text, with `…` for each.
pub(crate) fn veiled(text: &str) -> String {
    let veiled = |part: &str| {
        let word = part.trim_end_matches(is_between);
        let shown = if is_uuid(word) { "…" } else { word };
        format!("{shown}{}", &part[word.len()..])
    };
    text.split_inclusive(is_between).map(veiled).collect()
}

fn is_between(letter: char) -> bool {
    !letter.is_ascii_hexdigit() && letter != '-'
}

fn is_uuid(word: &str) -> bool {
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
    word.split('-').map(str::len).eq(GROUPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_seen_wherever_it_stands() {
        for (line, shown) in [
            (
                "# secret: 01234567-89ab-cdef-0123-456789abcdef",
                "# secret: …",
            ),
            (
                "token = \"root@pam!x=01234567-89AB-cdef-0123-456789abcdef\"",
                "token = \"root@pam!x=…\"",
            ),
            ("pin = \"AA:BB:CC\"", "pin = \"AA:BB:CC\""),
            (
                "hosts = [\"pve-1\", \"10-0-0-1.lab\"]",
                "hosts = [\"pve-1\", \"10-0-0-1.lab\"]",
            ),
        ] {
            assert_eq!(veiled(line), shown);
            assert_eq!(is_in(line), line != shown, "{line}");
        }
    }
}
