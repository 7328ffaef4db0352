//! The guest agent of a VM, one tool for each thing that it does.
//!
//! Names and arguments are those that other Proxmox MCP servers have for them. `vm` is the VM and its agent as every one
//! of them finds it, `order` has those that take nothing but the VM, as a table.

mod exec;
mod file;
mod info;
mod order;
mod password;
mod status;
mod vm;

use crate::tool::{Change, Read, Tool};

/// The tools, in the order of the documentation.
pub(super) const TOOLS: &[&dyn Tool] = &[
    &Read::<info::GetInfo>::NEW,
    &Change::<exec::Exec>::NEW,
    &Read::<status::ExecStatus>::NEW,
    &Change::<file::FileRead>::NEW,
    &Change::<file::FileWrite>::NEW,
    &Change::<password::SetPassword>::NEW,
    &order::FSTRIM,
    &order::FREEZE,
    &order::THAW,
];
