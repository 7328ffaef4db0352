//! The guests that a rule or a group of HA keeps somewhere. A call that changes one names it, and not them.

use std::collections::BTreeSet;

use pve::apidoc::Found;
use pve::lenient::as_text;
use pve::{Reader, Request, Vmid};
use serde_json::Value;

use super::subject::vmid_in;
use crate::fault::Fault;
use crate::plan::parts;

/// What keeps them where they are.
pub(super) enum Kept {
    /// The rule at this path, which lists them.
    ByRule(String),
    /// The group of this name, which they tell of themselves.
    ByGroup(String),
}

impl Kept {
    /// The rule or the group in the path.
    pub(super) fn by(found: &Found<'_>) -> Option<Self> {
        match found.method.path.as_str() {
            "/cluster/ha/rules/{rule}" => Some(Self::ByRule(found.path())),
            "/cluster/ha/groups/{group}" => Some(Self::ByGroup(found.capture("group")?.to_owned())),
            _ => None,
        }
    }

    /// Those that it is about so far.
    pub(super) async fn guests(self, pve: &Reader) -> Result<BTreeSet<Vmid>, Fault> {
        let sids = match self {
            Self::ByRule(path) => {
                let rule: Value = pve.get(Request::get(path)).await?;
                rule.get("resources").map(parts).unwrap_or_default()
            }
            Self::ByGroup(group) => {
                let rows: Vec<Value> = pve.get(Request::get("/cluster/ha/resources")).await?;
                let field = |row: &Value, name: &str| row.get(name).and_then(as_text);
                let mine = rows
                    .iter()
                    .filter(|row| field(row, "group").as_deref() == Some(&group));
                mine.filter_map(|row| field(row, "sid")).collect()
            }
        };
        Ok(sids.iter().filter_map(|sid| vmid_in(sid)).collect())
    }
}
