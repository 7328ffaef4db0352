//! Where files are by default on each system, and what a path in the configuration means.

use std::path::{Path, PathBuf};

use super::Environment;

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

/// Where a system keeps what belongs to a person and their programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Which system it is.
    pub system: System,
    /// The person's directory.
    pub home: PathBuf,
    /// Where programs of the command line keep their settings: `$XDG_CONFIG_HOME`, `~/.config`, `%APPDATA%`.
    pub config: PathBuf,
    /// Where they keep what they note: `$XDG_STATE_HOME`, `~/.local/state`, `%LOCALAPPDATA%`.
    pub state: PathBuf,
    /// Where applications keep their settings: `~/Library/Application Support`, `%APPDATA%`.
    pub applications: PathBuf,
    /// `$CLAUDE_CONFIG_DIR`, if it is set.
    pub claude: Option<PathBuf>,
}

impl Environment {
    /// Where the configuration file is, if nobody names another.
    pub fn default_config_file(&self) -> Option<PathBuf> {
        Some(self.config_base(System::HERE)?.join("oxmox/config.toml"))
    }

    /// Where the state is, if nobody names another place.
    pub fn default_state_dir(&self) -> Option<PathBuf> {
        Some(self.state_base(System::HERE)?.join("oxmox"))
    }

    /// The places of the person whose environment this is. `None`: there is no home directory.
    pub fn places(&self, system: System) -> Option<Places> {
        let home = self.home(system)?;
        let applications = match system {
            System::Linux => home.join(".config"),
            System::Mac => home.join("Library/Application Support"),
            System::Windows => self.roaming(system)?,
        };
        Some(Places {
            system,
            config: self.config_base(system)?,
            state: self.state_base(system)?,
            claude: self.get("CLAUDE_CONFIG_DIR").map(PathBuf::from),
            applications,
            home,
        })
    }

    fn home(&self, system: System) -> Option<PathBuf> {
        let variables: &[&str] = match system {
            System::Linux | System::Mac => &["HOME"],
            // Shells that came from elsewhere set the other one.
            System::Windows => &["USERPROFILE", "HOME"],
        };
        let mut set = variables.iter().filter_map(|name| self.get(name));
        set.next().map(PathBuf::from)
    }

    fn config_base(&self, system: System) -> Option<PathBuf> {
        let usual = || match system {
            System::Linux | System::Mac => Some(self.home(system)?.join(".config")),
            System::Windows => self.roaming(system),
        };
        self.xdg("XDG_CONFIG_HOME").or_else(usual)
    }

    fn state_base(&self, system: System) -> Option<PathBuf> {
        let usual = || match system {
            System::Linux | System::Mac => Some(self.home(system)?.join(".local/state")),
            // What belongs to this machine, and does not follow a person to others.
            System::Windows => self.below_home("LOCALAPPDATA", system, "AppData/Local"),
        };
        self.xdg("XDG_STATE_HOME").or_else(usual)
    }

    fn roaming(&self, system: System) -> Option<PathBuf> {
        self.below_home("APPDATA", system, "AppData/Roaming")
    }

    /// A base directory of the XDG specification; one that is not absolute does not count.
    fn xdg(&self, variable: &str) -> Option<PathBuf> {
        let set = self.get(variable).map(PathBuf::from);
        set.filter(|path| path.is_absolute())
    }

    fn below_home(&self, variable: &str, system: System, usual: &str) -> Option<PathBuf> {
        let set = self.get(variable).map(PathBuf::from);
        set.or_else(|| Some(self.home(system)?.join(usual)))
    }
}

/// A path of the command line or the environment: a relative one starts where oxmox was started.
pub(super) fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// A path of the configuration file: `~/` is the home directory, a relative one starts where the file is.
pub(super) fn resolve(dir: &Path, path: &Path, environment: &Environment) -> PathBuf {
    match (path.strip_prefix("~"), environment.home(System::HERE)) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => dir.join(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases(environment: &Environment, system: System) -> [Option<String>; 3] {
        let shown = |path: Option<PathBuf>| Some(path?.to_str()?.to_owned());
        [
            shown(environment.home(system)),
            shown(environment.config_base(system)),
            shown(environment.state_base(system)),
        ]
    }

    #[test]
    fn each_system_has_a_place_for_configuration_and_state() {
        let found = |paths: [&str; 3]| paths.map(|path| Some(path.to_owned()));
        let unix = Environment::from([("HOME", "/u")]);
        for system in [System::Linux, System::Mac] {
            let places = found(["/u", "/u/.config", "/u/.local/state"]);
            assert_eq!(bases(&unix, system), places);
        }
        let windows = Environment::from([
            ("USERPROFILE", "C:/Users/ann"),
            ("APPDATA", "D:/Roaming"),
            ("LOCALAPPDATA", "D:/Local"),
        ]);
        assert_eq!(
            bases(&windows, System::Windows),
            found(["C:/Users/ann", "D:/Roaming", "D:/Local"])
        );
        let bare = Environment::from([("USERPROFILE", "/u"), ("HOME", "/of/another/shell")]);
        assert_eq!(
            bases(&bare, System::Windows),
            found(["/u", "/u/AppData/Roaming", "/u/AppData/Local"])
        );
        assert_eq!(
            bases(&bare, System::Linux)[0].as_deref(),
            Some("/of/another/shell")
        );
        assert_eq!(
            bases(&Environment::default(), System::Windows),
            [None, None, None]
        );
    }

    #[test]
    fn what_xdg_says_wins_if_it_is_absolute() {
        let said = |path| Environment::from([("HOME", "/u"), ("XDG_STATE_HOME", path)]);
        let state = |path| bases(&said(path), System::Linux)[2].clone().unwrap();
        assert_eq!(state("/var/mine"), "/var/mine");
        assert_eq!(state("mine"), "/u/.local/state");
    }
}
