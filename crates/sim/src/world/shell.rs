//! The few programs that every system has, and a shell that runs them one after the other.

use crate::world::guest::Guest;

/// What comes of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What it prints.
    pub out: Vec<u8>,
    /// What it complains about.
    pub err: Vec<u8>,
    /// Its exit code.
    pub code: u8,
    /// The signal that killed it.
    pub signal: Option<u8>,
    /// How long it takes.
    pub seconds: u64,
}

impl Outcome {
    fn printed(text: impl Into<Vec<u8>>) -> Self {
        Self {
            out: text.into(),
            ..Self::default()
        }
    }

    fn failed(text: String, code: u8) -> Self {
        Self {
            err: text.into_bytes(),
            code,
            ..Self::default()
        }
    }

    /// Goes on with another program: its output follows, and its end counts.
    fn then(mut self, next: Self) -> Self {
        self.out.extend(next.out);
        self.err.extend(next.err);
        Self {
            seconds: self.seconds + next.seconds,
            ..Self {
                out: self.out,
                err: self.err,
                ..next
            }
        }
    }
}

/// Runs a program inside a guest; `None` if there is none of that name.
pub fn run(guest: &Guest, words: &[String], input: &[u8]) -> Option<Outcome> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (path, rest) = words.split_first()?;
    let name = path.rsplit('/').next().unwrap_or_default();
    match (name, rest) {
        ("sh" | "bash", ["-c", script, ..]) => Some(run_script(guest, path, script, input)),
        _ => builtin(guest, name, rest, input),
    }
}

/// Runs commands separated by `;` or `&&`. There are no loops, pipes or variables.
fn run_script(guest: &Guest, shell: &str, script: &str, input: &[u8]) -> Outcome {
    let mut total = Outcome::default();
    for (only_after_success, command) in commands(script) {
        if only_after_success && total.code != 0 {
            continue;
        }
        let mut words = split_words(command);
        let to_stderr = words.last().is_some_and(|word| word.ends_with(">&2"));
        if to_stderr {
            words.pop();
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some((name, rest)) = words.split_first() else {
            continue;
        };
        match (*name, rest) {
            ("exit", rest) => {
                let code = rest.first().and_then(|code| code.parse().ok());
                total.code = code.unwrap_or(total.code);
                return total;
            }
            ("kill", ["-9", "$$"]) => {
                total.signal = Some(9);
                return total;
            }
            _ => {}
        }
        let program = name.rsplit('/').next().unwrap_or_default();
        let mut outcome = builtin(guest, program, rest, input)
            .unwrap_or_else(|| Outcome::failed(format!("{shell}: 1: {name}: not found\n"), 127));
        if to_stderr {
            outcome.err.splice(0..0, std::mem::take(&mut outcome.out));
        }
        total = total.then(outcome);
    }
    total
}

/// The commands of a script, each with whether it runs only after success.
fn commands(script: &str) -> Vec<(bool, &str)> {
    let lists = script.split([';', '\n']);
    lists
        .flat_map(|list| {
            let parts = list.split("&&").enumerate();
            parts.map(|(index, part)| (index > 0, part.trim()))
        })
        .filter(|(_, command)| !command.is_empty())
        .collect()
}

/// Splits at blanks outside of quotes.
fn split_words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in command.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn builtin(guest: &Guest, name: &str, rest: &[&str], input: &[u8]) -> Option<Outcome> {
    Some(match (name, rest) {
        ("true", _) => Outcome::default(),
        ("false", _) => Outcome {
            code: 1,
            ..Outcome::default()
        },
        ("echo", ["-n", words @ ..]) => Outcome::printed(words.join(" ")),
        ("echo", words) => Outcome::printed(words.join(" ") + "\n"),
        ("hostname", _) => Outcome::printed(guest.name() + "\n"),
        ("whoami", _) => Outcome::printed("root\n"),
        ("pwd", _) => Outcome::printed("/\n"),
        ("id", ["-u"]) => Outcome::printed("0\n"),
        ("id", _) => Outcome::printed("uid=0(root) gid=0(root) groups=0(root)\n"),
        ("uname", []) => Outcome::printed("Linux\n"),
        ("uname", ["-r"]) => Outcome::printed(format!("{KERNEL}\n")),
        ("uname", _) => {
            let host = guest.name();
            let text = format!("Linux {host} {KERNEL} {KERNEL_BUILD} x86_64 GNU/Linux\n");
            Outcome::printed(text)
        }
        ("sleep", [seconds, ..]) => Outcome {
            seconds: seconds.parse().unwrap_or_default(),
            ..Outcome::default()
        },
        ("cat", []) => Outcome::printed(input),
        ("cat", files) => files.iter().fold(Outcome::default(), |total, file| {
            total.then(match guest.file(file) {
                Some(content) => Outcome::printed(content),
                None => Outcome::failed(format!("cat: {file}: No such file or directory\n"), 1),
            })
        }),
        _ => return None,
    })
}

/// The kernel that guests run.
pub const KERNEL: &str = "6.12.48+deb13-amd64";
/// How that kernel says it was built.
pub const KERNEL_BUILD: &str = "#1 SMP PREEMPT_DYNAMIC Debian 6.12.48-1 (2025-09-20)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::config::Config;
    use crate::world::guest::Kind;

    fn shell(script: &str) -> Outcome {
        let guest = Guest::new(100, Kind::Qemu, "pve1", Config::default());
        let words = ["sh", "-c", script].map(str::to_owned);
        run(&guest, &words, b"").expect("there is a shell")
    }

    #[test]
    fn a_script_runs_its_commands() {
        let outcome = shell("echo out; echo err >&2; exit 3");
        assert_eq!(outcome.out, b"out\n");
        assert_eq!(outcome.err, b"err\n");
        assert_eq!(outcome.code, 3);
        assert_eq!(shell("echo 'a  b' \"c\"").out, b"a  b c\n");
        assert_eq!(shell("false && echo no; true").out, b"");
    }

    #[test]
    fn what_goes_wrong_shows() {
        let unknown = shell("nosuch");
        assert_eq!(
            (unknown.err, unknown.code),
            (b"sh: 1: nosuch: not found\n".to_vec(), 127)
        );
        assert_eq!(shell("kill -9 $$").signal, Some(9));
        assert_eq!(shell("cat /nope").code, 1);
        assert_eq!(shell("sleep 2; sleep 3").seconds, 5);
    }
}
