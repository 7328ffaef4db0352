//! `upload`: a file that the client sends becomes a volume.
//!
//! The node that was asked receives the file and runs the task, whichever node it is for, and copies it there.

use serde_json::json;

use super::download::{check_name, safe_name};
use super::storage_id;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::http::Received;
use crate::world::World;
use crate::world::layout::Layout;
use crate::world::storage::Volume;
use crate::world::work::{Job, Work};

/// `POST upload`. An existing file is overwritten.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    let text = |name: &str| call.text(name).unwrap_or_default().to_owned();
    let (volume, path, file) = target(world, call)?;
    let (temporary, node, expected) = (
        text("tmpfilename"),
        call.node().to_owned(),
        text("checksum"),
    );
    let algorithm = call.text("checksum-algorithm").map(str::to_owned);
    let command = command(world, call, &temporary, &path)?;
    let work = Work::new("imgcopy", "")
        .log(format!("starting file import from: {temporary}"))
        .run(move |world, job| {
            if let Some(algorithm) = algorithm {
                verify(job, &algorithm, file.sum, &expected)?;
            }
            job.log(format!("target node: {node}"));
            job.log(format!("target file: {path}"));
            job.log(format!("file size is: {}", volume.size));
            job.log(format!("command: {command}"));
            let is_it = |old: &Volume| old.volid == volume.volid && old.is_seen_from(&node);
            world.volumes.retain(|old| !is_it(old));
            if !fits(world, &node, &volume) {
                let line = format!("cp: error writing '{path}': No space left on device");
                job.log(line.clone());
                return Err(format!("import failed: {line}"));
            }
            world.volumes.push(volume);
            job.log("finished file import successfully");
            Ok(())
        });
    Ok(json!(world.start_task(&call.who, &call.endpoint, work)).into())
}

/// The volume that the file will be, its path, and the file.
fn target(world: &World, call: &Call) -> Result<(Volume, String, Received), ApiError> {
    let text = |name: &str| call.text(name).unwrap_or_default();
    let (id, content, temporary) = (storage_id(call), text("content"), text("tmpfilename"));
    let storage = world.storage_on(call.node(), id).map_err(ApiError::fail)?;
    let refused = |text: String| Err(ApiError::fail(text));
    if storage.layout() != Layout::Files {
        return refused(format!("can't upload to storage type '{}'", storage.kind));
    }
    if temporary.is_empty() {
        return refused("missing temporary file name".to_owned());
    }
    let Some(received) = world.uploads.get(temporary) else {
        return refused(format!("temporary file '{temporary}' does not exist"));
    };
    let file = safe_name(text("filename"));
    let format = check_name(content, &file)?;
    if !storage.holds(content) {
        return refused(format!(
            "storage '{id}' does not support '{content}' content"
        ));
    }
    let volid = format!("{id}:{content}/{file}");
    let name = world.parse_volid(&volid).map_err(ApiError::fail)?;
    let path = storage.path_of(&name);
    let size = received.size;
    let owner = (!storage.shared).then(|| call.node().to_owned());
    let volume = Volume {
        content: content.to_owned(),
        vmid: None,
        used: size,
        ..Volume::image(volid.clone(), owner, 0, format, size, world.now)
    };
    Ok((volume, path, received.clone()))
}

/// How the file gets to where it belongs.
fn command(world: &World, call: &Call, from: &str, to: &str) -> Result<String, ApiError> {
    let (node, id) = (call.node(), storage_id(call));
    if node == call.endpoint || node == "localhost" {
        return Ok(format!("cp -- {from} {to}"));
    }
    let Some(other) = world.nodes.get(node).filter(|node| node.is_online()) else {
        return Err(ApiError::fail(format!(
            "can't activate storage '{id}' on node '{node}': command '/usr/bin/ssh' failed: exit code 255"
        )));
    };
    Ok(format!("/usr/bin/scp -p -- {from} [{}]:{to}", other.ip))
}

fn fits(world: &World, node: &str, volume: &Volume) -> bool {
    let used = world.used_space(node, volume.storage());
    let capacity = world.storages.get(volume.storage()).map(|it| it.capacity);
    capacity.is_none_or(|capacity| used.saturating_add(volume.size) <= capacity)
}

fn verify(
    job: &mut Job,
    algorithm: &str,
    sum: Option<String>,
    expected: &str,
) -> Result<(), String> {
    match sum {
        None => Err(format!(
            "checksums of type '{algorithm}' cannot be simulated"
        )),
        Some(sum) if sum.eq_ignore_ascii_case(expected) => {
            job.log("calculating checksum...OK, checksum verified");
            Ok(())
        }
        Some(sum) => {
            job.log("calculating checksum...");
            Err(format!(
                "checksum mismatch: got '{sum}' != expect '{expected}'"
            ))
        }
    }
}
