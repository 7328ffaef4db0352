//! Where files really are, and the directories that they are in.

use std::fs;
use std::path::{Path, PathBuf};

/// The directories that have to be made for this file, each before those in it.
pub fn missing_dirs(file: &Path) -> Vec<PathBuf> {
    let above = file.ancestors().skip(1);
    let missing = above.take_while(|dir| !dir.as_os_str().is_empty() && !dir.exists());
    let mut dirs: Vec<_> = missing.map(Path::to_owned).collect();
    dirs.reverse();
    dirs
}

/// Removes those of them that nobody else has put anything in.
pub fn remove_empty(dirs: &[PathBuf]) {
    // Several runs made them, perhaps: whatever is in another one goes before it.
    let mut dirs: Vec<_> = dirs.iter().collect();
    dirs.sort_by_key(|dir| std::cmp::Reverse(dir.components().count()));
    for dir in dirs {
        // One that holds something stays.
        let _ = fs::remove_dir(dir);
    }
}

/// How many links may follow one another; Linux itself goes as far.
const MOST_LINKS: usize = 40;

/// Where a file really is. People keep such files elsewhere and put a link in their place: the link stays, also while there
/// is nothing at its end yet. The same answer before and after something is there: by it a file is known again.
pub fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(real) = fs::canonicalize(&path) {
            return real;
        }
        let Ok(target) = fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    for dir in path.ancestors().skip(1) {
        if let (Ok(real), Ok(below)) = (fs::canonicalize(dir), path.strip_prefix(dir)) {
            return real.join(below);
        }
    }
    path
}
