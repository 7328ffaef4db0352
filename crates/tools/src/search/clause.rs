//! The clauses of a request, and which of them tell what happened rather than what to do.

/// A part of a request.
#[derive(Debug)]
pub(super) struct Clause<'a> {
    pub(super) text: &'a str,
    /// It tells what happened, rather than what to do.
    pub(super) is_story: bool,
}

/// The request at its commas and full stops. The dots inside `10.0.0.1` part nothing.
pub(super) fn clauses(text: &str) -> Vec<Clause<'_>> {
    let mut clauses = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .find(|(at, mark)| {
                matches!(mark, ',' | '.' | ';' | '!' | '?' | ':')
                    && rest[at + 1..].starts_with(char::is_whitespace)
            })
            .map_or(rest.len(), |(at, _)| at + 1);
        let (clause, after) = rest.split_at(end);
        if clause.chars().any(char::is_alphanumeric) {
            clauses.push(Clause {
                text: clause,
                is_story: tells_a_story(clause),
            });
        }
        rest = after;
    }
    clauses
}

/// It begins with the one it is about.
fn tells_a_story(clause: &str) -> bool {
    let first = clause
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    matches!(
        first.as_str(),
        "i" | "we" | "he" | "she" | "it" | "they" | "someone" | "somebody" | "there"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(&str, bool)> {
        clauses(text)
            .into_iter()
            .map(|clause| (clause.text.trim(), clause.is_story))
            .collect()
    }

    #[test]
    fn a_story_is_told_from_a_wish() {
        assert_eq!(
            parts("kill it, it hangs"),
            [("kill it,", false), ("it hangs", true)]
        );
        assert_eq!(
            parts("we move. open 10.0.0.1"),
            [("we move.", true), ("open 10.0.0.1", false)]
        );
        assert_eq!(parts(""), []);
        assert_eq!(parts(", . ?"), []);
    }
}
