//! The tools, a file per operation. Each file reads the same way: the arguments struct with the words
//! that a model reads, its SPEC, its plan or read, its helpers.

mod access;
mod api;
mod backup;
mod backups;
mod ceph;
mod clone;
mod cluster;
mod console;
mod containers;
mod conversion;
mod create;
mod delete;
mod dependents;
mod disk_moves;
mod firewall;
mod guest_status;
mod ha;
mod homelab;
mod inside;
mod inventory;
pub(crate) mod lean;
mod logins;
mod migrate;
mod node_status;
mod nodes;
mod ops;
mod pools;
mod power;
mod preview;
mod qemu;
mod quiesce;
mod rollback;
mod sdn;
mod snapshot;
mod storage;
mod task;
mod task_rows;
mod update;
mod users;
mod virtual_networks;
mod vms;
mod vzdump;

use crate::tool::{Change, Read, Tool};

pub use api::left_to;
pub(crate) use api::settle_undo;
pub use ops::document as findings_document;
pub(crate) use power::State;

/// Every area's tools, in the order of the documentation.
pub const ALL: &[&[&dyn Tool]] = &[
    INVENTORY,
    GUEST,
    CONSOLE,
    api::TOOLS,
    ops::TOOLS,
    vms::ABOUT,
    vms::POWER,
    vms::CONFIG,
    vms::LIFE,
    vms::DISKS,
    vms::SNAPSHOTS,
    vms::CLOUDINIT,
    vms::CONSOLE,
    qemu::TOOLS,
    containers::SHOW,
    containers::POWER,
    containers::LIFE,
    containers::UPDATE,
    containers::SNAPSHOTS,
    containers::OWN,
    pools::TOOLS,
    nodes::about::TOOLS,
    nodes::network::TOOLS,
    nodes::logs::TOOLS,
    nodes::hardware::TOOLS,
    nodes::power::TOOLS,
    storage::definitions::TOOLS,
    storage::content::TOOLS,
    storage::local::TOOLS,
    storage::make::TOOLS,
    access::users::TOOLS,
    access::tokens::TOOLS,
    access::groups::TOOLS,
    access::roles::TOOLS,
    access::acl::TOOLS,
    access::realms::TOOLS,
    vzdump::jobs::TOOLS,
    vzdump::archives::TOOLS,
    ha::STATUS,
    ha::resources::TOOLS,
    ha::groups::TOOLS,
    firewall::CLUSTER,
    firewall::GROUPS,
    firewall::NAMES,
    firewall::NODES,
    firewall::GUESTS,
    cluster::OVERVIEW,
    cluster::SETTINGS,
    cluster::COROSYNC,
    cluster::REPLICATION,
    cluster::MESSAGES,
    cluster::ACME,
    cluster::GUESTS,
    ceph::CLUSTER,
    ceph::NODES,
    ceph::MAKE,
    virtual_networks::ZONES,
    virtual_networks::VNETS,
    homelab::TOOLS,
    lean::TOOLS,
];

const INVENTORY: &[&dyn Tool] = &[
    &Read::<inventory::ListResources>::NEW,
    &Read::<guest_status::GetVmStatus>::NEW,
    &Read::<node_status::GetNodeStatus>::NEW,
    &Read::<task::GetTask>::NEW,
];

const GUEST: &[&dyn Tool] = &[
    &Change::<create::CreateVm>::NEW,
    &Change::<create::CreateLxc>::NEW,
    &Change::<clone::CloneVm>::NEW,
    &Change::<power::StartVm>::NEW,
    &Change::<power::StopVm>::NEW,
    &Change::<update::UpdateVm>::NEW,
    &Change::<snapshot::SnapshotVm>::NEW,
    &Change::<snapshot::DeleteSnapshot>::NEW,
    &Change::<rollback::RollbackVm>::NEW,
    &Change::<backup::BackupVm>::NEW,
    &Change::<migrate::MigrateVm>::NEW,
    &Change::<delete::DeleteVm>::NEW,
    &Read::<delete::DeleteVmPreview>::NEW,
    &Read::<preview::PreviewChange>::NEW,
];

const CONSOLE: &[&dyn Tool] = &[
    &Change::<console::SendVmKey>::NEW,
    &Change::<console::TypeVmText>::NEW,
    &Read::<console::CaptureScreen>::NEW,
    &Change::<inside::RunCommand>::NEW,
    &Read::<console::ReadTerminal>::NEW,
    &Change::<console::SendTerminalLine>::NEW,
];
