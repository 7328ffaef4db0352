//! A session in a document, run again: each `$ command` of its `console` blocks, and what it printed.
//!
//! `…` in a line stands for anything, a line of it for any number of lines, and a name such as a plan's id for whatever
//! stood there the first time. Runs of spaces count as one: the width of a column depends on what is in it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

const ANYTHING: char = '…';

/// A command, and what it printed.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) command: String,
    pub(crate) printed: Vec<String>,
}

/// The entries of a document's `console` blocks.
pub(crate) fn entries(document: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for block in super::blocks(document, "console") {
        for line in block.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                entries.push(Entry {
                    command: command.to_owned(),
                    printed: Vec::new(),
                });
                continue;
            }
            let last = entries.last_mut().expect("a block begins with a command");
            match line.strip_prefix('>') {
                // More of the command, as a shell asks for it.
                Some(more) if last.printed.is_empty() => {
                    last.command.push('\n');
                    last.command
                        .push_str(more.strip_prefix(' ').unwrap_or(more));
                }
                _ => last.printed.push(line.to_owned()),
            }
        }
    }
    entries
}

impl Entry {
    /// With what the document calls something replaced by what it is called here.
    pub(crate) fn here(self, places: &[(&str, &str)]) -> Self {
        let swap = |text: &str| {
            places.iter().fold(text.to_owned(), |text, (there, here)| {
                text.replace(there, here)
            })
        };
        Self {
            command: swap(&self.command),
            printed: self.printed.iter().map(|line| swap(line)).collect(),
        }
    }

    /// As a script runs it: nobody is here to type the `y` that a person typed.
    pub(crate) fn unattended(mut self) -> Self {
        let before = self.printed.len();
        self.printed.retain(|line| !line.ends_with("? [y/N] y"));
        if self.printed.len() < before {
            self.command.push_str(" --yes");
        }
        self
    }

    /// Runs it in a shell whose home is empty but for what ran before, and gives all that it printed.
    pub(crate) fn run(&self, home: &Path) -> String {
        let program = Path::new(env!("CARGO_BIN_EXE_oxmox"));
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", program.parent().unwrap().display());
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{}", self.command)])
            .current_dir(home)
            .env_clear()
            .env("HOME", home)
            .env("PATH", path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

/// What the document's names stand for, as far as they came up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(BTreeMap<&'static str, Option<String>>);

impl Names {
    pub(crate) fn of(names: &[&'static str]) -> Self {
        Self(names.iter().map(|name| (*name, None)).collect())
    }

    /// The text with what the names stand for.
    pub(crate) fn known(&self, text: &str) -> String {
        let known = (self.0.iter()).filter_map(|(name, is)| Some((*name, is.as_deref()?)));
        known.fold(text.to_owned(), |text, (name, is)| text.replace(name, is))
    }

    /// Whether this is what was printed; learns names from it.
    pub(crate) fn fit(&mut self, wanted: &[String], found: &str) -> bool {
        let wanted: Vec<_> = wanted.iter().map(|line| squeezed(line)).collect();
        let found: Vec<_> = found.lines().map(squeezed).collect();
        match self.lines(&wanted, &found) {
            Some(learnt) => {
                *self = learnt;
                true
            }
            None => false,
        }
    }

    fn lines(&self, wanted: &[String], found: &[String]) -> Option<Self> {
        let Some((first, rest)) = wanted.split_first() else {
            return found.is_empty().then(|| self.clone());
        };
        if first.chars().eq([ANYTHING]) {
            return (0..=found.len()).find_map(|skipped| self.lines(rest, &found[skipped..]));
        }
        let (line, more) = found.split_first()?;
        self.line(first, line)?.lines(rest, more)
    }

    fn line(&self, wanted: &str, found: &str) -> Option<Self> {
        if let Some(rest) = wanted.strip_prefix(ANYTHING) {
            let mut ends = found.char_indices().map(|(at, _)| at).chain([found.len()]);
            return ends.find_map(|at| self.line(rest, &found[at..]));
        }
        for (name, is) in &self.0 {
            let Some(rest) = wanted.strip_prefix(name) else {
                continue;
            };
            let word = match is {
                Some(is) => is.as_str(),
                None => {
                    &found[..found
                        .find(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
                        .unwrap_or(found.len())]
                }
            };
            let after = found.strip_prefix(word).filter(|_| !word.is_empty())?;
            let mut learnt = self.clone();
            learnt.0.insert(name, Some(word.to_owned()));
            return learnt.line(rest, after);
        }
        let Some(letter) = wanted.chars().next() else {
            return found.is_empty().then(|| self.clone());
        };
        self.line(&wanted[letter.len_utf8()..], found.strip_prefix(letter)?)
    }
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn wildcards_and_names() {
    let wanted = |text: &str| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>();
    let mut names = Names::of(&["k7m29qxd"]);
    assert!(names.fit(
        &wanted("a  b\n…\nid k7m29qxd: …\nk7m29qxd"),
        "a b\nx\ny\nid zz9: more\nzz9\n"
    ));
    assert_eq!(names.known("approve k7m29qxd"), "approve zz9");
    assert!(!names.fit(&wanted("k7m29qxd"), "other"));
    assert!(!names.fit(&wanted("a"), "a\nb"));
    assert!(!names.fit(&wanted("a\nb"), "a"));
}
