//! Why a file cannot be read or written, and what a person does about it.

use std::io;
use std::path::Path;

use tools::fault::{Fault, Kind};

pub(super) fn no_file(path: &Path, is_dir: bool) -> Fault {
    let is = if is_dir {
        "a directory"
    } else {
        "a pipe, a socket or a device"
    };
    let what = format!("{} is {is}, where a file should be", path.display());
    Fault::bad_input(what).hint("put a file in its place, or remove it")
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> Fault {
    if error.kind() == io::ErrorKind::InvalidData {
        let what = format!(
            "{} is not text in UTF-8, and was left as it is",
            path.display()
        );
        return Fault::bad_input(what).hint("save it as UTF-8");
    }
    Fault::new(
        Kind::Failed,
        format!("{} cannot be read: {error}", path.display()),
    )
    .hint("make it readable for you, or name another place with --config and --state-dir")
}

pub(super) fn unwritable(path: &Path, error: &io::Error) -> Fault {
    let what = format!("{} cannot be written: {error}", path.display());
    let is_full = matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    );
    Fault::new(Kind::Failed, what).hint(if is_full {
        "make room there, and run the command again"
    } else {
        "make its directory writable for you, or name another place with --config and --state-dir"
    })
}
