//! What a client sees, and what it has seen already: updates are sent when it asks for them, and bring what changed.

use super::Malformed;
use super::message::{Area, Message, next};
use super::picture::{CELL_HEIGHT, colour, size};
use super::pixel::Format;
use super::zrle::Packer;
use crate::clock::Time;
use crate::world::display::TextScreen;
use crate::world::guest::Guest;

const RAW: i32 = 0;
const ZRLE: i32 = 16;
/// Not pixels, but news: the screen has another size; keys may be sent by their scan codes.
const DESKTOP_SIZE: i32 = -223;
const EXTENDED_KEYS: i32 = -258;

/// A client after the opening.
#[derive(Debug)]
pub(super) struct View {
    format: Format,
    encoding: i32,
    /// The client can take a screen that changes its size.
    resizes: bool,
    /// The size that the client knows.
    size: (u16, u16),
    /// What it has asked for, and not got yet.
    asked: Option<Asked>,
    /// What it has seen, and which part of it; nothing at the beginning.
    seen: Option<(Area, TextScreen)>,
    packer: Packer,
    /// A serial port that takes the display's place, as a program of PVE draws it: it begins with nothing, and knows no
    /// keys by scan code.
    port: Option<TextScreen>,
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    only_changes: bool,
    area: Area,
}

impl View {
    /// A client that is told of the screen, and has not seen it.
    pub(super) fn new(screen: &TextScreen) -> Self {
        Self {
            format: Format::OFFERED,
            encoding: RAW,
            resizes: false,
            size: size(screen),
            asked: None,
            seen: None,
            packer: Packer::new(),
            port: None,
        }
    }

    /// A client of a machine whose display is a serial port.
    pub(super) fn of_port(name: &str) -> Self {
        let mut screen = TextScreen::default();
        screen.print(&format!("starting serial terminal on interface {name}\n"));
        Self {
            port: Some(screen.clone()),
            ..Self::new(&screen)
        }
    }

    /// The first half of the server's introduction: size and pixels.
    pub(super) fn introduce(&self, send: &mut Vec<u8>) {
        send.extend(self.size.0.to_be_bytes());
        send.extend(self.size.1.to_be_bytes());
        send.extend(self.format.describe());
    }

    /// Whether the client has asked for something that has not happened yet.
    pub(super) fn is_waiting(&self) -> bool {
        self.asked.is_some()
    }

    /// Takes the messages that have come, and sends what is due.
    pub(super) fn proceed(
        &mut self,
        inbox: &mut Vec<u8>,
        guest: &mut Guest,
        now: Time,
        send: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        while let Some(message) = next(inbox)? {
            self.take(message, guest, now, send);
        }
        match self.port.clone() {
            Some(port) => self.update(&port, send),
            None => self.update(guest.look(now), send),
        }
        Ok(())
    }

    fn take(&mut self, message: Message, guest: &mut Guest, now: Time, send: &mut Vec<u8>) {
        match message {
            Message::Format(format) => self.format = format,
            Message::Encodings(list) => self.choose(&list, send),
            Message::Show { only_changes, area } => {
                // A request for everything is not taken back by a later one for changes.
                let all = self.asked.is_some_and(|asked| !asked.only_changes);
                self.asked = Some(Asked {
                    only_changes: only_changes && !all,
                    area,
                });
            }
            Message::Key { .. } | Message::ScanCode { .. } if self.port.is_some() => {
                guest.display.inputs += 1;
            }
            Message::Key { down, keysym } => guest.key_by_keysym(keysym, down, now),
            Message::ScanCode { down, code } => guest.key_by_scan_code(code, down, now),
            Message::Pointer { buttons, x, y } => guest.point(buttons, (x, y)),
            Message::Clipboard => guest.display.inputs += 1,
        }
    }

    /// The first encoding that is known here is used.
    fn choose(&mut self, list: &[i32], send: &mut Vec<u8>) {
        let mut known = list.iter().filter(|kind| [RAW, ZRLE].contains(kind));
        self.encoding = *known.next().unwrap_or(&RAW);
        self.resizes = list.contains(&DESKTOP_SIZE);
        if list.contains(&EXTENDED_KEYS) && self.port.is_none() {
            begin_update(1, send);
            write_head(self.whole(), EXTENDED_KEYS, send);
        }
    }

    fn whole(&self) -> Area {
        Area {
            x: 0,
            y: 0,
            width: self.size.0,
            height: self.size.1,
        }
    }

    fn update(&mut self, screen: &TextScreen, send: &mut Vec<u8>) {
        if size(screen) != self.size && self.resizes {
            self.size = size(screen);
            self.seen = None;
            begin_update(1, send);
            write_head(self.whole(), DESKTOP_SIZE, send);
            let whole = self.whole();
            if let Some(asked) = &mut self.asked {
                asked.area = whole;
            }
        }
        let Some(asked) = self.asked else { return };
        let Some(area) = asked.area.within(self.whole()) else {
            return;
        };
        let parts = match &self.seen {
            Some((seen, old))
                if asked.only_changes && *seen == area && old.mode() == screen.mode() =>
            {
                changed(old, screen, area)
            }
            _ => vec![area],
        };
        if parts.is_empty() {
            return;
        }
        begin_update(parts.len(), send);
        for part in parts {
            self.write_pixels(part, screen, send);
        }
        self.asked = None;
        self.seen = Some((area, screen.clone()));
    }

    fn write_pixels(&mut self, area: Area, screen: &TextScreen, send: &mut Vec<u8>) {
        write_head(area, self.encoding, send);
        if self.encoding == ZRLE {
            let look = |x, y| colour(screen, x, y);
            return self.packer.write(area, &self.format, look, send);
        }
        for y in area.y..area.y + area.height {
            for x in area.x..area.x + area.width {
                self.format.write(colour(screen, x, y), send);
            }
        }
    }
}

/// The rows that differ, each from its first to its last difference.
fn changed(old: &TextScreen, new: &TextScreen, area: Area) -> Vec<Area> {
    let mode = new.mode();
    let differs = |column: u16, row: u16| {
        let has_cursor = |screen: &TextScreen| screen.cursor() == Some((column, row));
        old.cell(column, row) != new.cell(column, row) || has_cursor(old) != has_cursor(new)
    };
    let part = |row: u16| {
        let mut columns = (0..mode.columns).filter(|column| differs(*column, row));
        let first = columns.next()?;
        let last = columns.next_back().unwrap_or(first);
        let part = Area {
            x: first * mode.cell_width,
            y: row * CELL_HEIGHT,
            width: (last - first + 1) * mode.cell_width,
            height: CELL_HEIGHT,
        };
        part.within(area)
    };
    (0..mode.rows).filter_map(part).collect()
}

fn begin_update(parts: usize, send: &mut Vec<u8>) {
    send.extend([0, 0]);
    send.extend(u16::try_from(parts).unwrap_or(u16::MAX).to_be_bytes());
}

fn write_head(area: Area, encoding: i32, send: &mut Vec<u8>) {
    for number in [area.x, area.y, area.width, area.height] {
        send.extend(number.to_be_bytes());
    }
    send.extend(encoding.to_be_bytes());
}
