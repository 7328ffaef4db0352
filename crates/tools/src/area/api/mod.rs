//! Any method of the API, checked against the schema that the cluster itself serves.

mod declared;
mod describe;
mod effect;
mod entry;
mod ha;
mod needs;
mod place;
mod read;
mod risk;
mod search;
mod sent;
mod shape;
mod subject;
mod wide;
mod write;

use crate::tool::{Change, Read, Tool};

pub use risk::left_to;

/// The tools of this area.
pub(super) const TOOLS: &[&dyn Tool] = &[
    &Read::<search::SearchApi>::NEW,
    &Read::<read::ReadApi>::NEW,
    &Change::<write::WriteApi>::NEW,
];
