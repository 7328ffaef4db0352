//! `file-restore`: looking into a backup on a backup server, and taking files out of it. Every backup holds the same few
//! files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::storage_id;
use super::volume::may_read_backup;
use crate::call::Call;
use crate::error::{Answer, ApiError, Reply};
use crate::world::World;
use crate::world::work::Work;

/// What is in the system that was backed up: directory, name, and bytes of what is a file.
const FILES: &[(&str, &str, Option<u64>)] = &[
    ("", "etc", None),
    ("", "home", None),
    ("", "var", None),
    ("/etc", "hostname", Some(6)),
    ("/etc", "hosts", Some(187)),
    ("/home", "demo", None),
    ("/home/demo", ".keep", Some(0)),
    ("/home/demo", "notes.txt", Some(1204)),
];

/// A backup that may be looked into.
struct Opened {
    /// Where what it holds begins.
    archive: &'static str,
    created: u64,
    /// What was asked for.
    path: String,
}

/// `GET file-restore/list`.
pub(super) fn list(world: &mut World, call: &Call) -> Reply {
    let Opened {
        archive,
        created,
        path,
    } = open(world, call)?;
    if path == "/" {
        return Ok(json!([entry(archive, "v", None, created)]).into());
    }
    let Some(inner) = path.strip_prefix(archive) else {
        return Err(ApiError::fail(format!("no such archive: '{path}'")));
    };
    let inner = inner.trim_end_matches('/');
    let found = FILES.iter().filter(|(directory, ..)| *directory == inner);
    let entries = found.map(|(directory, name, size)| {
        let kind = if size.is_some() { "f" } else { "d" };
        entry(
            &format!("{archive}{directory}/{name}"),
            kind,
            *size,
            created,
        )
    });
    Ok(entries.collect::<Value>().into())
}

/// `GET file-restore/download`. A task feeds the answer: where it fails, the answer is there all the same, and short.
pub(super) fn download(world: &mut World, call: &Call) -> Reply {
    let Opened { archive, path, .. } = open(world, call)?;
    let wanted = path.strip_prefix(archive).unwrap_or_default();
    let is_it =
        |(directory, name, _): &&(&str, &str, Option<u64>)| wanted == format!("{directory}/{name}");
    let (content, trouble) = match FILES.iter().find(is_it) {
        Some((_, name, Some(size))) => (content(name, *size), None),
        // An archive without entries.
        Some((_, _, None)) => ([&b"PK\x05\x06"[..], &[0; 18]].concat(), None),
        None => (
            Vec::new(),
            Some("error extracting - no such file".to_owned()),
        ),
    };
    let work = Work::new("pbs-download", "")
        .log(format!("Starting download of file: {path}"))
        .run(move |_, _| trouble.map_or(Ok(()), Err));
    world.start_task(&call.who, call.node(), work);
    Ok(Answer::File(content))
}

/// What is in a file: its name, over and over.
fn content(name: &str, size: u64) -> Vec<u8> {
    let size = usize::try_from(size).unwrap_or_default();
    name.bytes().chain([b'\n']).cycle().take(size).collect()
}

fn open(world: &World, call: &Call) -> Result<Opened, ApiError> {
    let (id, volume) = (storage_id(call), call.text("volume").unwrap_or_default());
    let volid = match volume.split_once(':') {
        Some((other, _)) if other != id => {
            let text = format!("storage ID mismatch ({other} != {id}).");
            return Err(ApiError::param("volume", text));
        }
        Some(_) => volume.to_owned(),
        None if volume.starts_with("backup/") => format!("{id}:{volume}"),
        None => format!("{id}:backup/{volume}"),
    };
    may_read_backup(world, &call.who, &volid)?;
    let is_server = world
        .storages
        .get(id)
        .is_some_and(|storage| storage.kind == "pbs");
    if !is_server {
        let text = "Only PBS storages supported for file-restore.";
        return Err(ApiError::param("storage", text));
    }
    let path = path(call)?;
    let Some(backup) = world.volume(call.node(), &volid) else {
        return Err(ApiError::fail("Unable to open snapshot: no such snapshot"));
    };
    let archive = match backup.guest_kind() {
        "lxc" => "/root.pxar.didx",
        _ => "/drive-scsi0.img.fidx",
    };
    Ok(Opened {
        archive,
        created: backup.created.secs(),
        path,
    })
}

/// Everything but the root is written in base64.
fn path(call: &Call) -> Result<String, ApiError> {
    let text = call.text("filepath").unwrap_or("/");
    if text == "/" {
        return Ok(text.to_owned());
    }
    let bytes = STANDARD.decode(text).ok();
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| ApiError::fail("Failed base64-decoding path"))
}

fn entry(path: &str, kind: &str, size: Option<u64>, time: u64) -> Value {
    let mut entry = json!({
        "filepath": STANDARD.encode(path),
        "type": kind,
        "text": path.rsplit('/').next(),
        "leaf": u8::from(size.is_some()),
    });
    if kind != "v" {
        entry["mtime"] = json!(time);
    }
    if let Some(size) = size {
        entry["size"] = json!(size);
    }
    entry
}
