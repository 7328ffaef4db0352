//! Who calls, and how far they may go.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::plan::{Plan, Target};
use crate::spec::Risk;
use crate::words;

/// Who calls. Confirmations, tasks and the audit trail are bound to the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// As the trail shows it.
    pub name: String,
    /// How far they may go.
    pub bounds: Bounds,
}

impl Caller {
    /// One whom nothing but the configuration holds back.
    pub fn unbound(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            bounds: Bounds::default(),
        }
    }
}

/// The account that the limits on waiting plans count for: a token's name, or the transport of a caller without one. The
/// name that a client gives itself (`http:NAME`, `stdio:NAME`) is not part of it: a client can change that at any time.
/// Names of tokens have no colon.
pub fn account(name: &str) -> &str {
    match name.split_once(':') {
        Some((transport @ ("http" | "stdio"), _)) => transport,
        _ => name,
    }
}

/// Whether two names may be one person's. "cli:anna" is anna at a terminal, "oauth:anna@example.com" what an OAuth server
/// calls her, and "anna" her own token. Where two people are asked for it is better to take two for one than one for two:
/// a third can still say yes.
pub fn may_be_one_person(one: &str, other: &str) -> bool {
    fn person(name: &str) -> &str {
        let name = name.rsplit(':').next().unwrap_or(name);
        name.split('@').next().unwrap_or(name)
    }
    person(one).eq_ignore_ascii_case(person(other))
}

impl From<&str> for Caller {
    fn from(name: &str) -> Self {
        Self::unbound(name)
    }
}

impl From<&String> for Caller {
    fn from(name: &String) -> Self {
        Self::unbound(name)
    }
}

/// How far a caller may go, within what the configuration allows anybody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bounds {
    /// What they may do.
    pub scope: Scope,
    /// Where; empty: everywhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<String>,
    /// The pools whose guests they may change; empty: all guests, whatever pool they are in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<String>,
    /// The guests that they may change; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vmids: Vec<Vmids>,
}

/// What a caller may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Look.
    Read,
    /// Look, change and interrupt; nothing is destroyed, no power is handed out.
    Operate,
    /// Whatever the configuration allows.
    #[default]
    Full,
}

impl Scope {
    /// All of them, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Operate, Self::Full];

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Operate => "operate",
            Self::Full => "full",
        }
    }

    /// The scope of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.word() == word)
    }

    /// The worst that it lets happen.
    pub fn most(self) -> Risk {
        match self {
            Self::Read => Risk::Read,
            Self::Operate => Risk::Disrupt,
            Self::Full => Risk::Grant,
        }
    }
}

/// `105` or `100-199`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Vmids(RangeInclusive<u32>);

impl TryFrom<String> for Vmids {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        crate::policy::vmid_range(&text)
            .map(Self)
            .ok_or_else(|| format!("\"{text}\" is no vmid and no range like 100-199"))
    }
}

impl From<Vmids> for String {
    fn from(vmids: Vmids) -> Self {
        vmids.to_string()
    }
}

impl fmt::Display for Vmids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.0.start(), self.0.end());
        if first == last {
            write!(f, "{first}")
        } else {
            write!(f, "{first}-{last}")
        }
    }
}

impl Bounds {
    /// Whether they may look at that cluster.
    pub fn reach_cluster(&self, name: &str) -> bool {
        self.clusters.is_empty() || self.clusters.iter().any(|cluster| cluster == name)
    }

    /// Why a plan goes too far, if it does.
    pub fn refuse(&self, plan: &Plan) -> Option<Fault> {
        if plan.risk() > self.scope.most() {
            return Some(self.too_far(&format!(
                "the scope of this caller is {}, and this is {}-risk: {}",
                self.scope.word(),
                plan.risk().word(),
                plan.summary
            )));
        }
        if !self.reach_cluster(&plan.cluster) {
            return Some(self.too_far(&format!(
                "this caller does not reach the cluster {}",
                plan.cluster
            )));
        }
        if self.pools.is_empty() && self.vmids.is_empty() {
            return None;
        }
        if !plan.is_about_guests_alone() {
            return Some(self.too_far(&format!(
                "this caller may change certain guests and nothing else, and this is about more: {}",
                plan.summary
            )));
        }
        if let Some(what) = crate::policy::beyond(self, plan) {
            return Some(self.too_far(&format!(
                "this caller may change certain guests and nothing else, and this is about {what}"
            )));
        }
        if plan
            .requests()
            .any(|request| crate::risk::node_power(&request).is_some())
        {
            return Some(self.too_far(
                "this caller may change certain guests, and this gives power over their node",
            ));
        }
        // A guest whose disk or backup is copied counts as well: whoever has the copy has what is in it.
        let outside = plan.targets.iter().find(|target| !self.reaches(target))?;
        Some(self.too_far(&format!(
            "guest {} is none of those that this caller may change",
            outside.at.vmid
        )))
    }

    /// Whether they are bound to certain guests.
    pub(crate) fn go_by_guests(&self) -> bool {
        !self.pools.is_empty() || !self.vmids.is_empty()
    }

    /// Whether they may change whatever guest has this id. Where pools count, the id alone does not tell.
    pub(crate) fn reach_vmid(&self, vmid: pve::Vmid) -> bool {
        self.pools.is_empty() && self.vmids.iter().any(|vmids| vmids.0.contains(&vmid.get()))
    }

    /// Whether they may change all guests of a pool, whatever their ids.
    pub(crate) fn reach_pool(&self, pool: &str) -> bool {
        self.vmids.is_empty() && self.pools.iter().any(|reached| reached == pool)
    }

    fn reaches(&self, target: &Target) -> bool {
        let in_pool = match &target.pool {
            Some(pool) => self.pools.iter().any(|reached| reached == pool),
            None => false,
        };
        let by_id = |vmids: &Vmids| vmids.0.contains(&target.at.vmid.get());
        (self.pools.is_empty() || in_pool)
            && (self.vmids.is_empty() || self.vmids.iter().any(by_id))
    }

    fn too_far(&self, what: &str) -> Fault {
        Fault::refused(what).hint(format!(
            "it may {self}; a person can give out another token"
        ))
    }
}

impl fmt::Display for Bounds {
    /// "read", or "operate on guests 100-199 of pool lab in cluster home".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.scope {
            Scope::Read => "read",
            Scope::Operate => "read, change and interrupt",
            Scope::Full => "do all that the configuration allows",
        })?;
        let vmids: Vec<_> = self.vmids.iter().map(ToString::to_string).collect();
        match (vmids.as_slice(), self.pools.as_slice()) {
            ([], []) => {}
            (vmids, []) => write!(f, ", changing only guests {}", words::list(vmids))?,
            ([], pools) => write!(f, ", changing only guests of pool {}", words::list(pools))?,
            (vmids, pools) => write!(
                f,
                ", changing only guests {} of pool {}",
                words::list(vmids),
                words::list(pools)
            )?,
        }
        if !self.clusters.is_empty() {
            write!(f, ", in cluster {}", words::list(&self.clusters))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_of_a_caller_without_token_is_its_transport() {
        for (name, expected) in [
            ("http:one", "http"),
            ("http:two:three", "http"),
            ("stdio:one", "stdio"),
            ("stdio", "stdio"),
            ("ci", "ci"),
            ("oauth:anna@example.com", "oauth:anna@example.com"),
            ("cli:anna", "cli:anna"),
        ] {
            assert_eq!(account(name), expected);
        }
    }

    #[test]
    fn a_person_is_one_by_whatever_door_they_come() {
        for name in [
            "anna",
            "cli:anna",
            "oauth:anna",
            "oauth:Anna@example.com",
            "anna@example.com",
        ] {
            assert!(may_be_one_person(name, "anna"), "{name}");
            assert!(may_be_one_person("anna", name), "{name}");
        }
        for name in ["annabel", "oauth:bert", "http:anna-agent"] {
            assert!(!may_be_one_person(name, "anna"), "{name}");
        }
    }
}
