//! Who else on this machine may read what is secret, or write what decides.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tools::fault::Fault;

use super::finding::Finding;
use crate::config::{Config, secret_file};
use crate::files;

const CHECK: &str = "files";

pub(super) fn check(config: &Config) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut looked = 0;
    for (path, secret) in places(config) {
        let Some(mode) = mode_of(&path) else {
            continue;
        };
        looked += 1;
        found.extend(match secret_file::check_rights(&path) {
            Err(fault) if secret => Some(refused(fault)),
            _ => judge(&path, mode, secret),
        });
    }
    for dir in dirs(config) {
        if let Some(mode) = mode_of(&dir) {
            looked += 1;
            found.extend(judge_dir(&dir, mode));
        }
        found.extend(files::leftovers(&dir).iter().map(|left| left_behind(left)));
    }
    if found.is_empty() && looked > 0 {
        let what = format!("only their owner may read or change {looked} of oxmox's own");
        found.push(Finding::ok(CHECK, what));
    }
    found
}

/// The files and directories, and whether there is something secret in them.
fn places(config: &Config) -> Vec<(PathBuf, bool)> {
    let config_file = config.file.iter().map(|file| (file.clone(), false));
    let secrets = config.secret_files().into_iter().map(|file| (file, true));
    let state = [config.state_dir.clone(), config.state_dir.join("key")];
    let state = state.into_iter().map(|path| (path, true));
    config_file.chain(secrets).chain(state).collect()
}

/// The directories that they are in. The state's own is among the files: there is more to say of it.
fn dirs(config: &Config) -> BTreeSet<PathBuf> {
    let config_file = config.file.clone().into_iter();
    let files = config_file.chain(config.secret_files());
    let dirs = files.filter_map(|file| file.parent().map(Path::to_owned));
    let mut dirs: BTreeSet<_> = dirs.chain([config.state_dir.join("setup")]).collect();
    dirs.retain(|dir| *dir != config.state_dir && !dir.as_os_str().is_empty());
    dirs
}

/// Whoever may write to a directory can put another file in the place of any in it, whoever may write that.
fn judge_dir(dir: &Path, mode: u32) -> Option<Finding> {
    // In one like /tmp everybody may add files, and nobody touches those of others.
    if mode & 0o022 == 0 || mode & STICKY != 0 {
        return None;
    }
    let shown = dir.display();
    let what = format!(
        "other users of this machine may replace files in {shown} (mode {:03o})",
        mode & 0o777
    );
    Some(Finding::warning(CHECK, what).hint(format!("`chmod go-w {shown}`")))
}

const STICKY: u32 = 0o1000;

fn left_behind(file: &Path) -> Finding {
    let shown = file.display();
    let what = format!("an oxmox that was killed left {shown} behind, half-written");
    Finding::warning(CHECK, what).hint(format!("`rm {shown}`"))
}

/// A file with a secret that stops oxmox from starting.
fn refused(fault: Fault) -> Finding {
    Finding::problem(CHECK, fault.message, fault.hint.unwrap_or_default())
}

/// Whoever may write the configuration can have a program run: `token_secret_command`.
fn judge(path: &Path, mode: u32, secret: bool) -> Option<Finding> {
    let (shown, mode) = (path.display(), mode & 0o777);
    if mode & 0o022 != 0 {
        return Some(Finding::problem(
            CHECK,
            format!("other users of this machine may change {shown} (mode {mode:03o})"),
            format!("`chmod go-w {shown}`"),
        ));
    }
    if secret && mode & 0o077 != 0 {
        let what = format!("other users of this machine may read {shown} (mode {mode:03o})");
        // A directory; each file in it is checked separately.
        return Some(Finding::warning(CHECK, what).hint(format!("`chmod go= {shown}`")));
    }
    None
}

#[cfg(unix)]
fn mode_of(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let data = std::fs::metadata(path).ok()?;
    Some(data.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode_of(_: &Path) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn what_others_may_do_with_it_decides() {
        let level = |mode, secret| {
            judge(Path::new("/x"), mode, secret).map(|finding| (finding.level, finding.hint))
        };
        assert_eq!(level(0o600, true), None);
        assert_eq!(level(0o644, false), None);
        let (is, hint) = level(0o755, true).unwrap();
        assert_eq!(
            (is, hint.as_deref()),
            (Level::Warning, Some("`chmod go= /x`"))
        );
        let (is, hint) = level(0o664, false).unwrap();
        assert_eq!(
            (is, hint.as_deref()),
            (Level::Problem, Some("`chmod go-w /x`"))
        );
    }

    #[test]
    fn directories_that_others_may_write_to_are_told() {
        let level = |mode| judge_dir(Path::new("/x"), mode).map(|finding| finding.level);
        for (mode, expected) in [
            (0o700, None),
            (0o755, None),
            (0o1777, None),
            (0o775, Some(Level::Warning)),
            (0o2777, Some(Level::Warning)),
        ] {
            assert_eq!(level(mode), expected, "{mode:o}");
        }
    }
}
