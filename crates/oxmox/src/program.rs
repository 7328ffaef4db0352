//! Programs of others that are asked for something, a keyring or a password manager: run without a shell, and neither waited
//! for nor listened to without an end.

mod pipe;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tools::words;

use self::pipe::Pipe;

/// How long one may take if nobody says: somebody may have to unlock it first.
pub const LIMIT: Duration = Duration::from_secs(30);

/// How much of a secret's place is read: far more than any secret, and no burden.
pub const MOST: usize = 64 << 10;

/// How much is kept of what it says besides.
const MOST_BESIDES: usize = 2 << 10;

/// How long it is left alone between two looks: briefly at first, for most answer at once.
const LOOKS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(10));

/// What came of it.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it said besides, from its beginning.
    pub stderr: Vec<u8>,
}

/// Why nothing did.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// It was not started.
    #[error("cannot be run: {0}")]
    NotRun(io::Error),
    /// It was stopped.
    #[error("did not answer within {}", words::duration(.0.as_secs()))]
    Late(Duration),
    /// It was stopped.
    #[error("printed more than {} KiB; a secret is one line", MOST >> 10)]
    Long,
}

/// Runs it to its end, or ends it after `limit` or when it prints more than [`MOST`]. Our own stdin and stdout may be an MCP
/// session, and what it says may be the secret: it gets none of our streams. Blocks.
pub fn run(command: &mut Command, input: Option<&str>, limit: Duration) -> Result<Ended, Trouble> {
    // One that asks a person at the terminal is stopped by the system if it is not in the group that the terminal listens to.
    let group = if io::stdin().is_terminal() {
        Group::Ours
    } else {
        Group::Own
    };
    run_in(group, command, input, limit)
}

/// Who is ended with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// Only itself.
    Ours,
    /// All that it has started.
    Own,
}

fn run_in(
    group: Group,
    command: &mut Command,
    input: Option<&str>,
    limit: Duration,
) -> Result<Ended, Trouble> {
    let end = Instant::now() + limit;
    let stdin = match input {
        Some(_) => Stdio::piped(),
        None => Stdio::null(),
    };
    command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    if group == Group::Own {
        std::os::unix::process::CommandExt::process_group(command, 0);
    }
    let mut child = command.spawn().map_err(Trouble::NotRun)?;
    let mut ended = None;
    let heard = listen(&mut child, input, end, &mut ended);
    // Once it has been waited for, its number may be another's.
    if ended.is_none() {
        stop(child, group);
    }
    heard?.ok_or(Trouble::Late(limit))
}

/// What comes of it until `end`. Its own end counts, and not that of its output: it may leave something running.
fn listen(
    child: &mut Child,
    input: Option<&str>,
    end: Instant,
    ended: &mut Option<ExitStatus>,
) -> Result<Option<Ended>, Trouble> {
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        let input = input.to_owned();
        // One that does not read would hold up whoever writes.
        std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    }
    let mut pipes = (
        child.stdout.take().map(Pipe::new).transpose(),
        child.stderr.take().map(Pipe::new).transpose(),
    );
    let (Ok(Some(stdout)), Ok(Some(stderr))) = (&mut pipes.0, &mut pipes.1) else {
        let error = pipes.0.err().or(pipes.1.err());
        return Err(Trouble::NotRun(
            error.unwrap_or_else(|| io::ErrorKind::BrokenPipe.into()),
        ));
    };
    let (mut printed, mut besides) = (Vec::new(), Vec::new());
    let (mut pause, longest) = LOOKS;
    let mut grace = end;
    loop {
        // Looked for first: what it has said by its end is there by then.
        if ended.is_none() {
            *ended = child.try_wait().map_err(Trouble::NotRun)?;
            grace = Instant::now() + Pipe::GRACE;
        }
        let (more, more_besides) = (stdout.next(), stderr.next());
        printed.extend_from_slice(&more);
        // The rest is taken from it all the same: it must not wait for a reader.
        let room = MOST_BESIDES - besides.len();
        besides.extend_from_slice(&more_besides[..more_besides.len().min(room)]);
        if printed.len() > MOST {
            return Err(Trouble::Long);
        }
        if let Some(status) = *ended {
            let is_all = stdout.is_closed() && stderr.is_closed();
            if more.is_empty() && (is_all || Instant::now() >= grace) {
                return Ok(Some(Ended {
                    status,
                    stdout: printed,
                    stderr: besides,
                }));
            }
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        if more.is_empty() && more_besides.is_empty() {
            #[expect(
                clippy::disallowed_methods,
                reason = "whoever calls this blocks, and there may be no runtime to wait in"
            )]
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(longest);
        }
    }
}

fn stop(mut child: Child, group: Group) {
    #[cfg(unix)]
    if group == Group::Own {
        use rustix::process::{Pid, Signal, kill_process_group};
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = group;
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_it_says_and_how_it_ends_is_told() {
        let mut command = shell("cat; echo no >&2; exit 3");
        let ended = run(&mut command, Some("given"), LIMIT).unwrap();
        assert_eq!(ended.stdout, b"given");
        assert_eq!(ended.stderr, b"no\n");
        assert_eq!(ended.status.code(), Some(3));
    }

    #[test]
    fn one_that_hangs_is_ended() {
        let limit = Duration::from_millis(50);
        // With its output open, closed, and held open by what it has started.
        for script in [
            "exec sleep 600",
            "exec >&-; exec sleep 600",
            "sleep 20 & wait",
        ] {
            let begun = Instant::now();
            let trouble = run(&mut shell(script), None, limit).unwrap_err();
            assert!(matches!(trouble, Trouble::Late(_)), "{script}: {trouble}");
            assert!(begun.elapsed() < Duration::from_mins(1), "{script}");
        }
    }

    #[test]
    fn more_than_a_pipe_holds_passes() {
        let long = "x".repeat(1 << 20);
        let ended = run(&mut shell("wc -c"), Some(&long), LIMIT).unwrap();
        assert_eq!(ended.stdout.trim_ascii(), long.len().to_string().as_bytes());
        let ended = run(
            &mut shell("head -c 1000000 /dev/zero >&2; echo x"),
            None,
            LIMIT,
        )
        .unwrap();
        assert_eq!(ended.stdout, b"x\n");
        assert_eq!(ended.stderr.len(), MOST_BESIDES);
        // One that reads nothing is no trouble.
        assert!(
            run(&mut shell("true"), Some(&long), LIMIT)
                .unwrap()
                .status
                .success()
        );
    }

    #[test]
    fn one_that_prints_without_end_is_ended() {
        let most = format!("head -c {MOST} /dev/zero");
        let ended = run(&mut shell(&most), None, LIMIT).unwrap();
        assert_eq!(ended.stdout.len(), MOST);
        for group in [Group::Ours, Group::Own] {
            for script in ["exec yes", "yes & wait"] {
                let trouble = run_in(group, &mut shell(script), None, LIMIT).unwrap_err();
                assert!(matches!(trouble, Trouble::Long), "{script}: {trouble}");
            }
        }
    }

    #[test]
    fn one_that_leaves_something_running_has_ended() {
        let limit = Duration::from_secs(10);
        for script in ["echo x; sleep 20 &", "echo x; yes >&2 &"] {
            let ended = run(&mut shell(script), None, limit).unwrap();
            assert_eq!(ended.stdout, b"x\n", "{script}");
            assert!(ended.status.success(), "{script}");
        }
    }

    #[test]
    fn what_it_has_started_is_ended_with_it() {
        use std::io::Read as _;
        use std::os::unix::fs::OpenOptionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("held");
        let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        let mut held = std::fs::File::options()
            .read(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
            .open(&fifo)
            .unwrap();
        let script = format!("exec 3>{}; sleep 20 & exec yes", fifo.display());
        run_in(Group::Own, &mut shell(&script), None, LIMIT).unwrap_err();
        // Ends when nobody holds the other end any more.
        rustix::io::ioctl_fionbio(&held, false).unwrap();
        let begun = Instant::now();
        held.read_to_end(&mut Vec::new()).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn one_that_is_not_there_is_told() {
        let trouble = run(&mut Command::new("/no/such/program"), None, LIMIT).unwrap_err();
        assert!(
            trouble.to_string().starts_with("cannot be run"),
            "{trouble}"
        );
    }
}
