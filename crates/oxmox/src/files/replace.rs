//! One file in the place of another: for those who look, all at once; for those who may look, the same as before.

use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::leftover;

/// Puts a whole file at this path, for the owner, the group and everybody whom `like` is for. Without one like it, or if it
/// is private, only its owner may read it.
pub(super) fn replace(path: &Path, text: &str, like: &Path, private: bool) -> io::Result<()> {
    New::written(path, text, like, private)?.put()
}

/// A file that is written whole, and is to take another's place. Let go of before that, it is removed.
pub(super) struct New<'a> {
    draft: PathBuf,
    path: &'a Path,
    /// Shows whoever sweeps that somebody is still at it, also where the number of the process tells nothing.
    file: File,
}

impl<'a> New<'a> {
    pub(super) fn written(
        path: &'a Path,
        text: &str,
        like: &Path,
        private: bool,
    ) -> io::Result<Self> {
        leftover::sweep(path);
        let draft = leftover::draft_of(path);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&draft)?;
        let _ = file.try_lock();
        let written = file.write_all(text.as_bytes());
        let new = Self { draft, path, file };
        written?;
        if let Ok(data) = fs::metadata(like) {
            share(&new.file, &data, private)?;
        }
        new.file.sync_all()?;
        Ok(new)
    }

    pub(super) fn put(self) -> io::Result<()> {
        fs::rename(&self.draft, self.path)?;
        // Which file stands there is written down in the directory: a power cut must not bring the old one back.
        #[cfg(unix)]
        if let Some(dir) = self.path.parent() {
            let _ = File::open(dir).and_then(|dir| dir.sync_all());
        }
        Ok(())
    }
}

impl Drop for New<'_> {
    fn drop(&mut self) {
        // It is not there any more if it took its place.
        let _ = fs::remove_file(&self.draft);
    }
}

/// A service reads what root writes for it by the owner or the group of the file.
#[cfg(unix)]
fn share(file: &File, like: &Metadata, private: bool) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};

    let (owner, group) = (like.uid(), like.gid());
    // Only root gives files away; a group that one is in may be kept by everybody.
    let is_for_the_group =
        fchown(file, Some(owner), Some(group)).is_ok() || fchown(file, None, Some(group)).is_ok();
    let mode = like.mode() & 0o777;
    let mode = match (private, is_for_the_group) {
        (true, _) => 0o600,
        (false, true) => mode,
        // Another group than the one that it was shared with gets what everybody gets.
        (false, false) => mode & 0o707 | (mode & 0o007) << 3,
    };
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn share(file: &File, like: &Metadata, private: bool) -> io::Result<()> {
    if private {
        return Ok(());
    }
    file.set_permissions(like.permissions())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

    use super::*;

    /// Who a file is for.
    fn of(path: &Path) -> (u32, u32, u32) {
        let data = fs::metadata(path).unwrap();
        (data.uid(), data.gid(), data.mode() & 0o777)
    }

    #[test]
    fn a_service_can_still_read_what_root_wrote_for_it() {
        let dir = tempfile::tempdir().unwrap();
        if of(dir.path()).0 != 0 {
            eprintln!("skipped: only root can give a file to a service");
            return;
        }
        let at = |name: &str, mode: u32| {
            let path = dir.path().join(name);
            fs::write(&path, "before").unwrap();
            chown(&path, Some(61_001), Some(61_002)).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let config = at("config.toml", 0o640);
        replace(&config, "after", &config, false).unwrap();
        assert_eq!(of(&config), (61_001, 61_002, 0o640));
        assert_eq!(fs::read_to_string(&config).unwrap(), "after");
        let copy = dir.path().join("copy");
        replace(&copy, "before", &config, false).unwrap();
        assert_eq!(of(&copy), of(&config));
        let secret = at("home.secret", 0o644);
        replace(&secret, "after", &secret, true).unwrap();
        assert_eq!(of(&secret), (61_001, 61_002, 0o600));
    }

    #[test]
    fn permissions_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for mode in [0o600, 0o644, 0o664] {
            fs::write(&path, "before").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            replace(&path, "after", &path, false).unwrap();
            assert_eq!(of(&path).2, mode);
        }
    }
}
