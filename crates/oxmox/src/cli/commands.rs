//! What to type to come back to what this run is about. A command that is shown has to work as it stands.

use std::path::PathBuf;

use super::arguments::quoted;
use super::global::Global;

/// The commands of oxmox, with the flags by which they find the same files. What a variable says needs none: whoever types
/// the next command has the same environment.
#[derive(Debug, Clone)]
pub struct Commands {
    program: String,
}

impl Default for Commands {
    fn default() -> Self {
        Self {
            program: "oxmox".to_owned(),
        }
    }
}

impl Commands {
    /// For somebody who gave these flags.
    pub fn of(global: &Global) -> Self {
        // They may have gone elsewhere meanwhile.
        let absolute = |path: &PathBuf| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            path.to_string_lossy().into_owned()
        };
        let flags = [
            ("--config", global.config.as_ref().map(absolute)),
            ("--state-dir", global.state_dir.as_ref().map(absolute)),
            ("--store", global.store.clone()),
        ];
        let Self { mut program } = Self::default();
        for (flag, value) in flags {
            if let Some(value) = value {
                program = format!("{program} {flag} {}", quoted(&value));
            }
        }
        Self { program }
    }

    /// `oxmox` with these words.
    pub fn with(&self, words: &str) -> String {
        format!("{} {words}", self.program)
    }

    /// What takes this cluster back.
    pub fn undo(&self, cluster: &str) -> String {
        self.with(&format!("setup --undo --name {cluster}"))
    }

    /// What there is to do about a setup of this cluster that came to no end. Taking back takes what earlier runs made along,
    /// and clients may live on that.
    pub fn after_failure(&self, cluster: &str, is_first_run: bool) -> String {
        let undo = self.undo(cluster);
        if is_first_run {
            return format!("`{undo}` takes it back");
        }
        format!(
            "run the same command again, which goes on from there; `{undo}` takes back all of {cluster}, and not only this"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_finds_the_same_files() {
        let global = Global {
            config: Some("/srv/my lab/x.toml".into()),
            state_dir: Some("/srv/state".into()),
            store: Some("postgres://ox@db/ox".to_owned()),
            ..Global::default()
        };
        assert_eq!(
            Commands::of(&global).undo("home"),
            "oxmox --config '/srv/my lab/x.toml' --state-dir /srv/state --store postgres://ox@db/ox setup --undo --name home"
        );
        let plain = Commands::of(&Global::default());
        assert_eq!(plain.with("doctor"), "oxmox doctor");
    }
}
