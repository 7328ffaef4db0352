//! The flags that every command takes, before or after its name.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args};
use tools::fault::Fault;
use tools::policy::Mode;
use tools::spec::Toolset;
use tools::store::Shared;

use super::out;
use crate::config::{Config, Edit, Environment, Overrides};
use crate::session::Session;
use tools::engine::State;

/// The flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The configuration file [env: OXMOX_CONFIG] [default: ~/.config/oxmox/config.toml]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How much oxmox may do without asking
    #[arg(long, global = true, value_name = "MODE", value_parser = mode_parser())]
    pub mode: Option<Mode>,
    /// The groups of tools to offer, separated by commas
    #[arg(long, global = true, value_name = "NAMES", value_delimiter = ',', value_parser = toolset_parser())]
    pub toolsets: Option<Vec<String>>,
    /// Use a simulated cluster in this process: nothing to configure, nothing real is touched, and what changes in it is
    /// forgotten when the process ends
    #[arg(long, global = true)]
    pub demo: bool,
    /// Where plans, approvals and the audit trail are [env: OXMOX_STATE_DIR] [default: ~/.local/state/oxmox]
    #[arg(long, global = true, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// The PostgreSQL database that replicas share, without its password: postgres://USER@HOST/DATABASE
    /// [env: OXMOX_STORE]
    #[arg(long, global = true, value_name = "URL")]
    pub store: Option<String>,
    /// Say more on stderr; twice for more still
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}

fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(["read-only", "ask", "trusted"])
        .try_map(|word| Mode::parse(&word).ok_or("no such mode"))
}

fn toolset_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(Toolset::ALL.iter().map(|set| set.word()).chain(["all"]))
}

impl Global {
    /// With what was said later on the command line, which wins.
    #[must_use]
    pub fn merged(self, later: Self) -> Self {
        Self {
            config: later.config.or(self.config),
            mode: later.mode.or(self.mode),
            toolsets: later.toolsets.or(self.toolsets),
            demo: self.demo || later.demo,
            state_dir: later.state_dir.or(self.state_dir),
            store: later.store.or(self.store),
            verbose: self.verbose.saturating_add(later.verbose),
        }
    }

    /// The program as it has to be typed to mean the same state: the demo has one of its own.
    pub fn program(&self) -> &'static str {
        if self.demo { "oxmox --demo" } else { "oxmox" }
    }

    /// The flags with which a client has to start oxmox so that it means the same as now. The client has an environment of
    /// its own, so that what the variables here say is said by flags, too; a password is in none of them.
    pub fn for_clients(&self, environment: &Environment) -> Vec<String> {
        let absolute = |path: PathBuf| {
            let path = std::path::absolute(&path).unwrap_or(path);
            path.to_string_lossy().into_owned()
        };
        let path = |flag: &Option<PathBuf>, variable: &str| {
            let said = flag.clone();
            said.or_else(|| environment.get(variable).map(PathBuf::from))
                .map(absolute)
        };
        let from_variable = environment.get("OXMOX_STORE");
        let from_variable =
            from_variable.filter(|url| Shared::has_password(url).is_ok_and(|has| !has));
        let store = self.store.as_deref().or(from_variable);
        let said = [
            ("--config", path(&self.config, "OXMOX_CONFIG")),
            ("--state-dir", path(&self.state_dir, "OXMOX_STATE_DIR")),
            ("--mode", self.mode.map(|mode| mode.word().to_owned())),
            (
                "--toolsets",
                self.toolsets.as_ref().map(|sets| sets.join(",")),
            ),
            ("--store", store.map(str::to_owned)),
        ];
        let said = said.into_iter();
        let said = said.filter_map(|(flag, value)| Some([flag.to_owned(), value?]));
        said.flatten().collect()
    }

    fn overrides(&self) -> Overrides {
        Overrides {
            file: self.config.clone(),
            mode: self.mode,
            toolsets: self.toolsets.clone(),
            state_dir: self.state_dir.clone(),
            store: self.store.clone(),
        }
    }

    /// The configuration that these flags lead to.
    pub fn load(&self) -> Result<Config, Fault> {
        self.load_from(&Environment::of_process())
    }

    /// The same where the configuration file is yet to be written.
    pub fn load_or_fresh(&self, environment: &Environment) -> Result<Config, Fault> {
        if self.config_file(environment)?.exists() {
            self.load_from(environment)
        } else {
            Config::fresh(&self.overrides(), environment)
        }
    }

    /// The same in this environment.
    pub fn load_from(&self, environment: &Environment) -> Result<Config, Fault> {
        if self.demo {
            Config::demo(&self.overrides(), environment)
        } else {
            Config::load(&self.overrides(), environment)
        }
    }

    /// Where the configuration file is, or would be.
    pub fn config_file(&self, environment: &Environment) -> Result<PathBuf, Fault> {
        Config::place(&self.overrides(), environment)
    }

    /// The configuration as it would be after a change of its file.
    pub fn load_text(&self, edit: &Edit, environment: &Environment) -> Result<Config, Fault> {
        Config::of_text(&edit.text(), edit.path(), &self.overrides(), environment)
    }

    /// An engine for these flags. What the configuration wants said is said here, once.
    pub async fn session(&self) -> Result<Session, Fault> {
        let environment = Environment::of_process();
        let mut config = self.load_from(&environment)?;
        let session = if self.demo {
            let state = State::Dir(config.state_dir.clone());
            Session::demo(&config, state).await?
        } else {
            Session::configured(&mut config, &environment)?
        };
        for warning in &config.warnings {
            out::warn(warning);
        }
        Ok(session)
    }
}
