//! Where HA wants a guest to run. PVE 9 has rules for it, 8.4 has groups; both come down to nodes with priorities.

use pve::{Error, GuestKind, GuestRef, MigratePreconditions, Request, Resource};
use serde_json::Value;

use super::scene::{Node, Scene};
use crate::context::Guest;
use crate::plan::{Blocker, Effect, Impact};
use crate::words;

/// A rule, or a group, that names nodes for a guest.
pub(super) struct Affinity {
    name: String,
    /// Node and priority; a higher one is preferred.
    nodes: Vec<(String, u32)>,
    /// Whether the guest may run nowhere else.
    strict: bool,
}

/// `vm:102`
fn sid(at: &GuestRef) -> String {
    let kind = match at.kind {
        GuestKind::Qemu => "vm",
        GuestKind::Lxc => "ct",
    };
    format!("{kind}:{}", at.vmid)
}

/// The rules that name nodes for a guest. Takes Sys.Audit on `/`.
pub(super) async fn rules(guest: &Guest) -> Result<Vec<Affinity>, Error> {
    let sid = sid(&guest.at);
    let request = Request::get("/cluster/ha/rules")
        .with("resource", sid.as_str())
        .with("type", "node-affinity");
    let rules = match guest.pve().list::<Value>(request).await {
        Err(error) if error.status() == Some(501) => return group(guest, &sid).await,
        rules => rules?,
    };
    let on = |rule: &&Value| !is_set(&rule["disable"]);
    Ok(rules
        .iter()
        .filter(on)
        .map(|rule| Affinity::read(rule, "rule", "strict"))
        .collect())
}

/// The group of a guest before there were rules.
async fn group(guest: &Guest, sid: &str) -> Result<Vec<Affinity>, Error> {
    let resource: Value = guest
        .pve()
        .get(format!("/cluster/ha/resources/{sid}"))
        .await?;
    let Some(name) = resource["group"].as_str() else {
        return Ok(Vec::new());
    };
    let group: Value = guest
        .pve()
        .get(format!("/cluster/ha/groups/{name}"))
        .await?;
    Ok(vec![Affinity::read(&group, "group", "restricted")])
}

fn is_set(flag: &Value) -> bool {
    pve::lenient::as_bool(flag).unwrap_or(false)
}

impl Affinity {
    fn read(entry: &Value, name: &str, strict: &str) -> Self {
        let nodes = entry["nodes"].as_str().unwrap_or_default().split(',');
        Self {
            name: entry[name].as_str().unwrap_or("?").to_owned(),
            nodes: nodes
                .map(|node| match node.trim().split_once(':') {
                    Some((node, priority)) => (node.to_owned(), priority.parse().unwrap_or(0)),
                    None => (node.trim().to_owned(), 0),
                })
                .collect(),
            strict: is_set(&entry[strict]),
        }
    }

    fn priority(&self, node: &str) -> Option<u32> {
        let found = self.nodes.iter().find(|(name, _)| name == node);
        found.map(|(_, priority)| *priority)
    }

    fn listed(&self) -> String {
        let names: Vec<_> = self.nodes.iter().map(|(name, _)| name.as_str()).collect();
        words::list(&names)
    }
}

/// What HA would not do, or would take back.
pub(super) fn blockers(scene: &Scene, node: &Node) -> Vec<Blocker> {
    let (label, target) = (scene.guest.label(), &node.name);
    let strict = scene
        .rules
        .iter()
        .filter(|rule| rule.strict && rule.priority(target.as_str()).is_none());
    let mut blockers: Vec<_> = strict
        .map(|rule| {
            Blocker::new(
                format!("HA's {} keeps {label} on {}", rule.name, rule.listed()),
                format!(
                    "send one of them as target, or change the rule {}",
                    rule.name
                ),
            )
        })
        .collect();
    let apart = scene.obstacles(target).and_then(|it| it.blocking.as_ref());
    blockers.extend(apart.into_iter().flatten().map(|blocking| {
        Blocker::new(
            format!("HA keeps {label} off {target}: {} is there", blocking.sid),
            "choose another target",
        )
    }));
    blockers
}

/// A node that HA likes better than the target, and moves the guest back to.
pub(super) fn preference(scene: &Scene, target: &Node) -> Option<String> {
    let own = &scene.guest.at.node;
    let up = |name: &str| {
        own.as_str() == name
            || scene
                .nodes
                .iter()
                .any(|node| node.online && node.name.as_str() == name)
    };
    scene.rules.iter().find_map(|rule| {
        let (best, priority) = rule
            .nodes
            .iter()
            .filter(|(name, _)| up(name))
            .max_by_key(|(_, priority)| *priority)?;
        let better = rule
            .priority(target.name.as_str())
            .is_none_or(|there| there < *priority);
        better.then(|| {
            format!(
                "HA's {} prefers {best}; HA moves the guest back there unless its failback is off",
                rule.name
            )
        })
    })
}

/// The guests that HA moves along, as far as the token may see them.
pub(super) fn along(says: &MigratePreconditions, rows: &[Resource]) -> Vec<pve::Guest> {
    let guests = rows.iter().filter_map(pve::Guest::from_resource);
    let sids = says.dependents.clone().unwrap_or_default();
    guests
        .filter(|guest| sids.contains(&sid(&guest.at)))
        .collect()
}

/// What becomes of them: a container that runs is restarted, and so may be one that is hidden.
pub(super) fn impact(scene: &Scene) -> Vec<Impact> {
    let sids = scene.says.dependents.iter().flatten();
    sids.map(|id| {
        let guest = scene.along.iter().find(|guest| sid(&guest.at) == *id);
        let runs = guest.is_none_or(pve::Guest::is_running);
        let (effect, note) = if id.starts_with("ct:") && runs {
            (Effect::Interrupted, "HA moves it along, with a restart")
        } else {
            (Effect::Changed, "HA moves it along")
        };
        Impact::new(effect, "HA resource", id).note(note)
    })
    .collect()
}
