//! What a process that was killed in the middle of writing leaves behind: `NAME.oxmox-PID.new`, which nobody will ever put in
//! the place of anything.

use std::fs;
use std::path::{Path, PathBuf};

/// What no name has that a person would give to a copy of their own.
const MARK: &str = ".oxmox-";

/// What is written before it takes the place of the file at this path.
pub(super) fn draft_of(path: &Path) -> PathBuf {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!("{MARK}{}.new", std::process::id()));
    PathBuf::from(draft)
}

/// Removes what killed processes left of this file. What belongs to a process that lives stays.
pub(super) fn sweep(path: &Path) {
    let Some(dir) = path.parent() else {
        return;
    };
    for (left, of) in drafts(dir) {
        if path.file_name().is_some_and(|name| *name == *of) {
            remove(&left);
        }
    }
}

/// Removes one, if nobody writes it any more.
pub(super) fn remove(left: &Path) {
    if is_abandoned(left) {
        let _ = fs::remove_file(left);
    }
}

/// What killed processes left in this directory, of any file.
pub fn leftovers(dir: &Path) -> Vec<PathBuf> {
    let drafts = drafts(dir).into_iter().map(|(left, _)| left);
    let mut left: Vec<_> = drafts.filter(|left| is_abandoned(left)).collect();
    left.sort();
    left
}

/// The drafts of processes that are gone, and the names of the files that they are for.
pub(super) fn drafts(dir: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let drafts = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let (of, id) = name.strip_suffix(".new")?.rsplit_once(MARK)?;
        let id: i32 = id.parse().ok().filter(|id| *id > 0)?;
        // In a container every process may have had our own number: the lock tells.
        let is_own = u32::try_from(id) == Ok(std::process::id());
        let is_gone =
            (is_own || !is_running(id)) && entry.file_type().is_ok_and(|kind| kind.is_file());
        is_gone.then(|| (entry.path(), of.to_owned()))
    });
    drafts.collect()
}

/// Whether nobody writes it any more. Numbers of processes mean nothing between containers; a lock does.
fn is_abandoned(left: &Path) -> bool {
    let file = fs::OpenOptions::new().write(true).open(left);
    file.is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(unix)]
fn is_running(id: i32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    let pid = Pid::from_raw(id);
    // One of somebody else is there as well, though nothing may be sent to it.
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH)) && !has_ended(id)
}

/// Whether there is nothing left of it but its number: a container whose first process waits for nobody keeps those for good.
#[cfg(unix)]
fn has_ended(id: i32) -> bool {
    let told = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // Its name may hold anything.
    let after_name = told.rsplit_once(") ").map(|(_, rest)| rest);
    after_name.is_some_and(|rest| rest.starts_with(['Z', 'X']))
}

/// The lock has to tell.
#[cfg(not(unix))]
fn is_running(_: i32) -> bool {
    false
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::super::Draft;
    use super::*;

    /// The number of a process that has come to its end.
    fn ended() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    fn what_a_killed_process_left_goes_with_the_next_change() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: String| {
            let path = dir.path().join(name);
            fs::write(&path, "half of a secr").unwrap();
            path
        };
        let dead = ended();
        let left = at(format!("file.oxmox-{dead}.new"));
        // Of a process that lives, of another file, and of another program.
        let parent = std::os::unix::process::parent_id();
        let stay = [
            at(format!("file.oxmox-{parent}.new")),
            at(format!("other.oxmox-{dead}.new")),
            at("file.new".to_owned()),
            at(format!("file.{dead}.new")),
            at(format!("file.oxmox-{dead}.newer")),
        ];
        assert_eq!(leftovers(dir.path()), [left.clone(), stay[1].clone()]);
        let draft = Draft::open(&dir.path().join("file")).unwrap();
        draft.holding("whole".to_owned()).write().unwrap();
        assert!(!left.exists());
        for path in stay {
            assert!(path.exists(), "{}", path.display());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_nobody_has_waited_for_is_dead_as_well() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let id = i32::try_from(child.id()).unwrap();
        let path = dir.path().join(format!("file.oxmox-{id}.new"));
        fs::write(&path, "half").unwrap();
        while !has_ended(id) {
            std::thread::yield_now();
        }
        assert_eq!(leftovers(dir.path()), [path]);
        child.wait().unwrap();
    }

    #[test]
    fn what_one_of_our_own_number_left_goes_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(draft_of(&path), "half").unwrap();
        let draft = Draft::open(&path).unwrap().holding("whole".to_owned());
        draft.write().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_somebody_elsewhere_still_writes_stays() {
        let dir = tempfile::tempdir().unwrap();
        // The number says nothing: it is that of a process in another container.
        let path = dir.path().join(format!("file.oxmox-{}.new", ended()));
        let writing = fs::File::create(&path).unwrap();
        writing.lock().unwrap();
        assert_eq!(leftovers(dir.path()), [""; 0].map(PathBuf::from));
        drop(writing);
        assert_eq!(leftovers(dir.path()), [path]);
    }
}
