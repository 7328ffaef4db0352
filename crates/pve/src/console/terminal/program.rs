//! Running a program at the prompt of a shell: one line that marks where its output begins and ends, and tells how it
//! ended. The shell shows the line itself too; the marks are put together only when it runs, so they are not in there.

use std::fmt;

/// A program and the marks around its output.
#[derive(Clone)]
pub struct Program {
    line: String,
    begin: String,
    end: String,
}

/// Without its words: they may be secrets.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Program")
    }
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// What it wrote, errors included: a terminal does not keep them apart.
    pub output: String,
    /// Its exit code; `None` while it runs.
    pub code: Option<u8>,
}

impl Program {
    /// A program with its arguments. The mark must be like nothing that it writes: random letters and digits.
    pub fn new<S: AsRef<str>>(words: &[S], mark: &str) -> Self {
        let words: Vec<String> = words.iter().map(|word| quoted(word.as_ref())).collect();
        let words = words.join(" ");
        Self {
            // A blank in front keeps it out of the history of most shells. Only `exec` means a program and nothing
            // else: what the shell itself does under that name (`exit`, `cd`, an alias) would change the session, or
            // end it.
            line: format!(
                " printf '\\n%s-%s\\n' {mark} begin; (exec {words}) </dev/null; printf '\\n%s-%s:%s\\n' {mark} end $?\r"
            ),
            begin: format!("{mark}-begin"),
            end: format!("{mark}-end:"),
        }
    }

    /// What is typed.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// What the line begins with that comes after the output.
    pub fn end_mark(&self) -> &str {
        &self.end
    }

    /// Reads the bytes that came; `None` if the program has not begun.
    ///
    /// The marks are looked for in the bytes as they came: whatever the output does to the terminal, it hides no mark.
    pub fn read(&self, bytes: &[u8]) -> Option<Ran> {
        let (_, rest) = split(bytes, self.begin.as_bytes())?;
        let (_, rest) = split(rest, b"\n")?;
        let Some((output, after)) = split(rest, self.end.as_bytes()) else {
            let output = plain(rest);
            return Some(Ran { output, code: None });
        };
        // The end has come whole only with the line that it is in.
        let code = split(after, b"\n")
            .and_then(|(code, _)| str::from_utf8(code.trim_ascii_end()).ok()?.parse().ok());
        Some(Ran {
            output: plain(without_line_end(output)),
            code,
        })
    }
}

/// What is before and after the first place where these bytes are.
fn split<'a>(bytes: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let place = bytes.windows(at.len()).position(|part| part == at)?;
    Some((&bytes[..place], &bytes[place + at.len()..]))
}

/// Without the line end that goes before the end mark, and with those that every terminal on the way has made of it.
fn without_line_end(output: &[u8]) -> &[u8] {
    let Some(mut output) = output.strip_suffix(b"\n") else {
        return output;
    };
    while let Some(shorter) = output.strip_suffix(b"\r") {
        output = shorter;
    }
    output
}

/// A word that no shell changes. One with `=` is quoted too: as the first it would set a variable.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,@+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The text without what only moves and colours it.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let (mut out, mut chars) = (String::with_capacity(text.len()), text.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => skip_sequence(&mut chars),
            '\r' => {
                // Every terminal on the way may have added one before a line end; elsewhere they begin a line again.
                while chars.next_if_eq(&'\r').is_some() {}
                if chars.peek().is_some_and(|next| *next != '\n') {
                    out.push('\n');
                }
            }
            c if c.is_control() && c != '\n' && c != '\t' => {}
            c => out.push(c),
        }
    }
    out
}

fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
        Some(']') => {
            while let Some(c) = chars.next() {
                if c == '\x07' || (c == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
                    return;
                }
            }
        }
        Some('(' | ')') => drop(chars.next()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_sets_no_variable() {
        assert_eq!(quoted("A=b"), "'A=b'");
        assert_eq!(quoted("/bin/ls"), "/bin/ls");
    }
}
