//! Terminals as a line of text: who is asked for a name, what a shell answers. Bytes go in and out; what they look like
//! is the client's matter.

mod guest;

use std::collections::VecDeque;
use std::time::Duration;

pub use self::guest::{Place, Terminals};
use crate::clock::Time;
use crate::world::display::PASSWORD;
use crate::world::shell::{self, NODE_KERNEL, Outcome, System};

/// How long a wrong password is thought about.
const REFUSAL: Duration = Duration::from_secs(3);
/// Output is kept for clients up to this size.
const KEPT: usize = 256 * 1024;
/// Marks around what is typed, so that pasted text can be told from it.
const PASTE_ON: &str = "\x1b[?2004h";
const PASTE_OFF: &str = "\x1b[?2004l\r";

/// One terminal with what runs on it.
#[derive(Clone, Debug)]
pub struct Tty {
    /// `tty1`, `console`, `ttyS0`.
    name: &'static str,
    /// What a line end becomes on its way: every terminal that it passes adds a return.
    line_end: &'static str,
    stage: Stage,
    /// What was typed since the last enter.
    line: Vec<u8>,
    /// What was typed while nobody read it.
    ahead: VecDeque<u8>,
    /// How the last command ended.
    status: u8,
    out: Vec<u8>,
    /// How much output is not kept any more.
    dropped: usize,
}

/// What runs on a terminal.
#[derive(Clone, Debug)]
enum Stage {
    /// It waits for a name.
    Login,
    /// It waits for this user's password.
    Password(String),
    /// It lets somebody wait who was wrong.
    Refusing(Time),
    /// It waits for a command.
    Shell(Shell),
    /// It runs some, the first of which ends then.
    Commands(Shell, Time, VecDeque<Outcome>),
    /// Nothing runs here any more.
    Over,
}

/// A shell of somebody.
#[derive(Clone, Debug)]
struct Shell {
    user: String,
    directory: &'static str,
    /// It came from a login, to which it returns.
    login: bool,
}

impl Tty {
    /// A terminal that asks for a login, and has done so long ago.
    fn login(name: &'static str, line_end: &'static str) -> Self {
        Self {
            name,
            line_end,
            stage: Stage::Login,
            line: Vec::new(),
            ahead: VecDeque::new(),
            status: 0,
            out: Vec::new(),
            dropped: 0,
        }
    }

    /// A shell of root that asked nobody.
    fn shell(system: System<'_>, line_end: &'static str) -> Self {
        let mut tty = Self::login("pts/0", line_end);
        let shell = Shell {
            user: "root".to_owned(),
            directory: "/",
            login: false,
        };
        tty.prompt(system, shell);
        tty
    }

    /// A shell of root on a node.
    pub fn node(system: System<'_>) -> Self {
        let mut tty = Self::login("pts/0", "\r\n");
        tty.welcome(system, "root");
        tty
    }

    /// What was written since a client had so much.
    pub fn since(&self, seen: usize) -> &[u8] {
        let from = seen.saturating_sub(self.dropped).min(self.out.len());
        &self.out[from..]
    }

    /// How much was ever written.
    pub fn written(&self) -> usize {
        self.dropped + self.out.len()
    }

    /// Whether the program on it has ended for good.
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Whether something will happen by itself.
    pub fn is_busy(&self) -> bool {
        matches!(self.stage, Stage::Refusing(_) | Stage::Commands(..))
    }

    /// Types.
    pub fn type_bytes(&mut self, system: System<'_>, bytes: &[u8], now: Time) {
        self.take_up(system, now);
        for byte in bytes {
            if self.is_busy() && *byte != 3 {
                // The terminal itself shows what nobody reads yet.
                match byte {
                    b'\r' | b'\n' => self.print("\n"),
                    byte => self.raw(&[*byte]),
                }
                self.ahead.push_back(*byte);
            } else {
                self.key(system, *byte, now, true);
                self.take_up(system, now);
            }
        }
    }

    /// Does what has fallen due, and what was typed in advance.
    pub fn take_up(&mut self, system: System<'_>, now: Time) {
        loop {
            let echo = match &self.stage {
                Stage::Refusing(until) if *until <= now => {
                    self.print("\nLogin incorrect\n");
                    self.ask_for_name(system);
                    false
                }
                Stage::Commands(shell, ends, outcomes) if *ends <= now => {
                    let (shell, ends, outcomes) = (shell.clone(), *ends, outcomes.clone());
                    self.end_command(system, shell, ends, outcomes);
                    true
                }
                _ => return,
            };
            while !self.is_busy()
                && let Some(byte) = self.ahead.pop_front()
            {
                self.key(system, byte, now, echo);
            }
        }
    }

    /// Shows what a command has left, and goes on with the next one.
    fn end_command(
        &mut self,
        system: System<'_>,
        shell: Shell,
        ended: Time,
        mut outcomes: VecDeque<Outcome>,
    ) {
        if let Some(outcome) = outcomes.pop_front() {
            self.status = outcome.code;
            self.print(&String::from_utf8_lossy(&outcome.out));
            self.print(&String::from_utf8_lossy(&outcome.err));
        }
        match outcomes.front() {
            Some(next) => {
                let ends = ended + Duration::from_secs(next.seconds);
                self.stage = Stage::Commands(shell, ends, outcomes);
            }
            None => self.prompt(system, shell),
        }
    }

    /// A program that draws its line is told that the size has changed.
    pub fn redraw(&mut self, system: System<'_>) {
        if let Stage::Shell(shell) = &self.stage {
            let drawn = [b"\r\x1b[K", shell.prompt(system).as_bytes(), &self.line].concat();
            self.raw(&drawn);
        }
    }

    fn key(&mut self, system: System<'_>, byte: u8, now: Time, echo: bool) {
        match byte {
            b'\r' | b'\n' => self.enter(system, now, echo),
            3 => self.interrupt(system),
            4 if self.line.is_empty() => {
                if let Stage::Shell(shell) = self.stage.clone() {
                    self.leave(system, &shell);
                }
            }
            8 | 0x7f => {
                let shown = !matches!(self.stage, Stage::Password(_));
                if self.line.pop().is_some() && shown {
                    self.raw(b"\x08\x1b[K");
                }
            }
            0x15 => {
                let count = std::mem::take(&mut self.line).len();
                let shown = !matches!(self.stage, Stage::Password(_));
                self.raw("\x08".repeat(if shown { count } else { 0 }).as_bytes());
                self.raw(if shown { b"\x1b[K" } else { b"" });
            }
            byte if byte.is_ascii_control() => {}
            byte => {
                let shown = matches!(self.stage, Stage::Login | Stage::Shell(_));
                self.line.push(byte);
                if shown && echo {
                    self.raw(&[byte]);
                }
            }
        }
    }

    fn interrupt(&mut self, system: System<'_>) {
        self.ahead.clear();
        match self.stage.clone() {
            Stage::Shell(shell) | Stage::Commands(shell, ..) => {
                self.raw(b"^C");
                self.print("\n");
                self.status = 130;
                self.prompt(system, shell);
            }
            Stage::Login | Stage::Password(_) => self.greet(system),
            Stage::Refusing(_) | Stage::Over => {}
        }
    }

    fn enter(&mut self, system: System<'_>, now: Time, echo: bool) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        match self.stage.clone() {
            Stage::Login if line.trim().is_empty() => {
                self.raw(b"\r\n");
                self.greet(system);
            }
            Stage::Login => {
                if echo {
                    self.print("\r\n");
                }
                self.print("Password: ");
                self.stage = Stage::Password(line.trim().to_owned());
            }
            Stage::Password(user) => {
                self.print("\n");
                if user == "root" && line == PASSWORD {
                    self.welcome(system, &user);
                } else {
                    self.stage = Stage::Refusing(now + REFUSAL);
                }
            }
            Stage::Shell(shell) => {
                self.print("\n");
                self.raw(PASTE_OFF.as_bytes());
                self.run(system, shell, line.trim(), now);
            }
            Stage::Refusing(_) | Stage::Commands(..) | Stage::Over => {}
        }
    }

    fn run(&mut self, system: System<'_>, shell: Shell, line: &str, now: Time) {
        match line.split_whitespace().next() {
            None => self.prompt(system, shell),
            Some("exit" | "logout") => self.leave(system, &shell),
            Some(_) => {
                let known = system.guest.and_then(|guest| guest.known_program(line));
                let outcomes = match known {
                    Some(outcome) => vec![outcome.clone()],
                    None => shell::run_line(system, line, self.status),
                };
                let first = outcomes.first().map_or(0, |outcome| outcome.seconds);
                let ends = now + Duration::from_secs(first);
                self.stage = Stage::Commands(shell, ends, outcomes.into());
            }
        }
    }

    fn leave(&mut self, system: System<'_>, shell: &Shell) {
        if shell.login && self.name != "pts/0" {
            self.print("logout\n");
            return self.greet(system);
        }
        self.print(if shell.login { "logout\n" } else { "exit\n" });
        self.stage = Stage::Over;
    }

    fn greet(&mut self, system: System<'_>) {
        self.print("\r\n");
        self.print(&format!("{SYSTEM} {} {}\n\n", system.name, self.name));
        self.ask_for_name(system);
    }

    fn ask_for_name(&mut self, system: System<'_>) {
        self.print(&format!("{} login: ", system.name));
        self.line.clear();
        self.stage = Stage::Login;
    }

    fn welcome(&mut self, system: System<'_>, user: &str) {
        let host = system.name;
        self.print(&format!(
            "Linux {host} {NODE_KERNEL} #1 SMP PREEMPT_DYNAMIC @0 x86_64\n\n{MESSAGE}"
        ));
        let shell = Shell {
            user: user.to_owned(),
            directory: "~",
            login: true,
        };
        self.prompt(system, shell);
    }

    fn prompt(&mut self, system: System<'_>, shell: Shell) {
        let text = format!("{PASTE_ON}{}", shell.prompt(system));
        self.raw(text.as_bytes());
        self.line.clear();
        self.stage = Stage::Shell(shell);
    }

    fn print(&mut self, text: &str) {
        let text = text.replace('\n', self.line_end);
        self.raw(text.as_bytes());
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.out.extend(bytes);
        let excess = self.out.len().saturating_sub(KEPT);
        self.out.drain(..excess);
        self.dropped += excess;
    }
}

impl Shell {
    fn prompt(&self, system: System<'_>) -> String {
        format!("{}@{}:{}# ", self.user, system.name, self.directory)
    }
}

/// The system of every guest.
const SYSTEM: &str = "Debian GNU/Linux 13";
/// What Debian says after a login.
const MESSAGE: &str = "The programs included with the Debian GNU/Linux system are free software;\n\
    the exact distribution terms for each program are described in the\n\
    individual files in /usr/share/doc/*/copyright.\n\n\
    Debian GNU/Linux comes with ABSOLUTELY NO WARRANTY, to the extent\n\
    permitted by applicable law.\n";

#[cfg(test)]
mod tests;
