//! How each type of storage names its volumes, and what such a name tells.
//!
//! `local:900/base-900-disk-0.qcow2/111/vm-111-disk-0.qcow2` is a linked clone in files; the same clone is
//! `tank:base-900-disk-0/vm-111-disk-0` on ZFS and just `data:vm-111-disk-0` on LVM-thin, where nothing tells its base.

/// The way a storage keeps volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Files in directories: `dir`, `nfs`, `cifs`, `cephfs`, `btrfs`.
    Files,
    /// Logical volumes.
    Lvm,
    /// Thin logical volumes.
    LvmThin,
    /// Volumes and file systems of a ZFS pool.
    Zfs,
    /// Images of a Ceph pool.
    Rbd,
    /// Snapshots of a Proxmox Backup Server.
    Backups,
}

/// What the name of a volume tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// `images` (also for containers), `iso`, `vztmpl`, `backup`, `snippets`, `import`.
    pub content: &'static str,
    /// The last part: `vm-100-disk-0.qcow2`.
    pub file: &'a str,
    /// The guest it belongs to.
    pub owner: Option<u32>,
    /// The image it is a linked clone of, as a name on the same storage: `900/base-900-disk-0.qcow2`.
    pub base: Option<&'a str>,
    /// Linked clones can be made of it.
    pub is_base: bool,
    /// `raw`, `qcow2`, `subvol`, `pbs-vm`, ...; `raw` for everything that is no image.
    pub format: &'a str,
}

impl Layout {
    /// The layout of a storage type.
    pub fn of(kind: &str) -> Self {
        match kind {
            "lvm" => Self::Lvm,
            "lvmthin" => Self::LvmThin,
            "zfspool" => Self::Zfs,
            "rbd" => Self::Rbd,
            "pbs" => Self::Backups,
            _ => Self::Files,
        }
    }

    /// The image formats it takes, and the one it takes if nothing is said.
    pub const fn formats(self) -> (&'static [&'static str], &'static str) {
        match self {
            Self::Files => (&["qcow2", "raw", "subvol", "vmdk"], "raw"),
            Self::Zfs => (&["raw", "subvol"], "raw"),
            Self::Lvm | Self::LvmThin | Self::Rbd | Self::Backups => (&["raw"], "raw"),
        }
    }

    /// Takes a name apart.
    ///
    /// # Errors
    /// PVE's text for a name that does not fit the type.
    pub fn parse(self, name: &str) -> Result<Name<'_>, String> {
        let (found, noun) = match self {
            Self::Files => return file_name(name),
            Self::Lvm => (lvm_name(name, &["vm"]), "lvm"),
            Self::LvmThin => (lvm_name(name, &["vm", "base"]), "lvm"),
            Self::Zfs => (dataset_name(name), "zfs"),
            Self::Rbd => (dataset_name(name), "rbd"),
            Self::Backups => (snapshot_name(name), "PBS"),
        };
        found.ok_or_else(|| format!("unable to parse {noun} volume name '{name}'"))
    }

    /// The name of a linked clone: `file` belongs to `vmid` and is based on the volume named `base`.
    pub fn linked_name(self, base: &str, vmid: u32, file: &str) -> String {
        match self {
            Self::Files => format!("{base}/{vmid}/{file}"),
            Self::Zfs | Self::Rbd => format!("{base}/{file}"),
            Self::Lvm | Self::LvmThin | Self::Backups => file.to_owned(),
        }
    }

    /// The name of an image of its own: `100/vm-100-disk-0.raw` or `vm-100-disk-0`.
    pub fn plain_name(self, vmid: u32, file: &str) -> String {
        match self {
            Self::Files => format!("{vmid}/{file}"),
            _ => file.to_owned(),
        }
    }

    /// The file name of disk number `index`: `vm-100-disk-0.qcow2`, `subvol-100-disk-0`.
    pub fn disk_file(self, vmid: u32, index: u32, format: &str) -> String {
        let prefix = if format == "subvol" { "subvol" } else { "vm" };
        match self {
            Self::Files => format!("{prefix}-{vmid}-disk-{index}.{format}"),
            _ => format!("{prefix}-{vmid}-disk-{index}"),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `100/vm-100-disk-0.qcow2`, `iso/x.iso`, ...
fn file_name(name: &str) -> Result<Name<'_>, String> {
    let parts: Vec<&str> = name.split('/').collect();
    let found = match parts[..] {
        [base_owner, base_file, owner, file] if is_number(base_owner) && is_number(owner) => {
            image_file("0", base_file)?;
            let base = &name[..=base_owner.len() + base_file.len()];
            let clone = image_file(owner, file)?;
            let base = Some(base);
            Some(Name { base, ..clone })
        }
        [owner, file] if is_number(owner) => Some(image_file(owner, file)?),
        [folder, file] => other_file(folder, file),
        _ => None,
    };
    found.ok_or_else(|| format!("unable to parse directory volume name '{name}'"))
}

/// A file below `images/{owner}`.
fn image_file<'a>(owner: &str, file: &'a str) -> Result<Name<'a>, String> {
    let format = file.rsplit_once('.').map(|(_, format)| format);
    let valid = |format: &&str| matches!(*format, "raw" | "qcow2" | "vmdk" | "subvol");
    match format.filter(valid) {
        Some("qcow2") if file.starts_with("snap-") => {
            Err(format!("'{file}' is a snapshot filename, not a volume!"))
        }
        Some(format) if !file.contains(char::is_whitespace) => Ok(Name {
            content: "images",
            file,
            owner: owner.parse().ok(),
            base: None,
            is_base: file.starts_with("base-"),
            format,
        }),
        _ => Err(format!("unable to parse volume filename '{file}'")),
    }
}

/// A file in one of the other directories.
fn other_file<'a>(folder: &str, file: &'a str) -> Option<Name<'a>> {
    let (content, fits) = match folder {
        "iso" => ("iso", is_iso(file)),
        "vztmpl" => ("vztmpl", template_format(file).is_some()),
        "backup" => ("backup", backup_format(file).is_some()),
        "snippets" => ("snippets", true),
        "import" => ("import", import_format(file).is_some()),
        _ => return None,
    };
    let parts: Vec<&str> = file.splitn(4, '-').collect();
    let owner = match parts[..] {
        ["vzdump", "lxc" | "qemu" | "openvz", owner, _] if content == "backup" => {
            owner.parse().ok()
        }
        _ => None,
    };
    (fits && !file.is_empty()).then_some(Name {
        content,
        file,
        owner,
        base: None,
        is_base: false,
        format: import_format(file)
            .filter(|_| content == "import")
            .unwrap_or("raw"),
    })
}

/// Whether a file is an ISO image by its name.
pub fn is_iso(file: &str) -> bool {
    let file = file.to_ascii_lowercase();
    [".iso", ".img"]
        .iter()
        .any(|end| file.strip_suffix(end).is_some_and(|stem| !stem.is_empty()))
}

/// The format of a container template, as lists name it: `tzst`, `txz`, `tar`.
pub fn template_format(file: &str) -> Option<&'static str> {
    let known = [
        (".tar.gz", "tgz"),
        (".tar.xz", "txz"),
        (".tar.zst", "tzst"),
        (".tar.bz2", "tbz2"),
        (".tar", "tar"),
    ];
    known
        .iter()
        .find(|(end, _)| file.ends_with(end))
        .map(|(_, format)| *format)
}

/// The format of a backup: `vma.zst`, `tar.gz`, `tgz`, ...
pub fn backup_format(file: &str) -> Option<&str> {
    let packed = |text: &str| ["gz", "lzo", "zst", "bz2"].contains(&text);
    let (stem, last) = file.rsplit_once('.')?;
    match (last, stem.rsplit_once('.')) {
        ("tgz" | "tar" | "vma", _) => Some(last),
        (_, Some((stem, "tar" | "vma"))) if packed(last) => Some(&file[stem.len() + 1..]),
        _ => None,
    }
}

/// The format of an image to import.
pub fn import_format(file: &str) -> Option<&'static str> {
    let end = file.rsplit_once('.')?.1;
    let known = ["ova", "ovf", "qcow2", "raw", "vmdk"];
    known.into_iter().find(|format| *format == end)
}

/// `vm-100-disk-0`, with one of these prefixes.
fn lvm_name<'a>(file: &'a str, prefixes: &[&str]) -> Option<Name<'a>> {
    let parts: Vec<&str> = file.splitn(3, '-').collect();
    let [prefix, owner, _] = parts[..] else {
        return None;
    };
    let fits = prefixes.contains(&prefix) && is_number(owner) && !file.contains(['/', ' ']);
    fits.then_some(Name {
        content: "images",
        file,
        owner: owner.parse().ok(),
        base: None,
        is_base: prefix.starts_with("base"),
        format: if prefix.ends_with("vol") {
            "subvol"
        } else {
            "raw"
        },
    })
}

/// `vm-100-disk-0` or `base-900-disk-0/vm-100-disk-0`.
fn dataset_name(name: &str) -> Option<Name<'_>> {
    let prefixes = ["vm", "base", "subvol", "basevol"];
    match name.split_once('/') {
        None => lvm_name(name, &prefixes),
        Some((base, file)) => {
            lvm_name(base, &["base", "basevol"])?;
            let base = Some(base);
            lvm_name(file, &prefixes).map(|found| Name { base, ..found })
        }
    }
}

/// `backup/vm/100/2026-11-14T01:00:05Z`.
fn snapshot_name(name: &str) -> Option<Name<'_>> {
    let file = name.strip_prefix("backup/")?;
    let parts: Vec<&str> = file.split('/').collect();
    let [kind, owner, time] = parts[..] else {
        return None;
    };
    let format = match kind {
        "vm" => "pbs-vm",
        "ct" => "pbs-ct",
        "host" => "pbs-host",
        _ => return None,
    };
    (time.len() == 20 && time.ends_with('Z')).then_some(Name {
        content: "backup",
        file,
        owner: owner.parse().ok(),
        base: None,
        is_base: false,
        format,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linked_clone_names_its_base_by_type() {
        let cases = [
            (
                Layout::Files,
                "900/base-900-disk-0.qcow2/111/vm-111-disk-0.qcow2",
                Some("900/base-900-disk-0.qcow2"),
            ),
            (
                Layout::Zfs,
                "basevol-290-disk-0/subvol-205-disk-0",
                Some("basevol-290-disk-0"),
            ),
            (Layout::LvmThin, "vm-205-disk-0", None),
        ];
        for (layout, text, base) in cases {
            let name = layout.parse(text).expect("a name");
            assert_eq!(name.base, base, "{text}");
            let base = base.unwrap_or("base-900-disk-0");
            assert_eq!(
                layout.linked_name(base, name.owner.expect("an owner"), name.file),
                text
            );
        }
    }

    #[test]
    fn names_of_files_tell_their_content() {
        let content = |text| {
            Layout::Files
                .parse(text)
                .map(|name| (name.content, name.owner, name.format))
        };
        assert_eq!(content("100/bad.raw"), Ok(("images", Some(100), "raw")));
        assert_eq!(content("iso/T.ISO"), Ok(("iso", None, "raw")));
        let backup = "backup/vzdump-lxc-200-2026_11_15-19_02_13.tar.zst";
        assert_eq!(content(backup), Ok(("backup", Some(200), "raw")));
        assert_eq!(
            content("bogus"),
            Err("unable to parse directory volume name 'bogus'".to_owned())
        );
        assert_eq!(
            content("100/x.iso"),
            Err("unable to parse volume filename 'x.iso'".to_owned())
        );
    }

    #[test]
    fn formats_of_backups() {
        assert_eq!(backup_format("a.vma.zst"), Some("vma.zst"));
        assert_eq!(backup_format("a.tar"), Some("tar"));
        assert_eq!(backup_format("a.zst"), None);
    }
}
