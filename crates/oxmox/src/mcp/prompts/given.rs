//! The arguments of a prompt, checked letter by letter.

use pve::{NodeName, SnapName, StorageId, Upid, Vmid};
use serde_json::Value;

/// What an argument is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mcp) enum Subject {
    /// A node.
    Node,
    /// A guest.
    Vmid,
    /// A storage.
    Storage,
    /// A snapshot of a guest.
    Snapshot,
    /// A tag of guests.
    Tag,
    /// A configured cluster.
    Cluster,
    /// A task.
    Upid,
}

impl Subject {
    /// The name of an argument of this sort.
    pub(in crate::mcp) fn word(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Vmid => "vmid",
            Self::Storage => "storage",
            Self::Snapshot => "snapshot",
            Self::Tag => "tag",
            Self::Cluster => "cluster",
            Self::Upid => "upid",
        }
    }

    /// Whether a text can be one of this sort. What PVE would not have taken, no PVE tells.
    pub(in crate::mcp) fn takes(self, text: &str) -> bool {
        match self {
            // Its name is none of PVE's: whoever runs oxmox gave it.
            Self::Cluster => true,
            Self::Upid => text.parse::<Upid>().is_ok(),
            asked_for => Given::default().take(asked_for, Some(&text.into())) == Ok(true),
        }
    }
}

/// What was given.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) node: Option<NodeName>,
    pub(super) vmid: Option<Vmid>,
    pub(super) storage: Option<StorageId>,
    pub(super) snapshot: Option<SnapName>,
    pub(super) tag: Option<String>,
}

impl Given {
    /// Takes an argument if it is one. False: it was left out.
    pub(super) fn take(&mut self, subject: Subject, value: Option<&Value>) -> Result<bool, String> {
        let word = subject.word();
        let text = match value {
            None | Some(Value::Null) => return Ok(false),
            Some(Value::String(text)) if text.is_empty() => return Ok(false),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => return Err(format!("{word} is a string")),
        };
        // The text is not repeated in the error: it is no name, so it may be anything.
        let wrong = || format!("{word}: this is no {word}");
        match subject {
            Subject::Node => self.node = Some(NodeName::new(&text).map_err(|_| wrong())?),
            Subject::Vmid => self.vmid = Some(text.parse().map_err(|_| wrong())?),
            Subject::Storage => self.storage = Some(StorageId::new(&text).map_err(|_| wrong())?),
            Subject::Snapshot => self.snapshot = Some(SnapName::new(&text).map_err(|_| wrong())?),
            Subject::Tag if is_tag(&text) => self.tag = Some(text),
            Subject::Tag | Subject::Cluster | Subject::Upid => return Err(wrong()),
        }
        Ok(true)
    }
}

/// As PVE takes them.
fn is_tag(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.len() <= 64
        && text.starts_with(is_letter)
        && text.chars().all(|c| is_letter(c) || "-+.".contains(c))
}
