//! Where the keys sit on a PC keyboard: their codes of set 1, those behind the prefix 0xe0 with 0x80 set, and X's numbers
//! for what they mean on a US keyboard.

use pve::console::Key;

#[rustfmt::skip]
const KEYS: &[(&str, u8, u32)] = &[
    ("esc", 0x01, 0xff1b), ("backspace", 0x0e, 0xff08), ("tab", 0x0f, 0xff09), ("ret", 0x1c, 0xff0d),
    ("ctrl", 0x1d, 0xffe3), ("shift", 0x2a, 0xffe1), ("shift_r", 0x36, 0xffe2), ("alt", 0x38, 0xffe9),
    ("caps_lock", 0x3a, 0xffe5), ("f1", 0x3b, 0xffbe), ("f2", 0x3c, 0xffbf), ("f3", 0x3d, 0xffc0),
    ("f4", 0x3e, 0xffc1), ("f5", 0x3f, 0xffc2), ("f6", 0x40, 0xffc3), ("f7", 0x41, 0xffc4), ("f8", 0x42, 0xffc5),
    ("f9", 0x43, 0xffc6), ("f10", 0x44, 0xffc7), ("f11", 0x57, 0xffc8), ("f12", 0x58, 0xffc9),
    ("num_lock", 0x45, 0xff7f), ("scroll_lock", 0x46, 0xff14), ("sysrq", 0x54, 0xff15),
    ("kp_0", 0x52, 0xffb0), ("kp_1", 0x4f, 0xffb1), ("kp_2", 0x50, 0xffb2), ("kp_3", 0x51, 0xffb3),
    ("kp_4", 0x4b, 0xffb4), ("kp_5", 0x4c, 0xffb5), ("kp_6", 0x4d, 0xffb6), ("kp_7", 0x47, 0xffb7),
    ("kp_8", 0x48, 0xffb8), ("kp_9", 0x49, 0xffb9), ("kp_multiply", 0x37, 0xffaa), ("asterisk", 0x37, 0xffaa),
    ("kp_subtract", 0x4a, 0xffad), ("kp_add", 0x4e, 0xffab), ("kp_decimal", 0x53, 0xffae),
    ("kp_enter", 0x9c, 0xff8d), ("kp_divide", 0xb5, 0xffaf), ("ctrl_r", 0x9d, 0xffe4), ("alt_r", 0xb8, 0xffea),
    ("print", 0xb7, 0xff61), ("pause", 0xc6, 0xff13), ("home", 0xc7, 0xff50), ("up", 0xc8, 0xff52),
    ("pgup", 0xc9, 0xff55), ("left", 0xcb, 0xff51), ("right", 0xcd, 0xff53), ("end", 0xcf, 0xff57),
    ("down", 0xd0, 0xff54), ("pgdn", 0xd1, 0xff56), ("insert", 0xd2, 0xff63), ("delete", 0xd3, 0xffff),
    ("meta_l", 0xdb, 0xffeb), ("meta_r", 0xdc, 0xffec), ("compose", 0xdd, 0xff67),
];

/// The keys that write something, with what they write on a US keyboard.
#[rustfmt::skip]
const WRITING: &[(&str, u8, char)] = &[
    ("1", 0x02, '1'), ("2", 0x03, '2'), ("3", 0x04, '3'), ("4", 0x05, '4'), ("5", 0x06, '5'), ("6", 0x07, '6'),
    ("7", 0x08, '7'), ("8", 0x09, '8'), ("9", 0x0a, '9'), ("0", 0x0b, '0'), ("minus", 0x0c, '-'), ("equal", 0x0d, '='),
    ("q", 0x10, 'q'), ("w", 0x11, 'w'), ("e", 0x12, 'e'), ("r", 0x13, 'r'), ("t", 0x14, 't'), ("y", 0x15, 'y'),
    ("u", 0x16, 'u'), ("i", 0x17, 'i'), ("o", 0x18, 'o'), ("p", 0x19, 'p'), ("bracket_left", 0x1a, '['),
    ("bracket_right", 0x1b, ']'), ("a", 0x1e, 'a'), ("s", 0x1f, 's'), ("d", 0x20, 'd'), ("f", 0x21, 'f'),
    ("g", 0x22, 'g'), ("h", 0x23, 'h'), ("j", 0x24, 'j'), ("k", 0x25, 'k'), ("l", 0x26, 'l'), ("semicolon", 0x27, ';'),
    ("apostrophe", 0x28, '\''), ("grave_accent", 0x29, '`'), ("backslash", 0x2b, '\\'), ("z", 0x2c, 'z'),
    ("x", 0x2d, 'x'), ("c", 0x2e, 'c'), ("v", 0x2f, 'v'), ("b", 0x30, 'b'), ("n", 0x31, 'n'), ("m", 0x32, 'm'),
    ("comma", 0x33, ','), ("dot", 0x34, '.'), ("slash", 0x35, '/'), ("spc", 0x39, ' '), ("less", 0x56, '<'),
];

/// The key of that name, or of that code (`0x1c`).
pub(super) fn key(name: &str) -> Option<Key> {
    let made = |scan_code, symbol| Key { scan_code, symbol };
    if let Some((_, code, symbol)) = KEYS.iter().find(|(known, ..)| *known == name) {
        return Some(made(*code, *symbol));
    }
    if let Some((_, code, written)) = WRITING.iter().find(|(known, ..)| *known == name) {
        return Some(made(*code, u32::from(*written)));
    }
    let code = u8::from_str_radix(name.strip_prefix("0x")?, 16).ok()?;
    let known = WRITING.iter().find(|(_, known, _)| *known == code);
    Some(made(
        code,
        known.map_or(0, |(.., written)| u32::from(*written)),
    ))
}

/// The key at a place, taken to mean a character: QEMU goes by the meaning if the VM has a keyboard layout.
pub(super) fn key_for(name: &str, written: char) -> Option<Key> {
    Some(Key {
        symbol: symbol(written),
        ..key(name)?
    })
}

/// X's number of a character: its own up to Latin-1, with a mark above.
fn symbol(character: char) -> u32 {
    match character {
        '\u{0}'..='\u{ff}' => u32::from(character),
        _ => 0x0100_0000 | u32::from(character),
    }
}
