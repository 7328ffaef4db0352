//! A program that an agent runs: whether it has ended, and what it left. Its end can be read once.

use pve::{GuestRef, Reader, Request, lenient};
use serde_json::{Value, json};

use super::text::{capped, from_wire};
use crate::clean;
use crate::fault::explain;
use crate::tool::Object;

/// Bytes that are shown of each of the two outputs.
const SHOWN: usize = 16 << 10;

/// What a look at a program shows.
pub(crate) enum Glance {
    /// It runs; nothing of its output can be read before it ends.
    Running,
    /// It has ended. The agent has forgotten it with this.
    Ended(Ended),
    /// The agent does not know it: its end was told to somebody else, or the agent was started anew.
    Gone,
    /// It cannot be told just now: PVE's error, where there is one, and why.
    Unreadable(Option<pve::Error>, String),
}

/// What a program left.
pub(crate) struct Ended {
    /// How it ended by itself.
    pub(crate) exit_code: Option<u64>,
    /// What killed it.
    pub(crate) signal: Option<u64>,
    /// What it printed, cleaned and cut.
    pub(crate) stdout: String,
    /// What it complained about, cleaned and cut.
    pub(crate) stderr: String,
    /// Whether some of the output is missing.
    pub(crate) truncated: bool,
}

/// Looks once.
pub(crate) async fn glance(pve: &Reader, at: &GuestRef, pid: u64) -> Glance {
    let status = Request::get(at.path("agent/exec-status")).with("pid", pid);
    match pve.get::<Value>(status).await {
        Ok(answer) => match lenient::as_bool(&answer["exited"]) {
            Some(true) => Glance::Ended(Ended::of(&answer)),
            Some(false) => Glance::Running,
            None => Glance::Unreadable(None, "PVE does not say whether it has ended".to_owned()),
        },
        Err(error) => {
            let said = error.pve_text().unwrap_or_default();
            // With the number in between, or, of agents that print it wrongly, without it.
            if said.contains("PID ") && said.contains("does not exist") {
                Glance::Gone
            } else {
                let why = explain(&error);
                Glance::Unreadable(Some(error), why)
            }
        }
    }
}

impl Ended {
    fn of(answer: &Value) -> Self {
        let output = |name: &str| {
            let text = answer[format!("{name}-data")].as_str().unwrap_or_default();
            let cut = lenient::as_bool(&answer[format!("{name}-truncated")]) == Some(true);
            let (text, capped) = capped(&clean::text(&from_wire(text)), SHOWN);
            (text, cut || capped)
        };
        let ((stdout, out_cut), (stderr, err_cut)) = (output("out"), output("err"));
        Self {
            exit_code: lenient::as_u64(&answer["exitcode"]),
            signal: lenient::as_u64(&answer["signal"]),
            stdout,
            stderr,
            truncated: out_cut || err_cut,
        }
    }

    /// "exit code 3"
    pub(crate) fn words(&self) -> String {
        let mut words = match (self.exit_code, self.signal) {
            (_, Some(signal)) => format!("killed by signal {signal}"),
            (Some(code), None) => format!("exit code {code}"),
            (None, None) => "it ended, and the agent does not say how".to_owned(),
        };
        if self.truncated {
            words.push_str("; its output is not shown in full");
        }
        words
    }

    /// For the caller's eyes and programs.
    pub(crate) fn result(&self) -> Object {
        let mut result = Object::new();
        let mut put = |name: &str, value: Value| drop(result.insert(name.to_owned(), value));
        if let Some(code) = self.exit_code {
            put("exit_code", json!(code));
        }
        if let Some(signal) = self.signal {
            put("signal", json!(signal));
        }
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                put(name, json!(text));
            }
        }
        if self.truncated {
            put("truncated", json!(true));
        }
        result
    }
}
