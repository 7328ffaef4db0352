//! From text to words.

/// Longer words than this (in bytes) are not words of anybody's language; they are left out.
const LONGEST_WORD: usize = 40;

/// Hands every word of `text` to `each`, in lower case: runs of letters and digits, parted also where a small letter
/// meets a capital (`forceStop` is two words). A single letter says nothing and is left out.
pub(super) fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::with_capacity(LONGEST_WORD);
    for run in text.split(|character: char| !is_part(character)) {
        let mut rest = run;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(first_hump(rest));
            rest = after;
            if part.len() > LONGEST_WORD
                || (part.len() == 1 && !part.as_bytes()[0].is_ascii_digit())
            {
                continue;
            }
            word.clear();
            if part.is_ascii() {
                word.push_str(part);
                word.make_ascii_lowercase();
            } else {
                word.extend(part.chars().flat_map(char::to_lowercase));
            }
            each(&word);
        }
    }
}

fn is_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || (!character.is_ascii() && character.is_alphanumeric())
}

/// Where the first word of a run of letters ends.
fn first_hump(run: &str) -> usize {
    let pairs = run.as_bytes().windows(2);
    let hump = pairs
        .into_iter()
        .position(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    hump.map_or(run.len(), |at| at + 1)
}

/// The words of `text`, at most `most` of them.
pub(super) fn words(text: &str, most: usize) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, |word| {
        if words.len() < most {
            words.push(word.to_owned());
        }
    });
    words
}

/// A name of several words as one word: `exec-status` is `execstatus`.
pub(super) fn joined(name: &str) -> String {
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        words(text, 100)
    }

    #[test]
    fn names_and_paths_come_apart() {
        assert_eq!(
            split("get_guests_not-in.backup"),
            ["get", "guests", "not", "in", "backup"]
        );
        assert_eq!(split("/nodes/{node}/qemu"), ["nodes", "node", "qemu"]);
        assert_eq!(
            split("forceStop IPSet 2FA"),
            ["force", "stop", "ipset", "2fa"]
        );
        assert_eq!(split("user's"), ["user"]);
        assert_eq!(split("Größe ÄNDERN"), ["größe", "ändern"]);
    }

    #[test]
    fn endless_words_are_left_out() {
        assert_eq!(split(&"x".repeat(10_000)), Vec::<String>::new());
        assert_eq!(split(&format!("a b {} cd", "y".repeat(41))), ["cd"]);
    }
}
