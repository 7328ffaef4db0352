//! The file of a store, and whether it is still the one that was opened.

use std::path::{Path, PathBuf};

use super::database::Trouble;

/// A path, and the file that was there when it was opened. SQLite keeps the file open, so that no other file gets its
/// inode while this is in use.
#[derive(Debug, Clone)]
pub(super) struct Place {
    path: PathBuf,
    identity: Identity,
}

/// Which file it is: device and inode.
#[cfg(unix)]
type Identity = (u64, u64);
/// There is a file.
#[cfg(not(unix))]
type Identity = ();

impl Place {
    /// The file that is at this path now.
    pub(super) fn of(path: &Path) -> Result<Self, Trouble> {
        let identity = identity(path)
            .ok_or_else(|| Trouble(format!("there is no file {}", path.display())))?;
        Ok(Self {
            path: path.to_owned(),
            identity,
        })
    }

    /// Whether the file that was opened is still at its path.
    pub(super) fn is_kept(&self) -> bool {
        identity(&self.path) == Some(self.identity)
    }

    /// Fails once the file was replaced or removed: other processes do not see what is written to it any more.
    pub(super) fn check(&self) -> Result<(), Trouble> {
        if self.is_kept() {
            return Ok(());
        }
        Err(Trouble(format!(
            "{} was replaced or removed while oxmox was using it; nothing is changed until oxmox is restarted",
            self.path.display()
        )))
    }
}

// Not by opening it: closing a second descriptor of a file would end the locks that SQLite holds on it.
fn identity(path: &Path) -> Option<Identity> {
    let metadata = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    metadata.is_file().then_some(())
}
