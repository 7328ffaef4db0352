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

/// Where this system keeps what belongs to a person and their programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Which system it is.
    pub system: System,
    /// The person's directory.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME`
    pub config: PathBuf,
    /// Where applications keep their settings: `~/Library/Application Support`, `%APPDATA%`.
    pub applications: PathBuf,
    /// `$CLAUDE_CONFIG_DIR`, if it is set.
    pub claude: Option<PathBuf>,
}

/// A system, as far as places differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux, and what is like it.
    Linux,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

impl System {
    /// The one that this program was built for.
    pub const HERE: Self = if cfg!(target_os = "macos") {
        Self::Mac
    } else if cfg!(windows) {
        Self::Windows
    } else {
        Self::Linux
    };
}

impl Environment {
    /// The places of the person whose environment this is. `None`: there is no home directory.
    pub fn places(&self, system: System) -> Option<Places> {
        let home = self
            .home()
            .or_else(|| self.get("USERPROFILE").map(PathBuf::from))?;
        let applications = match system {
            System::Linux => home.join(".config"),
            System::Mac => home.join("Library/Application Support"),
            System::Windows => {
                (self.get("APPDATA")).map_or_else(|| home.join("AppData/Roaming"), PathBuf::from)
            }
        };
        Some(Places {
            system,
            config: self
                .base("XDG_CONFIG_HOME", ".config")
                .unwrap_or_else(|| home.join(".config")),
            claude: self.get("CLAUDE_CONFIG_DIR").map(PathBuf::from),
            applications,
            home,
        })
    }
}

/// A path of the configuration file: `~/` is the home directory, a relative one starts where the file is.
pub(super) fn resolve(dir: &Path, path: &Path, environment: &Environment) -> PathBuf {
    match (path.strip_prefix("~"), environment.home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => dir.join(path),
    }
}
