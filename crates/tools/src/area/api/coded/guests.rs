//! Endpoints of guests.

use pve::Method::{Delete, Get, Post, Put};

use super::restore;
use super::row::{Form, Rest, Row, formed, off, row, same, take};
use crate::deed::When;

const START: &str = "start_proxmox_vm";
const STOP: &str = "stop_proxmox_vm";
const UPDATE: &str = "update_proxmox_vm";
const ROLLBACK: &str = "rollback_proxmox_vm";

const LEAVE_OUT: &str = "leave the rest out";
const KEYS: Form = Form::Decoded;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    // Power.
    row(Post, "/nodes/{node}/{guest}/status/start", START, &[off("skiplock"), off("debug")]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/qemu/{vmid}/status/resume", START, &[off("skiplock"), off("nocheck")]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/lxc/{vmid}/status/resume", "resume_container", &[]),
    row(Post, "/nodes/{node}/lxc/{vmid}/status/suspend", "suspend_container", &[]),
    row(Post, "/nodes/{node}/qemu/{vmid}/status/suspend", "suspend_vm", &[same("todisk"), off("skiplock")]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/{guest}/status/shutdown", STOP, &[take("forceStop", "force"), same("timeout"), off("keepActive"), off("skiplock")])
        .with(&[("action", r#""shutdown""#)]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/{guest}/status/stop", STOP, &[off("keepActive"), off("overrule-shutdown"), off("skiplock")])
        .with(&[("action", r#""stop""#)]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/{guest}/status/reboot", STOP, &[same("timeout")]).with(&[("action", r#""reboot""#)]),
    row(Post, "/nodes/{node}/{guest}/status/reset", STOP, &[off("skiplock")]).with(&[("action", r#""reset""#)]).advice(LEAVE_OUT),
    // Settings and disks.
    row(Put, "/nodes/{node}/{guest}/config", UPDATE, SETTINGS).rest(Rest::Into("set")),
    row(Post, "/nodes/{node}/qemu/{vmid}/config", UPDATE, SETTINGS).rest(Rest::Into("set")),
    row(Put, "/nodes/{node}/{guest}/resize", UPDATE,
        &[formed("disk", "", Form::Name), take("size", "grow.{disk}"), off("skiplock")]).advice(LEAVE_OUT),
    row(Put, "/nodes/{node}/qemu/{vmid}/cloudinit", UPDATE, &[]).with(&[("regenerate_cloudinit", "true")]),
    row(Put, "/nodes/{node}/qemu/{vmid}/unlink", UPDATE, &[formed("idlist", "delete", Form::Names), off("force")])
        .advice("a detached disk becomes unusedN; delete that name to destroy its volume"),
    row(Post, "/nodes/{node}/qemu/{vmid}/move_disk", "move_vm_disk", &[
        same("disk"), same("storage"), same("format"), take("target-vmid", "target_vmid"), take("target-disk", "target_disk"), take("delete", "delete_original"),
    ]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/lxc/{vmid}/move_volume", "move_container_volume", &[
        same("volume"), same("storage"), take("target-vmid", "target_vmid"), take("target-volume", "target_volume"), take("delete", "delete_original"),
    ]).advice(LEAVE_OUT),
    // Life.
    row(Post, "/nodes/{node}/{guest}/clone", "clone_proxmox_vm", &[
        take("newid", "new_vmid"), same("name"), take("hostname", "name"), same("full"), same("target"), same("storage"), same("pool"),
        take("snapname", "snapshot"), same("description"),
    ]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/qemu/{vmid}/template", "convert_vm_to_template", &[]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/lxc/{vmid}/template", "convert_container_to_template", &[]),
    row(Post, "/nodes/{node}/qemu/{vmid}/migrate", "migrate_proxmox_vm", &[
        same("target"), same("online"), take("with-local-disks", "with_local_disks"), take("targetstorage", "target_storage"), off("force"),
        off("with-conntrack-state"),
    ]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/lxc/{vmid}/migrate", "migrate_proxmox_vm",
        &[same("target"), same("restart"), take("target-storage", "target_storage"), off("online")]).advice(LEAVE_OUT),
    row(Delete, "/nodes/{node}/qemu/{vmid}", "delete_proxmox_vm", &[same("purge"), off("destroy-unreferenced-disks"), off("skiplock")])
        .advice("volumes that the configuration does not name are kept"),
    row(Delete, "/nodes/{node}/lxc/{vmid}", "delete_proxmox_vm", &[same("purge"), take("force", "stop"), off("destroy-unreferenced-disks")])
        .advice("volumes that the configuration does not name are kept"),
    row(Post, "/nodes/{node}/qemu", ROLLBACK, RESTORED).when(When::Has("archive")).special(restore::vm).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/lxc", ROLLBACK, RESTORED).when(When::Is("restore", &["1", "true"])).special(restore::container).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/qemu", "create_proxmox_vm", &[
        same("node"), same("vmid"), same("name").required("vm{vmid}"), same("memory"), same("cores"), same("sockets"), same("ostype"), same("bios"), same("tags"), same("pool"),
        same("net0").needed(), same("ciuser"), same("cipassword"), formed("sshkeys", "sshkeys", KEYS), same("start"), same("cdrom"),
        formed("ide2", "iso", Form::Cdrom), formed("scsi0", "more.scsi0", Form::NewDisk).needed(), take("cpu", "more.cpu"), take("scsihw", "more.scsihw"),
        take("machine", "more.machine"), take("boot", "more.boot"), take("agent", "more.agent"), formed("onboot", "more.onboot", Form::Flag),
        take("description", "more.description"), off("force"), off("template"),
    ]).with(&[("memory", "512"), ("cores", "1"), ("ostype", r#""other""#)]).rest(Rest::SetLater),
    row(Post, "/nodes/{node}/lxc", "create_proxmox_lxc", &[
        same("node"), same("vmid"), same("hostname").required("ct{vmid}"), same("ostemplate"), same("memory"), same("swap"), same("cores"), same("storage"), same("password"),
        take("ssh-public-keys", "ssh_public_keys"), same("net0").needed(), same("unprivileged"), same("tags"), same("pool"), same("start"),
        formed("rootfs", "more.rootfs", Form::NewDisk).needed(), formed("mp0", "more.mp0", Form::NewDisk), take("features", "more.features"),
        take("nameserver", "more.nameserver"), take("searchdomain", "more.searchdomain"), formed("onboot", "more.onboot", Form::Flag),
        take("description", "more.description"), off("force"), off("restore"), off("template"),
    ]).with(&[("unprivileged", "false"), ("nesting", "false")]).rest(Rest::SetLater),
    // Snapshots and backups.
    row(Post, "/nodes/{node}/{guest}/snapshot", "snapshot_proxmox_vm", &[take("snapname", "name"), same("description"), same("vmstate")]),
    row(Delete, "/nodes/{node}/{guest}/snapshot/{snapname}", "delete_proxmox_vm_snapshot", &[take("snapname", "snapshot"), same("force")]),
    row(Post, "/nodes/{node}/{guest}/snapshot/{snapname}/rollback", ROLLBACK, &[take("snapname", "snapshot"), same("start")]),
    row(Post, "/nodes/{node}/vzdump", "backup_proxmox_vm", &[
        formed("vmid", "vmid", Form::One).needed(), same("storage"), same("mode"), same("protected"), take("prune-backups", "prune"),
        formed("compress", "", Form::Fixed(&["zstd"])), off("remove"), off("all"), off("quiet"), off("stdout"), off("stop"),
    ]).advice("send one call for each guest; POST /cluster/backup creates a job for all guests or those of a pool"),
    // Inside.
    row(Put, "/nodes/{node}/qemu/{vmid}/sendkey", "send_vm_key", &[same("key"), off("skiplock")]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/qemu/{vmid}/monitor", "send_vm_monitor_command", &[same("command")]),
    row(Post, "/nodes/{node}/qemu/{vmid}/agent/exec", "run_proxmox_vm_command", &[same("command"), take("input-data", "input")]),
    row(Post, "/nodes/{node}/qemu/{vmid}/agent/file-write", "vm_agent_file_write",
        &[same("file"), same("content"), formed("encode", "", Form::Fixed(&["1"]))]).advice("send content as it is to be written, not as base64"),
    row(Get, "/nodes/{node}/qemu/{vmid}/agent/file-read", "vm_agent_file_read",
        &[same("file"), same("count"), formed("decode", "", Form::Fixed(&["1"])), off("offset")]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/qemu/{vmid}/agent/fstrim", "vm_agent_fstrim", &[]),
    row(Post, "/nodes/{node}/qemu/{vmid}/agent/fsfreeze-freeze", "vm_agent_fsfreeze_freeze", &[]),
    row(Post, "/nodes/{node}/qemu/{vmid}/agent/fsfreeze-thaw", "vm_agent_fsfreeze_thaw", &[]),
    row(Post, "/nodes/{node}/qemu/{vmid}/agent/set-user-password", "vm_agent_set_password", &[same("username"), same("password"), same("crypted")]),
];

/// The parameters of a configuration that are no settings.
const SETTINGS: &[super::Take] = &[
    formed("delete", "delete", Form::Names),
    formed("sshkeys", "set.sshkeys", KEYS),
    off("skiplock"),
    off("force"),
    formed("digest", "", Form::Fixed(&[])),
    formed("revert", "", Form::Fixed(&[])),
    formed("background_delay", "", Form::Fixed(&[])),
    formed("import-working-storage", "", Form::Fixed(&[])),
];

/// The parameters of a restore beside those that [`restore`] reads.
const RESTORED: &[super::Take] = &[
    same("node"),
    same("storage"),
    same("start"),
    formed("vmid", "", Form::Name),
    formed("archive", "", Form::Name),
    formed("ostemplate", "", Form::Name),
    formed("restore", "", Form::Name),
    formed("force", "", Form::Name),
    off("unique"),
    off("live-restore"),
    off("ignore-unpack-errors"),
];
