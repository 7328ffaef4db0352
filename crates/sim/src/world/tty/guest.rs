//! Which terminals a guest has, and the session that stays when the client of a container leaves.

use super::Tty;
use crate::clock::Time;
use crate::world::guest::{Guest, Kind};
use crate::world::shell::System;

/// The terminals of a guest since it started.
#[derive(Clone, Debug, Default)]
pub struct Terminals {
    /// How many bytes clients have typed.
    pub typed: usize,
    ttys: Vec<(Place, Tty)>,
    /// What the kept session of a container is attached to, whatever the configuration has become since.
    session: Option<Place>,
    /// How many shells have ended.
    pub ended: usize,
}

/// One terminal of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A container's first virtual terminal.
    Tty,
    /// A container's console.
    Console,
    /// A shell inside a container.
    Shell,
    /// A serial port of a machine.
    Serial(u8),
}

impl Place {
    fn tty(self, system: System<'_>) -> Tty {
        // A container's terminals are seen through one more.
        match self {
            Self::Tty => Tty::login("tty1", "\r\r\n"),
            Self::Console => Tty::login("console", "\r\r\n"),
            Self::Shell => Tty::shell(system, "\r\r\n"),
            Self::Serial(port) => Tty::login(
                ["ttyS0", "ttyS1", "ttyS2", "ttyS3"][usize::from(port) % 4],
                "\r\n",
            ),
        }
    }
}

impl Guest {
    /// Attaches to the session of a container, or begins one as the configuration says; whether it was there before.
    pub fn attach(&mut self) -> (Place, bool) {
        if let Some(place) = self.terminals.session {
            return (place, true);
        }
        let place = match self.config.get("cmode") {
            Some("shell") => Place::Shell,
            Some("console") => Place::Console,
            _ => Place::Tty,
        };
        self.terminals.session = Some(place);
        (place, false)
    }

    /// The first serial port that leads to a terminal, or the one that is asked for.
    pub fn serial_port(&self, wanted: Option<&str>) -> Result<Place, String> {
        let is_socket = |port: &str| self.config.get(port) == Some("socket");
        let all = ["serial0", "serial1", "serial2", "serial3"];
        let port = match wanted {
            Some(port) if self.config.get(port).is_none() => {
                return Err(format!("serial interface '{port}' is not configured"));
            }
            Some(port) if !is_socket(port) => {
                return Err(format!("wrong serial type on interface '{port}'"));
            }
            Some(port) => port,
            None => all
                .into_iter()
                .find(|port| is_socket(port))
                .ok_or("unable to find a serial interface")?,
        };
        let number = all.iter().position(|name| *name == port);
        Ok(Place::Serial(
            u8::try_from(number.unwrap_or_default()).unwrap_or_default(),
        ))
    }

    /// Does something with a terminal; `None` if nothing inside answers there.
    pub fn with_tty<T>(
        &mut self,
        place: Place,
        act: impl FnOnce(&mut Tty, System<'_>) -> T,
    ) -> Option<T> {
        let answers = self.kind == Kind::Lxc || self.inside.os;
        if !self.is_running() || !answers {
            return None;
        }
        let mut terminals = std::mem::take(&mut self.terminals);
        let name = self.name();
        let system = System {
            name: &name,
            guest: Some(self),
        };
        let known = terminals.ttys.iter().position(|(at, _)| *at == place);
        let at = known.unwrap_or_else(|| {
            terminals.ttys.push((place, place.tty(system)));
            terminals.ttys.len() - 1
        });
        let done = act(&mut terminals.ttys[at].1, system);
        if terminals.ttys[at].1.is_over() {
            terminals.ttys.remove(at);
            terminals.ended += 1;
            terminals.session = terminals.session.filter(|session| *session != place);
        }
        self.terminals = terminals;
        Some(done)
    }

    /// Types on a terminal, and reads what was written there since a client had so much; whether something will
    /// happen by itself.
    pub fn type_on(
        &mut self,
        place: Place,
        bytes: &[u8],
        (now, seen): (Time, &mut usize),
        read: &mut Vec<u8>,
    ) -> bool {
        self.terminals.typed += bytes.len();
        let busy = self.with_tty(place, |tty, system| {
            tty.type_bytes(system, bytes, now);
            read.extend(tty.since(*seen));
            *seen = tty.written();
            tty.is_busy()
        });
        busy.unwrap_or_default()
    }
}
