//! What an engine is made of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, RwLock};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Engine;
use crate::context::Cluster;
use crate::policy::Policy;
use crate::registry::Choices;
use crate::rights::Rights;
use crate::spec::Toolset;
use crate::store::{Copyist, Shared};
use crate::uploads::Uploads;

/// What an engine is made of, besides its clusters.
pub struct Setup {
    /// The tools that it offers.
    pub toolsets: Vec<Toolset>,
    /// What else a person said about them.
    pub choices: Choices,
    /// What it may do.
    pub policy: Policy,
    /// Where it keeps what outlives a call.
    pub state: State,
    /// What tells it the time.
    pub clock: Clock,
    /// The files of this machine that it may send.
    pub uploads: Uploads,
    /// What a person types before a plan's id to approve it: `oxmox approve`.
    pub approve: String,
    /// A clone of the community's scripts on this machine.
    pub scripts: Option<PathBuf>,
    /// Who keeps a copy of the audit trail.
    pub copyist: Option<Copyist>,
}

/// Where the store is.
#[derive(Debug, Clone)]
pub enum State {
    /// In this directory.
    Dir(PathBuf),
    /// In a database that several processes share; what belongs to this machine alone is in the directory.
    Shared(Shared, PathBuf),
    /// In memory, gone with the process.
    Memory,
}

impl State {
    /// The directory of this machine.
    pub fn dir(&self) -> Option<&Path> {
        match self {
            Self::Dir(dir) | Self::Shared(_, dir) => Some(dir),
            Self::Memory => None,
        }
    }
}

/// What tells the time, so that tests can say what time it is.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

impl Engine {
    /// An engine over these clusters. Opens nothing and connects to nothing: the store is made when a change needs it.
    #[expect(
        clippy::disallowed_types,
        reason = "this is the one place that may write"
    )]
    pub fn new(clusters: Vec<(Cluster, pve::Writer)>, setup: Setup) -> Arc<Self> {
        let (clusters, writers) = estate(clusters, &setup.state);
        let names = clusters.iter().map(|cluster| cluster.name.clone());
        let names = names.collect();
        Arc::new(Self {
            writers,
            clusters,
            toolsets: setup.toolsets,
            choices: setup.choices,
            registries: Arc::default(),
            names,
            is_on_behalf: false,
            most: setup.policy.widest(),
            policy: Arc::new(RwLock::new(Arc::new(setup.policy))),
            state: setup.state,
            store: Arc::default(),
            copyist: setup.copyist,
            clock: setup.clock,
            uploads: Arc::new(setup.uploads),
            approve: setup.approve,
            page: OnceLock::new(),
            scripts: setup.scripts.map(Into::into),
            running: TaskTracker::new(),
            hurry: CancellationToken::new(),
            holds: Arc::default(),
            meter: Arc::default(),
            worker: Arc::default(),
            secret_texts: Arc::default(),
            scratch: Arc::default(),
            rights: OnceLock::new(),
        })
    }

    /// The same engine for somebody whom the clusters know by credentials of their own: what they look at and what they
    /// change is by their rights, and PVE's own log names them. All that outlives a call is shared.
    #[expect(
        clippy::disallowed_types,
        reason = "this is the one place that may write"
    )]
    pub fn on_behalf(&self, clusters: Vec<(Cluster, pve::Writer)>) -> Arc<Self> {
        let (clusters, writers) = estate(clusters, &self.state);
        Arc::new(Self {
            writers,
            clusters,
            toolsets: self.toolsets.clone(),
            choices: self.choices,
            registries: self.registries.clone(),
            names: self.names.clone(),
            is_on_behalf: true,
            policy: self.policy.clone(),
            most: self.most,
            state: self.state.clone(),
            store: self.store.clone(),
            copyist: self.copyist.clone(),
            clock: self.clock.clone(),
            uploads: self.uploads.clone(),
            approve: self.approve.clone(),
            page: self.page.clone(),
            scripts: self.scripts.clone(),
            running: self.running.clone(),
            hurry: self.hurry.clone(),
            holds: self.holds.clone(),
            meter: self.meter.clone(),
            worker: self.worker.clone(),
            secret_texts: self.secret_texts.clone(),
            scratch: self.scratch.clone(),
            // Nobody has asked for theirs: all tools are listed.
            rights: OnceLock::from(Rights::cached(Vec::new(), None)),
        })
    }
}

/// The clusters as one identity sees them, and the ways to change them.
#[expect(
    clippy::disallowed_types,
    reason = "this is the one place that may write"
)]
fn estate(
    clusters: Vec<(Cluster, pve::Writer)>,
    state: &State,
) -> (Vec<Arc<Cluster>>, BTreeMap<String, pve::Writer>) {
    let mut writers = BTreeMap::new();
    let mut readers = Vec::new();
    for (mut cluster, writer) in clusters {
        if let Some(dir) = state.dir() {
            cluster.keep_schema_in(dir.join("schema"));
        }
        writers.insert(cluster.name.clone(), writer);
        readers.push(Arc::new(cluster));
    }
    (readers, writers)
}
