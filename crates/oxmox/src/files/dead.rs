//! What a process that was killed in the middle leaves behind: its locks, the directories that it made for them, and what it
//! was about to put in the place of something. Whatever belongs to one that lives stays.

use std::path::Path;

use super::leftover::{drafts, remove};
use super::lock::Lock;
use super::{FIRST, behind_links};

/// What is left beside this file, by whoever was changing it.
pub fn clear_file(file: &Path) {
    let file = behind_links(file);
    let (Some(dir), Some(name)) = (file.parent(), file.file_name()) else {
        return;
    };
    let name = name.to_string_lossy();
    let copies = format!("{name}.{FIRST}");
    for (left, of) in drafts(dir) {
        if of == name || of.starts_with(&copies) || of == super::PROBE {
            remove(&left);
        }
    }
    // Last: the directory goes with it if nothing else is there.
    drop(Lock::abandoned(&file));
}

/// What is left in a directory of oxmox's own.
pub fn clear_dir(dir: &Path) {
    for (left, _) in drafts(dir) {
        remove(&left);
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// As one leaves it that was killed while it held the lock of this file.
    fn killed(file: &Path, dirs: &[&Path]) -> PathBuf {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let name = file.file_name().unwrap().to_string_lossy();
        let beside = file.with_file_name(format!(".{name}.oxmox-lock"));
        let dirs: Vec<_> = dirs.iter().map(|dir| dir.to_str().unwrap()).collect();
        fs::write(&beside, format!("1\n{}", dirs.join("\n"))).unwrap();
        beside
    }

    #[test]
    fn what_was_made_for_a_lock_goes_with_it() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (mine, made) = (home.join("mine"), home.join("mine/made"));
        fs::create_dir(&mine).unwrap();
        let file = made.join("settings.json");
        let elsewhere = home.join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        // Only what the file is in can have been made for it.
        killed(&file, &[&made, &elsewhere]);
        clear_file(&file);
        assert!(mine.exists() && elsewhere.exists() && !made.exists());
        // Somebody has put something there meanwhile.
        killed(&file, &[&made]);
        fs::write(&file, "{}").unwrap();
        clear_file(&file);
        assert_eq!(fs::read_dir(&made).unwrap().count(), 1);
    }

    #[test]
    fn what_was_made_is_taken_over_by_who_comes_next() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let made = home.join("made");
        let file = made.join("config.toml");
        killed(&file, &[&made]);
        drop(Lock::on(&file).unwrap());
        assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
    }

    #[test]
    fn what_one_that_lives_holds_stays() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("made/settings.json");
        let living = Lock::on(&file).unwrap();
        clear_file(&file);
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
        drop(living);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }
}
