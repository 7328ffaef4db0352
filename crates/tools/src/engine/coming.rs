//! A file that is being received. It has its name only once it is whole: until then that begins with `part-`, and the file
//! is locked, so that one which nobody holds is known to have been left behind by a process that died.

use std::fs::{DirEntry, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::confide::first_free;
use crate::keys;
use crate::store::create_private_dir;

/// What the name of a file begins with that is not whole. A whole one begins with the time, whatever it is called.
const PART: &str = "part-";

/// Such a file. It goes away unless it is kept.
pub(super) struct Coming {
    file: File,
    part: PathBuf,
    /// Where it will be.
    whole: PathBuf,
    size: u64,
    got: u64,
    sum: Sha256,
    /// Why it cannot be kept.
    trouble: Option<String>,
}

/// One that is whole and has its name.
pub(super) struct Kept {
    pub(super) path: PathBuf,
    pub(super) sha256: String,
}

impl Coming {
    /// Makes an empty one in this directory of ours, and removes what was left behind there. Its name begins with this
    /// time, and nobody else's is the same.
    pub(super) fn make(dir: &Path, now: i64, name: &str, size: u64) -> io::Result<Self> {
        create_private_dir(dir)?;
        remove_left_behind(dir);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let (file, part, whole) = first_free(|_| {
            let name = format!("{now}-{}-{name}", keys::short_id());
            let (part, whole) = (dir.join(format!("{PART}{name}")), dir.join(name));
            let file = options.open(&part)?;
            file.lock()?;
            // Whoever came upon it before it was locked has removed it.
            if part.try_exists()? {
                Ok((file, part, whole))
            } else {
                Err(io::ErrorKind::AlreadyExists.into())
            }
        })?;
        Ok(Self {
            file,
            part,
            whole,
            size,
            got: 0,
            sum: Sha256::new(),
            trouble: None,
        })
    }

    /// How many bytes there are.
    pub(super) fn got(&self) -> u64 {
        self.got
    }

    /// How much of it has come once these bytes are there.
    pub(super) fn percent_with(&self, bytes: &[u8]) -> u64 {
        let got = self.got.saturating_add(bytes.len() as u64);
        got.saturating_mul(100) / self.size.max(1)
    }

    /// The next piece.
    pub(super) fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.got += bytes.len() as u64;
        let taken = self.write(bytes);
        self.trouble = taken.as_ref().err().map(ToString::to_string);
        taken
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.got > self.size {
            return Err(io::Error::other("it is longer than the backup says"));
        }
        self.sum.update(bytes);
        self.file.write_all(bytes)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.got == self.size && self.trouble.is_none()
    }

    /// Why it cannot be kept, if something of this machine stands in the way.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Gives it its name.
    pub(super) fn keep(self) -> io::Result<Kept> {
        self.file.sync_all()?;
        std::fs::rename(&self.part, &self.whole)?;
        Ok(Kept {
            path: self.whole.clone(),
            sha256: keys::hex(&self.sum.clone().finalize()),
        })
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        // Not there if it was kept. What cannot be removed is still nobody else's to read.
        let _ = std::fs::remove_file(&self.part);
    }
}

/// Removes the parts of files in this directory that nobody receives any more.
pub(super) fn remove_left_behind(dir: &Path) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    let is_part = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(PART);
    for part in entries.flatten().filter(is_part) {
        let part = part.path();
        // Held until it is removed: whoever has just made it sees that it is gone.
        if let Ok(file) = File::open(&part)
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(&part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        let name = |entry: io::Result<DirEntry>| entry.unwrap().file_name();
        entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect()
    }

    #[test]
    fn it_knows_how_much_of_it_there_is() {
        let dir = tempfile::tempdir().unwrap();
        let mut coming = Coming::make(dir.path(), 1, "hosts.txt", 8).unwrap();
        assert_eq!((coming.got(), coming.percent_with(b"")), (0, 0));
        coming.take(b"ab").unwrap();
        assert_eq!((coming.got(), coming.percent_with(b"cd")), (2, 50));
        let empty = Coming::make(dir.path(), 1, "empty", 0).unwrap();
        assert_eq!(empty.percent_with(b""), 0);
    }

    #[test]
    fn it_has_its_name_only_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let mut coming = Coming::make(dir.path(), 1, "hosts.txt", 4).unwrap();
        coming.take(b"ab").unwrap();
        let [name] = &names(dir.path())[..] else {
            panic!("one file")
        };
        assert!(name.starts_with("part-1-"), "{name}");
        coming.take(b"cd").unwrap();
        let kept = coming.keep().unwrap();
        assert_eq!(std::fs::read(&kept.path).unwrap(), b"abcd");
        let [name] = &names(dir.path())[..] else {
            panic!("one file")
        };
        assert!(
            name.starts_with("1-") && name.ends_with("-hosts.txt"),
            "{name}"
        );
    }

    #[test]
    fn one_that_is_given_up_goes_away() {
        let dir = tempfile::tempdir().unwrap();
        drop(Coming::make(dir.path(), 1, "hosts", 4).unwrap());
        assert_eq!(names(dir.path()), [""; 0]);
    }

    #[test]
    fn the_next_one_removes_what_was_left_behind_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("part-0-x-left"), b"half").unwrap();
        let whole = Coming::make(dir.path(), 0, "part-whole.part", 0).unwrap();
        whole.keep().unwrap();
        let _first = Coming::make(dir.path(), 1, "first", 4).unwrap();
        let _second = Coming::make(dir.path(), 1, "second", 4).unwrap();
        let mut names = names(dir.path());
        names.sort_by_key(|name| name.rsplit('-').next().map(str::to_owned));
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(names[0].ends_with("-first"), "{names:?}");
        assert!(names[1].ends_with("-second"), "{names:?}");
        assert!(names[2].ends_with("-part-whole.part"), "{names:?}");
    }
}
