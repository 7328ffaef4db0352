//! What a tool of ours says of its arguments, in the words of who called it by another name: arguments that are called
//! otherwise there are renamed, and of one that is not there at all it is said which tool has it.

use serde_json::Value;

use super::Arg;
use crate::tool::Tool;
use crate::words;

/// The arguments of a name of ours, and of the tool behind it.
pub(super) struct Wording<'a> {
    args: &'a [Arg],
    /// The tool behind it.
    of: &'static str,
    /// Its arguments.
    ours: Vec<String>,
}

/// What a word is to whoever called.
enum Called {
    /// These arguments.
    These(Vec<&'static str>),
    /// An argument of the tool behind it alone.
    Elsewhere,
    /// Any word.
    Otherwise,
}

impl<'a> Wording<'a> {
    pub(super) fn new(args: &'a [Arg], of: &dyn Tool) -> Self {
        let input = of.input();
        let ours = input.get("properties").and_then(Value::as_object);
        Self {
            args,
            of: of.spec().name,
            ours: ours
                .into_iter()
                .flatten()
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }

    /// What was wrong: only what is marked as an argument is one.
    pub(super) fn message(&self, text: &str) -> String {
        let renamed = self.args.iter().filter(|arg| arg.sent != arg.name);
        renamed.fold(text.to_owned(), |text, arg| {
            text.replace(&format!("`{}`", arg.sent), &format!("`{}`", arg.name))
        })
    }

    /// What to do instead. Arguments are the words that follow "send" and "leave", also several in a row, and those that
    /// stand before a colon.
    pub(super) fn hint(&self, text: &str) -> String {
        let text = self.message(text);
        let pieces = pieces(&text);
        let (mut said, mut elsewhere) = (String::new(), Vec::new());
        let (mut last_word, mut in_list) = ("", false);
        for (at, piece) in pieces.iter().copied().enumerate() {
            if !is_word(piece) {
                in_list &= matches!(piece, " " | ", ");
                said.push_str(piece);
                continue;
            }
            let valued = pieces
                .get(at + 1)
                .is_some_and(|next| next.starts_with(": "));
            let asked_for = matches!(last_word, "send" | "leave");
            last_word = piece;
            if in_list && matches!(piece, "or" | "and") {
                said.push_str(piece);
                continue;
            }
            let called = if valued || asked_for || in_list {
                self.called(piece)
            } else {
                Called::Otherwise
            };
            in_list = (asked_for || in_list) && !matches!(called, Called::Otherwise);
            match called {
                Called::These(names) => said.push_str(&names.join(", ")),
                Called::Elsewhere => {
                    elsewhere.push(piece);
                    said.push_str(piece);
                }
                Called::Otherwise => said.push_str(piece),
            }
        }
        let are = match elsewhere.as_slice() {
            [] => return said,
            [_] => "is an argument",
            _ => "are arguments",
        };
        format!("{said}; {} {are} of {}", words::list(&elsewhere), self.of)
    }

    fn called(&self, word: &str) -> Called {
        let is_sent_in = |arg: &&Arg| {
            let object = arg.sent.split_once('.').map(|(object, _)| object);
            arg.sent == word || object == Some(word)
        };
        let sent: Vec<_> = self
            .args
            .iter()
            .filter(is_sent_in)
            .map(|arg| arg.name)
            .collect();
        if !sent.is_empty() {
            return Called::These(sent);
        }
        match self.args.iter().find(|arg| arg.name == word) {
            Some(arg) => Called::These(vec![arg.name]),
            None if self.ours.iter().any(|name| name == word) => Called::Elsewhere,
            None => Called::Otherwise,
        }
    }
}

/// Words, and what stands between them.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let same = |c: char| is_of_word(c) == is_of_word(first);
        let end = rest.find(|c| !same(c)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_word(piece: &str) -> bool {
    piece.starts_with(is_of_word)
}

#[cfg(test)]
mod tests {
    use super::super::{VM, flag, text, whole};
    use super::*;

    const ARGS: &[Arg] = &[
        VM,
        flag("force_stop", "").sent_as("force"),
        text("snapname", "").sent_as("snapshot"),
        whole("memory", "").sent_as("set.memory"),
        whole("cores", "").sent_as("set.cores"),
        text("features", "").sent_as("more.features"),
    ];

    fn wording() -> Wording<'static> {
        let ours = ["vmid", "force", "snapshot", "set", "grow", "restart"];
        Wording {
            args: ARGS,
            of: "update_proxmox_vm",
            ours: ours.map(str::to_owned).to_vec(),
        }
    }

    #[test]
    fn a_hint_names_the_arguments_that_there_are() {
        for (ours, theirs) in [
            (
                "leave force out; it is for a shutdown",
                "leave force_stop out; it is for a shutdown",
            ),
            (
                "send snapshot, or stop it first",
                "send snapname, or stop it first",
            ),
            (
                "leave features out, or unprivileged",
                "leave features out, or unprivileged",
            ),
            ("send `more.features`", "send `features`"),
            (
                "send vmid: 100, or force: true",
                "send vmid: 100, or force_stop: true",
            ),
            ("send set or snapshot", "send memory, cores or snapname"),
            ("the force of a snapshot", "the force of a snapshot"),
            (
                "send restart: true; then it moves",
                "send restart: true; then it moves; restart is an argument of update_proxmox_vm",
            ),
            (
                "send set, grow or restart",
                "send memory, cores, grow or restart; grow and restart are arguments of update_proxmox_vm",
            ),
        ] {
            assert_eq!(wording().hint(ours), theirs);
        }
    }
}
