//! One file: as it was when a change was planned, and open.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::sums::Sums;

/// How much is read at a time for the checksum.
const PIECE: usize = 1 << 20;

/// A file as it was when a change was planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalFile {
    /// Its real path.
    pub path: String,
    /// Its bytes.
    pub size: u64,
    /// SHA-256 of what is in it, in hex.
    pub sha256: String,
    /// What tells whether it is still the same, without reading it.
    stamp: String,
}

impl LocalFile {
    /// Reads it once, unless its checksum is `known`. `tell` hears how many bytes were read, and may end it.
    pub(super) fn of(
        opened: &Opened,
        path: &Path,
        known: &Sums,
        tell: &dyn Fn(u64) -> io::Result<()>,
    ) -> io::Result<Self> {
        let utf8 = path
            .to_str()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "its path is not UTF-8"))?;
        let (sha256, now) = match known.of(path, &opened.stamp) {
            Some(sha256) => (sha256, opened.stamp.clone()),
            None => (opened.checksum(tell)?, stamp(&opened.file.metadata()?)),
        };
        if now != opened.stamp {
            return Err(io::Error::other("somebody is writing to it"));
        }
        known.keep(path, &now, &sha256);
        Ok(Self {
            path: utf8.to_owned(),
            size: opened.size,
            sha256,
            stamp: now,
        })
    }

    /// Whether this is the file, unchanged.
    pub(super) fn is(&self, opened: &Opened) -> bool {
        self.stamp == opened.stamp && self.size == opened.size
    }

    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit(['/', '\\']).next().unwrap_or_default()
    }
}

/// A file that is open for reading.
#[derive(Debug)]
pub struct Opened {
    file: File,
    size: u64,
    stamp: String,
}

impl Opened {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let told = file.metadata()?;
        if !told.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        Ok(Self {
            size: told.len(),
            stamp: stamp(&told),
            file,
        })
    }

    /// How many names it has on its disk: 1, unless it has hard links. Read now, from the open file.
    pub(super) fn names(&self) -> io::Result<u64> {
        #[cfg(unix)]
        return Ok(std::os::unix::fs::MetadataExt::nlink(
            &self.file.metadata()?,
        ));
        // Not told by the standard library.
        #[cfg(not(unix))]
        return Ok(1);
    }

    /// Whether the file at this path is the one that is open.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        let there = path.symlink_metadata();
        there.is_ok_and(|there| stamp(&there) == self.stamp)
    }

    /// Its bytes, as many as there were when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads what lies at `offset`, as much of it as fits. No reader moves another one's place.
    pub fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(&self.file, into, offset);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(&self.file, into, offset);
    }

    fn checksum(&self, tell: &dyn Fn(u64) -> io::Result<()>) -> io::Result<String> {
        let mut sum = Sha256::new();
        let mut piece = vec![0; PIECE];
        let mut offset = 0;
        loop {
            match self.read_at(offset, &mut piece)? {
                0 => return Ok(crate::keys::hex(&sum.finalize())),
                count => {
                    sum.update(&piece[..count]);
                    offset += count as u64;
                    tell(offset)?;
                }
            }
        }
    }
}

/// What changes with a file: when it was written to, and where it lies on the disk.
fn stamp(told: &Metadata) -> String {
    let size = told.len();
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        format!(
            "{size} {}:{} {}.{:09} {}.{:09}",
            told.dev(),
            told.ino(),
            told.mtime(),
            told.mtime_nsec(),
            told.ctime(),
            told.ctime_nsec()
        )
    }
    #[cfg(not(unix))]
    {
        format!(
            "{size} {:?} {:?}",
            told.modified().ok(),
            told.created().ok()
        )
    }
}
