//! The guests of an HA rule or group: a request that changes one names it, and not them.

use pve::lenient::as_text;
use pve::{Reader, Request, Vmid};
use serde_json::Value;

use crate::fault::Fault;
use crate::plan::parts;
use crate::risk::{Subject, Which};

/// The guests of all HA rules and groups among these subjects, each used as its rule or group is.
pub(super) async fn kept(pve: &Reader, subjects: &[Subject]) -> Result<Vec<Subject>, Fault> {
    let mut found = Vec::new();
    for subject in subjects {
        let sids = match &subject.which {
            Which::HaRule(path) => {
                let rule: Value = pve.get(Request::get(path.clone())).await?;
                rule.get("resources").map(parts).unwrap_or_default()
            }
            Which::HaGroup(group) => members(pve, group).await?,
            _ => continue,
        };
        let guests = sids.iter().filter_map(|sid| vmid_of(sid));
        found.extend(guests.map(|vmid| Subject {
            which: Which::One(vmid),
            use_: subject.use_,
        }));
    }
    Ok(found)
}

/// The resources that name this group as theirs.
async fn members(pve: &Reader, group: &str) -> Result<Vec<String>, Fault> {
    let rows: Vec<Value> = pve.get(Request::get("/cluster/ha/resources")).await?;
    let field = |row: &Value, name: &str| row.get(name).and_then(as_text);
    let mine = rows
        .iter()
        .filter(|row| field(row, "group").as_deref() == Some(group));
    Ok(mine.filter_map(|row| field(row, "sid")).collect())
}

/// The guest of a resource, such as `vm:105`.
fn vmid_of(sid: &str) -> Option<Vmid> {
    sid.rsplit(':').next()?.parse().ok()
}
