//! Text on its way to an agent and back. PVE takes a character for a byte in both directions.

/// The form in which PVE hands a text on unharmed: each of its bytes as a character.
pub(crate) fn to_wire(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

/// The text that a guest gave, from one character per byte. What is not UTF-8 is marked as such.
pub(crate) fn from_wire(text: &str) -> String {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    match bytes {
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        // Characters that no byte is: somebody has put it together before us.
        None => text.to_owned(),
    }
}

/// The beginning and the end of a text that is longer than `most` bytes, with what is missing named between them. The
/// second part tells whether something is.
pub(crate) fn capped(text: &str, most: usize) -> (String, bool) {
    if text.len() <= most {
        return (text.to_owned(), false);
    }
    let head = text.floor_char_boundary(most / 2);
    let tail = text.ceil_char_boundary(text.len() - most / 2);
    let gap = format!("\n[{} of {} bytes left out]\n", tail - head, text.len());
    (format!("{}{gap}{}", &text[..head], &text[tail..]), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_survives_both_ways() {
        let text = "grün → ✓";
        assert_eq!(to_wire("ü"), "Ã¼");
        assert_eq!(from_wire(&to_wire(text)), text);
        assert_eq!(from_wire("Ã¤ÿ"), "ä\u{fffd}");
    }

    #[test]
    fn a_long_text_keeps_both_ends() {
        let long = format!("begin{}end", "ä".repeat(100));
        let (text, cut) = capped(&long, 20);
        assert!(
            cut && text.starts_with("begin") && text.ends_with("end"),
            "{text}"
        );
        assert!(text.contains("of 208 bytes left out"), "{text}");
        assert_eq!(capped("short", 20), ("short".to_owned(), false));
    }
}
