//! What is on a storage, and what comes onto it.

use pve::Method;

use super::delete_volume::DeleteVolume;
use super::download_file::DownloadFileRestore;
use super::file_restore::ListFileRestore;
use super::prune::Pruning;
use super::upload::UploadToStorage;
use super::{SEE, SEE_ALL, STORAGE};
use crate::plain::{Arg, NODE, Need, Plain, an, change, choice, read, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Read, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &LIST,
    &INFO,
    &ALLOCATE,
    &Change::<DeleteVolume>::NEW,
    &DOWNLOAD,
    &Change::<UploadToStorage>::NEW,
    &APPLIANCE,
    &Change::<Pruning>::NEW,
    &Read::<ListFileRestore>::NEW,
    &Change::<DownloadFileRestore>::NEW,
];

/// Whether PVE keeps a file under this very name: it drops what looks like a path and puts `_` for all but these.
fn is_kept(name: &str) -> bool {
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    !name.is_empty() && name.chars().all(kept)
}

const VOLUME: Arg = text("volume", "The volume, like nas:iso/x.iso.").required();

const LIST: Plain = read(
    Toolset::Storage,
    "list_storage_content",
    "List what is on a storage",
    "/nodes/{node}/storage/{storage}/content",
)
.says(
    "Lists the volumes on a storage as a node sees them: disks, images, templates, backups, with size and guest.\n\nUse it for the name that other tools take; get_storage_volume_info tells more about one. Needs Datastore.Audit or Datastore.AllocateSpace on /storage/NAME; disks VM.Config.Disk on their guest, backups VM.Backup and Datastore.AllocateSpace, or all of it Datastore.Allocate there: the rest is left out.",
)
.takes(&[
    NODE,
    STORAGE,
    choice("content", &["images", "rootdir", "iso", "vztmpl", "backup", "snippets", "import"], "Only of this kind."),
    whole("vmid", "Only of this guest.").within(100, 999_999_999),
])
.needs(Need::All(&[SEE, SEE_ALL]))
.filtered()
.rows(&["volid", "content", "format", "size|bytes", "vmid", "ctime|time", "protected", "notes"])
.examples(&[Example {
    ask: "Which ISO images are on nas?",
    args: r#"{"node": "pve1", "storage": "nas", "content": "iso"}"#,
}]);

const INFO: Plain = read(
    Toolset::Storage,
    "get_storage_volume_info",
    "Show a volume",
    "/nodes/{node}/storage/{storage}/content/{volume}",
)
.says(
    "Shows one volume: its path on the node, format, size, space really used; of a backup its notes and protection.\n\nUse it before delete_storage_volume; list_storage_content has the names. Needs Datastore.Audit on /storage/NAME, and for a disk VM.Config.Disk on its guest.",
)
.takes(&[NODE, STORAGE, VOLUME])
.needs(SEE)
.item(&["path", "format", "size|bytes", "used|bytes", "protected", "notes"])
.examples(&[Example {
    ask: "How large is that rescue image?",
    args: r#"{"node": "pve1", "storage": "local", "volume": "local:iso/systemrescue-12.02-amd64.iso"}"#,
}]);

const ALLOCATE: Plain = change(
    (Toolset::Storage, Risk::Change),
    "allocate_storage_volume",
    "Allocate a disk",
    Method::Post,
    "/nodes/{node}/storage/{storage}/content",
)
.says(
    "Makes an empty disk on a storage in the name of a guest, without attaching it.\n\nupdate_proxmox_vm makes and attaches one in a single call (\"scsi1\": \"local-lvm:8\") and is better for that; this is for disks prepared by hand. The name must begin with vm- and the guest's id. Needs Datastore.AllocateSpace on /storage/NAME, and to see it there Datastore.Audit and VM.Config.Disk on the guest. Undo: delete_storage_volume.",
)
.takes(&[
    NODE,
    STORAGE,
    whole("vmid", "The guest that it belongs to.").within(100, 999_999_999).required(),
    text("filename", "Its name: vm-105-disk-7.").required(),
    text("size", "Like 8G or 512M; a bare number is KiB.").required(),
    choice("format", &["raw", "qcow2", "subvol", "vmdk"], "Where the storage leaves a choice."),
])
.needs(Need::All(&[
    Need::On("/storage/{storage}", "Datastore.AllocateSpace"),
    Need::On("/storage/{storage}", "Datastore.Audit"),
    Need::On("/vms/{vmid}", "VM.Config.Disk"),
]))
.adds(
    an("volume", &[])
        .listed("/nodes/{node}/storage/{storage}/content", "volid")
        .not_undone("delete_storage_volume takes the name that PVE answers"),
)
.examples(&[Example {
    ask: "Prepare an empty 8 GB disk for staging",
    args: r#"{"node": "pve1", "storage": "local-lvm", "vmid": 105, "filename": "vm-105-disk-7", "size": "8G"}"#,
}]);

const DOWNLOAD: Plain = change(
    (Toolset::Storage, Risk::Change),
    "download_url_to_storage",
    "Download a file to a storage",
    Method::Post,
    "/nodes/{node}/storage/{storage}/download-url",
)
.says(
    "Lets a node download an ISO image, container template or disk image from a web address to a storage, and waits for it.\n\nFor Proxmox's own templates download_appliance_template, for a file beside oxmox upload_to_storage. Refused if a file of that name is there. Send a checksum whenever the site gives one. Needs Datastore.AllocateTemplate and Datastore.Audit on /storage/NAME, and Sys.AccessNetwork on /nodes/NAME or Sys.Audit and Sys.Modify on /. Undo: delete_storage_volume.",
)
.takes(&[
    NODE,
    STORAGE,
    text("url", "http:// or https:// address.").address().required(),
    choice("content", &["iso", "vztmpl", "import"], "What it is.").required(),
    text("filename", "Name to keep it under: letters, digits, _ . -, with its ending.").required().shaped(is_kept),
    text("checksum", "Expected, in hex."),
    choice("checksum_algorithm", &["md5", "sha1", "sha224", "sha256", "sha384", "sha512"], "Of the checksum.").sent_as("checksum-algorithm"),
])
.needs(Need::All(&[
    Need::On("/storage/{storage}", "Datastore.AllocateTemplate"),
    SEE,
    Need::Any(&[
        Need::On("/nodes/{node}", "Sys.AccessNetwork"),
        Need::All(&[Need::On("/", "Sys.Audit"), Need::On("/", "Sys.Modify")]),
    ]),
]))
.starts(&["download"])
.creates(
    an("volume", &["storage"])
        .listed("/nodes/{node}/storage/{storage}/content", "volid")
        .called("{storage}:{content}/{filename}", "volume")
        .undone_by("delete_storage_volume"),
)
.examples(&[Example {
    ask: "Get the Alpine installer onto nas",
    args: r#"{"node": "pve1", "storage": "nas", "url": "https://dl-cdn.alpinelinux.org/alpine/v3.22/releases/x86_64/alpine-virt-3.22.0-x86_64.iso", "content": "iso", "filename": "alpine-virt-3.22.0-x86_64.iso"}"#,
}]);

const APPLIANCE: Plain = change(
    (Toolset::Nodes, Risk::Change),
    "download_appliance_template",
    "Download a container template",
    Method::Post,
    "/nodes/{node}/aplinfo",
)
.says(
    "Lets a node download one of Proxmox's container templates to a storage that holds them, and waits for it.\n\nget_node_aplinfo lists the names; create_proxmox_lxc makes a container of one. For other addresses download_url_to_storage. Refused if it is there already. Needs Datastore.AllocateTemplate and Datastore.Audit on /storage/NAME. Undo: delete_storage_volume.",
)
.takes(&[
    NODE,
    STORAGE,
    text("template", "Its file name, from get_node_aplinfo.").required(),
])
.needs(Need::All(&[
    Need::On("/storage/{storage}", "Datastore.AllocateTemplate"),
    SEE,
]))
.starts(&["download"])
.creates(
    an("template", &["storage"])
        .listed("/nodes/{node}/storage/{storage}/content", "volid")
        .called("{storage}:vztmpl/{template}", "volume")
        .undone_by("delete_storage_volume"),
)
.examples(&[Example {
    ask: "Get the Ubuntu container template",
    args: r#"{"node": "pve1", "storage": "local", "template": "ubuntu-24.04-standard_24.04-2_amd64.tar.zst"}"#,
}]);
