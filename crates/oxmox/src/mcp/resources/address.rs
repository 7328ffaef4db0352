//! The addresses of resources: `proxmox://cluster/{cluster}` and what is in it. The cluster is always named, so an
//! address stays good when a second one is configured.
//!
//! A thing has one address, since clients and subscriptions tell things apart by it. It is the template filled in, by
//! hand or by a client that encodes all but letters and digits on the way; that differs for tasks only.

use std::sync::Arc;

use pve::{NodeName, Upid, Vmid, encode_segment, encode_value};
use tools::context::Cluster;

#[cfg(feature = "conformance")]
use crate::mcp::conformance::resources::Fixture;

const PREFIX: &str = "proxmox://cluster/";

/// The forms of all addresses, each with a name, a title and what is there.
pub(in crate::mcp) const TEMPLATES: [(&str, &str, &str, &str); 4] = [
    (
        "proxmox://cluster/{cluster}",
        "cluster",
        "A cluster at a glance",
        "Version, quorum, nodes and guest counts of a configured cluster",
    ),
    (
        "proxmox://cluster/{cluster}/node/{node}",
        "node",
        "A node",
        "State, capacity, storages and guests of a node",
    ),
    (
        "proxmox://cluster/{cluster}/guest/{vmid}",
        "guest",
        "A guest",
        "State, place and configuration of a VM or container",
    ),
    (
        "proxmox://cluster/{cluster}/task/{upid}",
        "task",
        "A task",
        "State of a task, with the end of its log",
    ),
];

/// What an address stands for.
#[derive(Debug, Clone)]
pub(in crate::mcp) struct Address {
    /// Where it is.
    pub(in crate::mcp) cluster: Arc<Cluster>,
    /// What it is.
    pub(in crate::mcp) thing: Thing,
}

/// What there is in a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mcp) enum Thing {
    /// The cluster itself.
    Cluster,
    /// A node.
    Node(NodeName),
    /// A VM or container.
    Guest(Vmid),
    /// A task.
    Task(Upid),
    /// What the conformance suite reads.
    #[cfg(feature = "conformance")]
    Fixture(Fixture),
}

impl Address {
    /// What an address in one of these clusters is meant to stand for, however it is written. Asks nobody, so that may
    /// not exist.
    pub(super) fn meant(clusters: &[Arc<Cluster>], uri: &str) -> Option<Self> {
        #[cfg(feature = "conformance")]
        if let Some(fixture) = Fixture::at(uri) {
            return Some(Self {
                cluster: clusters.first()?.clone(),
                thing: Thing::Fixture(fixture),
            });
        }
        let (prefix, rest) = uri.split_at_checked(PREFIX.len())?;
        if !prefix.eq_ignore_ascii_case(PREFIX) {
            return None;
        }
        let segments: Vec<String> = rest
            .trim_end_matches('/')
            .split('/')
            .map(decoded)
            .collect::<Option<_>>()?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let (name, thing) = match segments.as_slice() {
            [name] => (name, Thing::Cluster),
            [name, "node", node] => (name, Thing::Node(NodeName::new(node).ok()?)),
            [name, "guest", vmid] => (name, Thing::Guest(vmid.parse().ok()?)),
            [name, "task", upid] => (name, Thing::Task(upid.parse().ok()?)),
            _ => return None,
        };
        let cluster = clusters.iter().find(|cluster| cluster.name == *name)?;
        Some(Self {
            cluster: cluster.clone(),
            thing,
        })
    }

    /// Whether this is how it is written.
    pub(super) fn is_written(&self, uri: &str) -> bool {
        uri == self.uri() || uri == self.written(encode_value)
    }

    /// How it is written.
    pub(super) fn uri(&self) -> String {
        self.written(|segment| encode_segment(segment))
    }

    fn written(&self, encode: impl Fn(&str) -> String) -> String {
        let cluster = format!("{PREFIX}{}", encode(&self.cluster.name));
        match &self.thing {
            Thing::Cluster => cluster,
            Thing::Node(name) => format!("{cluster}/node/{}", encode(name.as_str())),
            Thing::Guest(vmid) => format!("{cluster}/guest/{vmid}"),
            Thing::Task(upid) => format!("{cluster}/task/{}", encode(upid.as_str())),
            #[cfg(feature = "conformance")]
            Thing::Fixture(fixture) => fixture.uri(),
        }
    }
}

/// The address of a cluster.
pub(super) fn of_cluster(name: &str) -> String {
    format!("{PREFIX}{}", encode_segment(name))
}

/// A segment of a URI as text; `None` if it is none.
fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, after @ ..] = rest {
        if *first == b'%' {
            let [high, low, after @ ..] = after else {
                return None;
            };
            let digit = |byte: &u8| char::from(*byte).to_digit(16);
            let code = digit(high)? * 16 + digit(low)?;
            bytes.push(u8::try_from(code).ok()?);
            rest = after;
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_decoded() {
        assert_eq!(decoded("UPID%3Apve1%3a").as_deref(), Some("UPID:pve1:"));
        assert_eq!(decoded("a b").as_deref(), Some("a b"));
        for bad in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
