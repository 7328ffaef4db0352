//! Which keys write which characters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Stroke, places};

/// A keyboard layout, by the name that X and PVE give it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Layout {
    /// United States.
    #[default]
    Us,
    /// United Kingdom.
    Gb,
    /// Germany.
    De,
    /// France.
    Fr,
}

/// What a key writes: alone, with shift, with alt gr. A blank: nothing.
type Row = (&'static str, [char; 3]);

/// A key that writes nothing by itself but an accent over the next one; with the space bar, the accent alone.
const DEAD: &[(Layout, char)] = &[
    (Layout::De, '^'),
    (Layout::De, '´'),
    (Layout::De, '`'),
    (Layout::Fr, '^'),
    (Layout::Fr, '¨'),
];

impl Layout {
    /// Every layout.
    pub const ALL: [Self; 4] = [Self::Us, Self::Gb, Self::De, Self::Fr];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Us => "us",
            Self::Gb => "gb",
            Self::De => "de",
            Self::Fr => "fr",
        }
    }

    /// Whether a text would come out differently if the guest had another of these layouts.
    pub fn matters_for(self, text: &str) -> bool {
        let strokes = |layout| super::strokes(text, layout).map(|strokes| places_of(&strokes));
        let ours = strokes(self);
        Layout::ALL.iter().any(|other| strokes(*other) != ours)
    }

    /// The strokes that write a character; `None` if there are none.
    pub(super) fn write(self, character: char) -> Option<Vec<Stroke>> {
        match character {
            '\n' | '\r' => return Some(vec![super::stroke("ret")?]),
            '\t' => return Some(vec![super::stroke("tab")?]),
            ' ' => return Some(vec![super::stroke("spc")?]),
            _ => {}
        }
        let (name, level) = self.find(character)?;
        let mut stroke: Stroke = Vec::new();
        match level {
            0 => {}
            1 => stroke.push(places::key("shift")?),
            _ => stroke.push(places::key("alt_r")?),
        }
        stroke.push(places::key_for(name, character)?);
        let mut strokes = vec![stroke];
        if DEAD.contains(&(self, character)) {
            strokes.push(super::stroke("spc")?);
        }
        Some(strokes)
    }

    /// The key that writes a character, and with what: 0 alone, 1 with shift, 2 with alt gr.
    fn find(self, character: char) -> Option<(&'static str, usize)> {
        let rows = self.own().iter().chain(US);
        let in_row = |(name, written): &Row| {
            let level = written.iter().position(|c| *c == character && *c != ' ');
            level.map(|level| (*name, level))
        };
        rows.filter(|row| self.is_first(row)).find_map(in_row)
    }

    /// A layout's own row hides the US one of the same key.
    fn is_first(self, row: &Row) -> bool {
        let own = self.own().iter().find(|(name, _)| *name == row.0);
        own.is_none_or(|own| own == row)
    }

    fn own(self) -> &'static [Row] {
        match self {
            Self::Us => &[],
            Self::Gb => GB,
            Self::De => DE,
            Self::Fr => FR,
        }
    }
}

fn places_of(strokes: &[Stroke]) -> Vec<Vec<u8>> {
    let places = |stroke: &Stroke| stroke.iter().map(|key| key.scan_code).collect();
    strokes.iter().map(places).collect()
}

#[rustfmt::skip]
const US: &[Row] = &[
    ("grave_accent", ['`', '~', ' ']), ("1", ['1', '!', ' ']), ("2", ['2', '@', ' ']), ("3", ['3', '#', ' ']),
    ("4", ['4', '$', ' ']), ("5", ['5', '%', ' ']), ("6", ['6', '^', ' ']), ("7", ['7', '&', ' ']),
    ("8", ['8', '*', ' ']), ("9", ['9', '(', ' ']), ("0", ['0', ')', ' ']), ("minus", ['-', '_', ' ']),
    ("equal", ['=', '+', ' ']), ("q", ['q', 'Q', ' ']), ("w", ['w', 'W', ' ']), ("e", ['e', 'E', ' ']),
    ("r", ['r', 'R', ' ']), ("t", ['t', 'T', ' ']), ("y", ['y', 'Y', ' ']), ("u", ['u', 'U', ' ']),
    ("i", ['i', 'I', ' ']), ("o", ['o', 'O', ' ']), ("p", ['p', 'P', ' ']), ("bracket_left", ['[', '{', ' ']),
    ("bracket_right", [']', '}', ' ']), ("backslash", ['\\', '|', ' ']), ("a", ['a', 'A', ' ']), ("s", ['s', 'S', ' ']),
    ("d", ['d', 'D', ' ']), ("f", ['f', 'F', ' ']), ("g", ['g', 'G', ' ']), ("h", ['h', 'H', ' ']),
    ("j", ['j', 'J', ' ']), ("k", ['k', 'K', ' ']), ("l", ['l', 'L', ' ']), ("semicolon", [';', ':', ' ']),
    ("apostrophe", ['\'', '"', ' ']), ("z", ['z', 'Z', ' ']), ("x", ['x', 'X', ' ']), ("c", ['c', 'C', ' ']),
    ("v", ['v', 'V', ' ']), ("b", ['b', 'B', ' ']), ("n", ['n', 'N', ' ']), ("m", ['m', 'M', ' ']),
    ("comma", [',', '<', ' ']), ("dot", ['.', '>', ' ']), ("slash", ['/', '?', ' ']),
];

#[rustfmt::skip]
const GB: &[Row] = &[
    ("grave_accent", ['`', '¬', '¦']), ("2", ['2', '"', ' ']), ("3", ['3', '£', ' ']), ("4", ['4', '$', '€']),
    ("apostrophe", ['\'', '@', ' ']), ("backslash", ['#', '~', ' ']), ("less", ['\\', '|', ' ']),
];

#[rustfmt::skip]
const DE: &[Row] = &[
    ("grave_accent", ['^', '°', ' ']), ("2", ['2', '"', '²']), ("3", ['3', '§', '³']), ("6", ['6', '&', ' ']),
    ("7", ['7', '/', '{']), ("8", ['8', '(', '[']), ("9", ['9', ')', ']']), ("0", ['0', '=', '}']),
    ("minus", ['ß', '?', '\\']), ("equal", ['´', '`', ' ']), ("q", ['q', 'Q', '@']), ("e", ['e', 'E', '€']),
    ("y", ['z', 'Z', ' ']), ("bracket_left", ['ü', 'Ü', ' ']), ("bracket_right", ['+', '*', '~']),
    ("semicolon", ['ö', 'Ö', ' ']), ("apostrophe", ['ä', 'Ä', ' ']), ("backslash", ['#', '\'', ' ']),
    ("less", ['<', '>', '|']), ("z", ['y', 'Y', ' ']), ("m", ['m', 'M', 'µ']), ("comma", [',', ';', ' ']),
    ("dot", ['.', ':', ' ']), ("slash", ['-', '_', ' ']),
];

#[rustfmt::skip]
const FR: &[Row] = &[
    ("grave_accent", ['²', ' ', ' ']), ("1", ['&', '1', ' ']), ("2", ['é', '2', '~']), ("3", ['"', '3', '#']),
    ("4", ['\'', '4', '{']), ("5", ['(', '5', '[']), ("6", ['-', '6', '|']), ("7", ['è', '7', '`']),
    ("8", ['_', '8', '\\']), ("9", ['ç', '9', ' ']), ("0", ['à', '0', '@']), ("minus", [')', '°', ']']),
    ("equal", ['=', '+', '}']), ("q", ['a', 'A', ' ']), ("w", ['z', 'Z', ' ']), ("e", ['e', 'E', '€']),
    ("bracket_left", ['^', '¨', ' ']), ("bracket_right", ['$', '£', ' ']), ("a", ['q', 'Q', ' ']),
    ("semicolon", ['m', 'M', ' ']), ("apostrophe", ['ù', '%', ' ']), ("backslash", ['*', 'µ', ' ']),
    ("less", ['<', '>', ' ']), ("z", ['w', 'W', ' ']), ("m", [',', '?', ' ']), ("comma", [';', '.', ' ']),
    ("dot", [':', '/', ' ']), ("slash", ['!', '§', ' ']),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(layout: Layout, character: char) -> Vec<Vec<u8>> {
        places_of(&layout.write(character).unwrap_or_default())
    }

    #[test]
    fn every_printable_ascii_character_can_be_typed_on_every_layout() {
        for layout in Layout::ALL {
            let missing: String = (' '..='~')
                .filter(|c| codes(layout, *c).is_empty())
                .collect();
            assert_eq!(missing, "", "{}", layout.word());
        }
    }

    #[test]
    fn no_two_characters_come_from_the_same_stroke() {
        for layout in Layout::ALL {
            let mut all: Vec<_> = (' '..='~').map(|c| codes(layout, c)).collect();
            all.sort();
            all.dedup();
            assert_eq!(all.len(), (' '..='~').count(), "{}", layout.word());
        }
    }

    #[test]
    fn layouts_differ_where_they_do() {
        assert_eq!(codes(Layout::Us, 'z'), [[0x2c]]);
        assert_eq!(codes(Layout::De, 'z'), [[0x15]]);
        assert_eq!(codes(Layout::Fr, 'a'), [[0x10]]);
        assert_eq!(codes(Layout::Gb, '@'), [[0x2a, 0x28]]);
        assert_eq!(codes(Layout::De, '@'), [[0xb8, 0x10]]);
        // An accent waits for the next key; the space bar makes it stand alone.
        assert_eq!(codes(Layout::De, '^'), [vec![0x29], vec![0x39]]);
        assert!(Layout::Us.write('ü').is_none());
        assert!(!Layout::Us.matters_for("root\n"));
        assert!(Layout::Us.matters_for("ls -l"));
    }
}
