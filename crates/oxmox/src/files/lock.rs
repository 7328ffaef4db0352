//! One oxmox at a time: whoever changes a file holds its lock from before it reads the file until it has written it.
//!
//! The lock is that of the system on a file beside the one that is meant, so that it ends with its process, however that
//! ends. Programs other than oxmox do not know of it: what they write meanwhile is found out when the file is written.
//!
//! It tells who holds it, and which directories were made for it: whoever comes after one that was killed takes these over.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tools::fault::{Fault, Kind};
use tools::store::create_private_dir;

use super::{behind_links, missing_dirs, remove_empty, unwritable};
use crate::cli::out;

/// How long one waits for another.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often it is looked whether the other one has come to its end.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What this process holds, for whoever ends it in the middle.
static HELD: Mutex<Vec<Held>> = Mutex::new(Vec::new());

/// The file beside, and the directories that were made for it.
type Held = (PathBuf, Vec<PathBuf>);

/// A file that no other oxmox changes while this is held.
#[derive(Debug)]
pub struct Lock {
    /// The file that is meant.
    about: PathBuf,
    /// The one beside it; `None`: nothing can be written there, so that there is nothing to lock.
    held: Option<(PathBuf, File)>,
    /// The directories that were made for it, each before those in it.
    dirs: Vec<PathBuf>,
}

/// Several of them.
#[derive(Debug, Default)]
pub struct Locks(Vec<Lock>);

impl Locks {
    /// This one, too.
    pub fn add(&mut self, path: &Path) -> Result<(), Fault> {
        let about = behind_links(path);
        if self.0.iter().all(|lock| lock.about != about) {
            self.0.push(Lock::on(&about)?);
        }
        Ok(())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Only the first of them are still needed.
    pub fn keep(&mut self, count: usize) {
        self.0.truncate(count);
    }

    /// The directories that were made for them, each before those in it.
    pub fn dirs(&self) -> Vec<PathBuf> {
        self.0.iter().flat_map(|lock| lock.dirs.clone()).collect()
    }
}

impl Lock {
    /// Waits a little for whoever has it, and says so.
    pub fn on(path: &Path) -> Result<Self, Fault> {
        Self::within(path, PATIENCE)
    }

    fn within(path: &Path, patience: Duration) -> Result<Self, Fault> {
        let about = behind_links(path);
        let beside = beside(&about);
        let mut lock = Self {
            dirs: Vec::new(),
            held: None,
            about,
        };
        let until = Instant::now() + patience;
        let mut is_told = false;
        loop {
            // Again each time: whoever had it may have taken them along since the last look.
            for dir in missing_dirs(&beside) {
                if !lock.dirs.contains(&dir) {
                    lock.dirs.push(dir);
                }
            }
            match taken(&beside) {
                Ok(Some(file)) => {
                    lock.hold(beside, file);
                    return Ok(lock);
                }
                Ok(None) if Instant::now() < until => {
                    if !is_told {
                        let (who, what) = (holder(&beside), lock.about.display());
                        out::say(format_args!("waiting for {who}, which is changing {what}"));
                        is_told = true;
                    }
                    pause();
                }
                Ok(None) => {
                    let (who, what) = (holder(&beside), lock.about.display());
                    return Err(Fault::new(
                        Kind::Conflict,
                        format!("{who} is changing {what}; nothing was changed"),
                    )
                    .hint("wait until it has ended, and run the command again"));
                }
                // Whoever may not write there does not get that far.
                Err(error) if is_closed(&error) => return Ok(lock),
                Err(error) => return Err(unwritable(&lock.about, &error)),
            }
        }
    }
}

impl Lock {
    /// The lock on this file, if there is one that nobody holds any more: what is left of a process that was killed.
    pub(super) fn abandoned(path: &Path) -> Option<Self> {
        let about = behind_links(path);
        let beside = beside(&about);
        let mut file = fs::OpenOptions::new();
        let file = file.read(true).write(true).open(&beside).ok()?;
        file.try_lock().ok()?;
        if !is_still(&beside, &file) {
            return None;
        }
        let mut lock = Self {
            about,
            held: None,
            dirs: Vec::new(),
        };
        lock.hold(beside, file);
        Some(lock)
    }

    /// It is ours now, with the directories of one who was killed, if somebody was.
    fn hold(&mut self, beside: PathBuf, mut file: File) {
        let mut said = String::new();
        let _ = file.read_to_string(&mut said);
        for dir in said.lines().skip(1).map(PathBuf::from) {
            if beside.starts_with(&dir) && !self.dirs.contains(&dir) {
                self.dirs.push(dir);
            }
        }
        said = std::process::id().to_string();
        let dirs = self.dirs.iter().filter_map(|dir| dir.to_str());
        for dir in dirs.filter(|dir| !dir.contains('\n')) {
            said.push('\n');
            said.push_str(dir);
        }
        let _ = file.set_len(0);
        let _ = file.rewind();
        let _ = file.write_all(said.as_bytes());
        held().push((beside.clone(), self.dirs.clone()));
        self.held = Some((beside, file));
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some((beside, file)) = self.held.take() {
            held().retain(|(known, _)| *known != beside);
            // Nobody was killed.
            let _ = file.set_len(0);
            // While it is still held: whoever waits for it looks whether it is still there.
            unlink(&beside);
            drop(file);
        }
        remove_empty(&self.dirs);
    }
}

/// For whoever ends the process without coming back: nothing of what is held here is left behind.
pub fn let_go() {
    for (beside, dirs) in held().drain(..) {
        unlink(&beside);
        remove_empty(&dirs);
    }
}

fn held() -> std::sync::MutexGuard<'static, Vec<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(
    clippy::disallowed_methods,
    reason = "commands wait for each other before they have a runtime, or on a thread of its own"
)]
fn pause() {
    std::thread::sleep(LOOK_AGAIN);
}

/// `.config.toml.oxmox-lock`
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".oxmox-lock");
    path.with_file_name(name)
}

/// `None`: another process has it.
fn taken(beside: &Path) -> io::Result<Option<File>> {
    if let Some(dir) = beside.parent() {
        create_private_dir(dir)?;
    }
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = match options.open(beside) {
        // Its directory went together with another one's lock.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        // A file system without locks: what is written meanwhile is still found out.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    Ok(is_still(beside, &file).then_some(file))
}

/// Whether a file is still the one at this path, and not one that was removed since it was opened.
#[cfg(unix)]
fn is_still(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (fs::metadata(path), file.metadata()) {
        (Ok(there), Ok(here)) => (there.dev(), there.ino()) == (here.dev(), here.ino()),
        _ => false,
    }
}

#[cfg(unix)]
fn unlink(beside: &Path) {
    let _ = fs::remove_file(beside);
}

/// There it is never removed: one that was opened before cannot be told from one that was made since.
#[cfg(not(unix))]
fn is_still(_: &Path, _: &File) -> bool {
    true
}

#[cfg(not(unix))]
fn unlink(_: &Path) {}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

fn holder(beside: &Path) -> String {
    let said = fs::read_to_string(beside).unwrap_or_default();
    match said.lines().next().map(str::parse::<u32>) {
        Some(Ok(id)) => format!("another oxmox (process {id})"),
        _ => "another oxmox".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elsewhere the file beside stays: see [`unlink`].
    #[cfg(unix)]
    #[test]
    fn one_at_a_time_and_nothing_is_left_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/er/config.toml");
        let first = Lock::on(&path).unwrap();
        let fault = Lock::within(&path, Duration::ZERO).unwrap_err();
        assert_eq!(fault.kind, Kind::Conflict);
        let me = format!("(process {})", std::process::id());
        assert!(fault.message.contains(&me), "{fault}");
        drop(first);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        drop(Lock::within(&path, Duration::ZERO).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn what_was_written_meanwhile_keeps_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/config.toml");
        let lock = Lock::on(&path).unwrap();
        fs::write(&path, "x").unwrap();
        drop(lock);
        let left = fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(left.count(), 1);
    }

    #[test]
    fn a_lock_whose_holder_was_killed_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(beside(&path), "1").unwrap();
        drop(Lock::within(&path, Duration::ZERO).unwrap());
    }

    #[test]
    fn who_waited_gets_it_when_the_other_one_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, "0").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let _lock = Lock::within(&path, Duration::from_mins(1)).unwrap();
                        let count: u32 = fs::read_to_string(&path).unwrap().parse().unwrap();
                        fs::write(&path, (count + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&path).unwrap(), "80");
    }
}
