//! A keyboard with the keys of a PC, labelled as in the United States.

/// A key.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// QEMU's name for it.
    pub name: &'static str,
    /// Its scan code; 0x80 is added where it follows 0xe0.
    pub code: u8,
    /// What it types alone and with shift.
    types: Option<(char, char)>,
    /// What VNC clients call it, if it types nothing.
    keysym: u32,
}

const fn typing(name: &'static str, code: u8, plain: char, shifted: char) -> Key {
    Key {
        name,
        code,
        types: Some((plain, shifted)),
        keysym: 0,
    }
}

const fn other(name: &'static str, code: u8, keysym: u32) -> Key {
    Key {
        name,
        code,
        types: None,
        keysym,
    }
}

/// The keys.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    typing("1", 0x02, '1', '!'), typing("2", 0x03, '2', '@'), typing("3", 0x04, '3', '#'),
    typing("4", 0x05, '4', '$'), typing("5", 0x06, '5', '%'), typing("6", 0x07, '6', '^'),
    typing("7", 0x08, '7', '&'), typing("8", 0x09, '8', '*'), typing("9", 0x0a, '9', '('),
    typing("0", 0x0b, '0', ')'), typing("minus", 0x0c, '-', '_'), typing("equal", 0x0d, '=', '+'),
    typing("q", 0x10, 'q', 'Q'), typing("w", 0x11, 'w', 'W'), typing("e", 0x12, 'e', 'E'),
    typing("r", 0x13, 'r', 'R'), typing("t", 0x14, 't', 'T'), typing("y", 0x15, 'y', 'Y'),
    typing("u", 0x16, 'u', 'U'), typing("i", 0x17, 'i', 'I'), typing("o", 0x18, 'o', 'O'),
    typing("p", 0x19, 'p', 'P'), typing("bracket_left", 0x1a, '[', '{'),
    typing("bracket_right", 0x1b, ']', '}'), typing("a", 0x1e, 'a', 'A'), typing("s", 0x1f, 's', 'S'),
    typing("d", 0x20, 'd', 'D'), typing("f", 0x21, 'f', 'F'), typing("g", 0x22, 'g', 'G'),
    typing("h", 0x23, 'h', 'H'), typing("j", 0x24, 'j', 'J'), typing("k", 0x25, 'k', 'K'),
    typing("l", 0x26, 'l', 'L'), typing("semicolon", 0x27, ';', ':'),
    typing("apostrophe", 0x28, '\'', '"'), typing("grave_accent", 0x29, '`', '~'),
    typing("backslash", 0x2b, '\\', '|'), typing("z", 0x2c, 'z', 'Z'), typing("x", 0x2d, 'x', 'X'),
    typing("c", 0x2e, 'c', 'C'), typing("v", 0x2f, 'v', 'V'), typing("b", 0x30, 'b', 'B'),
    typing("n", 0x31, 'n', 'N'), typing("m", 0x32, 'm', 'M'), typing("comma", 0x33, ',', '<'),
    typing("dot", 0x34, '.', '>'), typing("slash", 0x35, '/', '?'), typing("spc", 0x39, ' ', ' '),
    // After the keys above: clients call these by the same characters.
    typing("less", 0x56, '<', '>'), typing("kp_multiply", 0x37, '*', '*'),
    typing("asterisk", 0x37, '*', '*'), typing("kp_subtract", 0x4a, '-', '-'),
    typing("kp_add", 0x4e, '+', '+'), typing("kp_divide", 0xb5, '/', '/'),
    other("esc", 0x01, 0xff1b), other("backspace", 0x0e, 0xff08), other("tab", 0x0f, 0xff09),
    other("ret", 0x1c, 0xff0d), other("ctrl", 0x1d, 0xffe3), other("shift", 0x2a, 0xffe1),
    other("shift_r", 0x36, 0xffe2), other("alt", 0x38, 0xffe9), other("caps_lock", 0x3a, 0xffe5),
    other("f1", 0x3b, 0xffbe), other("f2", 0x3c, 0xffbf), other("f3", 0x3d, 0xffc0),
    other("f4", 0x3e, 0xffc1), other("f5", 0x3f, 0xffc2), other("f6", 0x40, 0xffc3),
    other("f7", 0x41, 0xffc4), other("f8", 0x42, 0xffc5), other("f9", 0x43, 0xffc6),
    other("f10", 0x44, 0xffc7), other("f11", 0x57, 0xffc8), other("f12", 0x58, 0xffc9),
    other("num_lock", 0x45, 0xff7f), other("scroll_lock", 0x46, 0xff14),
    other("sysrq", 0x54, 0xff15), other("print", 0xb7, 0xff61), other("pause", 0xc6, 0xff13),
    other("kp_7", 0x47, 0xffb7), other("kp_8", 0x48, 0xffb8), other("kp_9", 0x49, 0xffb9),
    other("kp_4", 0x4b, 0xffb4), other("kp_5", 0x4c, 0xffb5), other("kp_6", 0x4d, 0xffb6),
    other("kp_1", 0x4f, 0xffb1), other("kp_2", 0x50, 0xffb2), other("kp_3", 0x51, 0xffb3),
    other("kp_0", 0x52, 0xffb0), other("kp_decimal", 0x53, 0xffae),
    other("kp_enter", 0x9c, 0xff8d), other("ctrl_r", 0x9d, 0xffe4), other("alt_r", 0xb8, 0xffea),
    other("alt_r", 0xb8, 0xfe03), other("home", 0xc7, 0xff50), other("up", 0xc8, 0xff52),
    other("pgup", 0xc9, 0xff55), other("left", 0xcb, 0xff51), other("right", 0xcd, 0xff53),
    other("end", 0xcf, 0xff57), other("down", 0xd0, 0xff54), other("pgdn", 0xd1, 0xff56),
    other("insert", 0xd2, 0xff63), other("delete", 0xd3, 0xffff), other("meta_l", 0xdb, 0xffeb),
    other("meta_r", 0xdc, 0xffec), other("menu", 0xdd, 0xff67), other("compose", 0xdd, 0xff67),
];

impl Key {
    /// The key of that name, or with a code such as `0x1c`.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        if let Some(code) = name.strip_prefix("0x") {
            let code = u32::from_str_radix(code, 16).ok()?;
            return Self::by_scan_code(code);
        }
        let name = if name == "<" { "less" } else { name };
        KEYS.iter().find(|key| key.name == name)
    }

    /// The key with that scan code.
    pub fn by_scan_code(code: u32) -> Option<&'static Self> {
        KEYS.iter().find(|key| u32::from(key.code) == code)
    }

    /// The key that types this, with or without shift: VNC clients send characters and not keys, and press shift
    /// themselves.
    pub fn by_keysym(keysym: u32) -> Option<&'static Self> {
        let character = char::from_u32(keysym);
        let is_on = |key: &&Self| {
            let labels = key.types.map(|(plain, shifted)| [plain, shifted]);
            labels.is_some_and(|labels| character.is_some_and(|c| labels.contains(&c)))
        };
        let named = |key: &&Self| key.types.is_none() && key.keysym == keysym;
        KEYS.iter().find(is_on).or_else(|| KEYS.iter().find(named))
    }

    /// Whether it changes what other keys do.
    pub fn is_modifier(&self) -> bool {
        let names = [
            "shift", "shift_r", "ctrl", "ctrl_r", "alt", "alt_r", "meta_l", "meta_r",
        ];
        names.contains(&self.name)
    }
}

/// Which keys are held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyboard {
    held: Vec<&'static str>,
    capitals: bool,
}

/// What pressing a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    /// A character is typed.
    Char(char),
    /// Ctrl and this letter.
    Control(char),
    /// The end of a line.
    Enter,
    /// The last character was wrong.
    Backspace,
    /// Ctrl, alt and delete: start over.
    Restart,
}

impl Stroke {
    /// Whether it is heeded even while a command runs.
    pub(super) fn is_urgent(self) -> bool {
        matches!(self, Self::Restart | Self::Control('c'))
    }
}

impl Keyboard {
    /// A key and what is held with it, as QEMU would write it: `ctrl-alt-delete`.
    pub fn combination(&self, key: &Key) -> String {
        let held = self.held.iter().copied();
        let modifiers = held.filter(|name| Key::by_name(name).is_some_and(Key::is_modifier));
        let names: Vec<&str> = modifiers.chain([key.name]).collect();
        names.join("-")
    }

    /// The keys that are down.
    pub fn held(&self) -> &[&'static str] {
        &self.held
    }

    /// Releases every key.
    pub(super) fn lift_all(&mut self) {
        self.held.clear();
    }

    /// Releases a key.
    pub(super) fn release(&mut self, key: &Key) {
        self.held.retain(|name| *name != key.name);
    }

    /// Presses a key; `None` if that means nothing by itself.
    pub(super) fn press(&mut self, key: &'static Key) -> Option<Stroke> {
        if !self.held.contains(&key.name) {
            self.held.push(key.name);
        }
        let (shift, ctrl, alt) = (self.holds("shift"), self.holds("ctrl"), self.holds("alt"));
        match key.name {
            "delete" | "kp_decimal" if ctrl && alt => return Some(Stroke::Restart),
            "caps_lock" => self.capitals = !self.capitals,
            "ret" | "kp_enter" => return Some(Stroke::Enter),
            "backspace" => return Some(Stroke::Backspace),
            _ => {}
        }
        let (plain, shifted) = key.types?;
        match (ctrl, alt) {
            (true, _) => plain.is_ascii_lowercase().then_some(Stroke::Control(plain)),
            (_, true) => None,
            _ => {
                let capital = shift != (self.capitals && plain.is_ascii_lowercase());
                Some(Stroke::Char(if capital { shifted } else { plain }))
            }
        }
    }

    /// Whether a modifier is held, on either side.
    fn holds(&self, name: &str) -> bool {
        self.held
            .iter()
            .any(|held| held.strip_suffix("_r").unwrap_or(held) == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> &'static Key {
        Key::by_name(name).expect("a key")
    }

    #[test]
    fn keys_are_found_by_name_place_and_character() {
        assert_eq!(key("0x1c").name, "ret");
        assert_eq!(Key::by_scan_code(0xd3), Some(key("delete")));
        assert_eq!(Key::by_keysym(u32::from('A')), Some(key("a")));
        assert_eq!(Key::by_keysym(u32::from('<')), Some(key("comma")));
        assert_eq!(Key::by_keysym(0xffe1), Some(key("shift")));
        assert_eq!(Key::by_keysym(0), None);
        assert_eq!(Key::by_scan_code(0xff), None);
    }

    #[test]
    fn shift_and_capitals() {
        let mut board = Keyboard::default();
        let mut typed = |name| board.press(key(name));
        assert_eq!(typed("1"), Some(Stroke::Char('1')));
        assert_eq!(typed("shift_r"), None);
        assert_eq!(typed("1"), Some(Stroke::Char('!')));
        assert_eq!(typed("a"), Some(Stroke::Char('A')));
        assert_eq!(typed("caps_lock"), None);
        assert_eq!(typed("a"), Some(Stroke::Char('a')));
        assert_eq!(typed("1"), Some(Stroke::Char('!')));
    }

    #[test]
    fn control_and_restart() {
        let mut board = Keyboard::default();
        board.press(key("ctrl"));
        assert_eq!(board.press(key("c")), Some(Stroke::Control('c')));
        board.release(key("c"));
        board.press(key("alt"));
        assert_eq!(board.combination(key("delete")), "ctrl-alt-delete");
        assert_eq!(board.press(key("delete")), Some(Stroke::Restart));
        board.release(key("ctrl"));
        board.release(key("delete"));
        assert_eq!(board.press(key("delete")), None);
    }
}
