//! Light English stemming: endings that mean the same word are taken off, words of different meaning stay apart.
//! What is left need not be a word (`migrate`, `migrating`, `migration` all give `migrat`); it is only compared.

/// The stem of a word in lower case.
pub(super) fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    // Short words are mostly acronyms (dns, zfs, fs), and a word with a digit is a name (scsi0, x86).
    if word.len() <= 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) || is_whole(word) {
        return stem;
    }
    plural(&mut stem);
    participle(&mut stem);
    if stem.len() > 5 && (stem.ends_with("tion") || stem.ends_with("sion")) {
        stem.truncate(stem.len() - 3);
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    let bytes = stem.as_bytes();
    if let [.., before, last] = bytes
        && bytes.len() > 3
        && before == last
        && !is_vowel(*last)
    {
        stem.pop();
    }
    stem
}

/// Words whose ending is part of them.
fn is_whole(word: &str) -> bool {
    matches!(
        word,
        "settings"
            | "setting"
            | "logged"
            | "login"
            | "running"
            | "feed"
            | "access"
            | "address"
            | "process"
            | "pass"
            | "less"
            | "lens"
            | "need"
            | "speed"
            | "seed"
    )
}

fn plural(stem: &mut String) {
    let keep = ["ss", "us", "is", "ias"];
    if stem.len() > 4 && stem.ends_with("ies") {
        stem.truncate(stem.len() - 3);
        stem.push('y');
    } else if ["sses", "xes", "ches", "shes", "zes", "uses", "iases"]
        .iter()
        .any(|end| stem.ends_with(end))
    {
        stem.truncate(stem.len() - 2);
    } else if stem.ends_with('s') && !keep.iter().any(|end| stem.ends_with(end)) {
        stem.pop();
    }
}

fn participle(stem: &mut String) {
    if stem.len() > 4 && stem.ends_with("ied") {
        stem.truncate(stem.len() - 3);
        stem.push('y');
        return;
    }
    for ending in ["ing", "ed"] {
        if let Some(rest) = stem.strip_suffix(ending)
            && rest.len() >= 3
            && rest.bytes().any(is_vowel)
        {
            stem.truncate(rest.len());
            return;
        }
    }
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_one_word_meet() {
        for family in [
            &[
                "migrate",
                "migrates",
                "migrating",
                "migrated",
                "migration",
                "migrations",
            ][..],
            &["stop", "stops", "stopping", "stopped"],
            &["alias", "aliases"],
            &["policy", "policies"],
            &["copy", "copied", "copying", "copies"],
            &["node", "nodes"],
            &["bridge", "bridges", "bridged"],
            &["install", "installing", "installed"],
            &["delete", "deleting", "deletion"],
            &["status", "statuses"],
            &["patch", "patches", "patching"],
            &["lease", "leases"],
        ] {
            let stems: Vec<_> = family.iter().map(|word| stem(word)).collect();
            assert!(
                stems.iter().all(|stem| *stem == stems[0]),
                "{family:?} {stems:?}"
            );
        }
    }

    #[test]
    fn different_words_stay_apart() {
        for (one, other) in [
            ("set", "settings"),
            ("dns", "dn"),
            ("ping", "p"),
            ("string", "str"),
            ("user", "use"),
            ("access", "acces"),
        ] {
            assert_ne!(stem(one), stem(other), "{one} {other}");
        }
        assert_eq!(stem("scsi0s"), "scsi0s");
        assert_eq!(stem("übersichten"), "übersichten");
    }
}
