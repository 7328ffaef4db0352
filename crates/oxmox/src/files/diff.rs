//! What changes in a text, for people. Our changes are one run of lines, so no clever comparison is called for.

use crate::config::token_secret;

/// How many unchanged lines stand around a change.
const AROUND: usize = 3;

/// The changed lines with `-` and `+`, and some around them, without what is secret: people look at them with others beside
/// them. Empty: nothing changes.
pub(super) fn lines(before: &str, after: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    if old == new {
        return String::new();
    }
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let head = same(&mut old.iter().zip(&new));
    let most = old.len().min(new.len()) - head;
    let tail = same(&mut old.iter().rev().zip(new.iter().rev())).min(most);
    let mut said = Vec::new();
    let above = &old[head.saturating_sub(AROUND)..head];
    said.extend(above.iter().map(|line| format!("  {}", veil(line))));
    let gone = &old[head..old.len() - tail];
    said.extend(gone.iter().map(|line| format!("- {}", veil(line))));
    let come = &new[head..new.len() - tail];
    said.extend(come.iter().map(|line| format!("+ {}", veil(line))));
    let below = old[old.len() - tail..].iter().take(AROUND);
    said.extend(below.map(|line| format!("  {}", veil(line))));
    said.join("\n")
}

/// `"PROXMOX_TOKEN_VALUE": "…",` for a line that says what a secret is. One that says where it is stays, but for what looks like
/// the secret itself in the place of its file, or anywhere else.
fn veil(line: &str) -> String {
    let line = token_secret::veiled(line);
    let mut shown = String::new();
    let mut rest = line.as_str();
    while let Some((before, text, after)) = quoted(rest) {
        shown.push_str(before);
        let is_value = before.trim_end().ends_with([':', '=']);
        shown.push_str(if is_value && is_secret(&shown) {
            "\"…\""
        } else {
            text
        });
        rest = after;
    }
    shown + rest
}

/// What stands before the next quoted text, that text with its quotes, and what follows.
fn quoted(line: &str) -> Option<(&str, &str, &str)> {
    let start = line.find('"')?;
    let mut escaped = false;
    let length = line[start + 1..].find(|letter| {
        let ends = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends
    })?;
    let end = start + 1 + length + 1;
    Some((&line[..start], &line[start..end], &line[end..]))
}

/// Whether the name at the end of this, before its `:` or `=`, is that of a secret.
fn is_secret(before: &str) -> bool {
    let is_between = |letter: char| letter.is_whitespace() || [':', '=', '"'].contains(&letter);
    let name = before.trim_end_matches(is_between).to_lowercase();
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || ['_', '-'].contains(&letter);
    let name = name.rsplit(|letter| !is_of_name(letter)).next();
    let name = name.unwrap_or_default();
    let is_place = ["_file", "_env", "_command"]
        .iter()
        .any(|end| name.ends_with(end));
    !is_place && SECRETS.iter().any(|part| name.contains(part))
}

/// What the names of secrets hold.
const SECRETS: [&str; 6] = [
    "secret",
    "password",
    "token_value",
    "api_key",
    "apikey",
    "private_key",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_is_not_shown() {
        for (line, shown) in [
            (
                "  \"PROXMOX_TOKEN_VALUE\": \"hush\",",
                "  \"PROXMOX_TOKEN_VALUE\": \"…\",",
            ),
            ("password = \"hush\" # mine", "password = \"…\" # mine"),
            (
                "token_secret_file = \"/etc/x\"",
                "token_secret_file = \"/etc/x\"",
            ),
            (
                "token_secret_file = '/etc/01234567-89ab-CDEF-0123-456789abcdef' # x",
                "token_secret_file = '/etc/…' # x",
            ),
            (
                "\"args\": [\"a\", \"01234567-89ab-CDEF-0123-456789abcdef\"]",
                "\"args\": [\"a\", \"…\"]",
            ),
            ("\"command\": \"/opt/oxmox\"", "\"command\": \"/opt/oxmox\""),
            ("[clusters.secret]", "[clusters.secret]"),
        ] {
            assert_eq!(veil(line), shown);
        }
        let one_line = "{\"env\": {\"API_KEY\": \"hush\"}}";
        assert!(!lines(one_line, "{}").contains("hush"), "{one_line}");
    }

    #[test]
    fn only_what_changes_is_shown() {
        assert_eq!(lines("a\nb", "a\nb"), "");
        assert_eq!(lines("", "x\ny"), "+ x\n+ y");
        assert_eq!(lines("x\ny", ""), "- x\n- y");
        assert_eq!(
            lines("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nfive\n6\n7\n8\n9"),
            "  2\n  3\n  4\n- 5\n+ five\n  6\n  7\n  8"
        );
        assert_eq!(lines("a\na", "a\na\na"), "  a\n  a\n+ a");
    }
}
