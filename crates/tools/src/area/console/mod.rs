//! A VM's keyboard and screen.

mod capture;
mod send_key;
mod target;
mod type_text;

pub(super) use capture::CaptureScreen;
pub(super) use send_key::SendVmKey;
pub(super) use type_text::TypeVmText;
