//! Task ids: `UPID:pve1:00000666:00071798:6AFA0665:qmstart:100:bob@pve!mcp:`.

use std::fmt;

use crate::call::Identity;
use crate::clock::Time;

/// A task id, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upid {
    /// The node it runs on.
    pub node: String,
    /// Its process.
    pub pid: u32,
    /// When the process started, in hundredths of a second since the node booted.
    pub pstart: u64,
    /// When the task started, in seconds.
    pub start: u64,
    /// Its type: `qmstart`.
    pub kind: String,
    /// What it works on: a guest's id, or another name; often empty.
    pub id: String,
    /// Who started it.
    pub user: Identity,
}

impl Upid {
    /// Reads a task id. Everything must be there, and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix("UPID:")?.strip_suffix(':')?.split(':');
        let mut next = || {
            parts
                .next()
                .filter(|part| !part.contains(char::is_whitespace))
        };
        let hex = |part: &str| {
            u64::from_str_radix(part, 16)
                .ok()
                .filter(|_| part.len() >= 8)
        };
        let upid = Self {
            node: next()?.to_owned(),
            pid: u32::try_from(hex(next()?)?).ok()?,
            pstart: hex(next()?)?,
            start: hex(next()?)?,
            kind: next()?.to_owned(),
            id: next()?.to_owned(),
            user: Identity::parse(next()?),
        };
        let complete = !upid.node.is_empty() && !upid.kind.is_empty() && !upid.user.user.is_empty();
        (complete && parts.next().is_none()).then_some(upid)
    }

    /// When the task started.
    pub fn started(&self) -> Time {
        Time::from_secs(self.start)
    }
}

impl fmt::Display for Upid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            node,
            pid,
            pstart,
            start,
            kind,
            id,
            user,
        } = self;
        write!(
            f,
            "UPID:{node}:{pid:08X}:{pstart:08X}:{start:08X}:{kind}:{id}:{user}:"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        for text in [
            "UPID:pve1:00000666:00071798:6AFA0665:qmstart:100:bob@pve!mcp:",
            "UPID:pve1:0000026E:0009317B:6AFA0BC6:startall::root@pam:",
        ] {
            let upid = Upid::parse(text).expect("well formed");
            assert_eq!(upid.to_string(), text);
        }
    }

    #[test]
    fn malformed() {
        for text in [
            "nonsense",
            "UPID:pve1:bogus",
            "UPID:pve1:00000666:00071798:6AFA0665:qmstart:100:bob@pve!mcp:x",
            "UPID:pve1:666:00071798:6AFA0665:qmstart:100:bob@pve:",
        ] {
            assert_eq!(Upid::parse(text), None, "{text}");
        }
    }
}
