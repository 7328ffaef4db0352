//! The notes of a backup, made from a template: `{{guestname}} on {{node}}`.

const VARIABLES: [&str; 4] = ["cluster", "guestname", "node", "vmid"];

/// The names in double braces, each with the place that PVE tells.
fn variables(template: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = template[at..].find("{{") {
        let start = at + open + 2;
        let Some(length) = template[start..].find("}}") else {
            break;
        };
        let name = &template[start..start + length];
        if !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '{' || c == '}') {
            found.push((name, start + 2));
            at = start + length + 2;
        } else {
            at = start;
        }
    }
    found
}

/// Every backslash that begins an escape, its place and what follows it. An escaped backslash begins none.
fn escapes(template: &str) -> Vec<(usize, char)> {
    let mut found = Vec::new();
    let mut chars = template.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\'
            && let Some((_, next)) = chars.next()
        {
            found.push((at, next));
        }
    }
    found
}

/// Checks a template.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check(template: &str) -> Result<(), String> {
    if template.contains('\n') {
        return Err("contains a line feed".to_owned());
    }
    let escapes = escapes(template)
        .into_iter()
        .filter(|(_, next)| !matches!(next, 'n' | '\\'))
        .map(|(at, next)| format!("escape sequence '\\{next}' at char {at}"));
    let names = variables(template).into_iter();
    let names = names.filter(|(name, _)| !VARIABLES.contains(name));
    let names = names.map(|(name, at)| format!("variable '{name}' at char {at}"));
    let problems: Vec<String> = escapes.chain(names).collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(format!("found unknown: {}", problems.join(", ")))
    }
}

/// Fills in a template; `values` are those of [`VARIABLES`], in that order.
pub(super) fn fill(template: &str, values: [&str; 4]) -> String {
    let mut text = template
        .replace("\\\\", "\0")
        .replace("\\n", "\n")
        .replace('\0', "\\");
    for (name, value) in VARIABLES.iter().zip(values) {
        text = text.replace(&format!("{{{{{name}}}}}"), value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_variables_are_named() {
        assert_eq!(check("{{guestname}} on {{node}}"), Ok(()));
        assert_eq!(
            check("{{bogus}}"),
            Err("found unknown: variable 'bogus' at char 4".to_owned())
        );
        assert_eq!(check("a\\\\x\\n"), Ok(()));
        assert_eq!(
            check("a\\x"),
            Err("found unknown: escape sequence '\\x' at char 1".to_owned())
        );
    }

    #[test]
    fn templates_are_filled_in() {
        let filled = fill(
            "{{guestname}}\\n{{vmid}} in {{cluster}}",
            ["lab", "web", "pve1", "100"],
        );
        assert_eq!(filled, "web\n100 in lab");
    }
}
