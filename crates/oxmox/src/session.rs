//! From a configuration to an engine that can be called.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use sim::Sim;
use tools::context::Cluster;
use tools::engine::{Engine, Setup, State};
use tools::fault::Fault;
use tools::uploads::Uploads;

use crate::config::{Config, Environment};
use crate::{demo, http, syslog};

/// An engine, and the simulator that it talks to where there is one.
pub struct Session {
    /// The engine.
    pub engine: Arc<Engine>,
    /// Lives as long as the session.
    pub simulator: Option<Sim>,
    /// How it is served over the network.
    pub http: http::Settings,
    /// The clusters that it talks to, for callers who act there by their own tokens.
    pub clusters: Vec<(String, pve::Settings)>,
}

impl Session {
    /// Over the configured clusters. Connects to nothing and fetches no secret of theirs; without a cluster every call says what to configure.
    pub fn configured(config: &mut Config, environment: &Environment) -> Result<Self, Fault> {
        config.check_private_files()?;
        let mut settings = Vec::new();
        for cluster in &config.clusters {
            let of_cluster = cluster.settings(environment);
            settings.push((cluster.name.clone(), of_cluster));
        }
        let state = config.state(environment)?;
        Ok(Self {
            engine: engine(config, settings.clone(), state, "oxmox approve")?,
            simulator: None,
            http: config.http.clone(),
            clusters: settings,
        })
    }

    /// Over a simulator of its own.
    pub async fn demo(config: &Config, state: State) -> Result<Self, Fault> {
        let simulator = demo::simulator().await?;
        let settings = demo::settings(&simulator)?;
        Ok(Self {
            engine: engine(
                config,
                vec![(demo::CLUSTER.to_owned(), settings)],
                state,
                "oxmox --demo approve",
            )?,
            simulator: Some(simulator),
            http: config.http.clone(),
            clusters: Vec::new(),
        })
    }
}

fn engine(
    config: &Config,
    clusters: Vec<(String, pve::Settings)>,
    state: State,
    approve: &str,
) -> Result<Arc<Engine>, Fault> {
    let mut connected = Vec::new();
    for (name, settings) in clusters {
        let (reader, writer) = pve::connect(settings)?;
        let configured = config.clusters.iter().find(|cluster| cluster.name == name);
        let cluster = match configured {
            Some(configured) => configured.to_read(reader),
            None => Cluster::new(&name, reader),
        };
        connected.push((cluster, writer));
    }
    let copyist = config.audit_copy.as_deref().map(syslog::copyist);
    let copyist = copyist.transpose()?;
    Ok(Engine::new(
        connected,
        Setup {
            toolsets: config.toolsets.clone(),
            choices: config.choices,
            policy: config.policy(),
            state,
            clock: Arc::new(now),
            uploads: Uploads::from_dirs(config.upload_from.clone()).but_not(config.own_paths()),
            approve: approve.to_owned(),
            scripts: config.community_scripts.clone(),
            copyist,
        },
    ))
}

/// The machine's time, in Unix seconds.
pub fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
