//! What a machine shows: a text screen, a keyboard, and a small system that boots, asks for a login and runs commands.
//!
//! Nothing here happens by itself. Whoever looks at the screen or presses a key brings it up to date first.

mod boot;
mod keyboard;
mod machine;
mod screen;

pub use keyboard::{KEYS, Key, Keyboard};
pub use machine::{Display, PASSWORD};
pub use screen::{Cell, Mode, TextScreen};

use crate::clock::Time;
use crate::world::guest::{Guest, Power};

impl Guest {
    /// The screen as it is now.
    pub fn look(&mut self, now: Time) -> &TextScreen {
        self.with_display(|display, guest| display.take_up(guest, now));
        self.display.screen()
    }

    /// The machine starts over, as after a press of its reset button. Its process goes on.
    pub fn reset_display(&mut self, now: Time) {
        self.display = Display::starting(now);
    }

    /// Presses keys together and lets them go, by QEMU's names or codes such as `0x1c`.
    pub fn press_together(&mut self, names: &[&str], now: Time) {
        if let Some(outside) = &self.outside {
            return outside.press(&names.join("-"));
        }
        let keys: Vec<&Key> = names.iter().filter_map(|name| Key::by_name(name)).collect();
        for key in &keys {
            self.press(key, true, now);
        }
        for key in keys.iter().rev() {
            self.press(key, false, now);
        }
    }

    /// Presses or releases the key that a VNC client names by its character.
    pub fn key_by_keysym(&mut self, keysym: u32, down: bool, now: Time) {
        self.key_from_client(Key::by_keysym(keysym), down, now);
    }

    /// Presses or releases the key that a VNC client names by its place: a scan code of the PC/XT, with 0x80 for 0xe0.
    pub fn key_by_scan_code(&mut self, code: u32, down: bool, now: Time) {
        self.key_from_client(Key::by_scan_code(code), down, now);
    }

    /// A VNC client has left: QEMU lets go of what it held.
    pub fn lift_all_keys(&mut self) {
        self.display.keyboard.lift_all();
    }

    /// Moves the pointer of a VNC client, which this system does not show.
    pub fn point(&mut self, buttons: u8, at: (u16, u16)) {
        self.display.inputs += 1;
        self.display.pointer = Some((buttons, at));
    }

    /// A key of a VNC client is noted like one of `sendkey`, with the keys that are held meanwhile.
    fn key_from_client(&mut self, key: Option<&'static Key>, down: bool, now: Time) {
        self.display.inputs += 1;
        let Some(key) = key else { return };
        if down && !key.is_modifier() {
            self.keys.push(self.display.keyboard.combination(key));
        }
        self.press(key, down, now);
    }

    fn press(&mut self, key: &'static Key, down: bool, now: Time) {
        self.with_display(|display, guest| display.press(guest, key, down, now));
    }

    /// Lets the display act on its machine, unless that is off or paused.
    fn with_display(&mut self, act: impl FnOnce(&mut Display, &mut Self)) {
        if matches!(self.power, Power::Running { paused: false, .. }) {
            let mut display = std::mem::take(&mut self.display);
            act(&mut display, self);
            self.display = display;
        }
    }
}
