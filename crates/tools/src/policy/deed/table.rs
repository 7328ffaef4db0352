//! What the tools do that have code of their own, as methods of PVE's API: by hand, and held against what they plan.

use pve::{Method, Request, Value};

use Method::{Delete, Get, Post, Put};
use When::{Always, Has, Is, Lacks};

/// When a method is what a tool does.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    Always,
    /// Where this parameter goes along.
    Has(&'static str),
    /// Where it does not.
    Lacks(&'static str),
    /// Where it has one of these values.
    Is(&'static str, &'static [&'static str]),
}

/// A method, and when it counts.
pub(super) type Deed = (Method, &'static str, When);

/// What the tools do that have code of their own. `{}` is any word; `{guest}` is `qemu/{}` or `lxc/{}`.
pub(super) const THOUGHT: &[(&str, &[Deed])] = &[
    (
        "start_proxmox_vm",
        &[
            (Post, "/nodes/{}/{guest}/status/start", Always),
            (Post, "/nodes/{}/{guest}/status/resume", Always),
            (Post, "/nodes/{}/startall", Always),
            (Post, "/cluster/bulk-action/guest/start", Always),
            (Post, "/cluster/ha/resources", STARTED),
            // HA starts what it is told nothing about.
            (Post, "/cluster/ha/resources", Lacks("state")),
            (Put, "/cluster/ha/resources/{}", STARTED),
        ],
    ),
    (
        "stop_proxmox_vm",
        &[
            (Post, "/nodes/{}/{guest}/status/shutdown", Always),
            (Post, "/nodes/{}/{guest}/status/stop", Always),
            (Post, "/nodes/{}/{guest}/status/reboot", Always),
            (Post, "/nodes/{}/{guest}/status/reset", Always),
            (Post, "/nodes/{}/{guest}/status/suspend", Always),
            (Post, "/nodes/{}/{guest}/agent/shutdown", Always),
            (Post, "/nodes/{}/{guest}/agent/suspend-disk", Always),
            (Post, "/nodes/{}/{guest}/agent/suspend-hybrid", Always),
            (Post, "/nodes/{}/{guest}/agent/suspend-ram", Always),
            (Post, AGENT, Is("command", AGENT_STOPS)),
            (Post, "/nodes/{}/stopall", Always),
            (Post, "/nodes/{}/suspendall", Always),
            (Post, "/cluster/bulk-action/guest/shutdown", Always),
            (Post, "/cluster/bulk-action/guest/suspend", Always),
            (Post, "/cluster/ha/resources", STOPPED),
            (Put, "/cluster/ha/resources/{}", STOPPED),
        ],
    ),
    (
        "migrate_proxmox_vm",
        &[
            (Post, "/nodes/{}/{guest}/migrate", Always),
            (Post, "/nodes/{}/{guest}/remote_migrate", Always),
            (Post, "/nodes/{}/migrateall", Always),
            (Post, "/cluster/bulk-action/guest/migrate", Always),
            (Post, "/cluster/ha/resources/{}/migrate", Always),
            (Post, "/cluster/ha/resources/{}/relocate", Always),
        ],
    ),
    (
        "bulk_migrate_guests",
        &[
            (Post, "/nodes/{}/migrateall", Always),
            (Post, "/cluster/bulk-action/guest/migrate", Always),
        ],
    ),
    ("startall_node", &[(Post, "/nodes/{}/startall", Always)]),
    ("stopall_node", &[(Post, "/nodes/{}/stopall", Always)]),
    (
        "create_proxmox_vm",
        &[(Post, "/nodes/{}/qemu", Lacks("archive"))],
    ),
    (
        "create_proxmox_lxc",
        &[(Post, "/nodes/{}/lxc", Lacks("restore"))],
    ),
    (
        "clone_proxmox_vm",
        &[(Post, "/nodes/{}/{guest}/clone", Always)],
    ),
    (
        "update_proxmox_vm",
        &[
            (Post, "/nodes/{}/{guest}/config", Always),
            (Put, "/nodes/{}/{guest}/config", Always),
            (Put, "/nodes/{}/{guest}/resize", Always),
            (Put, "/nodes/{}/{guest}/cloudinit", Always),
        ],
    ),
    (
        "delete_proxmox_vm",
        &[(Delete, "/nodes/{}/{guest}", Always)],
    ),
    (
        "snapshot_proxmox_vm",
        &[(Post, "/nodes/{}/{guest}/snapshot", Always)],
    ),
    (
        "delete_proxmox_vm_snapshot",
        &[(Delete, "/nodes/{}/{guest}/snapshot/{}", Always)],
    ),
    (
        "rollback_proxmox_vm",
        &[
            (Post, "/nodes/{}/{guest}/snapshot/{}/rollback", Always),
            (Post, "/nodes/{}/qemu", Has("archive")),
            (Post, "/nodes/{}/lxc", Has("restore")),
        ],
    ),
    ("backup_proxmox_vm", &[(Post, "/nodes/{}/vzdump", Always)]),
    ("run_proxmox_vm_command", EXEC),
    ("vm_agent_exec", EXEC),
    (
        "vm_agent_file_read",
        &[(Get, "/nodes/{}/{guest}/agent/file-read", Always)],
    ),
    (
        "vm_agent_file_write",
        &[(Post, "/nodes/{}/{guest}/agent/file-write", Always)],
    ),
    (
        "vm_agent_fsfreeze_freeze",
        &[
            (Post, "/nodes/{}/{guest}/agent/fsfreeze-freeze", Always),
            (Post, AGENT, Is("command", &["fsfreeze-freeze"])),
        ],
    ),
    (
        "vm_agent_fsfreeze_thaw",
        &[
            (Post, "/nodes/{}/{guest}/agent/fsfreeze-thaw", Always),
            (Post, AGENT, Is("command", &["fsfreeze-thaw"])),
        ],
    ),
    (
        "vm_agent_fstrim",
        &[
            (Post, "/nodes/{}/{guest}/agent/fstrim", Always),
            (Post, AGENT, Is("command", &["fstrim"])),
        ],
    ),
    (
        "vm_agent_set_password",
        &[(Post, "/nodes/{}/{guest}/agent/set-user-password", Always)],
    ),
    (
        "send_vm_monitor_command",
        &[(Post, "/nodes/{}/{guest}/monitor", Always)],
    ),
    ("send_vm_key", &[(Put, "/nodes/{}/{guest}/sendkey", Always)]),
    (
        "suspend_vm",
        &[(Post, "/nodes/{}/qemu/{}/status/suspend", Always)],
    ),
    (
        "suspend_container",
        &[(Post, "/nodes/{}/lxc/{}/status/suspend", Always)],
    ),
    (
        "resume_container",
        &[(Post, "/nodes/{}/lxc/{}/status/resume", Always)],
    ),
    (
        "convert_vm_to_template",
        &[(Post, "/nodes/{}/qemu/{}/template", Always)],
    ),
    (
        "convert_container_to_template",
        &[(Post, "/nodes/{}/lxc/{}/template", Always)],
    ),
    (
        "move_vm_disk",
        &[(Post, "/nodes/{}/qemu/{}/move_disk", Always)],
    ),
    (
        "move_container_volume",
        &[(Post, "/nodes/{}/lxc/{}/move_volume", Always)],
    ),
    ("update_acl", &[(Put, "/access/acl", Always)]),
    ("join_cluster", &[(Post, "/cluster/config/join", Always)]),
    ("create_ceph_osd", &[(Post, "/nodes/{}/ceph/osd", Always)]),
    ("stop_task", &[(Delete, "/nodes/{}/tasks/{}", Always)]),
    (
        "manage_node_service",
        &[(Post, "/nodes/{}/services/{}/{}", Always)],
    ),
    (
        "order_node_certificate",
        &[(Post, "/nodes/{}/certificates/acme/certificate", Always)],
    ),
    ("create_lvm", &[(Post, "/nodes/{}/disks/lvm", Always)]),
    (
        "create_lvmthin",
        &[(Post, "/nodes/{}/disks/lvmthin", Always)],
    ),
    ("create_zfs_pool", &[(Post, "/nodes/{}/disks/zfs", Always)]),
    (
        "create_directory_storage",
        &[(Post, "/nodes/{}/disks/directory", Always)],
    ),
    (
        "initialize_gpt",
        &[(Post, "/nodes/{}/disks/initgpt", Always)],
    ),
    (
        "delete_storage_volume",
        &[(Delete, "/nodes/{}/storage/{}/content/{}", Always)],
    ),
    (
        "prune_storage_backups",
        &[(Delete, "/nodes/{}/storage/{}/prunebackups", Always)],
    ),
    (
        "upload_to_storage",
        &[(Post, "/nodes/{}/storage/{}/upload", Always)],
    ),
    (
        "download_file_restore",
        &[(Get, "/nodes/{}/storage/{}/file-restore/download", Always)],
    ),
];

/// Any simple command of the agent, by its name.
const AGENT: &str = "/nodes/{}/{guest}/agent";
const AGENT_STOPS: &[&str] = &["shutdown", "suspend-disk", "suspend-hybrid", "suspend-ram"];
const EXEC: &[(Method, &str, When)] = &[(Post, "/nodes/{}/{guest}/agent/exec", Always)];
const STARTED: When = Is("state", &["started", "enabled"]);
const STOPPED: When = Is("state", &["stopped", "disabled"]);

impl When {
    pub(super) fn holds(self, request: &Request) -> bool {
        match self {
            Always => true,
            Has(name) => request.param(name).is_some(),
            Lacks(name) => request.param(name).is_none(),
            Is(name, values) => {
                let value = request.param(name).map(Value::to_string);
                value.is_some_and(|value| values.contains(&value.as_str()))
            }
        }
    }
}
