//! A door to every tool for clients that can afford to list only a few: find one, preview it, call it.

mod call;
mod search;

use crate::tool::{Read, Tool};

pub(crate) use call::CallTool;

/// The tools of this toolset. It lists preview_proxmox_change too.
pub(super) const TOOLS: &[&dyn Tool] = &[&Read::<search::SearchTools>::NEW, &call::RELAY];
