//! `upload`: a file that the client sends becomes a volume.

use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::download::{check_name, safe_name};
use super::storage_id;
use crate::api::nodes::guest::power::spawn;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::layout::Layout;
use crate::world::storage::Volume;
use crate::world::work::{Job, Work};
use crate::world::{World, hex};

/// `POST upload`. An existing file is overwritten.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    let text = |name: &str| call.text(name).unwrap_or_default().to_owned();
    let (volume, path) = target(world, call)?;
    let (temporary, node, expected) = (
        text("tmpfilename"),
        call.node().to_owned(),
        text("checksum"),
    );
    let data = world
        .uploads
        .get(&temporary)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let sum = call
        .text("checksum-algorithm")
        .map(|algorithm| (algorithm.to_owned(), hash(algorithm, data)));
    let work = Work::new("imgcopy", "")
        .log(format!("starting file import from: {temporary}"))
        .run(move |world, job| {
            if let Some((algorithm, sum)) = sum {
                verify(job, &algorithm, sum, &expected)?;
            }
            job.log(format!("target node: {node}"));
            job.log(format!("target file: {path}"));
            job.log(format!("file size is: {}", volume.size));
            job.log(format!("command: cp -- {temporary} {path}"));
            world
                .volumes
                .retain(|old| !(old.volid == volume.volid && old.is_seen_from(&node)));
            world.volumes.push(volume);
            job.log("finished file import successfully");
            Ok(())
        });
    spawn(world, call, work)
}

/// The volume that the file will be, and its path.
fn target(world: &World, call: &Call) -> Result<(Volume, String), ApiError> {
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
    let Some(data) = world.uploads.get(temporary) else {
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
    let size = u64::try_from(data.len()).unwrap_or(u64::MAX);
    let owner = (!storage.shared).then(|| call.node().to_owned());
    let volume = Volume {
        content: content.to_owned(),
        vmid: None,
        used: size,
        ..Volume::image(volid.clone(), owner, 0, format, size, world.now)
    };
    Ok((volume, path))
}

/// The checksum in hexadecimal digits, of the kinds that the simulator can calculate.
fn hash(algorithm: &str, data: &[u8]) -> Option<String> {
    let bytes = match algorithm {
        "sha224" => Sha224::digest(data).to_vec(),
        "sha256" => Sha256::digest(data).to_vec(),
        "sha384" => Sha384::digest(data).to_vec(),
        "sha512" => Sha512::digest(data).to_vec(),
        _ => return None,
    };
    Some(hex(&bytes))
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
