//! The few programs that every system has, and a shell that runs them.

mod script;

use self::script::{Filled, Script, Turn, When};
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

/// What programs run on.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    /// Its host name.
    pub name: &'a str,
    /// The guest; `None` on a node.
    pub guest: Option<&'a Guest>,
}

/// Runs a program inside a guest; `None` if there is none of that name.
pub fn run(guest: &Guest, words: &[String], input: &[u8]) -> Option<Outcome> {
    let name = guest.name();
    let system = System {
        name: &name,
        guest: Some(guest),
    };
    program(system, words, input)
}

/// Runs a line of an interactive shell, which knows how the one before it ended; what comes of each command in turn.
pub fn run_line(system: System<'_>, line: &str, status: u8) -> Vec<Outcome> {
    let shell = Shell {
        system,
        path: "bash",
        in_one: true,
    };
    shell.run(&script::parse(line), (b"", status))
}

fn program(system: System<'_>, words: &[String], input: &[u8]) -> Option<Outcome> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (path, rest) = words.split_first()?;
    let name = path.rsplit('/').next().unwrap_or_default();
    let line = words.join(" ");
    let known = system.guest.and_then(|guest| guest.known_program(&line));
    if let Some(outcome) = known {
        return Some(outcome.clone());
    }
    match (name, rest) {
        ("sh" | "bash", ["-c", script, ..]) => {
            let shell = Shell {
                system,
                path,
                in_one: false,
            };
            let outcomes = shell.run(&script::parse(script), (input, 0));
            Some(outcomes.into_iter().fold(Outcome::default(), Outcome::then))
        }
        _ => builtin(system, name, rest, input),
    }
}

/// A shell that runs scripts.
struct Shell<'a> {
    system: System<'a>,
    /// What it calls itself.
    path: &'a str,
    /// Somebody sits before it: a terminal shows output and complaints in one, in the order in which they come.
    in_one: bool,
}

impl Shell<'_> {
    /// What it says of a program that is not there.
    fn unknown(&self, words: &[String]) -> String {
        let path = self.path;
        match words {
            [exec, name, ..] if exec == EXEC && self.in_one => {
                format!("{path}: exec: {name}: not found\n")
            }
            [exec, name, ..] if exec == EXEC => format!("{path}: 1: exec: {name}: not found\n"),
            [name, ..] if self.in_one => format!("{path}: {name}: command not found\n"),
            [name, ..] => format!("{path}: 1: {name}: not found\n"),
            [] => String::new(),
        }
    }

    /// Runs the commands of a script.
    fn run(&self, script: &Script, (input, mut status): (&[u8], u8)) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for (when, pipe) in script {
            let due = match when {
                When::Always => true,
                When::Success => status == 0,
                When::Failure => status != 0,
            };
            if !due {
                continue;
            }
            let mut passed = input.to_vec();
            let last = pipe.len() - 1;
            for (index, command) in pipe.iter().enumerate() {
                let filled = command.fill(status);
                if let Some(end) = end_of_script(&filled, status) {
                    outcomes.push(end);
                    return outcomes;
                }
                let mut outcome = match &command.inner {
                    Some(inner) => {
                        let all = self.run(inner, (filled.input(&passed), status));
                        let all = all.into_iter().fold(Outcome::default(), Outcome::then);
                        filled.turned(all)
                    }
                    None => self.run_filled(&filled, &passed),
                };
                if index < last {
                    passed = std::mem::take(&mut outcome.out);
                }
                if self.in_one {
                    outcome.out.append(&mut outcome.err);
                }
                status = outcome.code;
                outcomes.push(outcome);
                if filled.replaces_shell() {
                    return outcomes;
                }
            }
        }
        outcomes
    }

    fn run_filled(&self, filled: &Filled, input: &[u8]) -> Outcome {
        let words = match filled.words.as_slice() {
            [] => return Outcome::default(),
            [exec, words @ ..] if exec == EXEC => words,
            words => words,
        };
        let outcome = program(self.system, words, filled.input(input));
        let unknown = || Outcome::failed(self.unknown(&filled.words), 127);
        filled.turned(outcome.unwrap_or_else(unknown))
    }
}

/// Runs a program in place of the shell: one of that name, and nothing that the shell itself does under it.
const EXEC: &str = "exec";

impl Filled {
    /// Whether no shell is left after this command.
    fn replaces_shell(&self) -> bool {
        self.words.len() > 1 && self.words[0] == EXEC
    }

    /// What the command reads of what it is given.
    fn input<'a>(&self, given: &'a [u8]) -> &'a [u8] {
        if self.turns.contains(&Turn::InFromNothing) {
            b""
        } else {
            given
        }
    }

    /// What came of the command, where its output goes.
    fn turned(&self, mut outcome: Outcome) -> Outcome {
        for turn in &self.turns {
            match turn {
                Turn::OutToErr => {
                    outcome.err.splice(0..0, std::mem::take(&mut outcome.out));
                }
                Turn::ErrToOut => outcome.out.append(&mut outcome.err),
                Turn::OutToNothing => outcome.out.clear(),
                Turn::InFromNothing => {}
            }
        }
        outcome
    }
}

/// How a script ends with this command, if it does.
fn end_of_script(command: &Filled, status: u8) -> Option<Outcome> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    match words[..] {
        ["exit", ref rest @ ..] => {
            let code = rest.first().and_then(|code| code.parse().ok());
            Some(Outcome {
                code: code.unwrap_or(status),
                ..Outcome::default()
            })
        }
        ["kill", "-9", "$$"] => Some(Outcome {
            code: status,
            signal: Some(9),
            ..Outcome::default()
        }),
        _ => None,
    }
}

fn builtin(system: System<'_>, name: &str, rest: &[&str], input: &[u8]) -> Option<Outcome> {
    Some(match (name, rest) {
        ("true" | ":", _) => Outcome::default(),
        ("false", _) => Outcome {
            code: 1,
            ..Outcome::default()
        },
        ("echo", ["-n", words @ ..]) => Outcome::printed(words.join(" ")),
        ("echo", words) => Outcome::printed(words.join(" ") + "\n"),
        ("printf", ["--", format, values @ ..] | [format, values @ ..]) => {
            Outcome::printed(printf(format, values))
        }
        ("cut", ["-d/", "-f1"]) => Outcome::printed(first_fields(input)),
        ("hostname", _) => Outcome::printed(format!("{}\n", system.name)),
        ("whoami", _) | ("id", ["-un"]) => Outcome::printed("root\n"),
        ("pwd", _) => Outcome::printed("/\n"),
        ("id", ["-u"]) => Outcome::printed("0\n"),
        ("id", _) => Outcome::printed("uid=0(root) gid=0(root) groups=0(root)\n"),
        ("uname", [] | ["-s"]) => Outcome::printed("Linux\n"),
        ("uname", ["-r"]) => Outcome::printed(format!("{KERNEL}\n")),
        ("uname", _) => {
            let host = system.name;
            let text = format!("Linux {host} {KERNEL} {KERNEL_BUILD} x86_64 GNU/Linux\n");
            Outcome::printed(text)
        }
        ("pveversion", []) if system.guest.is_none() => {
            let text = format!("pve-manager/9.1.1 (running kernel: {NODE_KERNEL})\n");
            Outcome::printed(text)
        }
        ("sleep", [seconds, ..]) => Outcome {
            seconds: seconds.parse().unwrap_or_default(),
            ..Outcome::default()
        },
        ("cat", []) => Outcome::printed(input),
        ("cat", files) => files.iter().fold(Outcome::default(), |total, file| {
            let found = system.guest.and_then(|guest| guest.file(file));
            total.then(match found {
                Some(content) => Outcome::printed(content),
                None => Outcome::failed(format!("cat: {file}: No such file or directory\n"), 1),
            })
        }),
        _ => return None,
    })
}

/// The format with `%s` and `%d` filled in, again and again while values are left.
fn printf(format: &str, values: &[&str]) -> String {
    let (mut out, mut values) = (String::new(), values.iter());
    loop {
        let (mut chars, left) = (format.chars(), values.len());
        while let Some(c) = chars.next() {
            match c {
                '%' => match chars.next() {
                    Some('s' | 'd') => out.push_str(values.next().copied().unwrap_or_default()),
                    Some(other) => out.push(other),
                    None => out.push('%'),
                },
                '\\' => match chars.next() {
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some('r') => out.push('\r'),
                    Some(other) => out.push(other),
                    None => out.push('\\'),
                },
                c => out.push(c),
            }
        }
        if values.len() == 0 || values.len() == left {
            return out;
        }
    }
}

/// What stands before the first `/` of each line.
fn first_fields(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input);
    let fields = text.lines().filter_map(|line| line.split('/').next());
    fields.flat_map(|field| [field, "\n"]).collect()
}

/// The kernel that guests run.
pub const KERNEL: &str = "6.12.48+deb13-amd64";
/// How that kernel says it was built.
pub const KERNEL_BUILD: &str = "#1 SMP PREEMPT_DYNAMIC Debian 6.12.48-1 (2025-09-20)";
/// The kernel that nodes run, and containers with them.
pub const NODE_KERNEL: &str = "6.17.2-1-pve";

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
        assert_eq!(shell("false || echo yes").out, b"yes\n");
    }

    #[test]
    fn quotes_and_expansions_are_those_of_a_shell() {
        assert_eq!(
            shell("echo 'a;b' \"c && d\" e\\;f").out,
            b"a;b c && d e;f\n"
        );
        assert_eq!(shell("echo '>&2' '$?'").out, b">&2 $?\n");
        assert_eq!(shell("false; echo rc=$? \"$?\"").out, b"rc=1 1\n");
        assert_eq!(shell("echo hello-$((20+3))").out, b"hello-23\n");
        assert_eq!(shell("sh -c 'exit 7'; echo $?").out, b"7\n");
        assert_eq!(shell("echo 'it'\\''s'").out, b"it's\n");
    }

    #[test]
    fn brackets_are_a_shell_of_their_own() {
        assert_eq!(shell("(echo a; exit 3; echo b); echo $?").out, b"a\n3\n");
        assert_eq!(shell("(cat) </dev/null; (echo gone) >/dev/null").out, b"");
        assert_eq!(shell("(exec echo '(a)'; echo b); echo c").out, b"(a)\nc\n");
        let exec = shell("(exec exit 3); echo $?");
        assert_eq!(exec.out, b"127\n");
        assert_eq!(exec.err, b"sh: 1: exec: exit: not found\n");
    }

    #[test]
    fn output_can_be_sent_elsewhere() {
        assert_eq!(shell("echo a/b | cut -d/ -f1").out, b"a\n");
        let joined = shell("cat /nope 2>&1; echo gone >/dev/null");
        assert!(joined.err.is_empty() && joined.out.starts_with(b"cat: /nope"));
        assert_eq!(shell("cat </dev/null").out, b"");
    }

    #[test]
    fn printf_fills_its_format() {
        assert_eq!(shell("printf '%s-%s\\n' a b c").out, b"a-b\nc-\n");
        assert_eq!(shell("printf '100%%\\n'").out, b"100%\n");
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
