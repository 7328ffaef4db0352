//! One call, and what it gives back.

use std::fmt;

use super::question::{Answered, Question};
use crate::caller::Caller;
use crate::tool::{Object, Rendered};

/// One call of a tool, whatever transport it came by. Prints without its secrets.
#[derive(Clone)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Object,
    /// Who calls: confirmations and the audit trail are bound to it.
    pub caller: Caller,
    /// Show the plan, and stop there.
    pub preview: bool,
    /// A person's answer to a [`Question`] that an earlier call gave back.
    pub answer: Option<Answered>,
}

impl Call {
    /// A plain call.
    pub fn new(tool: &str, arguments: Object, caller: impl Into<Caller>) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments,
            caller: caller.into(),
            preview: false,
            answer: None,
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut arguments = self.arguments.clone();
        crate::clean::arguments(&mut arguments);
        f.debug_struct("Call")
            .field("tool", &self.tool)
            .field("arguments", &arguments)
            .field("caller", &self.caller.name)
            .field("preview", &self.preview)
            .finish_non_exhaustive()
    }
}

/// What a call gives back.
#[derive(Debug)]
pub enum Reply {
    /// The answer.
    Done(Rendered),
    /// The answer of a change that goes on though the caller's wait is over, and its plan's id, for
    /// [`handle`](super::Engine::handle).
    Running(Rendered, String),
    /// A question for a person, for transports that carry the answer in a second call.
    Ask(Box<Question>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_shown_without_its_secrets() {
        let arguments =
            crate::context::arguments([("password", "hunter2".into()), ("vmid", 106.into())]);
        let shown = format!(
            "{:?}",
            Call::new("vm_agent_set_password", arguments, "anna")
        );
        for part in ["vm_agent_set_password", "106", "anna"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
