//! What changes in a text, for people. Our changes are one run of lines, so no clever comparison is called for.

/// How many unchanged lines stand around a change.
const AROUND: usize = 3;

/// The changed lines with `-` and `+`, and some around them. Empty: nothing changes.
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
    said.extend(above.iter().map(|line| format!("  {line}")));
    let gone = &old[head..old.len() - tail];
    said.extend(gone.iter().map(|line| format!("- {line}")));
    let come = &new[head..new.len() - tail];
    said.extend(come.iter().map(|line| format!("+ {line}")));
    let below = old[old.len() - tail..].iter().take(AROUND);
    said.extend(below.map(|line| format!("  {line}")));
    said.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

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
