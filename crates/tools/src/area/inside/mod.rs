//! What goes on inside a guest.

mod command;
mod run;

pub(super) use command::{Command, one_or_many};
pub(super) use run::RunCommand;
