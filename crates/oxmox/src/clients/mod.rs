//! The configuration files of MCP clients: where they are on each system, and how a server is entered in them.
//!
//! A module per client says where its file is, under which key its servers stand, and what an entry looks like; `document`
//! edits the text, so that comments and the other servers stay as they are.

mod claude_code;
mod claude_desktop;
mod cursor;
mod document;
mod vscode;
mod zed;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tools::fault::Fault;

use crate::config::Places;
use crate::files::Draft;

/// The name that oxmox has in clients.
pub const SERVER: &str = "oxmox";

/// A client whose configuration can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// The desktop application.
    ClaudeDesktop,
    /// The command line.
    ClaudeCode,
    /// The editor.
    Cursor,
    /// The editor, with an agent in it.
    VsCode,
    /// The editor.
    Zed,
}

/// How one client keeps its servers.
struct Format {
    /// As it is written after `--client`.
    word: &'static str,
    /// As people call it.
    title: &'static str,
    /// Where its file is.
    file: fn(&Places) -> PathBuf,
    /// Whether the person seems to have it.
    is_here: fn(&Places) -> bool,
    /// The key under which its servers stand.
    servers: &'static str,
    /// What an entry looks like.
    entry: fn(&Server) -> Value,
}

/// How a client starts oxmox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The program. A whole path: what people start from a menu does not have the `PATH` of a shell.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// What a client's file said of oxmox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// There was no file.
    NoFile,
    /// Nothing.
    Nothing,
    /// This.
    Entry(Value),
}

impl Server {
    fn program(&self) -> &str {
        self.program.to_str().unwrap_or(SERVER)
    }
}

impl Client {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 5] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Zed,
    ];

    fn format(self) -> &'static Format {
        match self {
            Self::ClaudeDesktop => &claude_desktop::FORMAT,
            Self::ClaudeCode => &claude_code::FORMAT,
            Self::Cursor => &cursor::FORMAT,
            Self::VsCode => &vscode::FORMAT,
            Self::Zed => &zed::FORMAT,
        }
    }

    /// As it is written after `--client`.
    pub fn word(self) -> &'static str {
        self.format().word
    }

    /// As people call it.
    pub fn title(self) -> &'static str {
        self.format().title
    }

    /// The client of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.word() == word)
    }

    /// Where its configuration is.
    pub fn file(self, places: &Places) -> PathBuf {
        (self.format().file)(places)
    }

    /// Whether the person seems to have it.
    pub fn is_here(self, places: &Places) -> bool {
        (self.format().is_here)(places)
    }

    /// Its file with oxmox in it.
    pub fn entered(self, file: &Path, server: &Server) -> Result<Draft, Fault> {
        let draft = Draft::open(file)?;
        let format = self.format();
        let text = draft.before.clone().unwrap_or_default();
        let after = document::with(&text, format.servers, SERVER, &(format.entry)(server))
            .map_err(|why| self.not_understood(file, &why))?;
        Ok(draft.holding(after))
    }

    /// What this file said of oxmox.
    pub fn before(self, text: Option<&str>) -> Before {
        match text {
            None => Before::NoFile,
            Some(text) => (self.entry_in(text)).map_or(Before::Nothing, Before::Entry),
        }
    }

    /// Its file with what it said of oxmox before. Gone, if it was not there and holds nothing else.
    pub fn left(self, file: &Path, before: &Before) -> Result<Draft, Fault> {
        let draft = Draft::open(file)?;
        let Some(text) = &draft.before else {
            return Ok(draft);
        };
        let key = self.format().servers;
        let wrong = |why: String| self.not_understood(file, &why);
        if let Before::Entry(entry) = before {
            let after = document::with(text, key, SERVER, entry).map_err(wrong)?;
            return Ok(draft.holding(after));
        }
        let after = document::without(text, key, SERVER).map_err(wrong)?;
        let bare = document::bare(key, SERVER).map_err(wrong)?;
        Ok(if *before == Before::NoFile && after == bare {
            draft.gone()
        } else {
            draft.holding(after)
        })
    }

    /// What this text says of oxmox, if it says anything.
    pub fn entry_in(self, text: &str) -> Option<Value> {
        document::entry(text, self.format().servers, SERVER)
    }

    fn not_understood(self, file: &Path, why: &str) -> Fault {
        let what = format!(
            "{} of {} is not understood, and was left as it is: {why}",
            file.display(),
            self.title()
        );
        Fault::bad_input(what).hint("mend the file, or leave this client out of --client")
    }
}
