//! The toolset `storage`: where disks, images and backups are kept, what is on there, and making storage of unused disks.

pub(super) mod content;
pub(super) mod definitions;
mod delete_volume;
mod download_file;
pub(super) mod file_restore;
pub(super) mod local;
pub(super) mod make;
pub(in crate::area) mod making;
mod owners;
mod prune;
mod upload;

use crate::plain::{Arg, Need, text};

const STORAGE: Arg = text("storage", "The storage's name.").required();
/// What shows a storage, and what is on it as far as it belongs to nobody.
const SEE: Need = Need::Any(&[
    Need::On("/storage/{storage}", "Datastore.Audit"),
    Need::On("/storage/{storage}", "Datastore.AllocateSpace"),
]);
/// What shows everything on a storage.
const SEE_ALL: Need = Need::On("/storage/{storage}", "Datastore.Allocate");
