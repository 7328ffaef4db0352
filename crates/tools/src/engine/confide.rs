//! Secrets that PVE tells once, such as a new token's. They go into a file that only its owner may read; the answer, the
//! audit trail and the log name the file and nothing of what is in it.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Engine;
use crate::plan::{Plan, Step};
use crate::store::create_private_dir;

/// The directory below the state's.
const DIR: &str = "secrets";
/// How many secrets of one thing may be told in the same second, and how many directories one process may need.
const MOST: u32 = 1000;

/// An empty file that waits for a secret. It is made before anything is sent: a secret that PVE tells once must not be lost
/// for want of a place.
pub(super) struct Place {
    file: File,
    path: PathBuf,
}

impl Engine {
    /// The file for what a step's answer confides, if it does.
    pub(super) fn place_for_secret(
        &self,
        plan: &Plan,
        step: &Step,
    ) -> Result<Option<Place>, String> {
        let Some(what) = &step.confides else {
            return Ok(None);
        };
        let name = format!("{}-{}-{}", plan.tool, plain(what), self.now());
        let made = self
            .private_dir(DIR)
            .and_then(|dir| Place::make(&dir, &name));
        made.map(Some)
            .map_err(|error| format!("there is no place for its secret: {error}"))
    }

    /// A directory of ours for what nobody else may read.
    pub(super) fn private_dir(&self, name: &str) -> std::io::Result<PathBuf> {
        if let Some(dir) = self.state.dir() {
            return Ok(dir.join(name));
        }
        if self.scratch.get().is_none() {
            // Somebody else may make one meanwhile; the first counts, and the other goes away.
            let made = Scratch::make()?;
            self.scratch.get_or_init(|| made);
        }
        let scratch = self.scratch.get().ok_or(std::io::ErrorKind::NotFound)?;
        Ok(scratch.0.join(name))
    }
}

/// A directory that ends with the engine, for one that keeps nothing else either.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    fn make() -> std::io::Result<Self> {
        first_free(|number| {
            let name = format!("oxmox-{}-{number}", std::process::id());
            let dir = std::env::temp_dir().join(name);
            let mut builder = std::fs::DirBuilder::new();
            builder.recursive(false); // it must be new
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(&dir).map(|()| Self(dir))
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is still nobody else's to read.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The first of several names that is not taken: what is there already may be somebody's, or a link to elsewhere.
pub(super) fn first_free<T>(make: impl Fn(u32) -> std::io::Result<T>) -> std::io::Result<T> {
    let is_taken = |made: &std::io::Result<T>| matches!(made, Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists);
    let free = (1..MOST).map(make).find(|made| !is_taken(made));
    free.unwrap_or_else(|| Err(std::io::ErrorKind::AlreadyExists.into()))
}

impl Place {
    fn make(dir: &Path, name: &str) -> std::io::Result<Self> {
        let (file, path) = private_file(dir, |number| match number {
            1 => format!("{name}.json"),
            more => format!("{name}-{more}.json"),
        })?;
        Ok(Self { file, path })
    }

    /// Writes down what PVE answered, or goes away if it did not. Says where it is, or that it is lost.
    pub(super) fn take(mut self, answer: Option<&Value>) -> String {
        let path = self.path.display();
        let Some(answer) = answer else {
            // An empty file is of no use to anybody; one that stays does no harm either.
            let _ = std::fs::remove_file(&self.path);
            return String::new();
        };
        let written = writeln!(self.file, "{answer:#}").and_then(|()| self.file.sync_all());
        match written {
            Ok(()) => format!(
                "its secret is in {path}, readable by the owner of oxmox alone and told nowhere else"
            ),
            Err(error) => format!(
                "its secret could not be written to {path} ({error}) and is lost: delete it and make another"
            ),
        }
    }
}

/// A new file in a directory of ours, under the first of the names that is free; only its owner may read it.
fn private_file(dir: &Path, name: impl Fn(u32) -> String) -> std::io::Result<(File, PathBuf)> {
    create_private_dir(dir)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    first_free(|number| {
        let path = dir.join(name(number));
        options.open(&path).map(|file| (file, path))
    })
}

/// How long a part of a file's name may be: 255 bytes are all of it, with a time, a number and a tool's name.
const LONGEST: usize = 160;

/// A name without what means something in a path, not too long for a part of one.
pub(super) fn plain(name: &str) -> String {
    let word = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '@' | '.' | '_') {
            c
        } else {
            '-'
        }
    };
    let name: String = name.chars().map(word).collect();
    let name = name.trim_start_matches('.');
    match name.len().checked_sub(LONGEST) {
        // The end of a name tells what it is.
        Some(more) if more > 0 => {
            let (begin, end) = name.split_at(LONGEST / 2);
            format!("{begin}--{}", &end[more + 2..])
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn made() -> (tempfile::TempDir, Place) {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::make(&dir.path().join(DIR), "a").unwrap();
        (dir, place)
    }

    #[test]
    fn a_scratch_directory_is_gone_when_nobody_needs_it() {
        let scratch = Scratch::make().unwrap();
        let dir = scratch.0.clone();
        std::fs::write(dir.join("secret"), "x").unwrap();
        drop(scratch);
        assert!(!dir.exists());
    }

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        let name = format!("{}{}", "a".repeat(LONGEST), "z".repeat(LONGEST));
        let short = plain(&name);
        assert_eq!(short.len(), LONGEST);
        assert!(
            short.starts_with(&"a".repeat(LONGEST / 2)) && short.ends_with("zz"),
            "{short}"
        );
        assert_eq!(plain(&"a".repeat(LONGEST)), "a".repeat(LONGEST));
    }

    #[test]
    fn a_secret_is_in_the_file_and_not_in_the_words() {
        let (_dir, place) = made();
        let path = place.path.clone();
        let said = place.take(Some(&json!({"value": "hunter2"})));
        assert!(
            said.contains(path.to_str().unwrap()) && !said.contains("hunter2"),
            "{said}"
        );
        assert!(std::fs::read_to_string(&path).unwrap().contains("hunter2"));
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_may_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let (dir, place) = made();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&place.path), 0o600);
        assert_eq!(mode(&dir.path().join(DIR)), 0o700);
    }

    #[test]
    fn a_file_that_is_there_is_not_written_over() {
        let (dir, place) = made();
        let first = place.path.clone();
        place.take(Some(&json!("first")));
        let second = Place::make(&dir.path().join(DIR), "a").unwrap();
        assert_ne!(second.path, first);
        second.take(Some(&json!("second")));
        assert!(std::fs::read_to_string(&first).unwrap().contains("first"));
    }

    #[test]
    fn without_an_answer_no_file_stays() {
        let (_dir, place) = made();
        let path = place.path.clone();
        place.take(None);
        assert!(!path.exists());
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        assert_eq!(plain("bob@pve/../x"), "bob@pve-..-x");
        assert_eq!(plain("../etc"), "-etc");
    }

    #[test]
    fn a_name_fits_into_a_path() {
        let of = |length: usize| format!("{}.txt", "a".repeat(length - 4));
        assert_eq!(plain(&of(LONGEST)), of(LONGEST));
        for long in [
            of(LONGEST + 1),
            of(LONGEST + 2),
            of(250),
            of(4000),
            "ä".repeat(250),
        ] {
            assert_eq!(plain(&long).len(), LONGEST, "{}", long.len());
        }
        assert!(plain(&of(250)).ends_with("a.txt"));
    }
}
