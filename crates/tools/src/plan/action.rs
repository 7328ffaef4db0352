//! What a step sends.

use std::borrow::Cow;

use pve::{GuestRef, Method, Request, Value};
use serde::{Deserialize, Serialize};

use super::terminal::{TerminalExec, TerminalLine};
use crate::keyboard::Layout;
use crate::uploads::LocalFile;

/// What a step sends. A closed set of plain data: the preview shows it, the audit keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// One request to the API.
    Request(Request),
    /// One request, and a file of this machine with it.
    Upload(Upload),
    /// A file that PVE gives, kept on this machine.
    Download(Download),
    /// Keys on a VM's console.
    Keys(Keys),
    /// A program inside a VM.
    AgentExec(AgentExec),
    /// A file inside a VM, read.
    AgentFile(AgentFile),
    /// A line on a guest's terminal.
    TerminalLine(TerminalLine),
    /// A program at the prompt of a container's terminal.
    TerminalExec(TerminalExec),
}

impl Action {
    /// True if it types a secret text.
    pub fn is_secret(&self) -> bool {
        !self.secrets().is_empty()
    }

    /// The holes of the secret texts that it types on a console or terminal.
    pub(crate) fn secrets(&self) -> Vec<&Value> {
        let typed: Vec<&Value> = match self {
            Self::Keys(keys) => match &keys.typed {
                Typed::Text { text, .. } => vec![text],
                Typed::Combos(_) => Vec::new(),
            },
            Self::TerminalLine(line) => vec![&line.line],
            Self::TerminalExec(exec) => exec.command.iter().collect(),
            Self::Request(_)
            | Self::Upload(_)
            | Self::Download(_)
            | Self::AgentExec(_)
            | Self::AgentFile(_) => Vec::new(),
        };
        let is_hole = |value: &&Value| matches!(value, Value::Hole(_));
        typed.into_iter().filter(is_hole).collect()
    }

    /// True if it types on a guest's console or terminal: keys, text, or a line.
    pub(crate) fn types(&self) -> bool {
        match self {
            Self::Keys(_) | Self::TerminalLine(_) => true,
            Self::Request(request) => request.path.ends_with("/sendkey"),
            Self::Upload(_)
            | Self::Download(_)
            | Self::AgentExec(_)
            | Self::AgentFile(_)
            | Self::TerminalExec(_) => false,
        }
    }

    /// Whether it gives what a file of a guest holds, which is nobody's to keep.
    pub fn reads_a_file(&self) -> bool {
        match self {
            Self::AgentFile(_) => true,
            Self::Request(request) => request.path.ends_with("/agent/file-read"),
            Self::Upload(_)
            | Self::Download(_)
            | Self::AgentExec(_)
            | Self::Keys(_)
            | Self::TerminalLine(_)
            | Self::TerminalExec(_) => false,
        }
    }

    /// Whether nothing on the cluster changes by it, so that it may be sent again.
    pub fn only_looks(&self) -> bool {
        self.request().method == Method::Get
    }

    /// The tool that shows what came of it, where neither PVE nor the guest's own state tells.
    pub fn seen_with(&self) -> Option<&'static str> {
        match self {
            Self::Keys(_) => Some("capture_vm_screen"),
            Self::Request(request) if request.path.ends_with("/sendkey") => {
                Some("capture_vm_screen")
            }
            Self::TerminalLine(_) | Self::TerminalExec(_) => {
                Some("read_vm_terminal (toolset console)")
            }
            Self::Upload(_) => Some("list_storage_content (toolset storage)"),
            Self::Request(_) | Self::Download(_) | Self::AgentExec(_) | Self::AgentFile(_) => None,
        }
    }

    /// The request that it begins with.
    pub fn request(&self) -> Cow<'_, Request> {
        match self {
            Self::Request(request) => Cow::Borrowed(request),
            Self::Upload(upload) => Cow::Borrowed(&upload.request),
            Self::Download(download) => Cow::Borrowed(&download.request),
            Self::Keys(keys) => Cow::Owned(pve::console::display_request(&keys.at)),
            Self::AgentExec(exec) => Cow::Owned(exec.request()),
            Self::AgentFile(file) => Cow::Owned(file.request()),
            Self::TerminalLine(line) => Cow::Owned(pve::console::terminal_request(&line.at)),
            Self::TerminalExec(exec) => Cow::Owned(pve::console::terminal_request(&exec.at)),
        }
    }
}

/// A file of this machine that goes to PVE.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Upload {
    /// The request; its last parameter is the name that the file gets.
    pub request: Request,
    /// The file, as it was when this was planned.
    pub file: LocalFile,
}

/// A file that PVE gives. It goes to a directory of oxmox's own, where only its owner may read it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Download {
    /// The GET that it answers.
    pub request: Request,
    /// What the file is called.
    pub name: String,
    /// Its bytes: nothing else tells a whole file from one that broke off.
    pub size: u64,
}

/// A program that the guest agent of a VM runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentExec {
    /// The VM.
    pub at: GuestRef,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What it reads from its standard input.
    pub input: Option<String>,
    /// Seconds within which it should end; `None` if starting it is all.
    pub within: Option<u64>,
}

impl AgentExec {
    /// The request that starts it, in plain text.
    fn request(&self) -> Request {
        let request = Request::post(self.at.path("agent/exec"));
        let words = self.command.iter();
        words
            .fold(request, |request, word| request.with("command", word))
            .maybe("input-data", self.input.as_ref())
    }
}

/// A file that the guest agent of a VM reads. What it holds is part of the outcome.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentFile {
    /// The VM.
    pub at: GuestRef,
    /// Its whole path.
    pub file: String,
    /// How many bytes of it are shown.
    pub most: usize,
}

impl AgentFile {
    /// The GET that reads it, in plain text.
    fn request(&self) -> Request {
        Request::get(self.at.path("agent/file-read")).with("file", self.file.as_str())
    }
}

/// Keys that are pressed one stroke after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Keys {
    /// The VM.
    pub at: GuestRef,
    /// What is pressed.
    pub typed: Typed,
    /// Milliseconds for which each stroke is held down.
    pub hold: u64,
    /// Milliseconds between two strokes.
    pub pause: u64,
}

impl Typed {
    /// Whether it must not be seen.
    pub fn is_secret(&self) -> bool {
        matches!(
            self,
            Self::Text {
                text: Value::Hole(_),
                ..
            }
        )
    }
}

/// What is pressed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Typed {
    /// Combinations in QEMU's names.
    Combos(Vec<String>),
    /// A text, or the hole of one that must not be seen.
    Text {
        /// The text.
        text: Value,
        /// The layout that the guest has set.
        layout: Layout,
    },
}
