//! A file that holds a secret: a regular one, and short. What has no end, or waits for a writer, would hold up everybody.

use std::fs::{self, File, FileType, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use tools::fault::Fault;
use tools::private_file;

use super::token_secret;
use crate::program::MOST;

/// What stands in it. Never waits. `said_by`: the key or the flag that names it.
pub(crate) fn text(path: &Path, said_by: &str) -> Result<String, Fault> {
    let shown = path.display();
    let unreadable = |error: io::Error| {
        misplaced(path, said_by)
            .unwrap_or_else(|| Fault::bad_input(format!("{shown} cannot be read: {error}")))
    };
    // Looked at before it is opened, which does something to some devices, and after, when it cannot be another any more.
    check(path, &fs::metadata(path).map_err(unreadable)?)?;
    let file = open(path).map_err(unreadable)?;
    let opened = file.metadata().map_err(unreadable)?;
    check(path, &opened)?;
    private_file::check(path, &opened)?;
    let mut bytes = Vec::new();
    // One more shows that there is more.
    file.take(MOST as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() > MOST {
        let what = format!(
            "{shown} is longer than {} KiB; a secret is one line",
            MOST >> 10
        );
        return Err(
            Fault::bad_input(what).hint("name the file that holds the secret and nothing else")
        );
    }
    String::from_utf8(bytes).map_err(|_| {
        Fault::bad_input(format!("{shown} cannot be read: it does not hold text"))
            .hint("name the file that holds the secret and nothing else, as UTF-8")
    })
}

/// What is said of somebody who put the secret itself where the name of its file belongs: no such file is there, and its name is
/// told to nobody. Nor is it where nobody can tell whether a file is there.
pub(crate) fn misplaced(path: &Path, said_by: &str) -> Option<Fault> {
    let name = path.file_name()?.to_string_lossy();
    if !token_secret::is_in(&name) {
        return None;
    }
    let error = path.symlink_metadata().err()?;
    let is_absent = matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename
    );
    if !is_absent {
        let what = format!("the file that {said_by} names cannot be reached: {error}");
        return Some(Fault::bad_input(what).hint(format!(
            "see that the directories on the way to it can be entered; its name is not told, since it looks like a secret: if it \
             is one, put that into a file that only you can read, and name that by {said_by}"
        )));
    }
    let what = format!(
        "{said_by} holds what looks like the secret itself, and names no file that is there"
    );
    Some(Fault::bad_input(what).hint(format!(
        "put the secret into a file that only you can read, and name that by {said_by}; `oxmox secret set` fills one that the \
         configuration names; where others may have read it, make the token anew"
    )))
}

/// Fails if others may read or change it, or own it, where it is there and a file at all.
pub(crate) fn check_rights(path: &Path) -> Result<(), Fault> {
    match fs::metadata(path) {
        Ok(data) if data.is_file() => private_file::check(path, &data),
        _ => Ok(()),
    }
}

fn check(path: &Path, data: &Metadata) -> Result<(), Fault> {
    if data.is_file() {
        return Ok(());
    }
    let what = format!(
        "{} is {}, and no regular file",
        path.display(),
        kind(data.file_type())
    );
    Err(Fault::bad_input(what).hint(
        "name a regular file whose first line is the secret; a program that prints it is named by the key that ends in \
         _command instead",
    ))
}

#[cfg(unix)]
fn kind(of: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    if of.is_dir() {
        "a directory"
    } else if of.is_fifo() {
        "a pipe"
    } else if of.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn kind(of: FileType) -> &'static str {
    if of.is_dir() {
        "a directory"
    } else {
        "a device or a pipe"
    }
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // A pipe would wait for somebody who writes.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}
