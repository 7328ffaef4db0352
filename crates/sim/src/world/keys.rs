//! The keys of a virtual machine's keyboard, by the names that QEMU gives them.

/// Splits `ctrl-alt-delete` into keys that are pressed together.
///
/// # Errors
/// The first part that is neither a key nor a code such as `0x1c`, in QEMU's words.
pub fn parse(combination: &str) -> Result<Vec<&str>, String> {
    let keys: Vec<&str> = combination.split('-').collect();
    match keys.iter().find(|key| !is_key(key)) {
        Some(unknown) => Err(format!("unknown key: '{unknown}'")),
        None => Ok(keys),
    }
}

fn is_key(name: &str) -> bool {
    match name.strip_prefix("0x") {
        Some(code) => u8::from_str_radix(code, 16).is_ok(),
        None => is_character(name) || NAMES.contains(&name) || name == "<",
    }
}

/// Letters and digits are called by themselves, letters in lower case.
fn is_character(name: &str) -> bool {
    matches!(name.as_bytes(), [b'a'..=b'z' | b'0'..=b'9'])
}

const NAMES: &[&str] = &[
    "unmapped",
    "shift",
    "shift_r",
    "alt",
    "alt_r",
    "ctrl",
    "ctrl_r",
    "menu",
    "esc",
    "minus",
    "equal",
    "backspace",
    "tab",
    "bracket_left",
    "bracket_right",
    "ret",
    "semicolon",
    "apostrophe",
    "grave_accent",
    "backslash",
    "comma",
    "dot",
    "slash",
    "asterisk",
    "spc",
    "caps_lock",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "f6",
    "f7",
    "f8",
    "f9",
    "f10",
    "f11",
    "f12",
    "f13",
    "f14",
    "f15",
    "f16",
    "f17",
    "f18",
    "f19",
    "f20",
    "f21",
    "f22",
    "f23",
    "f24",
    "num_lock",
    "scroll_lock",
    "kp_divide",
    "kp_multiply",
    "kp_subtract",
    "kp_add",
    "kp_enter",
    "kp_decimal",
    "kp_comma",
    "kp_equals",
    "kp_0",
    "kp_1",
    "kp_2",
    "kp_3",
    "kp_4",
    "kp_5",
    "kp_6",
    "kp_7",
    "kp_8",
    "kp_9",
    "sysrq",
    "less",
    "print",
    "home",
    "pgup",
    "pgdn",
    "end",
    "left",
    "up",
    "down",
    "right",
    "insert",
    "delete",
    "stop",
    "again",
    "props",
    "undo",
    "front",
    "copy",
    "open",
    "paste",
    "find",
    "cut",
    "lf",
    "help",
    "meta_l",
    "meta_r",
    "compose",
    "pause",
    "ro",
    "hiragana",
    "henkan",
    "yen",
    "muhenkan",
    "katakanahiragana",
    "power",
    "sleep",
    "wake",
    "audionext",
    "audioprev",
    "audiostop",
    "audioplay",
    "audiomute",
    "volumeup",
    "volumedown",
    "mediaselect",
    "mail",
    "calculator",
    "computer",
    "ac_home",
    "ac_back",
    "ac_forward",
    "ac_refresh",
    "ac_bookmarks",
    "lang1",
    "lang2",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_and_codes() {
        assert_eq!(parse("ctrl-alt-delete"), Ok(vec!["ctrl", "alt", "delete"]));
        assert_eq!(parse("0x1c"), Ok(vec!["0x1c"]));
        assert_eq!(
            parse("ctrl-nosuch"),
            Err("unknown key: 'nosuch'".to_owned())
        );
        for unknown in ["A", "", "ret ret", "ctrl-", "0x"] {
            assert!(parse(unknown).is_err(), "{unknown}");
        }
    }
}
