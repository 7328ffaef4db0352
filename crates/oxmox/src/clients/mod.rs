//! The configuration files of MCP clients: where they are on each system, and how a server is entered in them.
//!
//! A module per client says where its file is, under which key its servers stand, and what an entry looks like; `document`
//! edits the text, so that comments and the other servers stay as they are.

mod claude_code;
mod claude_desktop;
mod cursor;
mod document;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod shown;
mod vscode;
mod zed;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tools::fault::Fault;

use crate::config::Places;
use crate::files::Draft;
use document::Room;

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
    /// The file held nothing but this.
    Blank(String),
    /// Comments stood in it, and no object.
    NoObject,
    /// It had no servers at all.
    NoServers,
    /// Nothing.
    Nothing,
    /// This, as it was written down once: without the way it stood there.
    Entry(Value),
    /// This, in these words.
    Words(String),
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
        let draft = Draft::open(file).map_err(|fault| {
            let first = fault.hint.clone().unwrap_or_default();
            fault.hint(format!("{first}; or leave {} out of --client", self.word()))
        })?;
        let format = self.format();
        let text = draft.before.clone().unwrap_or_default();
        let after = document::with(&text, format.servers, SERVER, &(format.entry)(server));
        let after = after.map_err(|why| {
            self.not_understood(file, &why)
                .hint("mend the file, or leave this client out of --client")
        })?;
        Ok(self.only_ours_shown(draft.holding(after)))
    }

    /// Whether its file could be written: if it cannot, this client can still be left out.
    pub fn check(self, draft: &Draft) -> Result<(), Fault> {
        draft.check().map_err(|fault| {
            fault.hint(format!(
                "make its directory writable for you, or leave {} out of --client",
                self.word()
            ))
        })
    }

    /// What this file said of oxmox.
    pub fn before(self, text: Option<&str>) -> Before {
        match text {
            None => Before::NoFile,
            Some(text) if document::is_blank(text) => Before::Blank(text.to_owned()),
            Some(text) => {
                let key = self.format().servers;
                if let Some(words) = document::words(text, key, SERVER) {
                    return Before::Words(words.to_owned());
                }
                match document::room(text, key, SERVER) {
                    Ok(Room::None) => Before::NoObject,
                    Ok(Room::Object) => Before::NoServers,
                    Ok(Room::Servers) | Err(_) => Before::Nothing,
                }
            }
        }
    }

    /// Its file with what it said of oxmox before, and without what was made for that. Gone, if it was not there and holds
    /// nothing else.
    pub fn left(self, file: &Path, before: &Before) -> Result<Draft, Fault> {
        let draft = Draft::open(file)?;
        let Some(text) = &draft.before else {
            return Ok(draft);
        };
        let key = self.format().servers;
        let without = |room: Room| document::without(text, key, SERVER, room);
        let after = match before {
            Before::Entry(entry) => document::with(text, key, SERVER, entry),
            Before::Words(words) => document::with_words(text, key, SERVER, words),
            Before::NoFile | Before::Blank(_) | Before::NoObject => without(Room::None),
            Before::NoServers => without(Room::Object),
            Before::Nothing => without(Room::Servers),
        };
        let after = after.map_err(|why| {
            self.not_understood(file, &why)
                .hint("mend the file, and run the command again")
        })?;
        let draft = match before {
            Before::NoFile if document::is_blank(&after) => draft.gone(),
            Before::Blank(once) if document::is_blank(&after) => draft.holding(once.clone()),
            _ => draft.holding(after),
        };
        Ok(self.only_ours_shown(draft))
    }

    /// What others have in there, their keys included, is nobody's business here: of such a file only our own entry is shown.
    pub fn only_ours_shown(self, draft: Draft) -> Draft {
        let entry = |text: &Option<String>| {
            let entry = text.as_deref().and_then(|text| self.entry_in(text));
            entry
                .map(|entry| shown::entry(&entry, self.format()))
                .unwrap_or_default()
        };
        let (before, after) = (entry(&draft.before), entry(&draft.after));
        draft.showing(before, after)
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
        Fault::bad_input(what)
    }
}
