//! Programs run by the agent.

use serde_json::{Value, json};

use super::{agent_error, awake, check_allowed};
use crate::api::bit;
use crate::call::{Call, Given};
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::agent::Progress;
use crate::world::shell::Outcome;

/// Output beyond this is cut.
const MAX_OUTPUT: usize = 16 << 20;

/// Starts a program: one word per value, and no shell unless it is asked for.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    let words = match call.params.get("command") {
        Some(Given::Text(program)) => vec![program.clone()],
        Some(Given::List(words)) => words.clone(),
        _ => Vec::new(),
    };
    let words: Option<Vec<_>> = words.iter().map(|word| bytes_of(word)).collect();
    let words = words.ok_or_else(|| ApiError::fail("Wide character in syswrite"))?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let words: Vec<_> = words.into_iter().map(text).collect();
    let input = bytes_of(call.text("input-data").unwrap_or_default());
    let input = input.ok_or_else(|| ApiError::fail("Wide character in subroutine entry"))?;
    let now = call.now;
    let guest = awake(world, call)?;
    check_allowed(guest, "exec")?;
    match guest.execute(&words, &input, now) {
        Some(pid) => Ok(json!({ "pid": pid }).into()),
        // The agent's message has quotation marks that PVE cannot put into a reason phrase.
        None => Err(ApiError::bare(596, "Broken pipe")),
    }
}

/// A character of a parameter is a byte for the agent; `None` if one is more.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|c| u8::try_from(c).ok()).collect()
}

/// What became of a program. Its end is told once.
pub(super) fn status(world: &mut World, call: &Call) -> Reply {
    let now = call.now;
    let pid = call.int("pid").and_then(|pid| u32::try_from(pid).ok());
    let guest = awake(world, call)?;
    check_allowed(guest, "exec-status")?;
    match guest.agent.progress(pid.unwrap_or_default(), now) {
        Progress::Running => Ok(json!({ "exited": 0 }).into()),
        Progress::Ended(outcome) => Ok(told(&outcome).into()),
        // A slip in the format string of the agent itself.
        Progress::Unknown => Err(agent_error("PID ld does not exist")),
    }
}

fn told(outcome: &Outcome) -> Value {
    let mut answer = json!({ "exited": 1 });
    match outcome.signal {
        Some(signal) => answer["signal"] = json!(signal),
        None => answer["exitcode"] = json!(outcome.code),
    }
    for (name, bytes) in [("out", &outcome.out), ("err", &outcome.err)] {
        if !bytes.is_empty() {
            let shown = &bytes[..bytes.len().min(MAX_OUTPUT)];
            // One character per byte, whatever the encoding.
            let text: String = shown.iter().copied().map(char::from).collect();
            answer[format!("{name}-data")] = json!(text);
            answer[format!("{name}-truncated")] = bit(bytes.len() > MAX_OUTPUT);
        }
    }
    answer
}

/// `set-user-password`, which the system's `chpasswd` does.
pub(super) fn set_password(world: &mut World, call: &Call) -> Reply {
    let user = call.text("username").unwrap_or_default().to_owned();
    let guest = awake(world, call)?;
    check_allowed(guest, "set-user-password")?;
    if user == "root" || guest.agent.users.contains(&user) {
        return Ok(json!({ "result": {} }).into());
    }
    Err(agent_error(format!(
        "child process has failed to set user password: chpasswd: (user {user}) pam_chauthtok() failed, error:\n\
         Authentication token manipulation error\n\
         chpasswd: (line 1, user {user}) password not changed\n"
    )))
}
