//! The system behind a screen: it boots, asks who is there, and runs commands.

use std::collections::VecDeque;
use std::time::Duration;

use super::boot::{self, SYSTEM};
use super::keyboard::{Key, Keyboard, Stroke};
use super::screen::TextScreen;
use crate::clock::Time;
use crate::world::guest::{Guest, Power};
use crate::world::shell::{self, Outcome};

/// The password of every user of every machine.
pub const PASSWORD: &str = "demo";
/// How long a machine takes to go down.
const GOING_DOWN: Duration = Duration::from_secs(2);

/// A screen, a keyboard, and what is between them.
#[derive(Clone, Debug, Default)]
pub struct Display {
    /// How many keys, movements and texts VNC clients have sent since the machine started.
    pub inputs: u64,
    /// Where the pointer of a VNC client was last, and which buttons it held.
    pub pointer: Option<(u8, (u16, u16))>,
    /// Which keys are down.
    pub keyboard: Keyboard,
    screen: TextScreen,
    /// When the system started, which is later than the machine if it restarted by itself.
    booted: Option<Time>,
    /// How many steps of the boot are done.
    steps: usize,
    stage: Stage,
    /// What was typed since the last enter.
    line: String,
    /// What was typed while a command ran, for whatever comes after it.
    ahead: VecDeque<Stroke>,
}

/// What the system does.
#[derive(Clone, Debug, Default)]
enum Stage {
    /// It starts, or has found nothing to start.
    #[default]
    Boot,
    /// It waits for a name.
    Login,
    /// It waits for this user's password.
    Password(String),
    /// It waits for a command of this user.
    Shell(String),
    /// It runs one.
    Command {
        user: String,
        ends: Time,
        outcome: Outcome,
    },
    /// It is another system, which lets nobody in.
    Locked,
    /// It goes down.
    Down,
}

impl Display {
    /// A machine that starts now, although its process does not.
    pub(super) fn starting(now: Time) -> Self {
        Self {
            booted: Some(now),
            ..Self::default()
        }
    }

    /// What is shown.
    pub fn screen(&self) -> &TextScreen {
        &self.screen
    }

    /// What the clock brings: steps of the boot, the end of a command.
    fn catch_up(&mut self, guest: &Guest, now: Time) {
        let Power::Running { since, .. } = guest.power else {
            return;
        };
        let booted = *self.booted.get_or_insert(since);
        if matches!(self.stage, Stage::Boot) {
            self.boot(guest, now.since(booted));
        }
        if let Stage::Command {
            user,
            ends,
            outcome,
        } = &self.stage
            && *ends <= now
        {
            let (user, outcome) = (user.clone(), outcome.clone());
            self.print_outcome(&outcome);
            self.prompt(guest, user);
        }
    }

    /// Does what has fallen due, and what was typed in advance.
    pub(super) fn take_up(&mut self, guest: &mut Guest, now: Time) {
        self.catch_up(guest, now);
        while !self.is_busy()
            && let Some(stroke) = self.ahead.pop_front()
        {
            self.stroke(guest, stroke, now);
            self.catch_up(guest, now);
        }
    }

    fn is_busy(&self) -> bool {
        matches!(self.stage, Stage::Command { .. })
    }

    fn boot(&mut self, guest: &Guest, passed: Duration) {
        let steps = boot::steps(guest);
        let count = steps.len();
        for step in steps.into_iter().skip(self.steps) {
            if step.after > passed {
                return;
            }
            self.steps += 1;
            if let Some(mode) = step.mode {
                self.screen = TextScreen::new(mode);
            }
            self.screen.print(&step.text);
        }
        if self.steps == count && guest.inside.os {
            if boot::is_windows(guest) {
                self.stage = Stage::Locked;
            } else {
                self.ask_for_login(guest);
            }
        }
    }

    fn ask_for_login(&mut self, guest: &Guest) {
        let host = guest.name();
        self.screen.clear();
        let greeting = format!("{SYSTEM} {host} tty1\n\n{host} login: ");
        self.screen.print(&greeting);
        self.line.clear();
        self.stage = Stage::Login;
    }

    /// Takes a key.
    pub(super) fn press(&mut self, guest: &mut Guest, key: &'static Key, down: bool, now: Time) {
        self.take_up(guest, now);
        if !down {
            return self.keyboard.release(key);
        }
        match self.keyboard.press(key) {
            Some(stroke) if self.is_busy() && !stroke.is_urgent() => self.ahead.push_back(stroke),
            Some(stroke) => self.stroke(guest, stroke, now),
            None => {}
        }
        self.take_up(guest, now);
    }

    fn stroke(&mut self, guest: &mut Guest, stroke: Stroke, now: Time) {
        match stroke {
            // This one takes it for something else.
            Stroke::Restart if matches!(self.stage, Stage::Locked) => {}
            Stroke::Restart => self.restart(guest, now),
            Stroke::Char(c) => self.type_character(c),
            Stroke::Backspace => self.take_back(),
            Stroke::Control('c') => self.interrupt(guest),
            Stroke::Control('l') => self.redraw(guest),
            Stroke::Enter => self.enter(guest, now),
            Stroke::Control(_) => {}
        }
    }

    /// Starts the system over. Held keys stay held.
    fn restart(&mut self, guest: &Guest, now: Time) {
        *self = Self {
            inputs: self.inputs,
            pointer: self.pointer,
            keyboard: self.keyboard.clone(),
            ..Self::starting(now)
        };
        self.catch_up(guest, now);
    }

    fn type_character(&mut self, c: char) {
        match self.stage {
            Stage::Login | Stage::Shell(_) => {
                self.line.push(c);
                self.screen.print(c.encode_utf8(&mut [0; 4]));
            }
            Stage::Password(_) => self.line.push(c),
            Stage::Boot | Stage::Command { .. } | Stage::Locked | Stage::Down => {}
        }
    }

    fn take_back(&mut self) {
        let shown = !matches!(self.stage, Stage::Password(_));
        if self.line.pop().is_some() && shown {
            self.screen.erase_last();
        }
    }

    fn interrupt(&mut self, guest: &Guest) {
        match &self.stage {
            Stage::Shell(user) | Stage::Command { user, .. } => {
                let user = user.clone();
                self.ahead.clear();
                self.screen.print("^C\n");
                self.prompt(guest, user);
            }
            Stage::Login | Stage::Password(_) => self.ask_for_login(guest),
            Stage::Boot | Stage::Locked | Stage::Down => {}
        }
    }

    fn redraw(&mut self, guest: &Guest) {
        if let Stage::Shell(user) = &self.stage {
            let text = prompt_of(guest, user) + &self.line;
            self.screen.clear();
            self.screen.print(&text);
        }
    }

    fn enter(&mut self, guest: &mut Guest, now: Time) {
        let stage = std::mem::take(&mut self.stage);
        let line = std::mem::take(&mut self.line);
        if matches!(stage, Stage::Login | Stage::Password(_) | Stage::Shell(_)) {
            self.screen.print("\n");
        }
        match stage {
            Stage::Login if line.trim().is_empty() => self.ask_for_login(guest),
            Stage::Login => {
                self.screen.print("Password: ");
                self.stage = Stage::Password(line.trim().to_owned());
            }
            Stage::Password(user) => self.log_in(guest, user, &line, now),
            Stage::Shell(user) => self.run(guest, user, line.trim(), now),
            other => self.stage = other,
        }
    }

    fn log_in(&mut self, guest: &Guest, user: String, password: &str, now: Time) {
        if knows(guest, &user) && password == PASSWORD {
            let welcome = format!("Linux {} {} x86_64\n\n", guest.name(), shell::KERNEL);
            let last = format!("Last login: {} on tty1\n", now.as_c_text());
            self.screen.print(&(welcome + &last));
            self.prompt(guest, user);
        } else {
            let again = format!("\nLogin incorrect\n{} login: ", guest.name());
            self.screen.print(&again);
            self.stage = Stage::Login;
        }
    }

    fn prompt(&mut self, guest: &Guest, user: String) {
        self.screen.print(&prompt_of(guest, &user));
        self.line.clear();
        self.stage = Stage::Shell(user);
    }

    /// Runs a command. Some concern the screen or the machine, the others are programs.
    fn run(&mut self, guest: &mut Guest, user: String, line: &str, now: Time) {
        match line {
            "" => self.prompt(guest, user),
            "clear" | "reset" => {
                self.screen.clear();
                self.prompt(guest, user);
            }
            "exit" | "logout" => self.ask_for_login(guest),
            "reboot" => self.restart(guest, now),
            "poweroff" | "shutdown -h now" | "shutdown now" => {
                self.screen.print("The system will power off now!\n");
                guest.off_at = Some(now + GOING_DOWN);
                self.stage = Stage::Down;
            }
            "uptime" => {
                let text = self.uptime(now);
                self.screen.print(&text);
                self.prompt(guest, user);
            }
            line => {
                let outcome = guest.run_line(line);
                let ends = now + Duration::from_secs(outcome.seconds);
                self.stage = Stage::Command {
                    user,
                    ends,
                    outcome,
                };
            }
        }
    }

    fn uptime(&self, now: Time) -> String {
        let minutes = now.since(self.booted.unwrap_or(now)).as_secs() / 60;
        let (hours, rest) = (minutes / 60, minutes % 60);
        let time = now.to_string();
        let time = time.split(' ').next_back().unwrap_or_default();
        let passed = match hours {
            0 => format!("{rest} min"),
            1..24 => format!("{hours:2}:{rest:02}"),
            _ => format!("{} days, {:2}:{rest:02}", hours / 24, hours % 24),
        };
        format!(" {time} up {passed},  1 user,  load average: 0.00, 0.00, 0.00\n")
    }

    fn print_outcome(&mut self, outcome: &Outcome) {
        for text in [&outcome.out, &outcome.err] {
            let text = String::from_utf8_lossy(text);
            self.screen.print(&text);
            if !text.is_empty() && !text.ends_with('\n') {
                self.screen.print("\n");
            }
        }
    }
}

/// Whether the system has such a user.
fn knows(guest: &Guest, user: &str) -> bool {
    user == "root"
        || guest.config.get("ciuser") == Some(user)
        || guest.agent.users.iter().any(|known| known == user)
}

fn prompt_of(guest: &Guest, user: &str) -> String {
    let sign = if user == "root" { '#' } else { '$' };
    format!("{user}@{}:~{sign} ", guest.name())
}

#[cfg(test)]
mod tests;
