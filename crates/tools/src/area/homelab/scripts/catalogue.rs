//! The scripts of a clone: which there are, and finding one by what people call it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::Category;
use super::header::Header;
use crate::fault::{Fault, Kind};

/// A clone has about 1,300; what is far beyond is something else.
const MOST_SCRIPTS: usize = 10_000;
/// As much of a script as is looked at.
const MOST_BYTES: u64 = 128 * 1024;
/// `tools/pve/clean.sh` lies two below its category's directory.
const DEEPEST: usize = 2;

/// The scripts there are, by path.
pub(super) struct Catalogue {
    clone: PathBuf,
    scripts: Vec<Script>,
}

/// A script, before it is read.
#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) category: Category,
    /// From the clone's root: `ct/adguard.sh`.
    pub(super) path: String,
}

impl Script {
    /// `adguard`
    pub(super) fn name(&self) -> &str {
        let file = self.path.rsplit('/').next().unwrap_or_default();
        file.strip_suffix(".sh").unwrap_or(file)
    }
}

impl Catalogue {
    /// Lists the scripts of a clone, or of one category.
    pub(super) fn read(clone: &Path, only: Option<Category>) -> Result<Self, Fault> {
        let mut scripts = Vec::new();
        let wanted = Category::ALL.into_iter();
        for category in wanted.filter(|category| only.is_none_or(|only| only == *category)) {
            collect(clone, category, category.directory(), 0, &mut scripts)
                .map_err(|error| unreadable(clone, &error))?;
        }
        if scripts.is_empty() {
            let message = format!("{} holds no scripts", clone.display());
            return Err(Fault::refused(message).hint(
                "community_scripts in the configuration names the root of a clone, which has the directories ct and vm",
            ));
        }
        scripts.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self {
            clone: clone.to_owned(),
            scripts,
        })
    }

    /// The scripts that fit these words, the best first.
    pub(super) fn search(&self, words: &str) -> Vec<&Script> {
        let words: Vec<String> = words.split_whitespace().map(plain).collect();
        let words: Vec<&str> = (words.iter().map(String::as_str))
            .filter(|word| !word.is_empty())
            .collect();
        let all = words.concat();
        let mut found: Vec<_> = self
            .scripts
            .iter()
            .filter_map(|script| Some((fit(&plain(script.name()), &words, &all)?, script)))
            .collect();
        found.sort_by_key(|(fit, script)| (*fit, script.category as u8, script.name().len()));
        found.into_iter().map(|(_, script)| script).collect()
    }

    /// The script of that name: `adguard`, `adguard.sh` or `ct/adguard.sh`.
    pub(super) fn named(&self, name: &str, only: Option<Category>) -> Result<&Script, Fault> {
        let name = name.trim();
        let bare = name.strip_suffix(".sh").unwrap_or(name);
        let is = |script: &&Script| {
            script.name() == bare || script.path.strip_suffix(".sh") == Some(bare)
        };
        let among = |script: &&Script| only.is_none_or(|only| only == script.category);
        if let Some(script) = self.scripts.iter().filter(among).find(is) {
            return Ok(script);
        }
        let message = format!("there is no script {}", crate::words::clip(bare, 64));
        let fault = Fault::bad_input(message);
        let names = self.scripts.iter().map(Script::name);
        let near = crate::schema::nearest(bare, names);
        Err(
            match near.or_else(|| self.search(bare).first().map(|script| script.name())) {
                Some(near) => fault.hint(format!("did you mean {near}?")),
                None => fault.hint("search_proxmox_scripts finds scripts by words"),
            },
        )
    }

    /// What a script says of itself.
    pub(super) fn header(&self, script: &Script) -> Result<Header, Fault> {
        Ok(Header::of(&self.text(&script.path)?))
    }

    /// As much of a script's text as is looked at.
    pub(super) fn text(&self, path: &str) -> Result<String, Fault> {
        let path = self.clone.join(path);
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            File::open(&path)?
                .take(MOST_BYTES)
                .read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error| unreadable(&path, &error))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether a file of that path is among the scripts.
    pub(super) fn has(&self, path: &str) -> bool {
        self.scripts.iter().any(|script| script.path == path)
    }
}

/// Adds the scripts below a directory. Links are not followed: they may lead out of the clone.
fn collect(
    clone: &Path,
    category: Category,
    directory: &str,
    depth: usize,
    scripts: &mut Vec<Script>,
) -> io::Result<()> {
    let entries = match fs::read_dir(clone.join(directory)) {
        // A clone need not have every category.
        Err(error) if error.kind() == io::ErrorKind::NotFound && depth == 0 => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = format!("{directory}/{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < DEEPEST {
            collect(clone, category, &path, depth + 1, scripts)?;
        } else if kind.is_file() && is_shell(&name) && scripts.len() < MOST_SCRIPTS {
            scripts.push(Script { category, path });
        }
    }
    Ok(())
}

fn is_shell(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "sh")
}

fn unreadable(path: &Path, error: &io::Error) -> Fault {
    Fault::new(
        Kind::Refused,
        format!("{} cannot be read: {error}", path.display()),
    )
    .hint("a person can mend community_scripts in the configuration")
}

/// How well a name fits; less is better.
fn fit(name: &str, words: &[&str], all: &str) -> Option<u8> {
    if name == all {
        Some(0)
    } else if name.starts_with(all) {
        Some(1)
    } else if name.contains(all) {
        Some(2)
    } else if words.len() > 1 && words.iter().all(|word| name.contains(word)) {
        Some(3)
    } else if words
        .iter()
        .any(|word| word.len() > 2 && name.contains(word))
    {
        Some(4)
    } else if all.len() > 4 && strsim::osa_distance(name, all) <= 2 {
        Some(5)
    } else {
        None
    }
}

/// Letters and digits alone: Pi-hole, pi hole and pihole are one.
fn plain(text: &str) -> String {
    let kept = text.chars().filter(|c| c.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue(names: &[&str]) -> Catalogue {
        let script = |name: &&str| Script {
            category: Category::Ct,
            path: format!("ct/{name}.sh"),
        };
        Catalogue {
            clone: PathBuf::new(),
            scripts: names.iter().map(script).collect(),
        }
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        let all = catalogue(&["pihole", "pihole-exporter", "homeassistant", "docker"]);
        for (words, first) in [
            ("Pi-hole", "pihole"),
            ("home assistant", "homeassistant"),
            ("assistant for the home", "homeassistant"),
            ("dokcer", "docker"),
        ] {
            let found = all.search(words);
            assert_eq!(
                found.first().map(|script| script.name()),
                Some(first),
                "{words}"
            );
        }
        assert!(all.search("nextcloud").is_empty());
        assert!(all.search("---").len() <= 4);
    }

    #[test]
    fn a_path_out_of_the_clone_is_no_script() {
        let all = catalogue(&["pihole"]);
        assert_eq!(all.named("ct/pihole.sh", None).unwrap().name(), "pihole");
        for name in ["../secret", "/etc/passwd", "ct/../ct/pihole.sh", ""] {
            assert!(all.named(name, None).is_err(), "{name}");
        }
        assert!(all.named("pihole", Some(Category::Vm)).is_err());
        assert_eq!(
            all.named("pihol", None).unwrap_err().hint.as_deref(),
            Some("did you mean pihole?")
        );
    }
}
