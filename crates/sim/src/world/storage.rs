//! Storage definitions and the volumes on them. How volumes are named is in [`super::layout`].

use std::collections::BTreeMap;

use crate::clock::Time;
use crate::world::World;
use crate::world::config::Config;
use crate::world::layout::{Layout, Name};

/// PVE gives a guest no more disks than this on one storage.
const MAX_DISKS: u32 = 1024;
/// Bytes an image takes up before anything was written to it.
const EMPTY_IMAGE: u64 = 200 << 10;

/// One storage definition.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Its type: `dir`, `lvmthin`, `zfspool`, `nfs`, `pbs`, ...
    pub kind: String,
    /// The properties of its section, except those below.
    pub props: BTreeMap<String, String>,
    /// What it may hold.
    pub content: Vec<String>,
    /// The nodes that have it; empty for all.
    pub nodes: Vec<String>,
    /// One storage seen from all nodes, not one per node.
    pub shared: bool,
    /// Bytes it holds.
    pub capacity: u64,
}

impl Storage {
    /// Whether the node has it.
    pub fn is_on(&self, node: &str) -> bool {
        self.nodes.is_empty() || self.nodes.iter().any(|name| name == node)
    }

    /// Whether it is turned off.
    pub fn is_disabled(&self) -> bool {
        self.props.get("disable").is_some_and(|flag| flag == "1")
    }

    /// Whether it may hold that kind of content.
    pub fn holds(&self, content: &str) -> bool {
        self.content.iter().any(|held| held == content)
    }

    /// How it names volumes.
    pub fn layout(&self) -> Layout {
        Layout::of(&self.kind)
    }

    /// The path of a volume on the node, from its parsed name.
    pub fn path_of(&self, name: &Name<'_>) -> String {
        let prop = |key: &str| self.props.get(key).map_or("", String::as_str);
        let file = name.file;
        match self.layout() {
            Layout::Files => {
                let folder = match (name.content, name.owner) {
                    ("images", Some(owner)) => format!("images/{owner}"),
                    ("iso", _) => "template/iso".to_owned(),
                    ("vztmpl", _) => "template/cache".to_owned(),
                    ("backup", _) => "dump".to_owned(),
                    (other, _) => other.to_owned(),
                };
                format!("{}/{folder}/{file}", prop("path"))
            }
            Layout::Lvm | Layout::LvmThin => format!("/dev/{}/{file}", prop("vgname")),
            Layout::Zfs if name.format == "subvol" => format!("/{}/{file}", prop("pool")),
            Layout::Zfs => format!("/dev/zvol/{}/{file}", prop("pool")),
            Layout::Rbd => format!("rbd:{}/{file}", prop("pool")),
            Layout::Backups => {
                let (user, server) = (prop("username"), prop("server"));
                let user = if user.is_empty() { "root@pam" } else { user };
                format!("pbs://{user}@{server}:{}/{file}", prop("datastore"))
            }
        }
    }
}

/// One volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// `local:100/vm-100-disk-0.qcow2`.
    pub volid: String,
    /// The node that has it; `None` on shared storage.
    pub node: Option<String>,
    /// `images`, `rootdir`, `iso`, `vztmpl`, `backup`, `snippets`, `import`.
    pub content: String,
    /// `raw`, `qcow2`, `subvol`, `iso`, `tzst`, `tar.zst`, `vma.zst`, `pbs-vm`, ...
    pub format: String,
    /// Bytes as the guest sees it.
    pub size: u64,
    /// Bytes it takes up.
    pub used: u64,
    /// The guest it belongs to.
    pub vmid: Option<u32>,
    /// When it was made.
    pub created: Time,
    /// The notes of a backup.
    pub notes: Option<String>,
    /// A backup that must not be removed.
    pub protected: bool,
    /// The guest's config inside a backup.
    pub config: Option<Config>,
}

impl Volume {
    /// An image of a guest, still empty.
    pub fn image(
        volid: String,
        node: Option<String>,
        vmid: u32,
        format: &str,
        size: u64,
        now: Time,
    ) -> Self {
        Self {
            volid,
            node,
            content: "images".to_owned(),
            format: format.to_owned(),
            size,
            used: EMPTY_IMAGE.min(size),
            vmid: Some(vmid),
            created: now,
            notes: None,
            protected: false,
            config: None,
        }
    }

    /// The storage it is on.
    pub fn storage(&self) -> &str {
        self.volid.split(':').next().unwrap_or_default()
    }

    /// Whether a node sees it.
    pub fn is_seen_from(&self, node: &str) -> bool {
        self.node.as_deref().is_none_or(|owner| owner == node)
    }

    /// The kind of guest in a backup: `qemu`, `lxc` or `unknown`.
    pub fn guest_kind(&self) -> &'static str {
        let name = self.name();
        if self.format == "pbs-vm" || name.starts_with("backup/vzdump-qemu-") {
            "qemu"
        } else if self.format == "pbs-ct" || name.starts_with("backup/vzdump-lxc-") {
            "lxc"
        } else {
            "unknown"
        }
    }

    /// Its name below the storage.
    pub fn name(&self) -> &str {
        self.volid.split_once(':').map_or("", |(_, name)| name)
    }
}

impl World {
    /// The storage, if it is there, enabled and on the node.
    ///
    /// # Errors
    /// PVE's text for what is wrong, e.g. `storage 'nosuch' does not exist`.
    pub fn storage_on(&self, node: &str, id: &str) -> Result<&Storage, String> {
        let Some(storage) = self.storages.get(id) else {
            return Err(format!("storage '{id}' does not exist"));
        };
        if storage.is_disabled() {
            Err(format!("storage '{id}' is disabled"))
        } else if !storage.is_on(node) {
            Err(format!("storage '{id}' is not available on node '{node}'"))
        } else if self.silent_storages.contains(id) {
            Err(format!("storage '{id}' is not online"))
        } else {
            Ok(storage)
        }
    }

    /// Takes the name of a volume apart by the rules of its storage.
    ///
    /// # Errors
    /// PVE's text for an unknown storage or a name that does not fit it.
    pub fn parse_volid<'a>(&self, volid: &'a str) -> Result<Name<'a>, String> {
        let Some((id, name)) = volid.split_once(':') else {
            return Err(format!("unable to parse volume ID '{volid}'"));
        };
        match self.storages.get(id) {
            Some(storage) => storage.layout().parse(name),
            None => Err(format!("storage '{id}' does not exist")),
        }
    }

    /// A file name for another disk of a guest: the first number that is free on the storage.
    ///
    /// # Errors
    /// If there is no such storage or no free number.
    pub fn free_disk_file(
        &self,
        node: &str,
        id: &str,
        vmid: u32,
        format: &str,
    ) -> Result<String, String> {
        let layout = self.storage_on(node, id)?.layout();
        let stem = |file: &str| file.split('.').next().unwrap_or_default().to_owned();
        let taken: Vec<String> = self
            .volumes_on(node)
            .filter(|volume| volume.storage() == id && volume.vmid == Some(vmid))
            .filter_map(|volume| Some(stem(layout.parse(volume.name()).ok()?.file)))
            .collect();
        let number_taken = |index: &u32| {
            let end = format!("-{vmid}-disk-{index}");
            taken.iter().any(|stem| stem.ends_with(&end))
        };
        let free = (0..MAX_DISKS).find(|index| !number_taken(index));
        free.map(|index| layout.disk_file(vmid, index, format))
            .ok_or_else(|| {
                format!("unable to allocate an image name for VM {vmid} in storage '{id}'")
            })
    }

    /// Makes an empty image of `size` bytes and answers its volume id. Without a `file` the next free name is taken,
    /// without a `format` the storage's own.
    ///
    /// # Errors
    /// PVE's text for a storage that is not usable, or for a file that exists or does not fit.
    pub fn allocate_image(
        &mut self,
        node: &str,
        id: &str,
        vmid: u32,
        format: Option<&str>,
        file: Option<&str>,
        size: u64,
    ) -> Result<String, String> {
        let storage = self.storage_on(node, id)?;
        let (layout, shared) = (storage.layout(), storage.shared);
        let format = format.unwrap_or(layout.formats().1);
        let file = match file {
            Some(file) => file.to_owned(),
            None => self.free_disk_file(node, id, vmid, format)?,
        };
        check_new_file(storage, vmid, format, &file)?;
        let volid = format!("{id}:{}", layout.plain_name(vmid, &file));
        if self.volume(node, &volid).is_some() {
            return Err(name_taken(storage, vmid, &file));
        }
        let owner = (!shared).then(|| node.to_owned());
        let image = Volume::image(volid.clone(), owner, vmid, format, size, self.now);
        self.volumes.push(image);
        Ok(volid)
    }

    /// The volume, as seen from a node.
    pub fn volume<'a>(&'a self, node: &'a str, volid: &str) -> Option<&'a Volume> {
        self.volumes_on(node).find(|volume| volume.volid == volid)
    }

    /// All volumes that a node can see.
    pub fn volumes_on<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a Volume> {
        self.volumes
            .iter()
            .filter(move |volume| volume.is_seen_from(node))
    }

    /// Like [`World::volume`], to change it.
    pub fn volume_mut(&mut self, node: &str, volid: &str) -> Option<&mut Volume> {
        self.volumes
            .iter_mut()
            .find(|volume| volume.volid == volid && volume.is_seen_from(node))
    }

    /// Removes a volume that a node sees, unless linked clones need it or it is a protected backup. Answers whether
    /// there was one.
    ///
    /// # Errors
    /// PVE's text for what is in the way.
    pub fn free_volume(&mut self, node: &str, volid: &str) -> Result<bool, String> {
        let (id, name) = volid.split_once(':').unwrap_or((volid, ""));
        self.storage_on(node, id)?;
        if self.is_base_in_use(volid) {
            return Err(format!(
                "base volume '{name}' is still in use by linked clones"
            ));
        }
        let found = |volume: &Volume| volume.volid == volid && volume.is_seen_from(node);
        let Some(at) = self.volumes.iter().position(found) else {
            return Ok(false);
        };
        if self.volumes[at].protected {
            return Err(format!("cannot remove protected volume '{name}' on '{id}'"));
        }
        self.volumes.remove(at);
        Ok(true)
    }

    /// Bytes in use on a storage, as seen from a node.
    pub fn used_space(&self, node: &str, storage: &str) -> u64 {
        let there = self
            .volumes_on(node)
            .filter(|volume| volume.storage() == storage);
        there.map(|volume| volume.used).sum()
    }
}

/// Whether a new image may have this name.
fn check_new_file(storage: &Storage, vmid: u32, format: &str, file: &str) -> Result<(), String> {
    let layout = storage.layout();
    if layout == Layout::Files {
        let name = layout
            .parse(&format!("{vmid}/{file}"))
            .map(|name| name.format.to_owned())?;
        if name != format {
            return Err(format!(
                "illegal name '{file}' - wrong extension for format ('{name} != '{format}')"
            ));
        }
        return Ok(());
    }
    if !layout.formats().0.contains(&format) {
        return Err(format!("unsupported format '{format}'"));
    }
    let prefix = if format == "subvol" { "subvol" } else { "vm" };
    if file.starts_with(&format!("{prefix}-{vmid}-")) {
        Ok(())
    } else {
        Err(format!(
            "illegal name '{file}' - should be '{prefix}-{vmid}-*'"
        ))
    }
}

/// What PVE says if a new image's name is taken.
fn name_taken(storage: &Storage, vmid: u32, file: &str) -> String {
    let prop = |key: &str| storage.props.get(key).map_or("", String::as_str);
    match storage.layout() {
        Layout::Files => {
            let folder = prop("path");
            format!("disk image '{folder}/images/{vmid}/{file}' already exists")
        }
        Layout::Zfs => {
            let pool = prop("pool");
            format!("zfs error: cannot create '{pool}/{file}': dataset already exists")
        }
        Layout::Rbd => format!("rbd create '{file}' error: rbd image {file} already exists"),
        Layout::Lvm | Layout::LvmThin | Layout::Backups => {
            let group = prop("vgname");
            format!(
                "lvcreate '{group}/{file}' error:   Logical Volume \"{file}\" already exists in volume group \"{group}\""
            )
        }
    }
}
