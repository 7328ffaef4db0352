//! Changes to a person's configuration file: the rest of it stays as they wrote it, comments included, and it is changed
//! whole or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table};
use tools::fault::{Fault, Kind};

use super::file::File;

/// What a file is called as it was before the last change.
const BACKUP: &str = "before-oxmox";

/// A configuration file that is being changed. Nothing is written before [`Edit::write`].
#[derive(Debug)]
pub struct Edit {
    path: PathBuf,
    before: Option<String>,
    document: DocumentMut,
}

impl Edit {
    /// The file at this path, or an empty one.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        // People keep such files elsewhere and put a link in their place: the link stays.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(trouble(&path, "cannot be read", &error)),
        };
        let text = before.as_deref().unwrap_or_default();
        // Says where and what instead, and quotes nothing.
        File::parse(text).map_err(|fault| Fault {
            message: format!("{}: {}", path.display(), fault.message),
            ..fault
        })?;
        let document = text
            .parse()
            .map_err(|_| Fault::bad_input(format!("{} is not to be understood", path.display())))?;
        Ok(Self {
            path,
            before,
            document,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has a section for this cluster.
    pub fn has_cluster(&self, name: &str) -> bool {
        let clusters = self.document.get("clusters").and_then(Item::as_table_like);
        clusters.is_some_and(|clusters| clusters.contains_key(name))
    }

    /// Adds `[clusters.NAME]` at the end.
    pub fn add_cluster(&mut self, name: &str, section: Table) -> Result<(), Fault> {
        let clusters = self.document.entry("clusters").or_insert_with(|| {
            // Without a heading of its own.
            let mut all = Table::new();
            all.set_implicit(true);
            Item::Table(all)
        });
        let Some(clusters) = clusters.as_table_mut() else {
            return Err(Fault::bad_input(format!(
                "in {} `clusters` is written in one line",
                self.path.display()
            ))
            .hint("write each cluster as a section of its own: [clusters.NAME]"));
        };
        clusters.insert(name, Item::Table(section));
        Ok(())
    }

    /// Takes `[clusters.NAME]` out. Whether there was one.
    pub fn remove_cluster(&mut self, name: &str) -> bool {
        let clusters = self
            .document
            .get_mut("clusters")
            .and_then(Item::as_table_like_mut);
        clusters.is_some_and(|clusters| clusters.remove(name).is_some())
    }

    /// As it would be written.
    pub fn text(&self) -> String {
        self.document.to_string()
    }

    /// Where what it held is kept.
    pub fn backup(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(BACKUP);
        self.path.with_file_name(name)
    }

    /// Writes another file and puts that in its place, so that nobody ever sees half of it. Keeps a copy of what was there.
    pub fn write(&self) -> Result<(), Fault> {
        let failed = |error: &io::Error| trouble(&self.path, "cannot be written", error);
        let dir = self.path.parent().unwrap_or(Path::new("."));
        tools::store::create_private_dir(dir).map_err(|error| failed(&error))?;
        let old = fs::metadata(&self.path).ok().map(|data| data.permissions());
        if let Some(before) = &self.before {
            replace(&self.backup(), before, old.clone()).map_err(|error| failed(&error))?;
        }
        replace(&self.path, &self.text(), old).map_err(|error| failed(&error))
    }
}

/// With the rights of the file that it takes the place of, or for its owner only.
fn replace(path: &Path, text: &str, rights: Option<fs::Permissions>) -> io::Result<()> {
    let mut half = path.as_os_str().to_owned();
    half.push(format!(".{}.half", std::process::id()));
    let half = PathBuf::from(half);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = (|| {
        let mut file = options.open(&half)?;
        file.write_all(text.as_bytes())?;
        if let Some(rights) = rights {
            file.set_permissions(rights)?;
        }
        file.sync_all()?;
        fs::rename(&half, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&half);
    }
    written
}

fn trouble(path: &Path, what: &str, error: &io::Error) -> Fault {
    Fault::new(Kind::Failed, format!("{} {what}: {error}", path.display()))
        .hint("--config names another file")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "# mine\nmode = \"ask\" # always\n\n[clusters.lab] # at home\nhosts = [\"pve1\"]\ntoken = \"a@pve!b\"\ntoken_secret_env = \"X\"\n\n# who may do what\n[[rules]]\nrisk = \"destroy\"\nverdict = \"deny\"\n";

    fn edit(text: &str) -> (tempfile::TempDir, Edit) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, text).unwrap();
        let edit = Edit::open(&path).unwrap();
        (dir, edit)
    }

    fn section() -> Table {
        let mut section = Table::new();
        section.insert("token", toml_edit::value("c@pve!d"));
        section
    }

    #[test]
    fn the_rest_stays_as_it_was_written() {
        let (_dir, mut edit) = edit(BEFORE);
        edit.add_cluster("branch", section()).unwrap();
        let after = edit.text();
        for line in BEFORE.lines() {
            assert!(after.contains(line), "{line} is gone:\n{after}");
        }
        assert!(
            after.contains("[clusters.branch]\ntoken = \"c@pve!d\"\n"),
            "{after}"
        );
        assert!(edit.remove_cluster("branch") && !edit.remove_cluster("branch"));
        assert_eq!(edit.text(), BEFORE);
    }

    #[test]
    fn what_was_there_is_kept() {
        let (_dir, mut edit) = edit(BEFORE);
        assert!(edit.remove_cluster("lab"));
        edit.write().unwrap();
        assert_eq!(fs::read_to_string(edit.backup()).unwrap(), BEFORE);
        let after = fs::read_to_string(edit.path()).unwrap();
        assert!(
            !after.contains("clusters") && after.contains("# who may do what"),
            "{after}"
        );
    }

    #[test]
    fn a_new_file_is_its_owners_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("oxmox/config.toml");
        let mut edit = Edit::open(&path).unwrap();
        edit.add_cluster("lab", section()).unwrap();
        edit.write().unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "[clusters.lab]\ntoken = \"c@pve!d\"\n"
        );
        assert!(!edit.backup().exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, "mode = \"canary").unwrap();
        let fault = Edit::open(&path).unwrap_err();
        assert!(
            fault.message.contains("line 1") && !fault.message.contains("canary"),
            "{fault}"
        );
    }
}
