//! A VM's keyboard and screen, and the terminals of guests.

mod capture;
mod input;
mod send_key;
mod target;
mod terminal;
mod type_text;

pub(super) use capture::CaptureScreen;
pub(super) use send_key::SendVmKey;
pub(super) use terminal::{ReadTerminal, SendTerminalLine, exec_plan};
pub(super) use type_text::TypeVmText;
