//! Containers that come to be, are copied, move, and go.

use crate::area::clone::CloneVm;
use crate::area::create::CreateLxc;
use crate::area::delete::DeleteVm;
use crate::area::migrate::MigrateVm;
use crate::plain::{Alias, CONTAINER, alias, flag, number, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(super) const TOOLS: &[&dyn Tool] = &[&CREATE, &CLONE, &MIGRATE, &DELETE];

const CREATE: Alias = alias(
    (Toolset::Lxc, Risk::Grant),
    "create_container",
    "Create a container",
    &Change::<CreateLxc>::NEW,
)
.says(
    "Creates a container from an OS template, with PVE's own names for its settings.\n\ncreate_proxmox_lxc does the same with fewer, plainer ones; for a copy use clone_container. A wrong storage, bridge or template is refused with the right ones. Unprivileged with nesting by default; privileged takes Sys.Modify on / and a person's yes; features other than nesting are root's. Needs VM.Allocate, VM.Config.*, Datastore.AllocateSpace, SDN.Use. Undo: delete_container.",
)
.takes(&[
    text("node", "Its node."),
    whole("vmid", "Its id; next free if left out.").within(100, 999_999_999),
    text("ostemplate", "As local:vztmpl/x.tar.zst.").required(),
    text("hostname", "A DNS name.").required(),
    text("password", "Root's password.").secret(),
    text("ssh_public_keys", "One a line."),
    text("storage", "For its root disk of 8 GiB."),
    text("rootfs", "Or STORAGE:GIB.").sent_as("more.rootfs"),
    whole("memory", "In MiB; default 512.").within(16, 16_777_216),
    whole("swap", "In MiB.").within(0, 16_777_216),
    whole("cores", "Default 1.").within(1, 8192),
    number("cpulimit", "Cores' worth of time.").at_least(0).sent_as("more.cpulimit"),
    text("net0", "As name=eth0,bridge=vmbr0,ip=dhcp."),
    text("nameserver", "DNS servers.").sent_as("more.nameserver"),
    text("searchdomain", "DNS domain.").sent_as("more.searchdomain"),
    flag("onboot", "Start with the node.").sent_as("more.onboot"),
    flag("start", "Start it now."),
    flag("unprivileged", "Default true."),
    text("features", "As nesting=1.").sent_as("more.features"),
    text("description", "Notes.").sent_as("more.description"),
    text("pool", "Its pool."),
    text("tags", "Split by \";\"."),
    text("mp0", "A data disk: STORAGE:GIB,mp=/data.").sent_as("more.mp0"),
])
.examples(&[
    Example {
        ask: "A Debian container 330 on pve1 with 16 GiB on local-lvm, running",
        args: r#"{"node": "pve1", "vmid": 330, "ostemplate": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst", "hostname": "cache", "rootfs": "local-lvm:16", "net0": "name=eth0,bridge=vmbr0,ip=dhcp", "start": true}"#,
    },
    Example {
        ask: "Container 331 on pve2 with a data disk, notes, its own DNS server, started with the node",
        args: r#"{"node": "pve2", "vmid": 331, "ostemplate": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst", "hostname": "archive", "storage": "tank", "mp0": "local-lvm:20,mp=/data,backup=1", "password": "change-me", "swap": 0, "cpulimit": 0.5, "nameserver": "192.168.1.1", "searchdomain": "lan", "onboot": true, "features": "nesting=1", "description": "old mail", "pool": "lab", "tags": "lab"}"#,
    },
]);

const CLONE: Alias = alias(
    (Toolset::Lxc, Risk::Change),
    "clone_container",
    "Clone a container",
    &Change::<CloneVm>::NEW,
)
.says(
    "Clones a container into a new one; the source stays as it is.\n\nA running one is cloned from a snapshot only: send snapname, or shutdown_container first. full false makes a linked clone, of a template only. The clone has the source's hostname and addresses inside. clone_proxmox_vm starts it, too. Needs VM.Clone, VM.Allocate on the new id or pool, Datastore.AllocateSpace, SDN.Use. Undo: delete_container.",
)
.takes(&[
    CONTAINER,
    whole("newid", "The clone's id; next free if left out.")
        .within(100, 999_999_999)
        .sent_as("new_vmid"),
    text("hostname", "The clone's hostname.").sent_as("name"),
    text("target", "Its node; another needs shared storage."),
    flag("full", "Default true."),
    text("storage", "For a full clone's disks."),
    text("description", "Notes for it."),
    text("pool", "Its pool."),
    text("snapname", "Clone this snapshot.").sent_as("snapshot"),
])
.examples(&[
    Example {
        ask: "Copy the media container as 302",
        args: r#"{"vmid": 203, "newid": 302, "hostname": "media-copy", "description": "to try the new version"}"#,
    },
    Example {
        ask: "A linked clone of the Alpine template",
        args: r#"{"vmid": 290, "newid": 303, "hostname": "scratch", "full": false}"#,
    },
]);

const MIGRATE: Alias = alias(
    (Toolset::Lxc, Risk::Disrupt),
    "migrate_container",
    "Move a container to another node",
    &Change::<MigrateVm>::NEW,
)
.says(
    "Moves a container to another node, with the disks that only the old one sees.\n\nContainers do not move while they run: a running one takes restart, is down meanwhile and comes up there, which asks for a confirmation. migrate_proxmox_vm chooses a node, too. Under HA it is only queued. Needs VM.Migrate; with target_storage VM.Config.Disk and Datastore.AllocateSpace. Undo: move it back.",
)
.takes(&[
    CONTAINER,
    text("target", "The new node.").required(),
    flag("restart", "Stop it, move it, start it there."),
    text("target_storage", "Storage there for its disks."),
])
.examples(&[
    Example {
        ask: "Move the media container to pve2",
        args: r#"{"vmid": 203, "target": "pve2"}"#,
    },
    Example {
        ask: "Move dns to pve3, it may be down for a moment",
        args: r#"{"vmid": 200, "target": "pve3", "restart": true}"#,
    },
]);

const DELETE: Alias = alias(
    (Toolset::Lxc, Risk::Destroy),
    "delete_container",
    "Delete a container",
    &Change::<DeleteVm>::NEW,
)
.says(
    "Deletes a container with all its disks and snapshots, for good.\n\ndelete_proxmox_vm_preview shows beforehand what goes; to only end it use shutdown_container. Refused: a running one without force, protected ones, templates with linked clones. Backups stay, and so do disks that its configuration does not name. A person confirms. Needs VM.Allocate, VM.PowerMgmt with force. Undo: none; a backup can be restored.",
)
.takes(&[
    CONTAINER,
    flag("purge", "Also from backup jobs, replication and HA."),
    flag("force", "Switch it off first if it runs.").sent_as("stop"),
])
.examples(&[
    Example {
        ask: "Delete the media container",
        args: r#"{"vmid": 203}"#,
    },
    Example {
        ask: "Delete the running VPN container, and from all jobs",
        args: r#"{"vmid": 204, "force": true, "purge": true}"#,
    },
]);
