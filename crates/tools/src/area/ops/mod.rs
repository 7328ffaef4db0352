//! How the whole estate does: history, findings, digest, drift. None of it changes anything.
//!
//! `estate` reads each cluster once, `checks` judge what was read, and `report` collects what they found and what they
//! could not look at. Findings and digest are two views of the same report.

mod ask;
mod checks;
mod code;
mod digest;
mod drift;
mod estate;
mod failures;
mod findings;
mod metrics;
mod report;
mod volumes;

use crate::tool::{Read, Tool};

pub use code::document;
pub(super) use metrics::GetMetrics;

/// The tools, in the order of the documentation.
pub(super) const TOOLS: &[&dyn Tool] = &[
    &Read::<digest::GetDigest>::NEW,
    &Read::<findings::ListFindings>::NEW,
    &Read::<drift::GetDrift>::NEW,
    &Read::<metrics::GetMetrics>::NEW,
];
