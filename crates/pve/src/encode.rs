//! Percent-encoding as PVE's server decodes it, and the check that a path means what it says.

use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode,
};

/// Everything but the unreserved characters: PVE splits forms at '&', ';' and '=', and reads '+' as a space.
const IN_FORM: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// In a path a few more characters stand for themselves, which keeps UPIDs, users and volumes readable in previews.
const IN_SEGMENT: &AsciiSet = &IN_FORM
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b',')
    .remove(b'=');

const IN_COOKIE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'%')
    .add(b',')
    .add(b';')
    .add(b'\\');

/// Encodes one path segment that is not a plain name: a volume id, a user, a UPID. A slash becomes `%2F`.
pub fn encode_segment(segment: impl AsRef<str>) -> String {
    utf8_percent_encode(segment.as_ref(), IN_SEGMENT).to_string()
}

/// Decodes a text that PVE keeps percent-encoded (`sshkeys`).
pub fn decode_value(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Encodes one key or value of a query or form. Sending does it by itself; a few parameters, such as the `sshkeys` of a VM,
/// are wanted encoded once more.
pub fn encode_value(value: &str) -> String {
    utf8_percent_encode(value, IN_FORM).to_string()
}

/// Encodes a ticket for a cookie. PVE unescapes cookies; the characters of its own tickets stand for themselves.
pub(crate) fn encode_cookie(ticket: &str) -> String {
    utf8_percent_encode(ticket, IN_COOKIE).to_string()
}

/// Says what is wrong with a path, if it could reach anything but the object that it names.
pub(crate) fn check_path(path: &str) -> Result<(), String> {
    if !path.starts_with('/') {
        return Err("a path begins with '/'".to_owned());
    }
    if path.contains("//") {
        return Err("the path has an empty part ('//')".to_owned());
    }
    if let Some(bad) = path
        .chars()
        .find(|c| !c.is_ascii_graphic() || matches!(c, '?' | '#' | '\\' | '"' | '<' | '>'))
    {
        return Err(format!(
            "{bad:?} does not belong in a path; parameters go beside it, special names are percent-encoded"
        ));
    }
    check_escapes(path)?;
    let decoded = percent_decode_str(path)
        .decode_utf8()
        .map_err(|_| "the path is not UTF-8 once decoded".to_owned())?;
    if decoded.chars().any(char::is_control) {
        return Err("the path holds an encoded control character".to_owned());
    }
    if decoded.split('/').any(|part| matches!(part, "." | "..")) {
        return Err("the path has a '.' or '..' part".to_owned());
    }
    Ok(())
}

fn check_escapes(path: &str) -> Result<(), String> {
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        rest = &rest[at + 1..];
        let is_escape = rest.len() >= 2 && rest.bytes().take(2).all(|b| b.is_ascii_hexdigit());
        if !is_escape {
            return Err("the path has a '%' that encodes nothing".to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_pve_would_split_or_unescape_is_encoded() {
        assert_eq!(
            encode_value("a+b %25&=;ä\n"),
            "a%2Bb%20%2525%26%3D%3B%C3%A4%0A"
        );
        assert_eq!(encode_segment("local:iso/a b.iso"), "local:iso%2Fa%20b.iso");
    }

    #[test]
    fn paths_that_mean_something_else_are_refused() {
        for bad in [
            "nodes",
            "/nodes/../access",
            "/nodes/%2e%2E/access",
            "/nodes/x%2F..%2Fy",
            "/nodes//pve1",
            "/a?b=1",
            "/a#b",
            "/a b",
            "/a\nb",
            "/a%0ab",
            "/ä",
            "/a%zz",
            "/a%",
            "/a%f",
            "/a%ff",
            "/./a",
        ] {
            assert!(check_path(bad).is_err(), "{bad:?}");
        }
        for good in [
            "/",
            "/version",
            "/nodes/pve1/",
            "/storage/a/content/a:iso%2Fx..y.iso",
        ] {
            assert_eq!(check_path(good), Ok(()), "{good:?}");
        }
    }

    proptest! {
        #[test]
        fn a_value_survives_the_way_pve_reads_a_form(value in any::<String>()) {
            let encoded = encode_value(&value);
            prop_assert!(!encoded.contains(['&', ';', '=', '+', ' ', '#']));
            prop_assert!(encoded.is_ascii());
            let back = percent_decode_str(&encoded).decode_utf8().unwrap();
            prop_assert_eq!(back.as_ref(), value.as_str());
        }

        #[test]
        fn an_encoded_segment_is_one_segment(segment in "\\PC{1,40}") {
            let encoded = encode_segment(&segment);
            prop_assert!(!encoded.contains(['/', '?', '#', '%'].as_slice()) || encoded.contains('%'));
            prop_assert!(!encoded.contains('/'));
            let path = format!("/x/{encoded}");
            let dotted = segment.split('/').any(|part| matches!(part, "." | ".."));
            prop_assert_eq!(check_path(&path).is_err(), dotted);
        }

        #[test]
        fn checking_a_path_never_panics(path in any::<String>()) {
            let _ = check_path(&path);
        }
    }
}
