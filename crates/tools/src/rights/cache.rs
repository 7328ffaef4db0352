//! Rights on disk: a file per cluster and token, for its owner's eyes only.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use pve::{Permissions, Reader};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::keys::hex;
use crate::store::create_private_dir;

/// Whose rights they are: a token at a cluster. Another token, another user or another address is somebody else. The secret
/// has no part in it: rights belong to the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The cluster's name in the configuration.
    pub cluster: String,
    hash: String,
}

impl Key {
    /// Of this identity at these addresses.
    pub fn new(cluster: &str, hosts: &[String], identity: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [cluster, identity]
            .into_iter()
            .chain(hosts.iter().map(String::as_str))
        {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        Self {
            cluster: cluster.to_owned(),
            hash: hex(&hash.finalize()),
        }
    }

    /// Of the one who asks by this Reader.
    pub fn of(cluster: &str, pve: &Reader) -> Self {
        let hosts: Vec<_> = pve.hosts().iter().map(ToString::to_string).collect();
        Self::new(cluster, &hosts, &pve.identity())
    }

    fn file(&self, dir: &Path) -> PathBuf {
        dir.join(format!("{}.json", self.hash))
    }
}

/// What is in a file.
#[derive(Serialize, Deserialize)]
struct Kept {
    cluster: String,
    /// When it was learnt, in Unix seconds.
    at: i64,
    permissions: Permissions,
}

/// Where they are in a state directory.
pub(super) fn dir(state: &Path) -> PathBuf {
    state.join("rights")
}

/// What cannot be read is not known.
pub(super) fn read(dir: &Path, key: &Key) -> Option<Permissions> {
    let text = fs::read(key.file(dir)).ok()?;
    let kept: Kept = serde_json::from_slice(&text).ok()?;
    (kept.cluster == key.cluster).then_some(kept.permissions)
}

/// Whole or not at all; what was known of the cluster by another token goes.
pub(super) fn write(dir: &Path, key: &Key, held: &Permissions, now: i64) -> io::Result<()> {
    create_private_dir(dir)?;
    let kept = Kept {
        cluster: key.cluster.clone(),
        at: now,
        permissions: held.clone(),
    };
    let file = key.file(dir);
    let half = dir.join(format!("{}.{}.half", key.hash, std::process::id()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(&half)?;
    out.write_all(&serde_json::to_vec(&kept)?)?;
    drop(out);
    fs::rename(&half, &file)?;
    forget_others(dir, key);
    Ok(())
}

fn forget_others(dir: &Path, key: &Key) {
    let own = key.file(dir);
    for path in of_cluster(dir, &key.cluster).filter(|path| *path != own) {
        let _ = fs::remove_file(path);
    }
}

/// Nothing is known of this cluster any more.
pub(super) fn forget(dir: &Path, cluster: &str) {
    for path in of_cluster(dir, cluster) {
        let _ = fs::remove_file(path);
    }
    // Only if nothing else is in it.
    let _ = fs::remove_dir(dir);
}

fn of_cluster(dir: &Path, cluster: &str) -> impl Iterator<Item = PathBuf> {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    files.map(|entry| entry.path()).filter(move |path| {
        fs::read(path)
            .ok()
            .and_then(|text| serde_json::from_slice::<Kept>(&text).ok())
            .is_some_and(|kept| kept.cluster == cluster)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(identity: &str, host: &str) -> Key {
        Key::new("lab", &[host.to_owned()], identity)
    }

    #[test]
    fn another_token_or_address_is_somebody_else() {
        let one = key("bob@pve!ci", "pve1:8006");
        assert_eq!(one, key("bob@pve!ci", "pve1:8006"));
        assert_ne!(one, key("bob@pve!other", "pve1:8006"));
        assert_ne!(one, key("bob@pve!ci", "pve9:8006"));
    }

    #[test]
    fn a_new_token_makes_the_old_ones_rights_go() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (key("bob@pve!ci", "h:1"), key("bob@pve!new", "h:1"));
        write(dir.path(), &old, &Permissions::default(), 0).unwrap();
        assert!(read(dir.path(), &old).is_some());
        write(dir.path(), &new, &Permissions::default(), 0).unwrap();
        assert!(read(dir.path(), &new).is_some());
        assert!(read(dir.path(), &old).is_none());
        forget(dir.path(), "another");
        assert!(read(dir.path(), &new).is_some());
        forget(dir.path(), "lab");
        assert!(read(dir.path(), &new).is_none() && !dir.path().exists());
        create_private_dir(dir.path()).unwrap();
        fs::write(new.file(dir.path()), "half a fi").unwrap();
        assert!(read(dir.path(), &new).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_them() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let (dir, key) = (dir.path().join("rights"), key("bob@pve!ci", "h:1"));
        write(&dir, &key, &Permissions::default(), 0).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&key.file(&dir))), (0o700, 0o600));
    }
}
