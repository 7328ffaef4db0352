//! A machine's display over RFB 3.8, the protocol of VNC, as QEMU serves it: [`Vnc`] is the opening, [`view`] what
//! follows it.

mod message;
mod password;
mod picture;
mod pixel;
mod view;
mod zrle;

use std::ops::ControlFlow;

pub(crate) use self::password::response;
use self::view::View;
use super::{End, Mood, Session};
use crate::world::World;
use crate::world::guest::{Guest, Power};

/// The one way to prove who one is: a password.
const VNC_AUTHENTICATION: u8 = 2;
/// What QEMU says to a wrong password, its closing NUL included.
const REFUSED: &[u8] = b"Authentication failed\0";

/// The client said something that is no RFB. QEMU hangs up then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Malformed;

/// A client at the display of a machine.
pub(crate) struct Vnc {
    vmid: u32,
    password: String,
    /// The machine's process, once its server has greeted.
    pid: Option<u32>,
    inbox: Vec<u8>,
    /// The minor version that the client speaks.
    version: u8,
    stage: Stage,
}

/// What the server waits for.
enum Stage {
    Version,
    Security,
    Response([u8; 16]),
    Init,
    Messages(Box<View>),
}

impl Vnc {
    /// A client that must know the password.
    pub(crate) fn new(vmid: u32, password: &str) -> Self {
        Self {
            vmid,
            password: password.to_owned(),
            pid: None,
            inbox: Vec::new(),
            version: 8,
            stage: Stage::Version,
        }
    }

    /// Whether the machine still runs that was there at the beginning. A machine that never ran is PVE's complaint.
    fn check_power(&mut self, world: &World) -> Result<(), End> {
        let power = world.guests.get(&self.vmid).map(|guest| guest.power);
        let running = match power {
            Some(Power::Running { pid, .. }) => Some(pid),
            _ => None,
        };
        match (self.pid, running) {
            (None, None) => Err(End {
                line: Some(format!("VM {} not running", self.vmid)),
                status: "Failed to run vncproxy.".to_owned(),
            }),
            (Some(then), now) if now != Some(then) => Err(End::ok()),
            _ => Ok(()),
        }
    }

    fn mood(&self) -> Mood {
        match &self.stage {
            Stage::Messages(view) if view.is_waiting() => Mood::Waiting,
            _ => Mood::Content,
        }
    }

    /// Goes on as far as the received bytes allow.
    fn proceed(&mut self, world: &mut World, send: &mut Vec<u8>) -> Result<(), Malformed> {
        loop {
            let next = match &mut self.stage {
                Stage::Version => self.read_version(world, send)?,
                Stage::Security => self.read_choice(world, send)?,
                Stage::Response(challenge) => {
                    let challenge = *challenge;
                    self.read_response(challenge, send)?
                }
                Stage::Init => self.read_init(world, send),
                Stage::Messages(view) => {
                    let Some(guest) = world.guests.get_mut(&self.vmid) else {
                        return Err(Malformed);
                    };
                    return view.proceed(&mut self.inbox, guest, world.now, send);
                }
            };
            match next {
                Some(stage) => self.stage = stage,
                None => return Ok(()),
            }
        }
    }

    fn read_version(
        &mut self,
        world: &mut World,
        send: &mut Vec<u8>,
    ) -> Result<Option<Stage>, Malformed> {
        let Some(version) = take::<12>(&mut self.inbox) else {
            return Ok(None);
        };
        self.version = match &version {
            b"RFB 003.008\n" => 8,
            b"RFB 003.007\n" => 7,
            b"RFB 003.003\n" | b"RFB 003.004\n" | b"RFB 003.005\n" => 3,
            _ => return Err(Malformed),
        };
        if self.version == 3 {
            send.extend(u32::from(VNC_AUTHENTICATION).to_be_bytes());
            return Ok(Some(challenge(world, send)));
        }
        send.extend([1, VNC_AUTHENTICATION]);
        Ok(Some(Stage::Security))
    }

    fn read_choice(
        &mut self,
        world: &mut World,
        send: &mut Vec<u8>,
    ) -> Result<Option<Stage>, Malformed> {
        match take::<1>(&mut self.inbox) {
            None => Ok(None),
            Some([VNC_AUTHENTICATION]) => Ok(Some(challenge(world, send))),
            Some(_) => self.refuse(send),
        }
    }

    fn read_response(
        &mut self,
        challenge: [u8; 16],
        send: &mut Vec<u8>,
    ) -> Result<Option<Stage>, Malformed> {
        match take::<16>(&mut self.inbox) {
            None => Ok(None),
            Some(given) if given == response(challenge, &self.password) => {
                send.extend(0_u32.to_be_bytes());
                Ok(Some(Stage::Init))
            }
            Some(_) => self.refuse(send),
        }
    }

    fn refuse(&self, send: &mut Vec<u8>) -> Result<Option<Stage>, Malformed> {
        send.extend(1_u32.to_be_bytes());
        if self.version >= 8 {
            send.extend(length(REFUSED));
            send.extend(REFUSED);
        }
        Err(Malformed)
    }

    /// Whether the client shares the display makes no difference.
    fn read_init(&mut self, world: &mut World, send: &mut Vec<u8>) -> Option<Stage> {
        let now = world.now;
        let guest = world.guests.get_mut(&self.vmid)?;
        let [_shared] = take(&mut self.inbox)?;
        let view = match serial_display(guest) {
            Some(port) => View::of_port(&port),
            None => View::new(guest.look(now)),
        };
        let name = server_name(guest);
        view.introduce(send);
        send.extend(length(name.as_bytes()));
        send.extend(name.as_bytes());
        Some(Stage::Messages(Box::new(view)))
    }
}

impl Session for Vnc {
    fn turn(
        &mut self,
        world: &mut World,
        received: &[u8],
        send: &mut Vec<u8>,
    ) -> ControlFlow<End, Mood> {
        if let Err(end) = self.check_power(world) {
            return ControlFlow::Break(end);
        }
        if self.pid.is_none() {
            let guest = world.guests.get(&self.vmid);
            self.pid = guest.and_then(|guest| match guest.power {
                Power::Running { pid, .. } => Some(pid),
                Power::Stopped => None,
            });
            send.extend(b"RFB 003.008\n");
        }
        self.inbox.extend(received);
        match self.proceed(world, send) {
            Ok(()) => ControlFlow::Continue(self.mood()),
            Err(Malformed) => ControlFlow::Break(End::ok()),
        }
    }

    fn left(&self) -> End {
        End::ok()
    }
}

/// The serial port that a machine has in place of a display.
fn serial_display(guest: &Guest) -> Option<String> {
    let display = guest.config.get("vga")?.split(',').next()?;
    let display = display.strip_prefix("type=").unwrap_or(display);
    display.starts_with("serial").then(|| display.to_owned())
}

/// What QEMU calls its display: `QEMU (web)`.
fn server_name(guest: &Guest) -> String {
    format!("QEMU ({})", guest.name())
}

fn challenge(world: &mut World, send: &mut Vec<u8>) -> Stage {
    let challenge = world.random();
    send.extend(challenge);
    Stage::Response(challenge)
}

/// The first `N` bytes, if so many have come.
fn take<const N: usize>(inbox: &mut Vec<u8>) -> Option<[u8; N]> {
    let taken = *inbox.first_chunk()?;
    inbox.drain(..N);
    Some(taken)
}

/// The length of a text, as RFB writes it before the text.
fn length(text: &[u8]) -> [u8; 4] {
    u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Time;
    use crate::world::config::Config;
    use crate::world::guest::Kind;

    fn world() -> World {
        let mut world = World::empty("test", Time::from_secs(1_000_000));
        let mut guest = Guest::new(100, Kind::Qemu, "pve1", Config::default());
        guest.inside.os = true;
        guest.start(Time::from_secs(999_000), 1);
        world.guests.insert(100, guest);
        world
    }

    /// A client whose opening is done.
    fn connected(world: &mut World) -> Vnc {
        let mut vnc = Vnc::new(100, "secret");
        let mut sent = Vec::new();
        let hello = b"RFB 003.008\n\x02";
        assert!(vnc.turn(world, hello, &mut sent).is_continue());
        let challenge = *sent.last_chunk().expect("a challenge");
        let mut rest = response(challenge, "secret").to_vec();
        rest.push(1);
        assert!(vnc.turn(world, &rest, &mut sent).is_continue());
        assert!(sent.ends_with(b"QEMU (VM 100)"));
        vnc
    }

    #[test]
    fn older_clients_are_served() {
        let mut world = world();
        let mut vnc = Vnc::new(100, "secret");
        let mut sent = Vec::new();
        let flow = vnc.turn(&mut world, b"RFB 003.003\n", &mut sent);
        assert!(flow.is_continue());
        assert_eq!(sent.len(), 12 + 4 + 16);
        let flow = vnc.turn(&mut world, &[0; 16], &mut sent);
        assert_eq!(flow, ControlFlow::Break(End::ok()));
        // They are not told why.
        assert!(sent.ends_with(&[0, 0, 0, 1]));
        let mut other = Vnc::new(100, "secret");
        let flow = other.turn(&mut world, b"RFB 004.000\n", &mut sent);
        assert!(flow.is_break());
    }

    #[test]
    fn a_client_may_say_anything() {
        let mut world = world();
        for round in 0..2000_u32 {
            let mut vnc = connected(&mut world);
            let mut noise = Vec::new();
            // Every kind of message, followed by whatever.
            noise.push([0, 2, 3, 4, 5, 6, 255][round as usize % 7]);
            for _ in 0..4 {
                noise.extend(world.random());
            }
            let mut sent = Vec::new();
            for part in noise.chunks(5) {
                if vnc.turn(&mut world, part, &mut sent).is_break() {
                    break;
                }
            }
            assert!(sent.len() < 8 << 20);
        }
    }

    #[test]
    fn an_update_in_zrle_is_small() {
        let mut world = world();
        let mut vnc = connected(&mut world);
        let mut sent = Vec::new();
        let zrle_first = [2, 0, 0, 2, 0, 0, 0, 16, 0, 0, 0, 0];
        let everything = [3, 0, 0, 0, 0, 0, 0x02, 0xd0, 0x01, 0x90];
        let asked = [&zrle_first[..], &everything].concat();
        assert!(vnc.turn(&mut world, &asked, &mut sent).is_continue());
        let head = [0, 0, 0, 1, 0, 0, 0, 0, 0x02, 0xd0, 0x01, 0x90, 0, 0, 0, 16];
        assert!(sent.starts_with(&head), "{:?}", &sent[..16]);
        let length = u32::from_be_bytes(*sent[16..].first_chunk().expect("a length"));
        assert_eq!(sent.len(), 20 + usize::try_from(length).expect("short"));
        assert!(sent.len() < 8000, "{}", sent.len());
    }
}
