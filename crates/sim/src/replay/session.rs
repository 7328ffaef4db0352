//! Plays the frames of a recorded websocket against a session of ours.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::Value;

use crate::console::vnc::response;
use crate::console::{End, Session};
use crate::world::World;
use crate::world::shell::NODE_KERNEL;

/// One frame, or an event between frames.
#[derive(Clone, Debug, Deserialize)]
pub struct Frame {
    /// `server`, `client`, or `recorder` for what happened to the recorder itself.
    pub dir: String,
    /// The kind of frame, or `eof`.
    pub opcode: Option<Value>,
    /// Text, `hex:` and digits, or a placeholder; a remark may follow digits.
    pub data: String,
}

impl Frame {
    fn is_end(&self) -> bool {
        self.opcode.as_ref().is_some_and(|kind| kind == "eof")
    }

    fn is_close(&self) -> bool {
        self.opcode.as_ref().is_some_and(|kind| kind == 8)
    }

    /// Whether the server says something.
    fn is_said(&self) -> bool {
        self.dir == "server" && !self.is_end()
    }
}

/// A session on its way.
struct Play<'a> {
    session: Box<dyn Session>,
    world: &'a mut World,
    password: &'a str,
    challenge: [u8; 16],
    /// What was sent to the client and not compared yet.
    sent: Vec<u8>,
    end: Option<End>,
}

/// Plays all frames; how the session ended, and where it went another way.
pub(super) fn play(
    frames: &[Frame],
    session: Box<dyn Session>,
    world: &mut World,
    password: &str,
) -> (End, Vec<String>) {
    let mut play = Play {
        session,
        world,
        password,
        challenge: [0; 16],
        sent: Vec::new(),
        end: None,
    };
    play.turn(&[]);
    let mut differences = Vec::new();
    for (index, frame) in frames.iter().enumerate() {
        // The recorder notes what it was still reading after the end that it had noticed.
        let premature = frame.is_end() && frames[index..].iter().any(Frame::is_said);
        if !premature {
            differences.extend(play.frame(frame));
        }
    }
    let end = play.end.unwrap_or_else(|| play.session.left());
    (end, differences)
}

impl Play<'_> {
    fn turn(&mut self, received: &[u8]) {
        if self.end.is_some() {
            return;
        }
        let flow = self.session.turn(self.world, received, &mut self.sent);
        if let ControlFlow::Break(end) = flow {
            self.end = Some(end);
        }
    }

    fn frame(&mut self, frame: &Frame) -> Option<String> {
        match frame.dir.as_str() {
            "server" if frame.is_end() => self.expect_end(),
            "server" => self.expect(&frame.data),
            "client" if frame.is_close() => {
                self.end.get_or_insert(self.session.left());
                // What comes after that, nobody reads.
                self.sent.clear();
                None
            }
            "client" => {
                let bytes = self.bytes_of(&frame.data);
                self.turn(&bytes);
                None
            }
            _ => None,
        }
    }

    fn expect_end(&self) -> Option<String> {
        let ended = self.end.is_some() && self.sent.is_empty();
        (!ended).then(|| "the session goes on".to_owned())
    }

    fn expect(&mut self, data: &str) -> Option<String> {
        if data.contains("challenge") {
            match self.sent.first_chunk() {
                Some(challenge) => self.challenge = *challenge,
                None => return Some("no challenge".to_owned()),
            }
            self.sent.drain(..self.challenge.len());
            return None;
        }
        let wanted = self.bytes_of(&data.replace("<kernel>", NODE_KERNEL));
        if self.sent.starts_with(&wanted) {
            self.sent.drain(..wanted.len());
            return None;
        }
        let sent = String::from_utf8_lossy(&self.sent).into_owned();
        Some(format!("{sent:?} instead of {data:?}"))
    }

    /// The bytes that a text of the recording stands for.
    fn bytes_of(&self, data: &str) -> Vec<u8> {
        if data.contains("DES response") {
            return response(self.challenge, self.password).to_vec();
        }
        let Some(digits) = data.strip_prefix("hex:") else {
            // A remark may follow the text.
            let text = ["1:120:40:", "2"].into_iter();
            let plain = text.map(|text| (text, data.strip_prefix(text)));
            let mut plain =
                plain.filter(|(_, rest)| rest.is_some_and(|rest| rest.starts_with(" (")));
            let data = plain.next().map_or(data, |(text, _)| text);
            let data = data.replace("<ticket>\\n", &format!("{}\n", self.password));
            return data.into_bytes();
        };
        let digits = digits.split(' ').next().unwrap_or_default();
        let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        (0..digits.len()).step_by(2).filter_map(pair).collect()
    }
}
