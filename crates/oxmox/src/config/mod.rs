//! What oxmox is told at start: flags before the environment before the file before the defaults. The mode `read-only`
//! wins wherever it is said: a flag cannot take back what the file keeps safe.
//!
//! Reading it connects to nothing and opens no database. No setting is read from the environment
//! outside this module; [`cli::out`](crate::cli::out) looks there for whether to use colour.

mod cluster;
mod comments;
mod edit;
mod environment;
mod file;
mod http;
mod paths;
mod rules;
pub(crate) mod secret;
pub(crate) mod secret_file;
mod section;
mod seeds;
mod store;
pub(crate) mod token_secret;

use std::path::{Path, PathBuf};

use crate::http::Settings;
use tools::engine::State;
use tools::fault::Fault;
use tools::policy::{Confirm, Mode, Rule};
use tools::registry::Choices;
use tools::spec::Toolset;
use tools::words;

pub use cluster::{ClusterConfig, Login, Preferences};
pub use edit::Edit;
pub use environment::{Environment, VARIABLES};
pub use file::File;
pub use paths::{Places, System};
pub use secret::{SecretSource, is_text};
pub use section::{Reference, Section, check_cluster_name, host_entry};
pub use store::StoreConfig;

/// The cluster that the environment describes.
pub const ENVIRONMENT_CLUSTER: &str = "default";

/// What the command line says; what it leaves out is looked up elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--config`
    pub file: Option<PathBuf>,
    /// `--mode`
    pub mode: Option<Mode>,
    /// `--toolsets`
    pub toolsets: Option<Vec<String>>,
    /// `--state-dir`
    pub state_dir: Option<PathBuf>,
    /// `--store`
    pub store: Option<String>,
}

/// All that was configured. Secrets are named in it, not held, except one that came from the environment.
#[derive(Debug)]
pub struct Config {
    /// The clusters, by name.
    pub clusters: Vec<ClusterConfig>,
    /// How much oxmox may do on its own, where a cluster does not say otherwise.
    pub mode: Mode,
    /// What the command line says of that.
    mode_said: Option<Mode>,
    /// The tools that are offered.
    pub toolsets: Vec<Toolset>,
    /// Tools that are not offered, and the number of tools that a search returns.
    pub choices: Choices,
    /// Where plans, approvals and the audit trail are.
    pub state_dir: PathBuf,
    /// The database that replicas share.
    pub store: Option<StoreConfig>,
    /// A clone of the community's scripts.
    pub community_scripts: Option<PathBuf>,
    /// Who confirms a change that interrupts, where the client cannot ask a person.
    pub confirm: Confirm,
    /// Whether whoever asks for a change may not be the one who says yes to it.
    pub four_eyes: bool,
    /// The socket to which each entry of the audit trail is copied.
    pub audit_copy: Option<PathBuf>,
    /// Directories of this machine whose files may be uploaded.
    pub upload_from: Vec<PathBuf>,
    /// Where the configuration file is.
    found_in: PathBuf,
    /// The configuration file, if there is one.
    pub file: Option<PathBuf>,
    /// Whether it is for the demo, which needs no cluster of its own.
    pub is_demo: bool,
    /// Refinements of the mode.
    pub rules: Vec<Rule>,
    /// How oxmox is served over the network.
    pub http: Settings,
    /// What a person should hear about, though it stops nothing.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads the file and the environment. A file that was named must be there; the default one may be missing.
    pub fn load(overrides: &Overrides, environment: &Environment) -> Result<Self, Fault> {
        let path = Self::named(overrides, environment).or_else(|| {
            let default = environment.default_config_file();
            default.filter(|path| path.exists())
        });
        let file = path.as_deref().map(File::read).transpose()?;
        Self::of(&file.unwrap_or_default(), path, overrides, environment)
    }

    /// The file that was named, from the root on: what it names lies beside it, and is written down for those who start oxmox
    /// elsewhere.
    fn named(overrides: &Overrides, environment: &Environment) -> Option<PathBuf> {
        let named = overrides.file.clone();
        let named = named.or_else(|| environment.get("OXMOX_CONFIG").map(PathBuf::from));
        named.map(paths::absolute)
    }

    /// Where the configuration file is, or would be.
    pub fn place(overrides: &Overrides, environment: &Environment) -> Result<PathBuf, Fault> {
        Self::named(overrides, environment)
            .or_else(|| environment.default_config_file())
            .ok_or_else(|| {
                Fault::bad_input("there is no home directory to keep a configuration in")
                    .hint("set OXMOX_CONFIG or --config to a file of your own")
            })
    }

    /// As it would be with this in its file.
    pub fn of_text(
        text: &str,
        path: &Path,
        overrides: &Overrides,
        environment: &Environment,
    ) -> Result<Self, Fault> {
        Self::of(
            &File::parse(text)?,
            Some(path.to_owned()),
            overrides,
            environment,
        )
    }

    fn of(
        file: &File,
        path: Option<PathBuf>,
        overrides: &Overrides,
        environment: &Environment,
    ) -> Result<Self, Fault> {
        let dir = path.as_deref().map(parent).unwrap_or_default();
        let mut config = Self::without_clusters(overrides, environment, file, &dir)?;
        config.file = path;
        config.store = StoreConfig::find(overrides.store.as_deref(), environment, (file, &dir))?;
        for (name, table) in &file.clusters {
            config
                .clusters
                .push(ClusterConfig::from_table(name, table, &dir, environment)?);
        }
        environment.warn(&mut config.warnings);
        if let Some(cluster) = environment.cluster()? {
            // The nearer word wins, as with every other setting.
            config
                .clusters
                .retain(|other| other.name != ENVIRONMENT_CLUSTER);
            config.clusters.push(cluster);
        }
        config.mode_said = overrides.mode;
        config.check_rules()?;
        Ok(config)
    }

    /// As if the configuration file were empty: where there is none yet. The store may be named elsewhere.
    pub fn fresh(overrides: &Overrides, environment: &Environment) -> Result<Self, Fault> {
        let (file, dir) = (File::default(), Path::new(""));
        let mut config = Self::without_clusters(overrides, environment, &file, dir)?;
        config.store = StoreConfig::find(overrides.store.as_deref(), environment, (&file, dir))?;
        Ok(config)
    }

    /// For the demo: flags and defaults only, so that nothing that is configured can break it or be reached by it.
    pub fn demo(overrides: &Overrides, environment: &Environment) -> Result<Self, Fault> {
        let file = File::default();
        let mut config = Self::without_clusters(overrides, environment, &file, Path::new(""))?;
        config.is_demo = true;
        config.state_dir.push(DEMO_STATE);
        config.upload_from = vec![config.state_dir.join("uploads")];
        Ok(config)
    }

    fn without_clusters(
        overrides: &Overrides,
        environment: &Environment,
        file: &File,
        dir: &Path,
    ) -> Result<Self, Fault> {
        let state_dir = overrides
            .state_dir
            .clone()
            .or_else(|| environment.get("OXMOX_STATE_DIR").map(PathBuf::from))
            .map(paths::absolute)
            .or_else(|| {
                let configured = file.state_dir.as_ref()?;
                Some(paths::resolve(dir, configured, environment))
            })
            .or_else(|| environment.default_state_dir())
            .ok_or_else(|| {
                Fault::bad_input("there is no home directory to keep state in")
                    .hint("set OXMOX_STATE_DIR or --state-dir to a directory of your own")
            })?;
        let mut warnings = Vec::new();
        let is_read_only = environment.is_read_only()?;
        let mode = match (overrides.mode, file.mode) {
            (flag, in_file) if is_read_only => {
                let said = flag.or(in_file).filter(|mode| *mode != Mode::ReadOnly);
                warnings.extend(said.map(|mode| {
                    format!(
                        "mode {} has no effect: PROXMOX_READ_ONLY is set, and that wins",
                        mode.word()
                    )
                }));
                Mode::ReadOnly
            }
            (Some(flag), Some(Mode::ReadOnly)) if flag != Mode::ReadOnly => {
                warnings.push(
                    "--mode has no effect: the configuration file says read-only, and that wins"
                        .to_owned(),
                );
                Mode::ReadOnly
            }
            (flag, in_file) => flag.or(in_file).unwrap_or_default(),
        };
        let resolve = |path: &Path| paths::resolve(dir, path, environment);
        let mut http = file.http.settings(&file.limits, &resolve)?;
        if let Some(oauth) = &file.oauth {
            http.oauth = Some(oauth.settings(&resolve)?);
        }
        let lean = environment.routes_tools()?.then(|| vec!["lean".to_owned()]);
        let toolsets = overrides.toolsets.as_ref().or(lean.as_ref());
        let toolsets = toolsets.or(file.toolsets.as_ref());
        Ok(Self {
            choices: environment.choices()?,
            clusters: Vec::new(),
            mode,
            mode_said: None,
            toolsets: toolsets
                .map_or_else(|| Ok(vec![Toolset::Core]), |words| toolsets_of(words))?,
            state_dir,
            store: None,
            community_scripts: (file.community_scripts.as_ref())
                .map(|clone| paths::resolve(dir, clone, environment)),
            confirm: file.confirm,
            four_eyes: file.four_eyes,
            audit_copy: file.audit_copy_to(&resolve)?,
            found_in: dir.to_owned(),
            file: None,
            is_demo: false,
            upload_from: file
                .upload_from
                .iter()
                .map(|path| paths::resolve(dir, path, environment))
                .collect(),
            rules: file.rules.clone(),
            http,
            warnings,
        })
    }

    /// The cluster of this name.
    pub fn require_cluster(&self, name: &str) -> Result<&ClusterConfig, Fault> {
        let names = || self.clusters.iter().map(|cluster| cluster.name.as_str());
        let found = self.clusters.iter().find(|cluster| cluster.name == name);
        found.ok_or_else(|| {
            let fault = Fault::bad_input(format!("there is no cluster {}", words::clip(name, 64)));
            fault.hint(match known(name, names()) {
                Err(near) if !self.clusters.is_empty() => near,
                _ => "`oxmox cluster add` adds one".to_owned(),
            })
        })
    }

    /// Whether replicas share what it keeps.
    pub fn has_shared_store(&self) -> bool {
        self.store.is_some()
    }

    /// Where plans, approvals and the audit trail are. Fetches the password of a database.
    pub fn state(&self, environment: &Environment) -> Result<State, Fault> {
        match &self.store {
            Some(store) => store.state(&self.state_dir, environment),
            None => Ok(State::Dir(self.state_dir.clone())),
        }
    }

    /// While this file exists, nothing is sent.
    pub fn freeze_file(&self) -> PathBuf {
        self.state_dir.join("frozen")
    }

    /// Where secrets of oxmox's own are: its state, its configuration, and the files that this names, wherever they lie.
    pub fn own_paths(&self) -> Vec<PathBuf> {
        let dirs = [self.state_dir.clone(), self.found_in.clone()];
        let named = |path: &PathBuf| !path.as_os_str().is_empty();
        let all = dirs.into_iter().chain(self.secret_files());
        all.filter(named).collect()
    }

    /// The files that hold a secret each.
    pub fn secret_files(&self) -> Vec<PathBuf> {
        let secrets = self.clusters.iter().filter_map(ClusterConfig::secret_file);
        let key = self.http.tls.as_ref().map(|tls| tls.key.as_path());
        let of_store = self.store.as_ref().and_then(StoreConfig::secret_file);
        let files = secrets.chain(key).chain(of_store);
        files.map(Path::to_owned).collect()
    }

    /// Fails if another user of this machine may read or change a file with a key or a secret.
    pub fn check_private_files(&self) -> Result<(), Fault> {
        let key = self.state_dir.join("key");
        let files = self.secret_files().into_iter().chain([key]);
        files
            .into_iter()
            .try_for_each(|file| secret_file::check_rights(&file))
    }
}

/// Where the demo keeps its state, below the real one's: `oxmox --demo approve` finds what `oxmox --demo` asked.
pub const DEMO_STATE: &str = "demo";

/// The toolsets of these names. `all` stands for every one but the lean, whose point is to list nothing else.
pub fn toolsets_of<S: AsRef<str>>(words: &[S]) -> Result<Vec<Toolset>, Fault> {
    let mut sets = Vec::new();
    for word in words.iter().map(AsRef::as_ref) {
        let meant = if word == "all" {
            let all = Toolset::ALL.iter().copied();
            all.filter(|set| *set != Toolset::Lean).collect()
        } else {
            vec![Toolset::parse(word).ok_or_else(|| {
                let names: Vec<_> = Toolset::ALL.iter().map(|set| set.word()).collect();
                Fault::bad_input(format!("there is no toolset {word}"))
                    .hint(format!("there are {} and all", names.join(", ")))
            })?]
        };
        sets.extend(meant);
    }
    // In the order of the documentation, each once.
    let listed = Toolset::ALL.iter().copied();
    Ok(listed.filter(|set| sets.contains(set)).collect())
}

/// The hint for a name that is none of these.
fn known<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let names: Vec<_> = names.collect();
    if names.contains(&name) {
        return Ok(());
    }
    Err(match tools::schema::nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there are: {}", names.join(", ")),
    })
}

fn parent(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}
