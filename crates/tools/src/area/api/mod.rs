//! Any method of the API, checked against the schema that the cluster itself serves.

mod coded;
mod declared;
mod describe;
mod effect;
mod entry;
mod needs;
mod place;
mod raw;
mod read;
mod refused;
mod search;
mod sent;
mod shape;
mod subject;
mod undo;
mod wide;
mod write;

use crate::tool::{Change, Read, Tool};

pub(crate) use undo::settle as settle_undo;

/// What to use instead of a method that neither read_proxmox_api nor write_proxmox_api sends.
pub fn left_to(verb: pve::Method, template: &str) -> Option<&'static str> {
    refused::instead(verb, template)
}

/// The tools of this area.
pub(super) const TOOLS: &[&dyn Tool] = &[
    &Read::<search::SearchApi>::NEW,
    &Read::<read::ReadApi>::NEW,
    &Change::<write::WriteApi>::NEW,
];
