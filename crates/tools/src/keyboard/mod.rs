//! Keyboards: what keys are called, where they sit, and which of them write a text on which layout.

mod layout;
mod names;
mod places;

pub use layout::Layout;
pub use names::parse;

use pve::console::Key;

/// Keys that are pressed together.
pub type Stroke = Vec<Key>;

/// The stroke of a combination in QEMU's names; `None` if one of its keys has no place on a PC keyboard that we know.
pub fn stroke(combo: &str) -> Option<Stroke> {
    let mut keys: Stroke = combo.split('-').map(places::key).collect::<Option<_>>()?;
    if combo.split('-').any(|key| key.starts_with("shift")) {
        // Together they mean the capital.
        for key in &mut keys {
            if let Ok(letter @ b'a'..=b'z') = u8::try_from(key.symbol) {
                key.symbol = u32::from(letter.to_ascii_uppercase());
            }
        }
    }
    Some(keys)
}

/// Whether a combination makes many systems restart: ctrl-alt-delete by whichever keys, or SysRq with b.
pub fn restarts(combo: &str) -> bool {
    let has = |names: &[&str]| combo.split('-').any(|key| names.contains(&key));
    let is_salute = has(&["ctrl", "ctrl_r"]) && has(&["alt", "alt_r"]);
    is_salute && has(&["delete", "kp_decimal"]) || has(&["sysrq", "print"]) && has(&["b"])
}

/// A text on one line, with its line ends to be seen.
pub fn shown(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(['\n', '\r'], "⏎");
    let text = crate::clean::marked(&crate::clean::line(&text));
    format!("\"{text}\"")
}

/// The strokes that write a text, line ends as the enter key; the error is the first character that the layout lacks.
pub fn strokes(text: &str, layout: Layout) -> Result<Vec<Stroke>, char> {
    let mut strokes = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\r' && characters.peek() == Some(&'\n') {
            continue;
        }
        strokes.extend(layout.write(character).ok_or(character)?);
    }
    Ok(strokes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_have_places() {
        let codes = |combo: &str| -> Vec<u8> {
            let keys = stroke(combo).unwrap();
            keys.iter().map(|key| key.scan_code).collect()
        };
        assert_eq!(codes("ctrl-alt-delete"), [0x1d, 0x38, 0xd3]);
        assert_eq!(codes("shift-a"), [0x2a, 0x1e]);
        assert_eq!(codes("0x1c"), [0x1c]);
        assert!(stroke("ctrl-audiomute").is_none());
        assert_eq!(stroke("shift-a").unwrap()[1].symbol, u32::from('A'));
        assert_eq!(stroke("ctrl-a").unwrap()[1].symbol, u32::from('a'));
    }

    #[test]
    fn what_restarts_is_known_by_whichever_keys() {
        for combo in ["ctrl-alt-delete", "alt_r-ctrl_r-kp_decimal", "alt-sysrq-b"] {
            assert!(restarts(combo), "{combo}");
        }
        assert!(!restarts("ctrl-delete"));
        assert_eq!(shown("y\r\nrm x\n"), "\"y⏎rm x⏎\"");
    }

    #[test]
    fn line_ends_are_one_enter() {
        let enter = stroke("ret").unwrap();
        for text in ["\n", "\r\n", "\r"] {
            assert_eq!(
                strokes(text, Layout::Us),
                Ok(vec![enter.clone()]),
                "{text:?}"
            );
        }
        assert_eq!(strokes("aé", Layout::Us), Err('é'));
    }
}
