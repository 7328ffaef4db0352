//! The messages of a client.

use super::pixel::{Format, Layout};
use super::{Malformed, take};

/// A longer clipboard is not taken.
const LONGEST_TEXT: usize = 1 << 20;
/// QEMU's own messages, and the one of them that is a key.
const QEMU: u8 = 255;
const QEMU_KEY: u8 = 0;

/// What a client says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// How it wants pixels.
    Format(Format),
    /// Which encodings it knows, best first.
    Encodings(Vec<i32>),
    /// It wants to see an area: all of it, or what has changed.
    Show { only_changes: bool, area: Area },
    /// A key, by the character it stands for.
    Key { down: bool, keysym: u32 },
    /// A key, by its place on the keyboard.
    ScanCode { down: bool, code: u32 },
    /// The pointer.
    Pointer { buttons: u8, x: u16, y: u16 },
    /// Its clipboard.
    Clipboard,
}

/// A part of the screen, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: u16,
    pub(super) y: u16,
    pub(super) width: u16,
    pub(super) height: u16,
}

impl Area {
    /// What both have.
    pub(super) fn within(self, other: Self) -> Option<Self> {
        let span = |a: u16, a_len: u16, b: u16, b_len: u16| {
            let end = a.saturating_add(a_len).min(b.saturating_add(b_len));
            let start = a.max(b);
            (end > start).then(|| (start, end - start))
        };
        let (x, width) = span(self.x, self.width, other.x, other.width)?;
        let (y, height) = span(self.y, self.height, other.y, other.height)?;
        Some(Self {
            x,
            y,
            width,
            height,
        })
    }
}

/// Takes the next message, if all of it has come.
pub(super) fn next(inbox: &mut Vec<u8>) -> Result<Option<Message>, Malformed> {
    let u16_of = |high: u8, low: u8| u16::from_be_bytes([high, low]);
    let message = match *inbox.as_slice() {
        [0, ..] => take::<20>(inbox).map(format).transpose()?,
        [2, _, high, low, ..] => encodings(inbox, usize::from(u16_of(high, low))),
        [3, ..] => take::<10>(inbox).map(|[_, flag, x1, x2, y1, y2, w1, w2, h1, h2]| {
            let area = Area {
                x: u16_of(x1, x2),
                y: u16_of(y1, y2),
                width: u16_of(w1, w2),
                height: u16_of(h1, h2),
            };
            let only_changes = flag != 0;
            Message::Show { only_changes, area }
        }),
        [4, ..] => take::<8>(inbox).map(|[_, down, _, _, a, b, c, d]| Message::Key {
            down: down != 0,
            keysym: u32::from_be_bytes([a, b, c, d]),
        }),
        [5, ..] => take::<6>(inbox).map(|[_, buttons, x1, x2, y1, y2]| Message::Pointer {
            buttons,
            x: u16_of(x1, x2),
            y: u16_of(y1, y2),
        }),
        [6, _, _, _, a, b, c, d, ..] => clipboard(inbox, u32::from_be_bytes([a, b, c, d]))?,
        [QEMU, kind, ..] if kind != QEMU_KEY => return Err(Malformed),
        [QEMU, _, ..] => {
            take::<12>(inbox).map(|[_, _, h, l, _, _, _, _, a, b, c, d]| Message::ScanCode {
                down: u16_of(h, l) != 0,
                code: u32::from_be_bytes([a, b, c, d]),
            })
        }
        [] | [2 | 6 | QEMU, ..] => None,
        [..] => return Err(Malformed),
    };
    Ok(message)
}

fn format(bytes: [u8; 20]) -> Result<Message, Malformed> {
    let [
        _,
        _,
        _,
        _,
        bits,
        depth,
        big_endian,
        true_colour,
        r1,
        r2,
        g1,
        g2,
        b1,
        b2,
        red,
        green,
        blue,
        ..,
    ] = bytes;
    let layout = Layout {
        max: [[r1, r2], [g1, g2], [b1, b2]].map(u16::from_be_bytes),
        shift: [red, green, blue],
    };
    let format = Format::new((bits, depth), big_endian != 0, layout);
    // A palette instead of colours is a thing of the past, and not served here.
    match format.filter(|_| true_colour != 0) {
        Some(format) => Ok(Message::Format(format)),
        None => Err(Malformed),
    }
}

fn encodings(inbox: &mut Vec<u8>, count: usize) -> Option<Message> {
    let bytes = inbox.get(4..4 + count * 4)?;
    let list = bytes.chunks_exact(4).filter_map(|four| four.first_chunk());
    let list = list.map(|four| i32::from_be_bytes(*four)).collect();
    inbox.drain(..4 + count * 4);
    Some(Message::Encodings(list))
}

fn clipboard(inbox: &mut Vec<u8>, length: u32) -> Result<Option<Message>, Malformed> {
    let length = usize::try_from(length).map_err(|_| Malformed)?;
    if length > LONGEST_TEXT {
        return Err(Malformed);
    }
    if inbox.len() < 8 + length {
        return Ok(None);
    }
    inbox.drain(..8 + length);
    Ok(Some(Message::Clipboard))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_may_come_in_pieces() {
        let key = [4, 1, 0, 0, 0, 0, 0xff, 0x0d];
        let mut inbox = Vec::new();
        for byte in &key[..7] {
            inbox.push(*byte);
            assert_eq!(next(&mut inbox), Ok(None));
        }
        inbox.extend([0x0d, 5, 1, 0, 10, 0, 20]);
        let enter = Message::Key {
            down: true,
            keysym: 0xff0d,
        };
        assert_eq!(next(&mut inbox), Ok(Some(enter)));
        let click = Message::Pointer {
            buttons: 1,
            x: 10,
            y: 20,
        };
        assert_eq!(next(&mut inbox), Ok(Some(click)));
        assert!(inbox.is_empty());
    }

    #[test]
    fn encodings_and_scan_codes() {
        let mut inbox = vec![2, 0, 0, 2, 0, 0, 0, 16, 0xff, 0xff, 0xfe, 0xfe];
        let list = Message::Encodings(vec![16, -258]);
        assert_eq!(next(&mut inbox), Ok(Some(list)));
        let mut inbox = vec![255, 0, 0, 1, 0, 0, 0, 0x61, 0, 0, 0, 0x1e];
        let key = Message::ScanCode {
            down: true,
            code: 0x1e,
        };
        assert_eq!(next(&mut inbox), Ok(Some(key)));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let endless = [6, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
        let mut odd_pixels = [0; 20];
        odd_pixels[4] = 13;
        for bytes in [&[9][..], &[255, 7], &endless, &odd_pixels] {
            assert_eq!(next(&mut bytes.to_vec()), Err(Malformed), "{bytes:?}");
        }
    }
}
