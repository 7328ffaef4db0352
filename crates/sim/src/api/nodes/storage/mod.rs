//! `/nodes/{node}/storage`: storages as a node sees them, and what is on them.

mod change;
mod content;
mod download;
mod file_restore;
mod prune;
mod upload;
pub(crate) mod volume;

pub(crate) use prune::prune;
pub(crate) use volume::{may_read_backup, may_use};

use serde_json::{Map, Value, json};

use crate::api::{bit, index};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, delete, get, post, put};
use crate::schema::common::{NODE, PRUNE_BACKUPS, STORAGE, VMID};
use crate::schema::{Param, flag, format, int, text};
use crate::world::World;
use crate::world::storage::Storage;

/// Those who may see a storage.
const SEE: &[&str] = &["Datastore.Audit", "Datastore.AllocateSpace"];
const MAY_SEE: Perm = Perm::AnyOn("/storage/{storage}", SEE);
/// The volume in the path: with or without the storage, slashes and all.
const VOLUME: Param = text("volume");

/// The routes of storages on a node.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/storage", list)
        .allow(Perm::User)
        .proxied()
        .params(&[
            NODE,
            STORAGE.optional(),
            text("content").list_of(format::content).optional(),
            flag("enabled").optional(),
            Param {
                name: "target",
                ..NODE
            }
            .optional(),
            flag("format").optional(),
        ]),
    get("/nodes/{node}/storage/{storage}", root)
        .allow(MAY_SEE)
        .params(&[NODE, STORAGE]),
    get("/nodes/{node}/storage/{storage}/status", status)
        .allow(MAY_SEE)
        .proxied()
        .params(&[NODE, STORAGE]),
    get("/nodes/{node}/storage/{storage}/content", content::list)
        .allow(MAY_SEE)
        .proxied()
        .params(&[
            NODE,
            STORAGE,
            text("content").is(format::content).optional(),
            VMID.optional(),
        ]),
    get(
        "/nodes/{node}/storage/{storage}/content/{volume}",
        volume::show,
    )
    .allow(Perm::User)
    .proxied()
    .takes_rest()
    .params(&[NODE, STORAGE.optional(), VOLUME]),
    post("/nodes/{node}/storage/{storage}/content", change::allocate)
        .allow(Perm::On("/storage/{storage}", &["Datastore.AllocateSpace"]))
        .proxied()
        .params(&[
            NODE,
            STORAGE,
            VMID,
            text("filename"),
            text("size").matching(change::is_size),
            text("format")
                .one_of(&["raw", "qcow2", "subvol", "vmdk"])
                .requires("size")
                .optional(),
        ]),
    put(
        "/nodes/{node}/storage/{storage}/content/{volume}",
        change::annotate,
    )
    .allow(Perm::User)
    .proxied()
    .takes_rest()
    .params(&[
        NODE,
        STORAGE.optional(),
        VOLUME,
        text("notes").optional(),
        flag("protected").optional(),
    ]),
    delete(
        "/nodes/{node}/storage/{storage}/content/{volume}",
        change::remove,
    )
    .allow(Perm::User)
    .proxied()
    .takes_rest()
    .params(&[
        NODE,
        STORAGE.optional(),
        VOLUME,
        int("delay").min(1).max(30).optional(),
    ]),
    get(
        "/nodes/{node}/storage/{storage}/prunebackups",
        prune::preview,
    )
    .allow(MAY_SEE)
    .proxied()
    .params(PRUNE),
    delete("/nodes/{node}/storage/{storage}/prunebackups", prune::start)
        .allow(Perm::User)
        .proxied()
        .params(PRUNE),
    get(
        "/nodes/{node}/storage/{storage}/file-restore/list",
        file_restore::list,
    )
    .allow(Perm::User)
    .proxied()
    .params(&[NODE, STORAGE, VOLUME, text("filepath")]),
    get(
        "/nodes/{node}/storage/{storage}/file-restore/download",
        file_restore::download,
    )
    .allow(Perm::User)
    .proxied()
    .params(&[
        NODE,
        STORAGE,
        VOLUME,
        text("filepath"),
        flag("tar").optional(),
    ]),
    post(
        "/nodes/{node}/storage/{storage}/download-url",
        download::start,
    )
    .allow(DOWNLOAD)
    .proxied()
    .params(&[
        NODE,
        STORAGE,
        text("content")
            .is(format::content)
            .one_of(&["iso", "vztmpl", "import"]),
        text("filename").longest(255),
        text("url").matching(is_web_address),
        CHECKSUM,
        CHECKSUM_ALGORITHM,
        text("compression").optional(),
        flag("verify-certificates").optional(),
    ]),
    post("/nodes/{node}/storage/{storage}/upload", upload::start)
        .allow(Perm::On(
            "/storage/{storage}",
            &["Datastore.AllocateTemplate"],
        ))
        .params(&[
            NODE,
            STORAGE,
            text("content")
                .is(format::content)
                .one_of(&["iso", "vztmpl", "import"]),
            text("filename").longest(255),
            CHECKSUM,
            CHECKSUM_ALGORITHM,
            text("tmpfilename").matching(is_upload).optional(),
        ]),
];

const CHECKSUM: Param = text("checksum").requires("checksum-algorithm").optional();
const CHECKSUM_ALGORITHM: Param = text("checksum-algorithm")
    .one_of(&["md5", "sha1", "sha224", "sha256", "sha384", "sha512"])
    .requires("checksum")
    .optional();

fn is_upload(text: &str) -> bool {
    let digits = text.strip_prefix("/var/tmp/pveupload-");
    digits.is_some_and(|digits| {
        let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        !digits.is_empty() && digits.bytes().all(hex)
    })
}

const PRUNE: &[Param] = &[
    NODE,
    STORAGE,
    PRUNE_BACKUPS,
    text("type").one_of(&["qemu", "lxc"]).optional(),
    VMID.optional(),
];

const DOWNLOAD: Perm = Perm::All(&[
    Perm::On("/storage/{storage}", &["Datastore.AllocateTemplate"]),
    Perm::Either(&[
        Perm::On("/", &["Sys.Audit", "Sys.Modify"]),
        Perm::On("/nodes/{node}", &["Sys.AccessNetwork"]),
    ]),
]);

fn is_web_address(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// The storage named in the path.
fn storage_id(call: &Call) -> &str {
    call.text("storage").unwrap_or_default()
}

/// Succeeds for storages that do not exist.
fn root(_: &mut World, _: &Call) -> Reply {
    let names = [
        "content",
        "download-url",
        "file-restore",
        "import-metadata",
        "oci-registry-pull",
        "prunebackups",
        "rrd",
        "rrddata",
        "status",
        "upload",
    ];
    index("subdir", &names)
}

fn list(world: &mut World, call: &Call) -> Reply {
    let node = call.node();
    let wanted = call.params.list("content");
    let holds_wanted = |storage: &Storage| {
        !call.params.has("content")
            || (is_enabled(storage, node) && wanted.iter().any(|name| storage.holds(name)))
    };
    if let Some(id) = call.text("storage") {
        let listed = world.storages.get(id).is_some_and(holds_wanted);
        if !listed {
            return Err(no_such_storage());
        }
    }
    let other_node = call.text("target").filter(|target| *target != node);
    let reachable = |storage: &Storage| match other_node {
        Some(target) => storage.shared && storage.is_on(node) && storage.is_on(target),
        None => true,
    };
    let shown = world.storages.iter().filter(|(id, storage)| {
        call.text("storage").is_none_or(|only| only == id.as_str())
            && holds_wanted(storage)
            && reachable(storage)
            && !(call.flag("enabled") && storage.is_disabled())
            && may_see(world, call, id)
    });
    let entries = shown.map(|(id, storage)| {
        let mut entry = figures(world, node, id, storage);
        entry["storage"] = json!(id);
        let count = |key: &str| entry[key].as_u64().unwrap_or_default();
        let (used, total) = (count("used"), count("total"));
        if total > 0 {
            entry["used_fraction"] = json!(fraction(used, total));
        }
        if call.flag("format") && is_enabled(storage, node) {
            add_formats(storage, &mut entry);
        }
        entry
    });
    Ok(entries.collect::<Value>().into())
}

fn status(world: &mut World, call: &Call) -> Reply {
    let id = storage_id(call);
    let storage = world.storages.get(id).ok_or_else(no_such_storage)?;
    Ok(figures(world, call.node(), id, storage).into())
}

fn no_such_storage() -> ApiError {
    ApiError::param("storage", "No such storage.")
}

fn may_see(world: &World, call: &Call, id: &str) -> bool {
    let path = format!("/storage/{id}");
    SEE.iter().any(|name| world.may(&call.who, &path, name))
}

fn is_enabled(storage: &Storage, node: &str) -> bool {
    storage.is_on(node) && !storage.is_disabled()
}

/// Type, content and sizes. A storage that is disabled, silent or not on the node has no sizes.
fn figures(world: &World, node: &str, id: &str, storage: &Storage) -> Value {
    let enabled = is_enabled(storage, node);
    let active = enabled && !world.silent_storages.contains(id);
    let (total, used) = if active {
        (storage.capacity, world.used_space(node, id))
    } else {
        (0, 0)
    };
    json!({
        "type": storage.kind,
        "content": storage.content.join(","),
        "shared": bit(storage.shared),
        "enabled": bit(enabled),
        "active": bit(active),
        "total": total,
        "used": used,
        "avail": total.saturating_sub(used),
    })
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no last digit")]
fn fraction(used: u64, total: u64) -> f64 {
    used as f64 / total as f64
}

fn add_formats(storage: &Storage, entry: &mut Value) {
    let (supported, default) = storage.layout().formats();
    let flags: Map<String, Value> = supported
        .iter()
        .map(|name| ((*name).to_owned(), json!(1)))
        .collect();
    entry["formats"] = json!({ "supported": supported, "default": default });
    entry["format"] = json!([flags, default]);
}
