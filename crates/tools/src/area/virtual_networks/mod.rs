//! The toolset `sdn`: virtual networks that span the nodes. Changes are only configured, and run once they are applied.

mod vnets;
mod zones;

pub(super) use vnets::TOOLS as VNETS;
pub(super) use zones::TOOLS as ZONES;
