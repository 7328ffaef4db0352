//! QEMU's key names. PVE passes them on unchecked and answers an unknown one with an empty 400, so they
//! are checked here, before anything is sent.

use crate::fault::Fault;
use crate::schema;

/// Every name that QEMU's monitor takes after sendkey.
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "shift", "shift_r", "alt", "alt_r", "ctrl", "ctrl_r", "menu", "esc", "1", "2", "3", "4", "5", "6", "7", "8", "9", "0",
    "minus", "equal", "backspace", "tab", "q", "w", "e", "r", "t", "y", "u", "i", "o", "p", "bracket_left",
    "bracket_right", "ret", "a", "s", "d", "f", "g", "h", "j", "k", "l", "semicolon", "apostrophe", "grave_accent",
    "backslash", "z", "x", "c", "v", "b", "n", "m", "comma", "dot", "slash", "asterisk", "spc", "caps_lock",
    "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f15", "f16", "f17",
    "f18", "f19", "f20", "f21", "f22", "f23", "f24", "num_lock", "scroll_lock", "kp_divide", "kp_multiply",
    "kp_subtract", "kp_add", "kp_enter", "kp_decimal", "kp_comma", "kp_equals", "sysrq", "kp_0", "kp_1", "kp_2",
    "kp_3", "kp_4", "kp_5", "kp_6", "kp_7", "kp_8", "kp_9", "less", "print", "home", "pgup", "pgdn", "end", "left",
    "up", "down", "right", "insert", "delete", "stop", "again", "props", "undo", "front", "copy", "open", "paste",
    "find", "cut", "lf", "help", "meta_l", "meta_r", "compose", "pause", "ro", "hiragana", "henkan", "yen", "muhenkan",
    "katakanahiragana", "lang1", "lang2", "power", "sleep", "wake", "audionext", "audioprev", "audiostop", "audioplay",
    "audiomute", "volumeup", "volumedown", "mediaselect", "mail", "calculator", "computer", "ac_home", "ac_back",
    "ac_forward", "ac_refresh", "ac_bookmarks",
];

/// The keys of a combination: more than anybody has fingers.
const MOST: usize = 10;

/// What people call keys.
const ALIASES: &[(&str, &str)] = &[
    ("enter", "ret"),
    ("return", "ret"),
    ("escape", "esc"),
    ("space", "spc"),
    ("del", "delete"),
    ("ins", "insert"),
    ("win", "meta_l"),
    ("super", "meta_l"),
    ("meta", "meta_l"),
    ("cmd", "meta_l"),
    ("control", "ctrl"),
    ("altgr", "alt_r"),
    ("pageup", "pgup"),
    ("pagedown", "pgdn"),
    ("prtsc", "print"),
    ("capslock", "caps_lock"),
    ("numlock", "num_lock"),
    ("period", "dot"),
    ("plus", "shift-equal"),
    ("bksp", "backspace"),
];

/// Characters of a US keyboard that are not key names themselves.
const CHARACTERS: &[(char, &str)] = &[
    ('=', "equal"),
    ('[', "bracket_left"),
    (']', "bracket_right"),
    (';', "semicolon"),
    ('\'', "apostrophe"),
    ('`', "grave_accent"),
    ('\\', "backslash"),
    (',', "comma"),
    ('.', "dot"),
    ('/', "slash"),
    (' ', "spc"),
    ('!', "shift-1"),
    ('@', "shift-2"),
    ('#', "shift-3"),
    ('$', "shift-4"),
    ('%', "shift-5"),
    ('^', "shift-6"),
    ('&', "shift-7"),
    ('*', "shift-8"),
    ('(', "shift-9"),
    (')', "shift-0"),
    ('_', "shift-minus"),
    ('+', "shift-equal"),
    ('{', "shift-bracket_left"),
    ('}', "shift-bracket_right"),
    (':', "shift-semicolon"),
    ('"', "shift-apostrophe"),
    ('~', "shift-grave_accent"),
    ('|', "shift-backslash"),
    ('<', "shift-comma"),
    ('>', "shift-dot"),
    ('?', "shift-slash"),
    ('-', "minus"),
];

/// Checks a combination and puts it into QEMU's names.
pub fn parse(text: &str) -> Result<String, Fault> {
    // A lone blank is the space bar.
    let text = if text == " " { text } else { text.trim() };
    if text.is_empty() {
        return Err(Fault::bad_input("no key was given")
            .hint("send for example \"ctrl-alt-delete\", \"ret\" or \"f2\""));
    }
    // A lone character means itself; "-" is otherwise what joins.
    if text.chars().count() == 1 {
        return one(text);
    }
    // "ctrl-C" is how manuals print ctrl-c; only a lone "A" asks for shift.
    // "ctrl+alt+delete" is how others write it.
    let joint = if text.contains('-') { '-' } else { '+' };
    let mut keys = Vec::new();
    // However many there are, those beyond a few need not be understood to be too many.
    for key in text.split(joint).take(MOST + 1) {
        let key = one(&key.to_lowercase())?;
        // "shift-+" holds shift already.
        let is_held = keys.iter().any(|held| held == "shift" || held == "shift_r");
        let key = key
            .strip_prefix("shift-")
            .filter(|_| is_held)
            .unwrap_or(&key);
        keys.extend(key.split('-').map(str::to_owned));
    }
    let count = keys.len().max(text.split(joint).count());
    if count > MOST {
        return Err(Fault::bad_input(format!(
            "{count} keys at once are too many; nothing was sent"
        ))
        .hint(format!(
            "join at most {MOST} with \"-\"; blanks part those that come one after the other"
        )));
    }
    Ok(keys.join("-"))
}

/// One key, by QEMU's name, by what people call it, by its character, or by its scan code.
fn one(name: &str) -> Result<String, Fault> {
    if KEYS.contains(&name) || is_scan_code(name) {
        return Ok(name.to_owned());
    }
    let mut characters = name.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        if character.is_ascii_uppercase() {
            return Ok(format!("shift-{}", character.to_ascii_lowercase()));
        }
        if let Some((_, key)) = CHARACTERS.iter().find(|(known, _)| *known == character) {
            return Ok((*key).to_owned());
        }
    }
    if let Some((_, key)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
        return Ok((*key).to_owned());
    }
    Err(unknown(name))
}

/// `0x1c`: QEMU takes a scan code in place of a name.
fn is_scan_code(name: &str) -> bool {
    name.strip_prefix("0x").is_some_and(|digits| {
        (1..=4).contains(&digits.len()) && digits.chars().all(|digit| digit.is_ascii_hexdigit())
    })
}

fn unknown(name: &str) -> Fault {
    let names = KEYS
        .iter()
        .copied()
        .chain(ALIASES.iter().map(|(alias, _)| *alias));
    let hint = match schema::nearest(name, names) {
        Some(near) => format!("did you mean \"{near}\"? "),
        None => String::new(),
    };
    Fault::bad_input(format!("\"{}\" is no key that QEMU knows; nothing was sent", crate::clean::line(name)))
        .hint(format!("{hint}join QEMU's names with \"-\": ctrl, alt, shift, meta_l, ret, esc, tab, delete, f1…f12, up, pgdn, a…z, 0…9"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qemu_names_pass_unchanged() {
        for key in [
            "ctrl-alt-delete",
            "ret",
            "shift-a",
            "0x1c",
            "f12",
            "kp_enter",
        ] {
            assert_eq!(parse(key).unwrap(), key);
        }
    }

    #[test]
    fn too_many_keys_are_counted_and_not_understood() {
        let keys = "a-".repeat(2_000_000) + "a";
        let fault = parse(&keys).unwrap_err();
        assert!(fault.message.starts_with("2000001 keys"), "{fault}");
        let fault = parse("a-b-c-d-e-f-+-h-i-j").unwrap_err();
        assert!(fault.message.starts_with("11 keys"), "{fault}");
    }

    #[test]
    fn what_people_write_is_understood() {
        for (text, key) in [
            ("Ctrl-Alt-Del", "ctrl-alt-delete"),
            ("enter", "ret"),
            ("A", "shift-a"),
            ("-", "minus"),
            (" ", "spc"),
            ("?", "shift-slash"),
            ("win-r", "meta_l-r"),
            ("ctrl-C", "ctrl-c"),
            ("Ctrl+Alt+Del", "ctrl-alt-delete"),
            ("ctrl-+", "ctrl-shift-equal"),
            ("shift-+", "shift-equal"),
            ("ctrl-!-?", "ctrl-shift-1-slash"),
            ("+", "shift-equal"),
        ] {
            assert_eq!(parse(text).unwrap(), key, "{text}");
        }
    }

    #[test]
    fn an_unknown_key_names_the_near_one() {
        let fault = parse("ctrl-alt-delte").unwrap_err();
        assert!(fault.message.contains("\"delte\""), "{fault}");
        assert!(fault.hint.unwrap().contains("\"delete\""));
        let many = parse(&["a"; 11].join("-")).unwrap_err();
        assert!(many.message.contains("11 keys at once"), "{many}");
        for key in ["ctrl-alt-banana", "", "ret ret", "ctrl-", "0x", "ä"] {
            assert!(parse(key).is_err(), "{key}");
        }
    }
}
