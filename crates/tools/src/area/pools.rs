//! The toolset `pools`: groups of guests and storages that rights and backups can be given on.

use pve::{Method, PoolId, Reader};
use serde::Deserialize;

use crate::fault::{Fault, Kind};
use crate::plain::{Arg, Entry, Need, Plain, an, change, content, flag, list, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;
use crate::words;

/// The tools of this toolset.
pub(super) const TOOLS: &[&dyn Tool] = &[&LIST, &GET, &CREATE, &UPDATE, &DELETE];

const POOL: Arg = text("poolid", "The pool's name; lab/web lies in lab.").required();
const COMMENT: Arg = text("comment", "What it is for.");
const THE_POOL: Entry = an("pool", &["poolid"]).listed("/pools", "poolid");
const AUDIT: Need = Need::On("/pool/{poolid}", "Pool.Audit");
const ALLOCATE: Need = Need::All(&[AUDIT, Need::On("/pool/{poolid}", "Pool.Allocate")]);
/// To be put into a pool or taken out of it.
const GUEST: Need = Need::All(&[
    Need::On("/vms/{vms}", "VM.Audit"),
    Need::Any(&[
        Need::On("/vms/{vms}", "VM.Allocate"),
        Need::On("/vms/{vms}", "Permissions.Modify"),
    ]),
]);
const PLACE: Need = Need::Any(&[
    Need::On("/storage/{storage}", "Datastore.Allocate"),
    Need::On("/storage/{storage}", "Permissions.Modify"),
]);

const LIST: Plain = read(Toolset::Pools, "list_pools", "List pools", "/pools")
    .says(
        "Lists the pools of a cluster with their comments.\n\nUse it to find a pool's name; get_pool shows its members, and list_proxmox_resources with pool:NAME in its filter shows the guests of one with their state. Pools that the token may not see are left out. Needs Pool.Audit on /pool/NAME.",
    )
    .needs(Need::On("/pool", "Pool.Audit"))
    .rows(&["poolid", "comment"])
    .examples(&[Example {
        ask: "Which pools are there?",
        args: "{}",
    }]);

const GET: Plain = read(Toolset::Pools, "get_pool", "Show a pool", "/pools")
    .says(
        "Lists the guests and storages in one pool.\n\nUse it before update_pool or delete_pool; list_pools has the names, get_proxmox_vm_status tells more about a guest. Any login may see a pool's members.",
    )
    .takes(&[POOL])
    .within("members", &["type", "vmid", "storage", "name", "node", "status"])
    .examples(&[Example {
        ask: "What is in the pool lab?",
        args: r#"{"poolid": "lab"}"#,
    }]);

const CREATE: Plain = change(
    (Toolset::Pools, Risk::Change),
    "create_pool",
    "Create a pool",
    Method::Post,
    "/pools",
)
.says(
    "Creates an empty pool, a group of guests and storages that rights and backup jobs can be given on.\n\nUse update_pool to put members in; list_pools shows those there are. A pool lab/web needs lab to exist. Nothing else changes. Needs Pool.Allocate and Pool.Audit on the new pool's path. Undo: delete_pool.",
)
.takes(&[POOL, COMMENT])
.needs(ALLOCATE)
.creates(THE_POOL.undone_by("delete_pool"))
.examples(&[Example {
    ask: "Make a pool for the test machines",
    args: r#"{"poolid": "tests", "comment": "thrown away on Fridays"}"#,
}]);

const UPDATE: Plain = change(
    (Toolset::Pools, Risk::Grant),
    "update_pool",
    "Change a pool",
    Method::Put,
    "/pools",
)
.says(
    "Changes a pool's comment, or adds guests and storages to it; with delete, takes these out of it.\n\nRights given on the pool hold for its members from then on, so that adding one hands out power: it asks for a confirmation. A guest is in one pool at most and is refused if it is in another. get_pool shows the members. Needs Pool.Allocate and Pool.Audit on the pool, VM.Audit and VM.Allocate on each guest, Datastore.Allocate on each storage. Undo: the same call with or without delete.",
)
.takes(&[
    POOL,
    COMMENT,
    list("vms", "Guests by id, separated by commas.").guests().member("vmid"),
    list("storage", "Storages, separated by commas.").member("storage"),
    flag("delete", "Take them out instead of adding them.").not_kept(),
])
.needs(Need::All(&[
    ALLOCATE,
    Need::Each("vms", &GUEST),
    Need::Each("storage", &PLACE),
]))
.edits(THE_POOL.by_row().emptied().members(&("/pools", "poolid", "members")))
.examples(&[
    Example {
        ask: "Say what the pool lab is for",
        args: r#"{"poolid": "lab", "comment": "breaks on purpose"}"#,
    },
    Example {
        ask: "Put the CI runner into the pool lab",
        args: r#"{"poolid": "lab", "vms": "111"}"#,
    },
]);

const DELETE: Plain = change(
    (Toolset::Pools, Risk::Destroy),
    "delete_pool",
    "Delete a pool",
    Method::Delete,
    "/pools",
)
.says(
    "Deletes a pool that has no members; guests and storages are never touched by it.\n\nTake the members out first with update_pool and delete: PVE refuses otherwise. Rights and backup jobs that name the pool lose their meaning. It asks for a confirmation. Needs Pool.Allocate and Pool.Audit on the pool. Undo: create_pool with the same name; rights on it have to be given again.",
)
.takes(&[POOL])
.needs(ALLOCATE)
.removes(THE_POOL.undone_by("create_pool").only_without(&[
    content(
        "/pools",
        &[("vmid", "guest"), ("storage", "storage")],
        "take guests and storages out with update_pool and delete: true first; they stay as they are",
    )
    .members("members"),
    content(
        "/pools",
        &[("poolid", "pool")],
        "delete the pools below it first with delete_pool",
    )
    .below(),
]))
.examples(&[Example {
    ask: "Remove the empty pool",
    args: r#"{"poolid": "retired"}"#,
}]);

#[derive(Deserialize)]
struct Pool {
    poolid: String,
}

/// Refuses a pool that is not there. PVE answers that with a missing privilege.
pub(super) async fn require(pool: &PoolId, pve: &Reader) -> Result<(), Fault> {
    let mut pools: Vec<Pool> = pve.list("/pools").await?;
    let path = format!("/pool/{pool}");
    // The list holds what the token may see; one that it may see and that is not listed is not there.
    if pools.iter().any(|known| known.poolid == pool.as_str())
        || !pve.permissions_on(&path).await?.has(&path, "Pool.Audit")
    {
        return Ok(());
    }
    pools.sort_by(|a, b| a.poolid.cmp(&b.poolid));
    let names: Vec<_> = pools.iter().map(|pool| pool.poolid.as_str()).collect();
    let hint = match names.as_slice() {
        [] => "there are no pools; leave pool out".to_owned(),
        some => format!("the pools: {}", words::list(some)),
    };
    Err(Fault::new(Kind::NotFound, format!("there is no pool {pool}")).hint(hint))
}
