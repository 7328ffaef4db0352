//! `/cluster/ha`: high availability.

pub mod resources;
pub mod status;
