//! From the agent of a world file to the agent in the world.

use super::file::{AgentPart, ProgramPart};
use crate::world::agent::{Agent, Program};
use crate::world::shell::Outcome;

impl AgentPart {
    pub(super) fn build(self) -> Agent {
        let program = |part: ProgramPart| Program {
            line: part.line,
            outcome: Outcome {
                out: bytes_of(&part.out),
                err: bytes_of(&part.err),
                code: part.code,
                signal: None,
                seconds: part.seconds,
            },
        };
        let mut agent = Agent::default();
        let files = self.files.into_iter();
        agent.files = files
            .map(|(path, content)| (path, content.into_bytes()))
            .collect();
        agent.addresses = self.addresses;
        agent.users = self.users;
        agent.blocked = self.blocked;
        agent.programs = self.program.into_iter().map(program).collect();
        agent
    }
}

/// One byte per character.
fn bytes_of(text: &str) -> Vec<u8> {
    let byte = |c: char| u8::try_from(c).unwrap_or(b'?');
    text.chars().map(byte).collect()
}
