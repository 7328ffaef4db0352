//! Endpoints of nodes, storages and the cluster.

use pve::Method::{Delete, Get, Post, Put};

use super::row::{Form, Row, formed, off, row, same, take};
use crate::deed::When;

const SERVICE: &str = "manage_node_service";
const LEAVE_OUT: &str = "leave the rest out";
const ADDED: &[(&str, &str)] = &[("add_to_storage", "false")];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Post, "/nodes/{node}/startall", "startall_node", &[same("node"), same("force"), same("vms")]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/stopall", "stopall_node", &[same("node"), same("vms"), take("force-stop", "force_stop"), same("timeout")])
        .advice(LEAVE_OUT),
    row(Post, "/cluster/bulk-action/guest/migrate", "bulk_migrate_guests",
        &[same("target"), formed("vms", "vms", Form::Ids), same("online"), take("with-local-disks", "with_local_disks")])
        .when(When::Has("vms")).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/services/{service}/start", SERVICE, &[same("node"), same("service")]).with(&[("action", r#""start""#)]),
    row(Post, "/nodes/{node}/services/{service}/stop", SERVICE, &[same("node"), same("service")]).with(&[("action", r#""stop""#)]),
    row(Post, "/nodes/{node}/services/{service}/restart", SERVICE, &[same("node"), same("service")]).with(&[("action", r#""restart""#)]),
    row(Post, "/nodes/{node}/services/{service}/reload", SERVICE, &[same("node"), same("service")]).with(&[("action", r#""reload""#)]),
    row(Delete, "/nodes/{node}/tasks/{upid}", "stop_task", &[same("node"), same("upid")]),
    row(Post, "/nodes/{node}/certificates/acme/certificate", "order_node_certificate", &[same("node"), same("force")]),
    row(Post, "/nodes/{node}/disks/lvm", "create_lvm", &[same("node"), same("name"), same("device"), take("add_storage", "add_to_storage")])
        .with(ADDED),
    row(Post, "/nodes/{node}/disks/lvmthin", "create_lvmthin",
        &[same("node"), same("name"), same("device"), take("add_storage", "add_to_storage")]).with(ADDED),
    row(Post, "/nodes/{node}/disks/directory", "create_directory_storage",
        &[same("node"), same("name"), same("device"), same("filesystem"), take("add_storage", "add_to_storage")]).with(ADDED),
    row(Post, "/nodes/{node}/disks/zfs", "create_zfs_pool", &[
        same("node"), same("name"), same("raidlevel"), same("devices"), same("ashift"), same("compression"), take("add_storage", "add_to_storage"),
    ]).with(ADDED).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/disks/initgpt", "initialize_gpt", &[same("node"), same("disk")]).advice(LEAVE_OUT),
    row(Post, "/nodes/{node}/ceph/osd", "create_ceph_osd", &[same("node"), same("dev"), same("db_dev"), same("wal_dev"), same("encrypted")])
        .advice(LEAVE_OUT),
    row(Delete, "/nodes/{node}/storage/{storage}/content/{volume}", "delete_storage_volume", &[same("node"), same("storage"), same("volume")])
        .advice(LEAVE_OUT),
    row(Delete, "/nodes/{node}/storage/{storage}/prunebackups", "prune_storage_backups",
        &[same("node"), same("storage"), take("prune-backups", "prune_backups"), same("type"), same("vmid")]).with(&[("dry_run", "false")]),
    row(Post, "/nodes/{node}/storage/{storage}/upload", "upload_to_storage", &[same("node"), same("storage"), same("content"), same("filename")])
        .advice("the file is one of the upload directory of oxmox; POST /nodes/{node}/storage/{storage}/download-url has the node fetch one"),
    row(Get, "/nodes/{node}/storage/{storage}/file-restore/download", "download_file_restore",
        &[same("node"), same("storage"), same("volume"), formed("filepath", "filepath", Form::Base64), off("tar")]).advice(LEAVE_OUT),
    row(Put, "/access/acl", "update_acl", &[
        same("path"), same("roles"), same("users"), same("groups"), same("tokens"), same("propagate"), formed("delete", "delete", Form::Typed),
    ]),
];
