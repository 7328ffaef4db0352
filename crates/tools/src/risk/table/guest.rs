//! Guests: created, changed, copied, moved, switched on and off, and entered.

use pve::Method::{Delete, Get, Post, Put};

use super::{container, vm};
use crate::risk::property::flag;
use crate::risk::row::{
    Finding, Params, Row, Rule, UNSETS, by, credential, found, is, on, over_node, properties, row,
    safe,
};
use crate::spec::Risk::{Change, Destroy, Disrupt, Grant};
use crate::volume::{backup_of, storage};

const INSIDE: &str = "acts inside the guest";
const TUNNEL: &str = "is one end of a migration";
const LOCKS: &[Rule] = &[is(
    &["skiplock"],
    Grant,
    "ignores that PVE has locked the guest",
)];
/// Parameters that PVE's nodes send each other during a migration.
const MIGRATION: &[Rule] = &[is(
    &[
        "migratedfrom",
        "migration_network",
        "migration_type",
        "nets-host-mtu",
        "stateuri",
        "targetstorage",
        "with-conntrack-state",
    ],
    Grant,
    "is for a migration between nodes",
)];

/// How a changed configuration is sent.
const CONFIG: &[Rule] = &[
    UNSETS,
    safe(&["background_delay", "digest", "revert"]),
    on(
        &["force"],
        Destroy,
        "removes volumes for good instead of detaching them",
    ),
];
const NEW: &[Rule] = &[
    safe(&[
        "bwlimit",
        "ha-managed",
        "ignore-unpack-errors",
        "live-restore",
        "pool",
        "restore",
        "start",
        "storage",
        "unique",
        "vmid",
    ]),
    on(&["force"], Destroy, "overwrites a guest that is there"),
    by(&["archive"], backup),
    by(&["ostemplate"], template),
    credential(
        &["password", "ssh-public-keys"],
        "gives access to the guest",
    ),
];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Post, &["/nodes/{node}/qemu"], (Change, "creates a VM"), &[NEW, vm::SETTINGS]).whole(restored_with_access),
    row(Post, &["/nodes/{node}/lxc"], (Change, "creates a container"), &[NEW, container::SETTINGS]).whole(new_container),
    row(Post, &["/nodes/{node}/qemu/{vmid}/config"], (Change, "changes settings"), &[CONFIG, LOCKS, vm::SETTINGS]),
    row(Put, &["/nodes/{node}/qemu/{vmid}/config"], (Change, "changes settings"), &[CONFIG, LOCKS, vm::SETTINGS]),
    row(Put, &["/nodes/{node}/lxc/{vmid}/config"], (Change, "changes settings"), &[CONFIG, container::SETTINGS]),
    row(Put, &["/nodes/{node}/qemu/{vmid}/unlink"], (Destroy, "removes disks"), &[&[safe(&["force", "idlist"])]]),
    row(Delete, &["/nodes/{node}/{guest}"], (Destroy, "deletes the guest with its disks, snapshots and configuration"),
        &[&[safe(&["destroy-unreferenced-disks", "force", "purge"])], LOCKS]),
    row(Post, &["/nodes/{node}/{guest}/clone"], (Change, "copies the guest"),
        &[&[safe(&["bwlimit", "description", "format", "full", "hostname", "name", "newid", "pool", "snapname", "storage", "target"])]]),
    row(Post, &["/nodes/{node}/{guest}/snapshot"], (Change, "takes a snapshot"),
        &[&[safe(&["description", "snapname", "vmstate"])]]),
    row(Delete, &["/nodes/{node}/{guest}/snapshot/{snapname}"], (Destroy, "deletes a snapshot"), &[&[safe(&["force"])]]),
    row(Put, &["/nodes/{node}/{guest}/snapshot/{snapname}/config"], (Change, "describes a snapshot"), &[&[safe(&["description"])]]),
    row(Post, &["/nodes/{node}/{guest}/snapshot/{snapname}/rollback"],
        (Destroy, "discards what was written since the snapshot"), &[&[safe(&["start"])]]),
    row(Put, &["/nodes/{node}/{guest}/resize"], (Change, "grows a disk"), &[&[safe(&["digest", "disk", "size"])], LOCKS]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/move_disk", "/nodes/{node}/lxc/{vmid}/move_volume"], (Change, "copies a disk"), &[&[
        safe(&["bwlimit", "digest", "disk", "format", "storage", "target-digest", "target-disk", "target-volume", "volume"]),
        on(&["delete"], Destroy, "removes the original after the copy"),
        is(&["target-vmid"], Destroy, "takes the disk from the guest and gives it to another"),
    ]]),
    row(Put, &["/nodes/{node}/qemu/{vmid}/cloudinit"], (Change, "writes the cloud-init drive again"), &[]),
    row(Post, &["/nodes/{node}/{guest}/template"], (Destroy, "makes the guest a template, which never starts again"),
        &[&[safe(&["disk"])]]),
    // Power.
    row(Post, &["/nodes/{node}/{guest}/status/start"], (Change, "starts the guest"), &[
        &[safe(&["debug", "timeout"]), properties(&["machine"], &vm::MACHINE), is(&["force-cpu"], Grant, "passes options to QEMU")],
        MIGRATION, LOCKS,
    ]),
    row(Post, &["/nodes/{node}/{guest}/status/resume"], (Change, "resumes the guest"),
        &[&[is(&["nocheck"], Grant, "is for a migration between nodes")], LOCKS]),
    row(Post, &["/nodes/{node}/{guest}/status/stop", "/nodes/{node}/{guest}/status/shutdown"], (Disrupt, "stops the guest"),
        &[&[safe(&["forceStop", "keepActive", "overrule-shutdown", "timeout"])], MIGRATION, LOCKS]),
    row(Post, &["/nodes/{node}/{guest}/status/reboot", "/nodes/{node}/qemu/{vmid}/status/reset"], (Disrupt, "restarts the guest"),
        &[&[safe(&["timeout"])], LOCKS]),
    row(Post, &["/nodes/{node}/{guest}/status/suspend"], (Disrupt, "suspends the guest"),
        &[&[safe(&["statestorage", "todisk"])], LOCKS]),
    // Other nodes and clusters.
    row(Post, &["/nodes/{node}/qemu/{vmid}/migrate"], (Change, "moves the VM to another node"), &[&[
        safe(&["bwlimit", "migration_network", "online", "target", "targetstorage", "with-conntrack-state", "with-local-disks"]),
        on(&["force"], Grant, "moves a VM that uses devices of the node"),
        by(&["migration_type"], migration_type),
    ]]),
    row(Post, &["/nodes/{node}/lxc/{vmid}/migrate"], (Change, "moves the container to another node"), &[&[
        safe(&["bwlimit", "target", "target-storage", "timeout"]),
        on(&["online", "restart"], Disrupt, "stops the container and starts it on the other node"),
    ]]),
    row(Post, &["/nodes/{node}/{guest}/remote_migrate"], (Grant, "sends the guest to another cluster"), &[&[safe(&[
        "bwlimit", "delete", "online", "restart", "target-bridge", "target-endpoint", "target-storage", "target-vmid", "timeout",
    ])]]),
    row(Post, &["/nodes/{node}/{guest}/mtunnel"], (Grant, TUNNEL), &[&[safe(&["bridges", "storages"])]]),
    row(Get, &["/nodes/{node}/{guest}/mtunnelwebsocket"], (Grant, TUNNEL), &[&[safe(&["socket", "ticket"])]]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/dbus-vmstate"], (Grant, TUNNEL), &[&[safe(&["action"])]]),
    // Consoles, keyboards and what runs inside.
    row(Put, &["/nodes/{node}/qemu/{vmid}/sendkey"], (Grant, "presses keys on the console of the VM"), &[&[safe(&["key"])], LOCKS]),
    row(Post, &["/nodes/{node}/{guest}/vncproxy"], (Grant, "opens the console of the guest"),
        &[&[safe(&["generate-password", "height", "websocket", "width"])]]),
    row(Post, &["/nodes/{node}/{guest}/termproxy"], (Grant, "opens the terminal of the guest"), &[&[safe(&["serial"])]]),
    row(Post, &["/nodes/{node}/{guest}/spiceproxy"], (Grant, "opens the console of the guest"), &[&[safe(&["proxy"])]]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/monitor"], (Change, "reads from QEMU"), &[&[by(&["command"], monitor)]]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/agent/ping"], (Change, "asks the guest agent whether it is there"), &[]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/agent/fstrim"], (Change, "gives unused space back to the storage"), &[]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/agent/fsfreeze-thaw"], (Change, "lets the guest write again"), &[]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/agent/fsfreeze-status"], (Change, "asks the guest agent for a state"), &[]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/agent/fsfreeze-freeze"], (Disrupt, "holds every write in the guest up"), &[]),
    row(Post, &[
        "/nodes/{node}/qemu/{vmid}/agent/shutdown", "/nodes/{node}/qemu/{vmid}/agent/suspend-disk",
        "/nodes/{node}/qemu/{vmid}/agent/suspend-hybrid", "/nodes/{node}/qemu/{vmid}/agent/suspend-ram",
    ], (Disrupt, "stops or suspends the guest"), &[]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/agent"], (Change, "gives the guest agent a command"), &[&[by(&["command"], agent)]]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/agent/exec"], (Grant, "runs a command in the guest"), &[&[safe(&["command", "input-data"])]]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/agent/file-write"], (Grant, "writes a file in the guest"),
        &[&[safe(&["content", "encode", "file"])]]),
    row(Post, &["/nodes/{node}/qemu/{vmid}/agent/set-user-password"], (Grant, "gives access to the guest"),
        &[&[safe(&["crypted", "password", "username"])]]),
    row(Get, &["/nodes/{node}/qemu/{vmid}/agent/file-read"], (Grant, "reads a file of the guest"), &[&[safe(&["count", "decode", "file", "offset"])]]),
    row(Get, &["/nodes/{node}/qemu/{vmid}/agent/exec-status"], (Grant, INSIDE), &[&[safe(&["pid"])]]),
];

/// The backup that a guest is restored from: a file of the node, or a backup that nobody can tell the guest of, could hold
/// anything.
fn backup(archive: &str) -> Option<Finding> {
    if archive == "-" || archive.starts_with('/') {
        return over_node("restores from a file of the node");
    }
    match (storage(archive), backup_of(archive)) {
        (Some(_), Some(_)) => None,
        _ => found(
            Grant,
            "restores a backup of a guest that its name does not tell",
        ),
    }
}

/// The template that a container is created from, or the backup that it is restored from.
fn template(template: &str) -> Option<Finding> {
    let is_template =
        storage(template).is_some_and(|storage| template[storage.len()..].starts_with(":vztmpl/"));
    if is_template && !template.starts_with('/') {
        return None;
    }
    // An image of a registry, which PVE keeps beside templates.
    backup(template)
}

/// A new container is privileged unless `unprivileged` is on; a restored one keeps its kind.
fn new_container(params: &Params<'_>) -> Option<Finding> {
    let is_restored = params.is_on("restore");
    if params.text("unprivileged").and_then(flag) != Some(true)
        && (!is_restored || params.text("unprivileged").is_some())
    {
        return over_node("root in a privileged container is root of the node if it gets out");
    }
    restored_with_access(params)
}

/// New credentials for what a backup holds.
fn restored_with_access(params: &Params<'_>) -> Option<Finding> {
    const ACCESS: &[&str] = &[
        "cipassword",
        "ciuser",
        "password",
        "ssh-public-keys",
        "sshkeys",
    ];
    let is_restored = params.text("archive").is_some() || params.is_on("restore");
    if is_restored && ACCESS.iter().any(|name| params.text(name).is_some()) {
        return found(Grant, "gives access to what a backup holds");
    }
    None
}

fn migration_type(kind: &str) -> Option<Finding> {
    match kind {
        "secure" => None,
        _ => found(
            Grant,
            "sends the guest's memory over the network unencrypted",
        ),
    }
}

/// Commands of QEMU's monitor that only show something.
fn monitor(command: &str) -> Option<Finding> {
    let name = command.split_whitespace().next().unwrap_or_default();
    let is_one_line = !command.chars().any(char::is_control);
    if is_one_line && matches!(name, "info" | "help" | "?") {
        return None;
    }
    found(Grant, "commands QEMU itself")
}

/// The commands of the guest agent that need no parameters.
fn agent(command: &str) -> Option<Finding> {
    match command {
        "ping" | "fstrim" | "fsfreeze-thaw" | "fsfreeze-status" => None,
        "fsfreeze-freeze" => found(Disrupt, "holds every write in the guest up"),
        "shutdown" | "suspend-disk" | "suspend-hybrid" | "suspend-ram" => {
            found(Disrupt, "stops or suspends the guest")
        }
        _ => found(Grant, INSIDE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Risk;

    fn risk(found: Option<Finding>) -> Risk {
        found.map_or(Risk::Read, |finding| finding.risk)
    }

    #[test]
    fn a_guest_is_restored_from_a_backup_of_a_known_guest() {
        assert_eq!(
            risk(backup(
                "nas:backup/vzdump-qemu-105-2026_11_08-03_00_02.vma.zst"
            )),
            Risk::Read
        );
        assert_eq!(
            risk(backup("vault:backup/vm/100/2026-11-14T01:00:05Z")),
            Risk::Read
        );
        for unknown in ["-", "/root/x.vma", "nas:backup/x.vma", "x", ""] {
            assert_eq!(risk(backup(unknown)), Grant, "{unknown}");
        }
        assert_eq!(risk(template("local:vztmpl/debian.tar.zst")), Risk::Read);
        assert_eq!(risk(template("/var/lib/vz/template/x.tar")), Grant);
    }

    #[test]
    fn a_new_container_is_privileged_unless_it_says_otherwise() {
        let with = |params: &[(&str, &str)]| {
            let owned: Vec<_> = params
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            risk(new_container(&Params(&owned)))
        };
        assert_eq!(with(&[]), Grant);
        assert_eq!(with(&[("unprivileged", "0")]), Grant);
        assert_eq!(with(&[("unprivileged", "Yes")]), Risk::Read);
        assert_eq!(
            with(&[("unprivileged", "1"), ("password", "x")]),
            Risk::Read
        );
        assert_eq!(with(&[("restore", "1")]), Risk::Read);
        assert_eq!(with(&[("restore", "1"), ("unprivileged", "0")]), Grant);
        assert_eq!(with(&[("restore", "1"), ("password", "x")]), Grant);
    }

    #[test]
    fn monitor_and_agent_commands_are_told_apart() {
        assert_eq!(risk(monitor("info status")), Risk::Read);
        assert_eq!(risk(monitor("info status\nquit")), Grant);
        assert_eq!(risk(monitor("quit")), Grant);
        assert_eq!(risk(agent("fstrim")), Risk::Read);
        assert_eq!(risk(agent("shutdown")), Disrupt);
        assert_eq!(risk(agent("get-users")), Grant);
        assert_eq!(risk(migration_type("insecure")), Grant);
    }
}
