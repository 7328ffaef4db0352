//! Typed answers. Every field that PVE may leave out is optional, and odd types are tolerated; see
//! [`lenient`](crate::lenient).

mod access;
mod cluster;
mod guest;
mod migrate;
mod node;
mod resource;
mod volume;

pub use access::Permissions;
pub use cluster::{ClusterMember, ClusterStatus, Version};
pub use guest::{GuestStatus, SnapshotEntry};
pub use migrate::{
    BlockingResource, LocalVolume, MappedDevice, MigratePreconditions, NodeObstacles,
};
pub use node::{NodeStatus, StorageStatus, Usage};
pub use resource::{Resource, ResourceKind};
pub use volume::Volume;
