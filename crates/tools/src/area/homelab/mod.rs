//! What is left of the first seed system's names: one tool for all of a guest's power, and the community's scripts.

mod manage;
mod scripts;

use crate::tool::{Change, Read, Tool};

/// The tools of this toolset.
pub(super) const TOOLS: &[&dyn Tool] = &[
    &Change::<manage::ManageVm>::NEW,
    &Read::<scripts::SearchScripts>::NEW,
    &Read::<scripts::ScriptInfo>::NEW,
];
