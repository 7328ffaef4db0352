//! Where files are by default, and what a path in the configuration means.

use std::path::{Path, PathBuf};

use super::Environment;

impl Environment {
    /// `$XDG_CONFIG_HOME/oxmox/config.toml`
    pub fn default_config_file(&self) -> Option<PathBuf> {
        Some(
            self.base("XDG_CONFIG_HOME", ".config")?
                .join("oxmox/config.toml"),
        )
    }

    /// `$XDG_STATE_HOME/oxmox`
    pub fn default_state_dir(&self) -> Option<PathBuf> {
        Some(self.base("XDG_STATE_HOME", ".local/state")?.join("oxmox"))
    }

    /// A base directory of the XDG specification; one that is not absolute does not count.
    fn base(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let set = self
            .get(variable)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        set.or_else(|| Some(self.home()?.join(below_home)))
    }

    fn home(&self) -> Option<PathBuf> {
        self.get("HOME").map(PathBuf::from)
    }
}

/// A path of the configuration file: `~/` is the home directory, a relative one starts where the file is.
pub(super) fn resolve(dir: &Path, path: &Path, environment: &Environment) -> PathBuf {
    match (path.strip_prefix("~"), environment.home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => dir.join(path),
    }
}
