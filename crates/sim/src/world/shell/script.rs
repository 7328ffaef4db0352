//! The language of the shell: commands in a row, after success or failure, in a pipe, in brackets; quotes, and the few
//! expansions that scripts cannot do without. There are no loops, variables or functions.

use std::iter::Peekable;
use std::str::Chars;

/// When a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// In any case.
    Always,
    /// After success.
    Success,
    /// After failure.
    Failure,
}

/// Commands, and when each of them runs.
pub(super) type Script = Vec<(When, Pipe)>;

/// Programs of which each reads what the one before it prints.
pub(super) type Pipe = Vec<Command>;

/// One program with its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// `( … )`: what a shell of its own runs instead.
    pub(super) inner: Option<Script>,
    words: Vec<Word>,
}

/// A word as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Word {
    pieces: Vec<Piece>,
    /// A quoted `>&2` sends nothing anywhere.
    quoted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// `$?`
    Status,
    /// `$((1+2))`
    Sum(String),
}

/// The words of a command with everything filled in, and where its input and output go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) words: Vec<String>,
    pub(super) turns: Vec<Turn>,
}

/// Where something goes instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// `>&2`
    OutToErr,
    /// `2>&1`
    ErrToOut,
    /// `>/dev/null`
    OutToNothing,
    /// `</dev/null`
    InFromNothing,
}

impl Turn {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            ">&2" | "1>&2" => Self::OutToErr,
            "2>&1" => Self::ErrToOut,
            ">/dev/null" => Self::OutToNothing,
            "</dev/null" => Self::InFromNothing,
            _ => return None,
        })
    }
}

impl Command {
    /// What the command says once the last exit code is known.
    pub(super) fn fill(&self, status: u8) -> Filled {
        let mut filled = Filled::default();
        for word in &self.words {
            let text: String = word.pieces.iter().map(|piece| piece.fill(status)).collect();
            match Turn::parse(&text).filter(|_| !word.quoted) {
                Some(turn) => filled.turns.push(turn),
                None => filled.words.push(text),
            }
        }
        filled
    }
}

impl Piece {
    fn fill(&self, status: u8) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Status => status.to_string(),
            Self::Sum(terms) => {
                let terms = terms.split('+').map(|term| term.trim().parse::<i64>());
                terms.filter_map(Result::ok).sum::<i64>().to_string()
            }
        }
    }
}

/// Reads a script.
pub(super) fn parse(script: &str) -> Script {
    Reader::new(script.chars().peekable()).read().0
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    when: When,
    pipe: Pipe,
    word: Option<Word>,
    done: Script,
}

impl<'a> Reader<'a> {
    fn new(chars: Peekable<Chars<'a>>) -> Self {
        Self {
            chars,
            when: When::Always,
            pipe: vec![Command::default()],
            word: None,
            done: Vec::new(),
        }
    }

    /// The commands up to the end or a closing bracket, and what is left after that.
    fn read(mut self) -> (Script, Peekable<Chars<'a>>) {
        while let Some(c) = self.chars.next() {
            match c {
                ')' => break,
                '(' if self.word.is_none() => self.brackets(),
                '\'' => self.quote(),
                '"' => self.double_quote(),
                '\\' => {
                    let next = self.chars.next();
                    self.push(next.unwrap_or('\\'));
                }
                '$' => self.dollar(),
                ';' | '\n' => self.end_pipe(When::Always),
                '&' if self.chars.next_if_eq(&'&').is_some() => self.end_pipe(When::Success),
                '|' if self.chars.next_if_eq(&'|').is_some() => self.end_pipe(When::Failure),
                '|' => {
                    self.end_word();
                    self.pipe.push(Command::default());
                }
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_pipe(When::Always);
        (self.done, self.chars)
    }

    fn brackets(&mut self) {
        let (inner, rest) = Self::new(self.chars.clone()).read();
        self.chars = rest;
        if let Some(command) = self.pipe.last_mut() {
            command.inner = Some(inner);
        }
    }

    fn quote(&mut self) {
        self.word.get_or_insert_default().quoted = true;
        while let Some(c) = self.chars.next_if(|c| *c != '\'') {
            self.push(c);
        }
        self.chars.next();
    }

    fn double_quote(&mut self) {
        self.word.get_or_insert_default().quoted = true;
        while let Some(c) = self.chars.next_if(|c| *c != '"') {
            match c {
                '$' => self.dollar(),
                '\\' => match self.chars.next_if(|c| "\"\\$".contains(*c)) {
                    Some(escaped) => self.push(escaped),
                    None => self.push(c),
                },
                c => self.push(c),
            }
        }
        self.chars.next();
    }

    fn dollar(&mut self) {
        if self.chars.next_if_eq(&'?').is_some() {
            return self.piece(Piece::Status);
        }
        let rest: String = self.chars.clone().collect();
        let sum = rest
            .strip_prefix("((")
            .and_then(|rest| rest.split_once("))"));
        let Some((terms, _)) = sum else {
            return self.push('$');
        };
        for _ in 0.."(())".len() + terms.chars().count() {
            self.chars.next();
        }
        self.piece(Piece::Sum(terms.to_owned()));
    }

    fn piece(&mut self, piece: Piece) {
        self.word.get_or_insert_default().pieces.push(piece);
    }

    fn push(&mut self, c: char) {
        let pieces = &mut self.word.get_or_insert_default().pieces;
        if let Some(Piece::Text(text)) = pieces.last_mut() {
            text.push(c);
        } else {
            pieces.push(Piece::Text(c.to_string()));
        }
    }

    fn end_word(&mut self) {
        if let (Some(word), Some(command)) = (self.word.take(), self.pipe.last_mut()) {
            command.words.push(word);
        }
    }

    fn end_pipe(&mut self, next: When) {
        self.end_word();
        let pipe = std::mem::replace(&mut self.pipe, vec![Command::default()]);
        let when = std::mem::replace(&mut self.when, next);
        let is_empty = |command: &Command| command.words.is_empty() && command.inner.is_none();
        if !pipe.iter().all(is_empty) {
            self.done.push((when, pipe));
        }
    }
}
