//! The one place that sends changes. Read [`Engine::call`] first: it is the life of every call.
//!
//! What exists here exists once for all tools: policy, confirmation, guards, audit, waiting, reading back.
//! The Writers are in here and nowhere else.

mod agent;
mod apply;
mod cancel;
mod coming;
mod confide;
mod consent;
mod decide;
mod doubt;
mod fetch;
mod guard;
mod halt;
mod halt_point;
mod handle;
mod hash;
mod hear;
mod look;
mod press;
mod question;
mod record;
mod recover;
mod report;
mod seal;
mod send;
mod step;
mod talk;
mod tell;
mod terminal;
mod worker;

pub use cancel::Cancelled;
pub use decide::Waiting;
pub use handle::Handle;
pub use question::{Answered, Question};
pub use recover::Closed;
pub use talk::{Asked, Progress, Silent, Talk};

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::caller::{Bounds, Caller, Scope};
use crate::claim::Claim;
use crate::context::{Cluster, Context};
use crate::fault::Fault;
use crate::hold::{Held, Holds};
use crate::meter::Meter;
use crate::plan::Plan;
use crate::policy::{Decision, Policy};
use crate::registry::{Extras, Registry};
use crate::spec::{Risk, Toolset};
use crate::store::{Copyist, Shared, Store};
use crate::tool::{Object, Ran, Rendered, Tool};
use crate::uploads::Uploads;
use consent::{Consent, Frozen, Given};
use hash::hash_arguments;
use hear::run;
use look::Look;
use record::Attempt;
use worker::Worker;

/// Applies plans. One per process.
pub struct Engine {
    #[expect(
        clippy::disallowed_types,
        reason = "this is the one place that may write"
    )]
    writers: BTreeMap<String, pve::Writer>,
    clusters: Vec<Arc<Cluster>>,
    toolsets: Vec<Toolset>,
    /// One for each thing that a caller may do at worst, made when it is first needed.
    registries: Arc<[OnceLock<Arc<Registry>>; 3]>,
    /// What a person may change while it runs.
    policy: Arc<RwLock<Arc<Policy>>>,
    /// The worst that the mode let happen at the start: what is offered must not change while clients are there.
    most: Risk,
    state: State,
    store: Arc<OnceCell<Store>>,
    copyist: Option<Copyist>,
    clock: Clock,
    /// The files of this machine that it may send.
    uploads: Arc<Uploads>,
    /// What a person types to approve a plan.
    approve: String,
    /// Where a person approves it in a browser, once that is served.
    page: OnceLock<String>,
    scripts: Option<Arc<Path>>,
    /// Plans being applied; they outlive the calls that started them.
    running: TaskTracker,
    /// Cancelled when the process is about to end: calls do not wait for more than a moment any more.
    hurry: CancellationToken,
    /// What the calls under way are about to make.
    holds: Arc<Holds>,
    meter: Arc<Meter>,
    /// Who applies them, for other processes on the same store.
    worker: Arc<OnceCell<Worker>>,
    /// Where secrets go that PVE tells, if nothing else is kept.
    scratch: Arc<OnceLock<confide::Scratch>>,
}

/// What an engine is made of, besides its clusters.
pub struct Setup {
    /// The tools that it offers.
    pub toolsets: Vec<Toolset>,
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

/// One call of a tool, whatever transport it came by. Prints without its secrets.
#[derive(Clone)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Object,
    /// Who calls: confirmations and the audit trail are bound to it.
    pub caller: Caller,
    /// Show the plan, and stop there.
    pub preview: bool,
    /// A person's answer to a [`Question`] that an earlier call gave back.
    pub answer: Option<Answered>,
}

impl Call {
    /// A plain call.
    pub fn new(tool: &str, arguments: Object, caller: impl Into<Caller>) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments,
            caller: caller.into(),
            preview: false,
            answer: None,
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut arguments = self.arguments.clone();
        crate::clean::arguments(&mut arguments);
        f.debug_struct("Call")
            .field("tool", &self.tool)
            .field("arguments", &arguments)
            .field("caller", &self.caller.name)
            .field("preview", &self.preview)
            .finish_non_exhaustive()
    }
}

/// What a call gives back.
#[derive(Debug)]
pub enum Reply {
    /// The answer.
    Done(Rendered),
    /// The answer of a change that goes on though the caller's wait is over, and its plan's id, for [`Engine::handle`].
    Running(Rendered, String),
    /// A question for a person, for transports that carry the answer in a second call.
    Ask(Box<Question>),
}

impl Engine {
    /// An engine over these clusters. Opens nothing and connects to nothing: the store is made when a change needs it.
    #[expect(
        clippy::disallowed_types,
        reason = "this is the one place that may write"
    )]
    pub fn new(clusters: Vec<(Cluster, pve::Writer)>, setup: Setup) -> Arc<Self> {
        let (clusters, writers) = estate(clusters, &setup.state);
        Arc::new(Self {
            writers,
            clusters,
            toolsets: setup.toolsets,
            registries: Arc::default(),
            most: setup.policy.mode.most(),
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
            scratch: Arc::default(),
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
            registries: self.registries.clone(),
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
            scratch: self.scratch.clone(),
        })
    }

    /// The life of a call: find the tool, parse, look or plan, decide, confirm, guard, record, send, read back.
    pub async fn call(self: &Arc<Self>, call: Call, talk: &dyn Talk) -> Result<Reply, Fault> {
        let mut call = call;
        let registry = self.registry_for(call.caller.bounds.scope);
        let tool = registry.meant(&mut call.tool, &mut call.arguments)?;
        let begun = Instant::now();
        let reply = self.answer(tool, call, talk).await;
        let failed = reply.as_ref().err().map(|fault| fault.kind);
        self.meter.call(tool.spec().name, begun.elapsed(), failed);
        reply
    }

    async fn answer(
        self: &Arc<Self>,
        tool: &'static dyn Tool,
        call: Call,
        talk: &dyn Talk,
    ) -> Result<Reply, Fault> {
        if tool.spec().risk == Risk::Read {
            return self.read(tool, call, talk).await.map(Reply::Done);
        }
        if call.preview {
            let held = Arc::new(self.holds.call());
            let (plan, extras) = self.plan(tool, &call, &held, talk).await?;
            let context = self.context(&call.caller, &extras, &held)?;
            let preview = crate::preview::of(&plan, &context).await;
            return Ok(Reply::Done(Rendered::of(&preview)?));
        }
        let attempt = Arc::new(Attempt::new(self, &call));
        match self.change(tool, &call, &attempt, talk).await {
            Ok(reply) => Ok(reply),
            Err(fault) => Err(attempt.refused(fault).await?),
        }
    }

    /// Whether a call can change nothing, so that it may be dropped at any time.
    pub fn only_reads(&self, call: &Call) -> bool {
        let (mut name, mut arguments) = (call.tool.clone(), call.arguments.clone());
        let registry = self.registry_for(call.caller.bounds.scope);
        let tool = registry.meant(&mut name, &mut arguments);
        tool.is_ok_and(|tool| tool.spec().risk == Risk::Read)
    }

    /// A read on a person's behalf, by any tool: which toolsets are switched on is about what models are offered.
    pub async fn look(self: &Arc<Self>, call: Call, talk: &dyn Talk) -> Result<Rendered, Fault> {
        let reads = |tool: &&'static dyn Tool| {
            tool.spec().name == call.tool && tool.spec().risk == Risk::Read && !tool.relays()
        };
        match crate::registry::all().find(reads) {
            Some(tool) => self.read(tool, call, talk).await,
            None => Err(Fault::bad_input(format!(
                "{} is no tool that only looks",
                crate::words::clip(&call.tool, 64)
            ))),
        }
    }

    /// A read. One that looks inside a guest leaves a trace of who looked.
    async fn read(
        self: &Arc<Self>,
        tool: &'static dyn Tool,
        call: Call,
        talk: &dyn Talk,
    ) -> Result<Rendered, Fault> {
        let look = if tool.spec().special.looks_inside {
            let look = Look::begin(Attempt::new(self, &call)).await?;
            halt_point::at("look-recorded").await;
            Some(look)
        } else {
            None
        };
        let looking = async {
            let (arguments, extras) = self.registry().split(tool, call.arguments)?;
            let held = Arc::new(self.holds.call());
            let context = self.context(&call.caller, &extras, &held)?;
            match run(tool, arguments, context, talk).await? {
                Ran::Answer(answer) => Ok(answer),
                Ran::Plan(_) => Err(Fault::refused("a reading tool planned a change")),
            }
        };
        let seen = looking.await;
        if let Some(look) = look {
            halt_point::at("looked").await;
            look.end(seen.as_ref().err()).await?;
        }
        seen
    }

    /// A change, from planning to its end or to the question that it waits for.
    async fn change(
        self: &Arc<Self>,
        tool: &'static dyn Tool,
        call: &Call,
        attempt: &Arc<Attempt>,
        talk: &dyn Talk,
    ) -> Result<Reply, Fault> {
        let (_, extras) = self.registry().split(tool, call.arguments.clone())?;
        let given = self.given(call, &extras, attempt).await?;
        if let Given::Settled(reply) = given {
            return Ok(reply);
        }
        let (plan, extras) = self.plan(tool, call, attempt.held(), talk).await?;
        attempt.conceal(&plan);
        if matches!(given, Given::Nothing) {
            attempt.planned(&plan);
        }
        if !plan.steps.is_empty()
            && let Some(frozen) = self.frozen().await
        {
            return Err(frozen);
        }
        let secrets = plan.secrets.clone();
        let consent = match (self.policy_for(&call.caller).decide(&plan), given) {
            (Decision::Deny(fault), _) => return Err(fault),
            (_, Given::Yes(stored, by, lease)) => match stored.plan.difference(&plan) {
                None => Consent::Given(self.take_leased(*stored, &by, lease).await?),
                // A yes is a yes to what was shown.
                Some(difference) => {
                    self.no_conflict(&stored.plan).await?;
                    let asked = self.ask_again(plan, &difference, call, attempt).await;
                    Consent::Withheld(asked?)
                }
            },
            (Decision::Run, _) => Consent::Given(Frozen::fresh(plan, None)),
            (Decision::Ask, _) => self.consent(plan, call, &extras, attempt, talk).await?,
        };
        match consent {
            Consent::Given(mut frozen) => {
                // A plan from the store has lost its secrets; this call brought the same ones along.
                frozen.plan.secrets = secrets;
                self.guarded(*frozen, tool, call, &extras, attempt, talk)
                    .await
            }
            Consent::Withheld(reply) => Ok(reply),
        }
    }

    async fn plan(
        self: &Arc<Self>,
        tool: &'static dyn Tool,
        call: &Call,
        held: &Arc<Held>,
        talk: &dyn Talk,
    ) -> Result<(Plan, Extras), Fault> {
        let (arguments, extras) = self.registry().split(tool, call.arguments.clone())?;
        let context = self.context(&call.caller, &extras, held)?;
        match run(tool, arguments, context, talk).await? {
            Ran::Plan(plan) => Ok((*plan, extras)),
            Ran::Answer(_) => Err(Fault::refused("a changing tool gave no plan")),
        }
    }

    /// What a tool may see during this caller's call.
    fn context(
        self: &Arc<Self>,
        caller: &Caller,
        extras: &Extras,
        held: &Arc<Held>,
    ) -> Result<Context, Fault> {
        if self.clusters.is_empty() {
            return Err(Fault::refused("no cluster is configured")
                .hint("a person has to configure one (PROXMOX_HOST and a token, or the config file), or start oxmox with --demo"));
        }
        let looker = Arc::new(handle::Looker::new(self, &caller.name));
        let all = Context {
            claim: Claim::default(),
            clusters: self.clusters_for(caller).cloned().collect(),
            registry: self.registry_for(caller.bounds.scope).clone(),
            policy: self.policy_for(caller),
            begun: Some(looker.clone()),
            baselines: Some(looker),
            scripts: self.scripts.clone(),
            uploads: self.uploads.clone(),
            now: self.now(),
            held: held.clone(),
            news: None,
        };
        all.narrowed(extras)
    }

    /// The process is about to end: calls that wait are answered soon, with how things stand and how to ask later.
    pub fn hurry(&self) {
        self.hurry.cancel();
    }

    /// Waits for plans that are being applied, before the process ends. False: some were still running, and the audit
    /// trail shows them as open.
    pub async fn drain(&self, within: Duration) -> bool {
        self.running.close();
        tokio::time::timeout(within, self.running.wait())
            .await
            .is_ok()
    }

    /// The tools that are switched on.
    pub fn registry(&self) -> &Registry {
        self.registry_for(Scope::Full)
    }

    /// Those of them that are of any use to a caller who may do so much.
    pub fn registry_for(&self, scope: Scope) -> &Arc<Registry> {
        self.registries[scope as usize].get_or_init(|| {
            let names = self.clusters.iter().map(|cluster| cluster.name.clone());
            let registry = Registry::new(&self.toolsets, self.most, names.collect());
            Arc::new(registry.within(scope))
        })
    }

    /// What decides on this caller's plans.
    fn policy_for(&self, caller: &Caller) -> Arc<Policy> {
        let policy = self.policy();
        if caller.bounds == Bounds::default() {
            return policy;
        }
        Arc::new(policy.within(&caller.bounds))
    }

    /// The clusters that this caller reaches.
    pub fn clusters_for<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> impl Iterator<Item = &'a Arc<Cluster>> {
        let reached = |cluster: &&Arc<Cluster>| caller.bounds.reach_cluster(&cluster.name);
        self.clusters.iter().filter(reached)
    }

    /// The clusters, to read from.
    pub fn clusters(&self) -> &[Arc<Cluster>] {
        &self.clusters
    }

    /// What was counted so far.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The settings that decide.
    pub fn policy(&self) -> Arc<Policy> {
        let policy = self.policy.read();
        policy.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets other settings decide from now on. A mode that lets more happen than the one at the start is refused, since
    /// the tools for that are not offered.
    pub fn decide_by(&self, policy: Policy) -> Result<(), Fault> {
        if policy.mode.most() > self.most {
            return Err(Fault::refused(
                "the mode lets more happen than the one that oxmox was started in",
            )
            .hint("start it anew: clients have been offered the tools of read-only mode"));
        }
        let mut decides = self.policy.write().unwrap_or_else(PoisonError::into_inner);
        *decides = Arc::new(policy);
        Ok(())
    }

    /// The store, opened on first use.
    pub async fn store(&self) -> Result<&Store, Fault> {
        let open = async || {
            let opened = match &self.state {
                State::Dir(dir) => Store::open(dir),
                State::Shared(at, dir) => Store::shared(at, dir).await,
                State::Memory => Store::in_memory(),
            };
            opened.map(|store| store.copied_by(self.copyist.clone()))
        };
        self.store.get_or_try_init(open).await
    }

    fn now(&self) -> i64 {
        (self.clock)()
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
