//! Values as PVE reads them, in the worst reading of any supported version.

/// A flag: 1, on, yes, true in any case, and their opposites. `None` for anything else.
pub(crate) fn flag(text: &str) -> Option<bool> {
    let is = |words: [&str; 4]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is(["1", "on", "yes", "true"]) {
        Some(true)
    } else if is(["0", "off", "no", "false"]) {
        Some(false)
    } else {
        None
    }
}

/// The words of a list. PVE splits at NUL bytes where there are any, else at commas, semicolons and white space.
pub(crate) fn list(text: &str) -> Vec<&str> {
    let words: Vec<&str> = if text.contains('\0') {
        text.split('\0').collect()
    } else {
        let is_separator = |c: char| matches!(c, ',' | ';') || c.is_whitespace();
        text.split(is_separator).collect()
    };
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

/// One part of a property string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// `key=value`.
    Pair(&'a str, &'a str),
    /// A value without a key, which is that of the default key.
    Default(&'a str),
    /// Something that PVE refuses, such as `=x` or `key=`.
    Malformed(&'a str),
}

/// The parts of a property string, in order. A repeated key, or an alias beside the key that it stands for, is not
/// merged: before libpve-common-perl 9.1.9 the last one of such a pair wins, later versions refuse it, so that a reader
/// has to look at all of them.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let parts = text.split(',').filter(|part| !part.trim().is_empty());
    parts.map(|part| match part.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => Part::Pair(key, value),
        Some(_) => Part::Malformed(part),
        None => Part::Default(part),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_in_any_case() {
        for on in ["1", "on", "ON", "Yes", "TRUE", "tRuE"] {
            assert_eq!(flag(on), Some(true), "{on}");
        }
        for off in ["0", "off", "NO", "False"] {
            assert_eq!(flag(off), Some(false), "{off}");
        }
        for neither in ["", "2", "enabled", " 1"] {
            assert_eq!(flag(neither), None, "{neither:?}");
        }
    }

    #[test]
    fn lists_are_split_as_pve_splits_them() {
        assert_eq!(list("a,b;c d\te"), ["a", "b", "c", "d", "e"]);
        assert_eq!(list("a b\0c"), ["a b", "c"]);
        assert!(list(" ,; ").is_empty());
    }

    #[test]
    fn every_part_is_there_also_what_is_said_twice() {
        let read: Vec<_> =
            parts("local-lvm:1,volume=local-lvm:vm-101-disk-0,,ssd=1,x=,=y").collect();
        assert_eq!(
            read,
            [
                Part::Default("local-lvm:1"),
                Part::Pair("volume", "local-lvm:vm-101-disk-0"),
                Part::Pair("ssd", "1"),
                Part::Malformed("x="),
                Part::Malformed("=y"),
            ]
        );
        let equals: Vec<_> = parts("args=a=b").collect();
        assert_eq!(equals, [Part::Pair("args", "a=b")]);
    }
}
