//! What we may do.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lenient;

/// Privileges by path, as `/access/permissions` tells them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(
    from = "BTreeMap<String, BTreeMap<String, Value>>",
    into = "BTreeMap<String, BTreeMap<String, bool>>"
)]
pub struct Permissions {
    /// Path to privilege to "also below the path".
    paths: BTreeMap<String, BTreeMap<String, bool>>,
}

impl From<BTreeMap<String, BTreeMap<String, Value>>> for Permissions {
    fn from(raw: BTreeMap<String, BTreeMap<String, Value>>) -> Self {
        let propagates = |flag: &Value| lenient::as_bool(flag).unwrap_or(false);
        let paths = raw
            .into_iter()
            .map(|(path, privileges)| {
                let flags = privileges
                    .iter()
                    .map(|(p, flag)| (p.clone(), propagates(flag)));
                (path, flags.collect())
            })
            .collect();
        Self { paths }
    }
}

/// As it is read again: by path, privilege, and whether it reaches below.
impl From<Permissions> for BTreeMap<String, BTreeMap<String, bool>> {
    fn from(permissions: Permissions) -> Self {
        permissions.paths
    }
}

impl Permissions {
    /// True if a privilege is held on a path: by the entry of the path itself, else by the nearest one above it if
    /// that reaches below.
    pub fn has(&self, path: &str, privilege: &str) -> bool {
        if let Some(own) = self.paths.get(path) {
            return own.contains_key(privilege);
        }
        let mut above = path;
        while let Some(parent) = parent(above) {
            if let Some(privileges) = self.paths.get(parent) {
                return privileges.get(privilege).copied().unwrap_or(false);
            }
            above = parent;
        }
        false
    }

    /// The privileges on a path, by the same rule.
    pub fn on(&self, path: &str) -> BTreeSet<&str> {
        let all: BTreeSet<&str> = self
            .paths
            .values()
            .flat_map(|privileges| privileges.keys().map(String::as_str))
            .collect();
        all.into_iter().filter(|p| self.has(path, p)).collect()
    }

    /// The paths that have an entry.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.keys().map(String::as_str)
    }

    /// True if there is no right anywhere.
    pub fn is_empty(&self) -> bool {
        self.paths.values().all(BTreeMap::is_empty)
    }
}

fn parent(path: &str) -> Option<&str> {
    match path.rsplit_once('/')? {
        ("", "") => None,
        ("", _) => Some("/"),
        (head, _) => Some(head),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rights_reach_down_only_where_they_propagate() {
        let rights: Permissions = serde_json::from_value(json!({
            "/": {"Sys.Audit": 1, "Pool.Audit": 0},
            "/vms": {"VM.Audit": 1, "VM.Clone": "0"},
            "/vms/100": {"VM.PowerMgmt": 1}
        }))
        .unwrap();
        assert!(rights.has("/vms/101", "VM.Audit"));
        assert!(!rights.has("/vms/101", "VM.Clone"));
        assert!(rights.has("/vms", "VM.Clone"));
        assert!(rights.has("/vms/100", "VM.PowerMgmt"));
        assert!(!rights.has("/vms/100", "VM.Audit"));
        assert!(rights.has("/nodes/pve1", "Sys.Audit"));
        assert!(!rights.has("/nodes/pve1", "Pool.Audit"));
        assert!(rights.has("/", "Pool.Audit"));
        assert_eq!(rights.on("/vms/101"), BTreeSet::from(["VM.Audit"]));
        assert!(!Permissions::default().has("/", "Sys.Audit"));
        let kept = serde_json::to_string(&rights).unwrap();
        assert_eq!(serde_json::from_str::<Permissions>(&kept).unwrap(), rights);
    }
}
