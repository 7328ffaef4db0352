//! Files that belong to a person: shown before they are changed, changed whole or not at all, by one oxmox at a time.

mod dead;
mod diff;
mod leftover;
mod lock;
mod places;
mod replace;
mod trouble;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tools::fault::{Fault, Kind};
use tools::store::create_private_dir;

pub use dead::{clear_dir, clear_file};
pub use leftover::leftovers;
pub use lock::{Lock, Locks, let_go};
pub use places::{behind_links, missing_dirs, remove_empty};
use replace::{New, replace};
use trouble::{no_file, unreadable, unwritable};

/// What a file was called before oxmox first changed it. That copy is never replaced.
const FIRST: &str = "before-oxmox";

/// What it was called before the last change, where that is something else.
const LAST: &str = "before-oxmox-last";

/// The same before setup, which has to be there until setup is taken back: no later change replaces it.
const SETUP: &str = "before-oxmox-setup";

/// What is written to see whether anything can be.
const PROBE: &str = ".oxmox-probe";

/// A file as it is and as it shall be. Nothing is written before [`Draft::write`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Where it is.
    pub path: PathBuf,
    /// What it holds; `None`: there is none.
    pub before: Option<String>,
    /// What it shall hold; `None`: it shall be gone.
    pub after: Option<String>,
    /// Whether only its owner may read it.
    pub private: bool,
    /// Whether oxmox has changed it before: the copy of what was there then stays.
    pub again: bool,
    /// Whether the copy has to last until setup is taken back.
    pub lasting: bool,
    /// The part of it, before and after, that is shown in the place of all that changes.
    pub shown: Option<(String, String)>,
}

impl Draft {
    /// The file as it is, with nothing to do yet.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let path = behind_links(path);
        // Before it is opened: whoever opens a pipe waits for somebody at its other end.
        if let Ok(data) = fs::metadata(&path)
            && !data.is_file()
        {
            return Err(no_file(&path, data.is_dir()));
        }
        let before = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(&path, &error)),
        };
        Ok(Self {
            path,
            after: before.clone(),
            before,
            private: false,
            again: false,
            lasting: false,
            shown: None,
        })
    }

    /// With this in it.
    #[must_use]
    pub fn holding(mut self, after: String) -> Self {
        self.after = Some(after);
        self
    }

    /// Gone, without a copy: for what oxmox made, or has taken everything out of.
    #[must_use]
    pub fn gone(mut self) -> Self {
        self.after = None;
        self
    }

    /// For its owner's eyes only.
    #[must_use]
    pub fn private(mut self) -> Self {
        self.private = true;
        self
    }

    /// Changed by oxmox before, perhaps.
    #[must_use]
    pub fn again(mut self, again: bool) -> Self {
        self.again = again;
        self
    }

    /// With a copy that lasts.
    #[must_use]
    pub fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }

    /// Of which only this part is shown.
    #[must_use]
    pub fn showing(mut self, before: String, after: String) -> Self {
        self.shown = Some((before, after));
        self
    }

    /// Whether what it holds will be kept beside it.
    pub fn keeps_copy(&self) -> bool {
        self.before.is_some() && !self.private && !self.again
    }

    /// Whether there is anything to do.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// The lines that change, with some around them.
    pub fn diff(&self) -> String {
        if let Some((before, after)) = &self.shown {
            return diff::lines(before, after);
        }
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        diff::lines(&text(&self.before), &text(&self.after))
    }

    /// Where what it holds is kept when it is changed: what was there first is a person's own, and stays.
    pub fn backup(&self) -> PathBuf {
        let fits = |copy: &PathBuf| match fs::read_to_string(copy) {
            Ok(kept) => Some(&kept) == self.before.as_ref(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let first = self.beside(FIRST);
        if fits(&first) {
            return first;
        }
        if !self.lasting {
            return self.beside(LAST);
        }
        let mut copy = self.beside(SETUP);
        for number in 2.. {
            if fits(&copy) {
                break;
            }
            copy = self.beside(&format!("{SETUP}-{number}"));
        }
        copy
    }

    /// The copies that there are, with what they hold.
    pub fn copies(&self) -> Vec<(PathBuf, String)> {
        let copies = [FIRST, SETUP].map(|name| self.beside(name)).into_iter();
        let copies = copies.filter_map(|copy| {
            let text = fs::read_to_string(&copy).ok()?;
            Some((copy, text))
        });
        copies.collect()
    }

    fn beside(&self, last: &str) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(last);
        self.path.with_file_name(name)
    }

    /// Whether it could be written, without writing it: a person should hear of it before anything else is done.
    pub fn check(&self) -> Result<(), Fault> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let exists = dir.ancestors().find(|dir| dir.exists()).unwrap_or(dir);
        let probe = exists.join(PROBE);
        leftover::sweep(&probe);
        let probe = leftover::draft_of(&probe);
        let result = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&probe);
        let _ = fs::remove_file(&probe);
        match result {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(unwritable(&self.path, &error))
            }
            _ => Ok(()),
        }
    }

    /// Writes it: another file first, then that one in its place, so that nobody ever sees half of it. Keeps a copy of what is
    /// replaced, unless that is private or oxmox's own.
    pub fn write(&self) -> Result<(), Fault> {
        self.write_and_keep(self.before.as_deref().filter(|_| self.keeps_copy()))
    }

    /// It came to nothing: what it held is what it holds, and needs no copy.
    pub fn drop_copy(&self) {
        let now = fs::read_to_string(&self.path).ok();
        if self.keeps_copy() && now == self.before {
            let _ = fs::remove_file(self.backup());
        }
    }

    /// The same to how it was before oxmox came: nobody wants a copy of what was there meanwhile, nor one of what is there
    /// again.
    pub fn put_back(&self) -> Result<(), Fault> {
        self.write_and_keep(None)?;
        for (copy, text) in self.copies() {
            if self.after.as_ref() == Some(&text) {
                let _ = fs::remove_file(copy);
            }
        }
        Ok(())
    }

    fn write_and_keep(&self, copy: Option<&str>) -> Result<(), Fault> {
        if !self.is_change() {
            return Ok(());
        }
        // Before anything is written, and once more below.
        self.is_as_it_was()?;
        let unwritable = |error: io::Error| unwritable(&self.path, &error);
        if let Some(dir) = self.path.parent() {
            create_private_dir(dir).map_err(unwritable)?;
        }
        if let Some(copy) = copy {
            replace(&self.backup(), copy, &self.path, false).map_err(unwritable)?;
        }
        let Some(after) = &self.after else {
            self.is_as_it_was()?;
            return fs::remove_file(&self.path).map_err(unwritable);
        };
        let new = New::written(&self.path, after, &self.path, self.private).map_err(unwritable)?;
        // Once more: all that takes time is over by now.
        self.is_as_it_was()?;
        new.put().map_err(unwritable)
    }

    /// Whether nobody has written to it since it was read.
    fn is_as_it_was(&self) -> Result<(), Fault> {
        let now = match fs::read_to_string(&self.path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(&self.path, &error)),
        };
        if now == self.before {
            return Ok(());
        }
        let what = format!(
            "{} was changed by another program meanwhile",
            self.path.display()
        );
        Err(Fault::new(Kind::Conflict, what).hint("run the command again"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_go_is_kept_as_well() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("home-ca.pem");
        fs::write(&path, "mine\n").unwrap();
        let draft = Draft::open(&path).unwrap().gone();
        draft.write().unwrap();
        assert!(!path.exists());
        assert_eq!(fs::read_to_string(draft.backup()).unwrap(), "mine\n");
    }

    #[test]
    fn what_another_program_writes_meanwhile_is_not_lost() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file.json");
        fs::write(&path, "one\n").unwrap();
        for draft in [
            Draft::open(&path).unwrap().gone(),
            Draft::open(&path).unwrap().holding("two\n".to_owned()),
        ] {
            fs::write(&path, "theirs\n").unwrap();
            let fault = draft.write().unwrap_err();
            assert!(fault.message.contains("meanwhile"), "{fault}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "theirs\n");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_draft_is_written_whole_and_what_was_there_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/er/file.json");
        let draft = Draft::open(&path).unwrap().holding("one\n".to_owned());
        draft.check().unwrap();
        draft.write().unwrap();
        let draft = Draft::open(&path).unwrap().holding("two\n".to_owned());
        draft.write().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(fs::read_to_string(draft.backup()).unwrap(), "one\n");
        let names = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(names, 2, "nothing else is left behind");
    }

    #[test]
    fn what_a_person_wrote_first_is_kept_whatever_follows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "theirs").unwrap();
        let kept = |name: &str| fs::read_to_string(dir.path().join(name)).ok();
        for text in ["ours", "ours, again"] {
            let draft = Draft::open(&path).unwrap().holding(text.to_owned());
            draft.write().unwrap();
            assert_eq!(kept("file.before-oxmox").unwrap(), "theirs");
        }
        assert_eq!(kept("file.before-oxmox-last").unwrap(), "ours");
        Draft::open(&path).unwrap().gone().write().unwrap();
        assert_eq!(kept("file.before-oxmox").unwrap(), "theirs");
        assert_eq!(kept("file"), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_and_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for (path, is) in [
            (pipe.as_path(), "a pipe"),
            (Path::new("/dev/zero"), "a device"),
            (dir.path(), "a directory"),
        ] {
            let fault = Draft::open(path).unwrap_err();
            assert_eq!(fault.kind, Kind::BadInput);
            assert!(fault.message.contains(is), "{fault}");
        }
        let other = dir.path().join("latin");
        fs::write(&other, b"{ \"a\": \"\xe9\" }").unwrap();
        let fault = Draft::open(&other).unwrap_err();
        assert_eq!(fault.kind, Kind::BadInput);
        assert!(fault.message.contains("UTF-8"), "{fault}");
    }

    #[test]
    fn what_is_gone_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "ours").unwrap();
        let draft = Draft::open(&path).unwrap().private();
        draft.gone().write().unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_somebody_else_wrote_meanwhile_is_not_lost() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let draft = Draft::open(&path).unwrap().holding("ours".to_owned());
        fs::write(&path, "theirs").unwrap();
        assert_eq!(draft.write().unwrap_err().kind, Kind::Conflict);
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    }

    #[cfg(unix)]
    #[test]
    fn private_files_are_private_and_links_stay_links() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let secret = dir.path().join("secret");
        let draft = Draft::open(&secret).unwrap().private();
        draft.holding("s".to_owned()).write().unwrap();
        let mode = fs::metadata(&secret).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "a").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let draft = Draft::open(&link).unwrap().holding("b".to_owned());
        draft.write().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "b");

        // A link to a link to what is not there yet.
        let (first, second) = (dir.path().join("first"), dir.path().join("second"));
        std::os::unix::fs::symlink("second", &first).unwrap();
        std::os::unix::fs::symlink("new/file", &second).unwrap();
        let draft = Draft::open(&first).unwrap().holding("c".to_owned());
        draft.write().unwrap();
        for link in [&first, &second] {
            assert!(fs::symlink_metadata(link).unwrap().is_symlink());
        }
        let written = fs::read_to_string(dir.path().join("new/file"));
        assert_eq!(written.unwrap(), "c");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_known_again_when_it_is_there() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("real/deep")).unwrap();
        std::os::unix::fs::symlink("real", dir.path().join("home")).unwrap();
        std::os::unix::fs::symlink("../new/x", dir.path().join("real/deep/link")).unwrap();
        for name in ["home/file", "home/a/b/file", "home/deep/link"] {
            let path = dir.path().join(name);
            let draft = Draft::open(&path).unwrap().holding("x".to_owned());
            draft.write().unwrap();
            assert_eq!(Draft::open(&path).unwrap().path, draft.path, "{name}");
        }
    }
}
