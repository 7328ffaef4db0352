//! `prunebackups`: which backups a retention rule would remove, and their removal.

use serde_json::{Value, json};

use super::storage_id;
use crate::api::nodes::guest::power::spawn;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::require;
use crate::world::World;
use crate::world::retention::{Mark, Scope};
use crate::world::work::Work;

fn vmid(call: &Call) -> Option<u32> {
    call.params.has("vmid").then(|| call.vmid())
}

/// The rule of the call, or else of the storage.
fn rule(world: &World, node: &str, id: &str, given: Option<&str>) -> Result<String, String> {
    let storage = world
        .storages
        .get(id)
        .ok_or_else(|| format!("storage '{id}' does not exist"))?;
    if !storage.holds("backup") {
        return Err(format!("storage '{id}' does not support backups"));
    }
    let own = storage.props.get("prune-backups").map(String::as_str);
    let Some(rule) = given.or(own) else {
        return Err(format!(
            "no prune-backups options configured for storage '{id}'"
        ));
    };
    world.storage_on(node, id)?;
    Ok(rule.to_owned())
}

/// `GET prunebackups`.
pub(super) fn preview(world: &mut World, call: &Call) -> Reply {
    let id = storage_id(call);
    let rule = rule(world, call.node(), id, call.text("prune-backups")).map_err(ApiError::fail)?;
    let scope = Scope {
        node: call.node(),
        storage: id,
        vmid: vmid(call),
        kind: call.text("type"),
    };
    let marked = world.apply_retention(scope, &rule);
    let entries = marked.into_iter().map(|(volume, mark)| {
        let mut entry = json!({
            "volid": volume.volid,
            "ctime": volume.created.secs(),
            "type": volume.guest_kind(),
            "mark": mark.name(),
        });
        if let Some(vmid) = volume.vmid {
            entry["vmid"] = json!(vmid);
        }
        entry
    });
    Ok(entries.collect::<Value>().into())
}

/// `DELETE prunebackups`.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    let (id, vmid) = (storage_id(call).to_owned(), vmid(call));
    let storage_path = format!("/storage/{id}");
    match vmid {
        Some(vmid) => {
            require(
                world,
                &call.who,
                &storage_path,
                &["Datastore.AllocateSpace"],
            )?;
            require(world, &call.who, &format!("/vms/{vmid}"), &["VM.Backup"])?;
        }
        None => require(world, &call.who, &storage_path, &["Datastore.Allocate"])?,
    }
    let text = |name: &str| call.text(name).map(str::to_owned);
    let (node, kind, given) = (call.node().to_owned(), text("type"), text("prune-backups"));
    let task_id = vmid.map_or_else(|| id.clone(), |vmid| format!("{vmid}@{id}"));
    let work = Work::new("prunebackups", task_id).run(move |world, job| {
        let rule = rule(world, &node, &id, given.as_deref())?;
        let scope = Scope {
            node: &node,
            storage: &id,
            vmid,
            kind: kind.as_deref(),
        };
        for volid in prune(world, scope, &rule) {
            job.log(format!("removing backup '{volid}'"));
        }
        Ok(())
    });
    spawn(world, call, work)
}

/// Removes what the rule does not keep; answers the names.
pub(crate) fn prune(world: &mut World, scope: Scope<'_>, rule: &str) -> Vec<String> {
    let marked = world.apply_retention(scope, rule);
    let doomed = marked.into_iter().filter(|(_, mark)| *mark == Mark::Remove);
    let doomed: Vec<String> = doomed.map(|(volume, _)| volume.volid.clone()).collect();
    let node = scope.node;
    world
        .volumes
        .retain(|volume| !(volume.is_seen_from(node) && doomed.contains(&volume.volid)));
    doomed
}
