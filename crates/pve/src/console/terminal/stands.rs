//! What a terminal seems to wait for, as far as its text tells.

use super::text::TerminalScreen;

/// What a terminal seems to wait for. A guess from the line that the cursor is in: programs may look like anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stands {
    /// It shows nothing: what was written before we came was not drawn again.
    Blank,
    /// It asks for a user's name.
    Login,
    /// It asks for a password.
    Password,
    /// A shell waits for a command.
    Prompt,
    /// Somebody has begun to type this, and not sent it.
    HalfTyped(String),
    /// Something else: most likely a program runs.
    Busy(String),
}

/// What PVE says before it shows a serial port, which keeps nothing of what was written to it.
const SERIAL_HEADING: &str = "starting serial terminal on interface";

impl Stands {
    pub(super) fn of(screen: &TerminalScreen) -> Self {
        let (before, after) = screen.cursor_line();
        if screen.is_taken() {
            return Self::Busy("a program that has taken the whole screen".to_owned());
        }
        let text = screen.text();
        if text.is_empty() || text.starts_with(SERIAL_HEADING) && !text.contains('\n') {
            return Self::Blank;
        }
        if after.is_empty() && asks_for_password(&before) {
            return Self::Password;
        }
        let before = match before.strip_prefix("login: ") {
            // Some systems do not say who they are.
            Some(typed) => format!(" login: {typed}"),
            None => before,
        };
        let asks = |mark: &str| {
            let (_, typed) = before.split_once(mark)?;
            let typed = format!("{typed}{after}");
            Some(typed.trim().to_owned())
        };
        if let Some(typed) = asks(" login: ") {
            return if typed.is_empty() {
                Self::Login
            } else {
                Self::HalfTyped(typed)
            };
        }
        match asks("# ").or_else(|| asks("$ ")) {
            Some(typed) if typed.is_empty() => Self::Prompt,
            Some(typed) => Self::HalfTyped(typed),
            None => Self::Busy(format!("{before}{after}").trim().to_owned()),
        }
    }
}

/// `Password:`, `[sudo] password for ann:`, `Enter passphrase for key '/root/.ssh/id':`
fn asks_for_password(line: &str) -> bool {
    let line = line.trim_end().to_lowercase();
    let is_question = line.ends_with(':');
    is_question
        && ["password", "passwort", "passphrase"]
            .iter()
            .any(|word| line.contains(word))
}
