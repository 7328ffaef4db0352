//! What a storage can do with a volume, by its type: PVE's table of features.

use crate::world::World;
use crate::world::guest::{Guest, Kind};
use crate::world::layout::{Layout, Name};

/// Something that not every storage can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Take a snapshot.
    Snapshot,
    /// Make a linked clone.
    Clone,
    /// Make a full copy.
    Copy,
    /// Turn into a base image.
    Template,
}

impl Feature {
    /// Reads the name that the API gives it.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "snapshot" => Some(Self::Snapshot),
            "clone" => Some(Self::Clone),
            "copy" => Some(Self::Copy),
            _ => None,
        }
    }
}

/// The state of a volume that is asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Base,
    Current,
    Snapshot,
}

impl World {
    /// Whether a volume of a guest of this kind can do that; `snapshot` asks about a snapshot of it. What is no volume
    /// of a storage can do nothing.
    pub fn has_feature(&self, feature: Feature, kind: Kind, volid: &str, snapshot: bool) -> bool {
        let Some((id, _)) = volid.split_once(':') else {
            return false;
        };
        let (Some(storage), Ok(name)) = (self.storages.get(id), self.parse_volid(volid)) else {
            return false;
        };
        let source = match (snapshot, name.is_base) {
            (true, _) => Source::Snapshot,
            (false, true) => Source::Base,
            (false, false) => Source::Current,
        };
        // A linked clone in files is a qcow2 image, which no container can use.
        let layout = storage.layout();
        let useless = layout == Layout::Files && kind == Kind::Lxc && feature == Feature::Clone;
        !useless && can(layout, feature, source, &name)
    }

    /// Whether all disks of a guest, or of one of its snapshots, can do that.
    pub fn guest_has_feature(
        &self,
        feature: Feature,
        guest: &Guest,
        snapshot: Option<&str>,
    ) -> bool {
        let then = snapshot.and_then(|name| guest.snapshots.iter().find(|s| s.name == name));
        let config = then.map_or(&guest.config, |snapshot| &snapshot.config);
        config
            .drives()
            .filter(|drive| !drive.is_cdrom() && !drive.key.starts_with("unused"))
            .all(|drive| self.has_feature(feature, guest.kind, drive.volume, snapshot.is_some()))
    }
}

fn can(layout: Layout, feature: Feature, source: Source, name: &Name<'_>) -> bool {
    use Feature::{Clone, Copy, Snapshot, Template};
    use Source::{Base, Current};
    let qcow2 = name.format == "qcow2";
    let image = name.format != "subvol";
    match (layout, feature) {
        (Layout::Backups, _) | (Layout::Lvm, Clone | Template | Snapshot) => false,
        (Layout::Files, Snapshot) => qcow2 && source != Base,
        (Layout::Files, Clone) => image && source == Base,
        (Layout::Files, Copy) => image && (qcow2 || source != Source::Snapshot),
        (Layout::LvmThin, Snapshot) | (_, Template) => source == Current,
        (Layout::Zfs | Layout::Rbd, Snapshot) => source != Base,
        (Layout::LvmThin | Layout::Rbd, Clone) => source != Current,
        (Layout::Zfs, Clone) => source == Base,
        (Layout::Zfs | Layout::Lvm, Copy) => source != Source::Snapshot,
        (Layout::LvmThin | Layout::Rbd, Copy) => true,
    }
}
