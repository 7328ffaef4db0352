//! The toolset `qemu` but for guest agents: VMs by the names that other servers have for what is done to them.
//!
//! What core plans with care is an alias of core's tool for VMs alone. The rest is declared, or has code of its own where it
//! has to think: [`hibernate`], [`transfer`], [`template`], [`monitor`].

mod about;
mod cloudinit;
mod config;
mod console;
mod disks;
mod hibernate;
mod life;
mod monitor;
mod power;
mod snapshots;
mod template;
mod transfer;

use pve::{GuestKind, Vmid};

use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::plain::Need;

pub(super) use about::TOOLS as ABOUT;
pub(super) use cloudinit::TOOLS as CLOUDINIT;
pub(super) use config::TOOLS as CONFIG;
pub(super) use console::TOOLS as CONSOLE;
pub(super) use disks::TOOLS as DISKS;
pub(super) use life::TOOLS as LIFE;
pub(super) use power::TOOLS as POWER;
pub(super) use snapshots::TOOLS as SNAPSHOTS;

const AUDIT: Need = Need::On("/vms/{vmid}", "VM.Audit");

/// The VM that a tool is told to act on, on a node that answers.
async fn vm(cx: &Context, vmid: Vmid, tool: &str) -> Result<Guest, Fault> {
    let cx = cx.only(GuestKind::Qemu, tool);
    let guest = cx.guest(vmid, None, None).await?;
    guest.require_online()?;
    Ok(guest)
}
