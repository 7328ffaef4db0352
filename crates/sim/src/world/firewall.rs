//! Firewall configurations: of the cluster, of nodes, of guests, and the rules of security groups.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::error::ApiError;
use crate::world::World;

/// Whose configuration it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The whole cluster.
    Cluster,
    /// A security group, which rules of the others refer to.
    Group(String),
    /// A node.
    Node(String),
    /// A guest.
    Guest(u32),
}

impl Scope {
    /// What PVE calls the lock of this configuration.
    fn lock(&self) -> String {
        match self {
            Self::Cluster | Self::Group(_) => "firewall-cluster".to_owned(),
            Self::Node(name) => format!("firewall-host-{name}"),
            Self::Guest(vmid) => format!("firewall-vm-{vmid}"),
        }
    }
}

/// One configuration.
#[derive(Clone, Debug, Default)]
pub struct Firewall {
    /// Its options.
    pub options: BTreeMap<String, String>,
    /// Its rules in order, each as properties: `type`, `action`, `enable`, ...
    pub rules: Vec<BTreeMap<String, String>>,
    /// Names for addresses, in lower case.
    pub aliases: BTreeMap<String, Address>,
    /// Sets of addresses.
    pub ipsets: BTreeMap<String, IpSet>,
    /// Free text.
    pub comment: Option<String>,
}

/// An address or network, as an alias or as a member of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `10.0.0.0/8`, or the name of an alias.
    pub cidr: String,
    /// Free text.
    pub comment: Option<String>,
    /// In a set: everything but this.
    pub nomatch: bool,
}

/// A set of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IpSet {
    /// Its members.
    pub members: Vec<Address>,
    /// Free text.
    pub comment: Option<String>,
}

impl World {
    /// A configuration; one that nobody wrote yet is empty.
    pub fn firewall(&self, scope: &Scope) -> Firewall {
        self.firewalls.get(scope).cloned().unwrap_or_default()
    }

    /// A configuration to change.
    ///
    /// # Errors
    /// 500 without quorum.
    pub fn firewall_mut(&mut self, scope: &Scope) -> Result<&mut Firewall, ApiError> {
        if !self.is_quorate() {
            let lock = scope.lock();
            return Err(ApiError::fail(format!(
                "cfs-lock '{lock}' error: no quorum!"
            )));
        }
        Ok(self.firewalls.entry(scope.clone()).or_default())
    }
}

/// 4 or 6 for an address, network or list of them; `None` for names.
pub fn ip_version(text: &str) -> Option<u8> {
    let first = text.split([',', '-']).next()?;
    let address = first.split('/').next()?;
    match address.parse::<IpAddr>().ok()? {
        IpAddr::V4(_) => Some(4),
        IpAddr::V6(_) => Some(6),
    }
}
