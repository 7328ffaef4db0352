//! What goes on inside a guest.

mod run;

pub(super) use run::RunCommand;
