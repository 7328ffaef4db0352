//! Terminals, as PVE's proxy serves them: the client says who it is, then sends what is typed in small packets; what
//! the terminal writes comes as it is.

mod packet;

use std::ops::ControlFlow;

use self::packet::Packet;
use super::{End, Mood, Session};
use crate::call::Identity;
use crate::world::World;
use crate::world::console::{Console, Screen};
use crate::world::guest::{Guest, Power};
use crate::world::shell::System;
use crate::world::tty::{Place, Tty};

/// A first line longer than this is none.
const LONGEST_LINE: usize = 8192;
/// What the session of a container begins with, whenever somebody attaches.
const CLEAR: &[u8] = b"\x1b[H\x1b[J";

/// A client at a terminal.
pub(crate) struct Terminal {
    console: Console,
    inbox: Vec<u8>,
    stage: Stage,
}

enum Stage {
    /// The client has not said yet who it is.
    Unknown,
    /// It is at a terminal of a guest.
    Guest(AtGuest),
    /// It has a shell on a node.
    Node(String, Box<Tty>, usize),
}

/// Where a client is.
struct AtGuest {
    vmid: u32,
    place: Place,
    /// The process of the guest, and the shells that had ended in it.
    life: (u32, usize),
    seen: usize,
    /// What is on the terminal knows this client's size already.
    drawn: bool,
}

impl Terminal {
    /// A client that has just connected.
    pub(crate) fn new(console: Console) -> Self {
        Self {
            console,
            inbox: Vec::new(),
            stage: Stage::Unknown,
        }
    }

    fn failed(&self) -> End {
        End {
            line: None,
            status: self.console.failure.clone(),
        }
    }

    /// Reads who the client is. Only a user with a ticket for this very terminal is let in: never a token.
    fn admit(&mut self, world: &mut World, send: &mut Vec<u8>) -> Result<(), End> {
        let Some(end) = self.inbox.iter().position(|byte| *byte == b'\n') else {
            return if self.inbox.len() > LONGEST_LINE {
                Err(self.failed())
            } else {
                Ok(())
            };
        };
        let line: Vec<u8> = self.inbox.drain(..=end).collect();
        let line = String::from_utf8_lossy(&line);
        let (user, ticket) = line.trim_end().split_once(':').unwrap_or_default();
        let who = Identity::parse(user);
        let path = match &self.console.screen {
            Screen::Display(vmid) | Screen::Container(vmid) | Screen::Serial(vmid, _) => {
                format!("/vms/{vmid}")
            }
            Screen::Shell(node) => format!("/nodes/{node}"),
        };
        let signer = &world.signer;
        if who.token.is_some() || !signer.verify_vnc_ticket(ticket, &who, &path, world.now) {
            return Err(End {
                line: Some("authentication request failed".to_owned()),
                ..self.failed()
            });
        }
        send.extend(b"OK");
        self.begin(world, send)
    }

    /// Starts what the proxy shows.
    fn begin(&mut self, world: &mut World, send: &mut Vec<u8>) -> Result<(), End> {
        let (vmid, port) = match self.console.screen.clone() {
            Screen::Display(vmid) | Screen::Container(vmid) => (vmid, None),
            Screen::Serial(vmid, port) => (vmid, port),
            Screen::Shell(name) => {
                let tty = Tty::node(System {
                    name: &name,
                    guest: None,
                });
                self.stage = Stage::Node(name, Box::new(tty), 0);
                return Ok(());
            }
        };
        let Some(guest) = world.guests.get_mut(&vmid) else {
            return Err(self.failed());
        };
        let is_serial = matches!(self.console.screen, Screen::Serial(..));
        let begun = if is_serial {
            begin_serial(guest, port.as_deref(), send)
        } else {
            begin_session(guest, send)
        };
        let Ok((place, seen, drawn)) = begun.map_err(|why| send.extend(why.as_bytes())) else {
            return Err(self.failed());
        };
        self.stage = Stage::Guest(AtGuest {
            vmid,
            place,
            life: (pid(guest), guest.terminals.ended),
            seen,
            drawn,
        });
        Ok(())
    }

    fn packets(&mut self) -> Result<(Vec<u8>, bool), End> {
        let (mut typed, mut resized) = (Vec::new(), false);
        loop {
            match packet::take(&mut self.inbox) {
                Ok(Some(Packet::Input(bytes))) => typed.extend(bytes),
                Ok(Some(Packet::Resize)) => resized = true,
                Ok(Some(Packet::Ping)) => {}
                Ok(None) => return Ok((typed, resized)),
                Err(packet::Malformed) => return Err(self.failed()),
            }
        }
    }
}

/// The terminal of a container, in the session that is kept when the client leaves; where its output is read from, and
/// whether a size changes nothing at first.
fn begin_session(guest: &mut Guest, send: &mut Vec<u8>) -> Result<(Place, usize, bool), String> {
    if !guest.is_running() {
        let vmid = guest.vmid;
        return Err(match guest.config.get("cmode") {
            Some("shell") => {
                format!("lxc-attach: {vmid}: Connection refused - Failed to get init pid\r\n")
            }
            _ => format!("lxc-console: {vmid}: {vmid} is not running\r\n"),
        });
    }
    send.extend(CLEAR);
    let (place, kept) = guest.attach();
    let written = guest.with_tty(place, |tty, _| tty.written());
    let seen = if kept { written } else { None };
    Ok((place, seen.unwrap_or_default(), !kept))
}

/// A serial port, which keeps nothing of what was written to it.
fn begin_serial(
    guest: &mut Guest,
    port: Option<&str>,
    send: &mut Vec<u8>,
) -> Result<(Place, usize, bool), String> {
    let place = guest.serial_port(port).map_err(|why| why + "\r\n")?;
    if !guest.is_running() {
        return Err(format!("VM {} not running\r\n", guest.vmid));
    }
    let Place::Serial(number) = place else {
        return Err(String::new());
    };
    let heading = format!("starting serial terminal on interface serial{number}\r\n");
    send.extend(heading.as_bytes());
    let written = guest.with_tty(place, |tty, _| tty.written());
    Ok((place, written.unwrap_or_default(), true))
}

fn pid(guest: &Guest) -> u32 {
    match guest.power {
        Power::Running { pid, .. } => pid,
        Power::Stopped => 0,
    }
}

impl AtGuest {
    /// Types, tells the size, and reads; whether something will happen by itself, or `None` if it is over.
    fn turn(
        &mut self,
        world: &mut World,
        (typed, resized): (&[u8], bool),
        send: &mut Vec<u8>,
    ) -> Option<bool> {
        let now = world.now;
        let guest = world.guests.get_mut(&self.vmid)?;
        let life = |guest: &Guest| (pid(guest), guest.terminals.ended);
        if life(guest) != self.life {
            return None;
        }
        if resized && !std::mem::take(&mut self.drawn) && !matches!(self.place, Place::Serial(_)) {
            guest.with_tty(self.place, Tty::redraw);
        }
        let busy = guest.type_on(self.place, typed, (now, &mut self.seen), send);
        (life(guest) == self.life).then_some(busy)
    }
}

impl Session for Terminal {
    fn turn(
        &mut self,
        world: &mut World,
        received: &[u8],
        send: &mut Vec<u8>,
    ) -> ControlFlow<End, Mood> {
        self.inbox.extend(received);
        if matches!(self.stage, Stage::Unknown)
            && let Err(end) = self.admit(world, send)
        {
            return ControlFlow::Break(end);
        }
        if matches!(self.stage, Stage::Unknown) {
            return ControlFlow::Continue(Mood::Content);
        }
        let (typed, resized) = match self.packets() {
            Ok(packets) => packets,
            Err(end) => return ControlFlow::Break(end),
        };
        let busy = match &mut self.stage {
            Stage::Unknown => Some(false),
            Stage::Guest(at) => at.turn(world, (&typed, resized), send),
            Stage::Node(name, tty, seen) => {
                let system = System { name, guest: None };
                tty.type_bytes(system, &typed, world.now);
                send.extend(tty.since(*seen));
                *seen = tty.written();
                if tty.is_over() {
                    return ControlFlow::Break(End::ok());
                }
                Some(tty.is_busy())
            }
        };
        match busy {
            None => ControlFlow::Break(self.failed()),
            Some(true) => ControlFlow::Continue(Mood::Waiting),
            Some(false) => ControlFlow::Continue(Mood::Content),
        }
    }

    fn left(&self) -> End {
        End::ok()
    }
}

#[cfg(test)]
mod tests;
