//! Files of this machine that may be sent to PVE: regular files below the directories that a person named, and no others.
//!
//! A path counts by where it leads: a link out of such a directory leads out of it. What lies outside is not even told from
//! what does not exist. A file with a second name (a hard link) is refused, since that may lie outside. A file is looked at when a change is planned and again when it is sent, and must be the same.

mod file;
mod sums;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc::UnboundedSender;

pub use file::{LocalFile, Opened};
use sums::Sums;

use crate::engine::Progress;

use crate::fault::{Fault, Kind};
use crate::words;

/// How many files are named in an error.
const NAMED: usize = 8;

/// The directories that files may be sent from; none unless a person says so.
#[derive(Debug, Clone, Default)]
pub struct Uploads {
    dirs: Vec<PathBuf>,
    /// What lies below these is never sent, unless a directory of its own in there is named.
    own: Vec<PathBuf>,
    sums: Arc<Sums>,
}

impl Uploads {
    /// Files below these directories.
    pub fn from_dirs(dirs: Vec<PathBuf>) -> Self {
        Self {
            dirs,
            ..Self::default()
        }
    }

    /// None of these files, nor of what lies below these directories: oxmox's own state and configuration, and the secrets
    /// that this names.
    #[must_use]
    pub fn but_not(mut self, own: Vec<PathBuf>) -> Self {
        self.own = own;
        self
    }

    /// Finds a file by its whole path, or by its path below one of the directories, and reads it once for its checksum. That
    /// may take minutes: `news` hears how far it is, and it ends with nobody left to hear.
    pub async fn find(
        &self,
        wanted: &str,
        news: Option<UnboundedSender<Progress>>,
    ) -> Result<LocalFile, Fault> {
        let (uploads, wanted) = (self.clone(), wanted.to_owned());
        off_the_runtime(move || {
            let path = uploads.locate(&wanted)?;
            let opened = uploads.open_at(&path)?;
            let refused = |error: std::io::Error| {
                let message = format!("{} cannot be read: {error}", shown(&path));
                Fault::new(Kind::Conflict, message)
            };
            if opened.size() == 0 {
                let message = format!("{} is empty", shown(&path));
                return Err(Fault::bad_input(message).hint("name a file that holds something"));
            }
            let tell = reading(&path, opened.size(), news);
            LocalFile::of(&opened, &path, &uploads.sums, &tell).map_err(refused)
        })
        .await
    }

    /// The same file as it was planned for, open; the error says what is wrong with it by now.
    pub async fn open(&self, planned: &LocalFile) -> Result<Opened, String> {
        let (uploads, planned) = (self.clone(), planned.clone());
        let opened = off_the_runtime(move || {
            let path = PathBuf::from(&planned.path);
            let opened = uploads.open_at(&path)?;
            if planned.is(&opened) {
                return Ok(opened);
            }
            let message = format!("{} has changed since it was planned", shown(&path));
            Err(Fault::new(Kind::Conflict, message))
        });
        opened.await.map_err(|fault| fault.message)
    }

    /// Where a name leads, if that is below one of the directories.
    fn locate(&self, wanted: &str) -> Result<PathBuf, Fault> {
        if self.dirs.is_empty() {
            return Err(Fault::refused(
                "no directory of this machine may be uploaded from",
            )
            .hint(
                "a person adds a line like upload_from = [\"/srv/images\"] to oxmox's config.toml, above its first table, and starts it again",
            ));
        }
        let candidates = self.dirs.iter().map(|dir| dir.join(wanted));
        let mut found = candidates.filter_map(|path| self.inside(&path));
        found.next().ok_or_else(|| self.not_there(wanted))
    }

    /// The real path behind a name, if it is below one of the directories' real paths.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        let mut dirs = self.dirs.iter().filter_map(|dir| dir.canonicalize().ok());
        let own: Vec<_> = (self.own.iter())
            .filter_map(|own| own.canonicalize().ok())
            .filter(|own| real.starts_with(own))
            .collect();
        let apart = |dir: &PathBuf| (own.iter()).all(|own| dir != own && dir.starts_with(own));
        dirs.any(|dir| real.starts_with(&dir) && apart(&dir))
            .then_some(real)
    }

    /// Opens a real path. It is looked at again once it is open: what is read is a plain file, and the one that is there.
    fn open_at(&self, path: &Path) -> Result<Opened, Fault> {
        let no_file = |what: String| {
            Fault::bad_input(format!("{} {what}", shown(path)))
                .hint("name a regular file below a directory of upload_from")
        };
        // Before it is opened: opening a pipe would wait for somebody at its other end.
        match path.symlink_metadata() {
            Ok(told) if told.is_file() => {}
            Ok(told) if told.is_dir() => return Err(no_file("is a directory".to_owned())),
            Ok(_) => return Err(no_file("is no regular file".to_owned())),
            Err(error) => return Err(no_file(format!("cannot be read: {error}"))),
        }
        let opened =
            Opened::new(path).map_err(|error| no_file(format!("cannot be read: {error}")))?;
        // Another of its names may lie outside, and be that of a secret.
        match opened.names() {
            Ok(..=1) => {}
            Ok(names) => {
                let message = format!(
                    "{} has {names} names (hard links), and a file with more than one is not uploaded",
                    shown(path)
                );
                return Err(Fault::refused(message)
                    .hint("a person makes a copy of it in that directory (`cp FILE COPY`); then name the copy"));
            }
            Err(error) => return Err(no_file(format!("cannot be read: {error}"))),
        }
        let same = self.inside(path).is_some_and(|real| real == path) && opened.is_at(path);
        if same {
            Ok(opened)
        } else {
            Err(no_file("is not where it was a moment ago".to_owned()))
        }
    }

    fn not_there(&self, wanted: &str) -> Fault {
        let dirs: Vec<_> = self.dirs.iter().map(|dir| shown(dir)).collect();
        let dirs = words::list(&dirs);
        let message = format!("there is no file {} below {dirs}", words::clip(wanted, 200));
        let mut names: Vec<String> = self.dirs.iter().flat_map(|dir| files_in(dir)).collect();
        names.sort();
        let more = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        let hint = if names.is_empty() {
            format!("a person puts the file into {dirs}, or adds its directory to upload_from")
        } else {
            format!("there are {}", words::list(&names))
        };
        Fault::new(Kind::NotFound, message).hint(hint)
    }
}

/// Tells each percent of a file that is being read.
fn reading(
    path: &Path,
    size: u64,
    news: Option<UnboundedSender<Progress>>,
) -> impl Fn(u64) -> std::io::Result<()> + use<> {
    let name = shown(path);
    let told = AtomicU64::new(0);
    move |read| {
        let percent = read.saturating_mul(100) / size.max(1);
        let (Some(news), false) = (&news, told.swap(percent, Ordering::Relaxed) == percent) else {
            return Ok(());
        };
        let (read, size) = (words::size(read), words::size(size));
        // No share: what is counted afterwards is the way to the storage.
        let progress = Progress {
            fraction: None,
            message: format!("Read {name} for its checksum: {read} of {size}"),
        };
        let nobody = |_| std::io::Error::other("the caller has gone");
        news.send(progress).map_err(nobody)
    }
}

/// The names of the regular files of a directory, links left out.
fn files_in(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| words::clip(&name, 80))
        .collect()
}

fn shown(path: &Path) -> String {
    words::clip(&path.display().to_string(), 200)
}

/// Disks may be slow, and files large.
async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Fault::new(Kind::Internal, error.to_string())))
}

#[cfg(test)]
mod tests;
