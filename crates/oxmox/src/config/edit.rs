//! Changes to a person's configuration file: the rest of it stays as they wrote it, comments included, and it is changed
//! whole or not at all. What goes takes along the comments that are about it.

use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table};
use tools::fault::Fault;

use super::file::File;
use super::{Environment, comments, paths};
use crate::files::Draft;

/// Ways to say where a cluster is and who asks there: a section that says it leaves none of the others behind.
const CONNECTION: [&str; 11] = [
    "hosts",
    "pin",
    "ca_file",
    "token",
    "token_secret_file",
    "token_secret_env",
    "token_secret_command",
    "user",
    "password_file",
    "password_env",
    "password_command",
];

/// What some editors put before a text to say that it is UTF-8.
const MARK: char = '\u{feff}';

/// A configuration file that is being changed. Nothing is written before [`Edit::write`].
#[derive(Debug)]
pub struct Edit {
    draft: Draft,
    document: DocumentMut,
}

impl Edit {
    /// The file at this path, or an empty one.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let draft = Draft::open(path)?;
        let text = draft.before.as_deref().unwrap_or_default();
        // Says where and what instead, and quotes nothing.
        File::parse(text).map_err(|fault| Fault {
            message: format!("{}: {}", draft.path.display(), fault.message),
            ..fault
        })?;
        let document = text.parse().map_err(|_| {
            Fault::bad_input(format!("{} is not to be understood", draft.path.display()))
        })?;
        Ok(Self { draft, document })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.draft.path
    }

    /// Whether it has a section for this cluster.
    pub fn has_cluster(&self, name: &str) -> bool {
        self.clusters().any(|cluster| cluster == name)
    }

    /// The clusters that it has sections for.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        let clusters = self.document.get("clusters").and_then(Item::as_table_like);
        let sections = clusters.into_iter().flat_map(|clusters| clusters.iter());
        sections.map(|(name, _)| name)
    }

    /// The clusters that say who vouches for their certificates, with the file, as a configuration in this directory means it.
    pub fn ca_files(
        &self,
        dir: &Path,
        environment: &Environment,
    ) -> impl Iterator<Item = (&str, PathBuf)> {
        self.clusters().filter_map(move |name| {
            let section = self.document.get("clusters")?.get(name)?;
            let file = section.get("ca_file")?.as_str()?;
            Some((name, paths::resolve(dir, Path::new(file), environment)))
        })
    }

    /// Makes `[clusters.NAME]` say this, at the end if it is new. What it says of other things stays.
    pub fn set_cluster(&mut self, name: &str, section: Table) -> Result<(), Fault> {
        let in_one_line = |what: &str, path: &Path| {
            let what = format!("in {} `{what}` is written in one line", path.display());
            Fault::bad_input(what)
                .hint("write each cluster as a section of its own: [clusters.NAME]")
        };
        let above = comments::take_end(&mut self.document);
        let clusters = self.document.entry("clusters").or_insert_with(|| {
            // Without a heading of its own.
            let mut all = Table::new();
            all.set_implicit(true);
            Item::Table(all)
        });
        let clusters = clusters
            .as_table_mut()
            .ok_or_else(|| in_one_line("clusters", &self.draft.path))?;
        let known = clusters
            .entry(name)
            .or_insert_with(|| Item::Table(Table::new()));
        let known = known
            .as_table_mut()
            .ok_or_else(|| in_one_line(&format!("clusters.{name}"), &self.draft.path))?;
        if let Some(above) = above {
            known.decor_mut().set_prefix(above);
        }
        for key in CONNECTION {
            if !section.contains_key(key) {
                known.remove(key);
            }
        }
        for (key, item) in section {
            match known.get_mut(&key) {
                // Written by hand in another way, perhaps.
                Some(old) if old.to_string().trim() == item.to_string().trim() => {}
                Some(old) => replace(old, item),
                None => drop(known.insert(&key, item)),
            }
        }
        Ok(())
    }

    /// `[clusters.NAME]` as it is written, if there is one.
    pub fn section(&self, name: &str) -> Option<String> {
        let section = self.document.get("clusters")?.get(name)?;
        let mut clusters = Table::new();
        clusters.set_implicit(true);
        clusters.insert(name, section.clone());
        let mut alone = DocumentMut::new();
        alone.insert("clusters", Item::Table(clusters));
        Some(alone.to_string())
    }

    /// Writes `[clusters.NAME]` as it was once, where it is now. Whether that was possible.
    pub fn put_section(&mut self, name: &str, section: &str) -> bool {
        let once: Option<DocumentMut> = section.parse().ok();
        let once =
            once.and_then(|mut once| once.get_mut("clusters")?.as_table_like_mut()?.remove(name));
        let clusters = self.document.get_mut("clusters");
        let now = clusters.and_then(|clusters| clusters.get_mut(name));
        let (Some(mut once), Some(now)) = (once, now) else {
            return false;
        };
        if let (Some(once), Some(now)) = (once.as_table_mut(), now.as_table()) {
            once.set_position(now.position());
        }
        *now = once;
        true
    }

    /// Takes `[clusters.NAME]` out. Whether there was one.
    pub fn remove_cluster(&mut self, name: &str) -> bool {
        let clusters = self
            .document
            .get_mut("clusters")
            .and_then(Item::as_table_like_mut);
        let removed = clusters.and_then(|clusters| clusters.remove(name));
        if let Some(Item::Table(section)) = &removed {
            comments::keep(&mut self.document, section);
        }
        removed.is_some()
    }

    /// As it would be written: with the mark that it begins with, and lines that end as they did.
    pub fn text(&self) -> String {
        let before = self.draft.before.as_deref().unwrap_or_default();
        let mut text = self.document.to_string();
        let ends = before.matches('\n').count();
        if ends > 0 && ends == before.matches("\r\n").count() {
            text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        if before.starts_with(MARK) && !text.starts_with(MARK) {
            text.insert(0, MARK);
        }
        text
    }

    /// Where what it held is kept.
    pub fn backup(&self) -> PathBuf {
        self.draft.backup()
    }

    /// The file as it is and as it shall be.
    pub fn draft(&self) -> Draft {
        self.draft.clone().holding(self.text())
    }

    /// Writes it.
    pub fn write(&self) -> Result<(), Fault> {
        self.draft().write()
    }
}

/// Another value in the place of one, with the comment that stands behind it.
fn replace(old: &mut Item, mut new: Item) {
    if let (Some(old), Some(new)) = (old.as_value(), new.as_value_mut()) {
        *new.decor_mut() = old.decor().clone();
    }
    *old = new;
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        edit.set_cluster("branch", section()).unwrap();
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
    fn line_ends_and_the_mark_at_the_beginning_stay() {
        let windows = BEFORE.replace('\n', "\r\n");
        for before in [
            windows.clone(),
            format!("{MARK}{windows}"),
            format!("{MARK}{BEFORE}"),
        ] {
            let (_dir, mut edit) = edit(&before);
            edit.set_cluster("branch", section()).unwrap();
            edit.write().unwrap();
            let after = fs::read_to_string(edit.path()).unwrap();
            assert_eq!(after.starts_with(MARK), before.starts_with(MARK));
            let is_windows = before.contains('\r');
            let ends = if is_windows { "\r\n" } else { "\n" };
            assert_eq!(after.matches(ends).count(), after.matches('\n').count());
            let mut edit = Edit::open(edit.path()).unwrap();
            assert!(edit.remove_cluster("branch"));
            assert_eq!(edit.text(), before);
        }
    }

    #[test]
    fn a_file_of_comments_keeps_them_on_top() {
        for before in [
            "# all mine\n# mode = \"ask\"\n",
            "mode = \"ask\"\n\n# clusters\n",
        ] {
            let (_dir, mut edit) = edit(before);
            edit.set_cluster("lab", section()).unwrap();
            let after = format!("{before}\n[clusters.lab]\ntoken = \"c@pve!d\"\n");
            assert_eq!(edit.text(), after);
            edit.write().unwrap();
            let mut edit = Edit::open(edit.path()).unwrap();
            assert!(edit.remove_cluster("lab"));
            assert_eq!(edit.text(), before);
        }
    }

    #[test]
    fn a_comment_behind_what_is_replaced_stays() {
        let before = "[clusters.lab]\n# which one\ntoken = \"a@pve!b\" # made in May\n";
        let (_dir, mut edit) = edit(before);
        edit.set_cluster("lab", section()).unwrap();
        assert_eq!(edit.text(), before.replace("a@pve!b", "c@pve!d"));
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
        edit.set_cluster("lab", section()).unwrap();
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

    #[test]
    fn one_way_to_a_secret_replaces_the_other_and_the_rest_of_a_section_stays() {
        let before =
            "[clusters.lab]\nmode = 'ask' # careful\nuser = \"a@pve\"\npassword_env = \"X\"\n";
        let (_dir, mut edit) = edit(before);
        edit.set_cluster("lab", section()).unwrap();
        let after = "[clusters.lab]\nmode = 'ask' # careful\ntoken = \"c@pve!d\"\n";
        assert_eq!(edit.text(), after);
        edit.set_cluster("lab", section()).unwrap();
        assert_eq!(edit.text(), after);
    }

    #[test]
    fn a_section_is_put_back_as_it_was() {
        for before in [
            BEFORE,
            "[clusters.a]\nhosts = [\"x\"]\n\n# the lab\n[clusters.lab]\n# here\nhosts = [\"pve1\"] # rack 2\n\n[clusters.b]\nhosts = [\"y\"]\n",
        ] {
            let (_dir, mut edit) = edit(before);
            let once = edit.section("lab").unwrap();
            edit.set_cluster("lab", section()).unwrap();
            assert_ne!(edit.text(), before);
            assert!(edit.put_section("lab", &once));
            assert_eq!(edit.text(), before);
            assert_eq!(edit.section("nosuch"), None);
        }
    }

    #[test]
    fn what_somebody_else_wrote_meanwhile_is_not_lost() {
        let (_dir, mut edit) = edit(BEFORE);
        assert!(edit.remove_cluster("lab"));
        fs::write(edit.path(), "mode = \"ask\"\n").unwrap();
        assert!(edit.write().is_err());
        assert_eq!(fs::read_to_string(edit.path()).unwrap(), "mode = \"ask\"\n");
    }
}
