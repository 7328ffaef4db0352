//! A client for the Proxmox VE API: requests as data, errors by stage, a [`Reader`] and a [`Writer`].
//!
//! Start at [`connect`]. It gives the two halves of a connection: the `Reader` can only ask, and is handed to
//! everybody; the `Writer` can only change, is not `Clone`, and has no other constructor, so whoever holds it is the
//! one place from which PVE is changed.
//!
//! - [`request`](Request): a call as data, before it is sent
//! - `client`: hosts, TLS, login, retries; private
//! - [`Error`]: what went wrong, by stage
//! - [`task`]: UPIDs, waiting, logs
//! - [`guest`]: from a vmid to its node, kind, configuration and identity
//! - [`console`]: screens, keyboards and terminals
//! - [`apidoc`]: the API as the cluster itself describes it
//! - [`answer`]: typed answers that tolerate PVE's habits
//!
//! This crate knows no tool and no MCP.

pub mod answer;
pub mod apidoc;
mod certificate;
mod client;
mod conceal;
pub mod console;
mod encode;
mod error;
mod fingerprint;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod guest;
pub mod id;
pub mod lenient;
mod reader;
mod request;
mod secret;
mod settings;
mod sink;
mod source;
mod tally;
pub mod task;
mod writer;

use std::sync::Arc;

pub use answer::{
    BlockingResource, ClusterMember, ClusterStatus, GuestStatus, LocalVolume, MappedDevice,
    MigratePreconditions, NodeObstacles, NodeStatus, Permissions, Resource, ResourceKind,
    SnapshotEntry, StorageStatus, Version, Volume,
};
pub use certificate::Certificate;
pub use client::enter::{Challenge, Entry, Factor, answer_challenge, log_in};
pub use client::look::{Presented, look};
pub use conceal::conceal;
pub use encode::{decode_value, encode_segment, encode_value};
pub use error::{Cause, Error, Untrusted};
pub use fingerprint::Fingerprint;
pub use guest::{
    Disk, Guest, GuestConfig, GuestRef, Identity, Nic, PropertyString, Size, parse_size,
};
pub use id::{DnsName, GuestKind, IdError, NodeName, PoolId, SnapName, StorageId, TokenId, Vmid};
pub use reader::Reader;
pub use request::{Filled, Method, Request, Value};
pub use secret::{Fetching, Keeper, Secret};
pub use settings::{Credentials, Host, Settings, Timeouts, Trust};
pub use sink::Sink;
pub use source::Source;
pub use tally::Tally;
pub use task::{TaskEnd, TaskProgress, TaskStatus, TaskSummary, Upid};
pub use writer::Writer;

/// Makes the two halves of a connection to a cluster.
///
/// Nothing is contacted, no file is read and no secret fetched yet: the first request does that. It fails only on settings that cannot work.
pub fn connect(settings: Settings) -> Result<(Reader, Writer), Error> {
    let client = Arc::new(client::Client::new(settings)?);
    Ok((Reader::new(Arc::clone(&client)), Writer::new(client)))
}
