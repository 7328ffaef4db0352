//! What a storage holds.

use serde::{Deserialize, Serialize};

use crate::id::Vmid;
use crate::lenient;

/// An entry of `/nodes/{node}/storage/{storage}/content`: a disk, backup, ISO image, container template, …
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Its id: `nas:iso/debian.iso`.
    #[serde(deserialize_with = "lenient::text")]
    pub volid: String,
    /// `images`, `rootdir`, `backup`, `iso`, `vztmpl`, `snippets` or `import`.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub content: Option<String>,
    /// `raw`, `qcow2`, `iso`, `tar.zst`, `pbs-vm`, …
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub format: Option<String>,
    /// Bytes.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub size: Option<u64>,
    /// The guest that it belongs to.
    #[serde(default, deserialize_with = "lenient::opt_parsed")]
    pub vmid: Option<Vmid>,
    /// When it was made, in Unix seconds; not every storage knows.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub ctime: Option<u64>,
    /// What a linked clone's disk is based on.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub parent: Option<String>,
    /// What somebody wrote about a backup.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub notes: Option<String>,
    /// True for a backup that PVE does not delete.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub protected: bool,
}

impl Volume {
    /// The part of its id behind the last slash or, without one, behind the storage.
    pub fn file_name(&self) -> &str {
        let at = self.volid.rfind('/').or_else(|| self.volid.find(':'));
        at.map_or(self.volid.as_str(), |at| &self.volid[at + 1..])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn volumes_of_any_storage_are_read() {
        let read = |value| serde_json::from_value::<Volume>(value).unwrap();
        let iso = read(json!({"volid": "nas:iso/debian.iso", "content": "iso", "size": 5}));
        assert_eq!((iso.file_name(), iso.size), ("debian.iso", Some(5)));
        let disk = read(json!({"volid": "tank:vm-100-disk-0", "vmid": "100", "parent": null}));
        assert_eq!(disk.file_name(), "vm-100-disk-0");
        assert_eq!(disk.vmid.unwrap().get(), 100);
    }
}
