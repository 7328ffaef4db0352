//! `agent`: the guest agent inside a running machine. What it answers is in `answers`, programs in `exec`, files in
//! `files`.

mod answers;
mod exec;
mod files;

use serde_json::json;

use crate::api::index;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Handler, Route, get, post};
use crate::schema::common::{NODE, VMID};
use crate::schema::{flag, int, list, text};
use crate::world::World;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Qemu;

const PATH: &str = "/vms/{vmid}";
const AUDIT: Perm = Perm::AnyOn(PATH, &["VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted"]);
const FREEZE: Perm = Perm::AnyOn(
    PATH,
    &["VM.GuestAgent.FileSystemMgmt", "VM.GuestAgent.Unrestricted"],
);
const FREEZE_STATUS: Perm = Perm::AnyOn(
    PATH,
    &[
        "VM.GuestAgent.Audit",
        "VM.GuestAgent.FileSystemMgmt",
        "VM.GuestAgent.Unrestricted",
    ],
);
const POWER: Perm = Perm::AnyOn(PATH, &["VM.PowerMgmt", "VM.GuestAgent.Unrestricted"]);
const UNRESTRICTED: Perm = Perm::On(PATH, &["VM.GuestAgent.Unrestricted"]);

/// The commands that take no parameters.
const COMMANDS: &[&str] = &[
    "fsfreeze-freeze",
    "fsfreeze-status",
    "fsfreeze-thaw",
    "fstrim",
    "get-fsinfo",
    "get-host-name",
    "get-memory-block-info",
    "get-memory-blocks",
    "get-osinfo",
    "get-time",
    "get-timezone",
    "get-users",
    "get-vcpus",
    "info",
    "network-get-interfaces",
    "ping",
    "shutdown",
    "suspend-disk",
    "suspend-hybrid",
    "suspend-ram",
];

/// A route for a command without parameters.
const fn ask(path: &'static str, run: Handler) -> Route {
    get(path, run).allow(AUDIT).proxied().params(&[NODE, VMID])
}

/// A route for a command without parameters that changes something.
const fn tell(path: &'static str, perm: Perm, run: Handler) -> Route {
    post(path, run).allow(perm).proxied().params(&[NODE, VMID])
}

macro_rules! path {
    ($name:literal) => {
        concat!("/nodes/{node}/qemu/{vmid}/agent/", $name)
    };
}

macro_rules! command {
    ($name:literal) => {
        |world, call| run(world, call, $name)
    };
}

/// The routes of the guest agent.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/qemu/{vmid}/agent", root)
        .allow(Perm::User)
        .proxied()
        .params(&[NODE, VMID]),
    post("/nodes/{node}/qemu/{vmid}/agent", |world, call| {
        run(world, call, call.text("command").unwrap_or_default())
    })
    .allow(Perm::AnyOn(
        PATH,
        &["VM.GuestAgent.Unrestricted", "VM.GuestAgent.Unrestricted"],
    ))
    .proxied()
    .params(&[NODE, VMID, text("command").one_of(COMMANDS)]),
    ask(path!("get-fsinfo"), command!("get-fsinfo")),
    ask(path!("get-host-name"), command!("get-host-name")),
    ask(
        path!("get-memory-block-info"),
        command!("get-memory-block-info"),
    ),
    ask(path!("get-memory-blocks"), command!("get-memory-blocks")),
    ask(path!("get-osinfo"), command!("get-osinfo")),
    ask(path!("get-time"), command!("get-time")),
    ask(path!("get-timezone"), command!("get-timezone")),
    ask(path!("get-users"), command!("get-users")),
    ask(path!("get-vcpus"), command!("get-vcpus")),
    ask(path!("info"), command!("info")),
    ask(
        path!("network-get-interfaces"),
        command!("network-get-interfaces"),
    ),
    tell(path!("ping"), AUDIT, command!("ping")),
    tell(
        path!("fsfreeze-freeze"),
        FREEZE,
        command!("fsfreeze-freeze"),
    ),
    tell(
        path!("fsfreeze-status"),
        FREEZE_STATUS,
        command!("fsfreeze-status"),
    ),
    tell(path!("fsfreeze-thaw"), FREEZE, command!("fsfreeze-thaw")),
    tell(path!("fstrim"), FREEZE, command!("fstrim")),
    tell(path!("shutdown"), POWER, command!("shutdown")),
    tell(path!("suspend-disk"), POWER, command!("suspend-disk")),
    tell(path!("suspend-hybrid"), POWER, command!("suspend-hybrid")),
    tell(path!("suspend-ram"), POWER, command!("suspend-ram")),
    post(path!("exec"), exec::start)
        .allow(UNRESTRICTED)
        .proxied()
        .params(&[
            NODE,
            VMID,
            list("command"),
            text("input-data").longest(65_536).optional(),
        ]),
    get(path!("exec-status"), exec::status)
        .allow(UNRESTRICTED)
        .proxied()
        .params(&[NODE, VMID, int("pid")]),
    get(path!("file-read"), files::read)
        .allow(Perm::AnyOn(
            PATH,
            &["VM.GuestAgent.FileRead", "VM.GuestAgent.Unrestricted"],
        ))
        .proxied()
        .params(&[
            NODE,
            VMID,
            text("file"),
            int("count").min(1).max(16_777_216).optional(),
            flag("decode").optional(),
            int("offset").min(0).optional(),
        ]),
    post(path!("file-write"), files::write)
        .allow(Perm::AnyOn(
            PATH,
            &["VM.GuestAgent.FileWrite", "VM.GuestAgent.Unrestricted"],
        ))
        .proxied()
        .params(&[
            NODE,
            VMID,
            text("file"),
            text("content").longest(61_440),
            flag("encode").optional(),
        ]),
    post(path!("set-user-password"), exec::set_password)
        .allow(UNRESTRICTED)
        .proxied()
        .params(&[
            NODE,
            VMID,
            text("username"),
            text("password").shortest(5).longest(1024),
            flag("crypted").optional(),
        ]),
];

fn root(_: &mut World, _: &Call) -> Reply {
    let mut names = COMMANDS.to_vec();
    names.extend([
        "exec",
        "exec-status",
        "file-read",
        "file-write",
        "set-user-password",
    ]);
    names.sort_unstable();
    index("name", &names)
}

/// The machine whose agent answers.
fn awake<'w>(world: &'w mut World, call: &Call) -> Result<&'w mut Guest, ApiError> {
    let vmid = call.vmid();
    let guest = world.need_guest(Qemu, call.node(), vmid)?;
    let trouble = if guest.config.get("agent").is_none() {
        "No QEMU guest agent configured".to_owned()
    } else if !guest.is_running() {
        format!("VM {vmid} is not running")
    } else {
        "QEMU guest agent is not running".to_owned()
    };
    world
        .guest_mut(Qemu, call.node(), vmid)
        .filter(|guest| guest.config.get("agent").is_some() && guest.agent_answers())
        .ok_or_else(|| ApiError::fail(trouble))
}

/// Fails with a text of the agent's own.
fn agent_error(text: impl std::fmt::Display) -> ApiError {
    ApiError::fail(format!("Agent error: {text}"))
}

/// Frozen file systems allow little, and whoever runs the guest may allow less.
fn check_allowed(guest: &Guest, command: &str) -> Result<(), ApiError> {
    if guest.agent.allows(&format!("guest-{command}")) {
        return Ok(());
    }
    Err(disabled(command))
}

fn disabled(command: &str) -> ApiError {
    agent_error(format!(
        "Command guest-{command} has been disabled: the command is not allowed"
    ))
}

fn run(world: &mut World, call: &Call, command: &str) -> Reply {
    let (now, node) = (call.now, world.nodes.get(call.node()).cloned());
    let guest = awake(world, call)?;
    check_allowed(guest, command)?;
    let result = answers::to(guest, command, now, node.as_ref())?;
    Ok(json!({ "result": result }).into())
}
