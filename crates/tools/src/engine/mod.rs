//! The one place that sends changes. Read [`Engine::call`] first: it is the life of every call.
//!
//! What exists here exists once for all tools: policy, confirmation, guards, audit, waiting, reading back.
//! The Writers are in here and nowhere else.

mod agent;
mod apply;
mod attribute;
mod call;
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
mod lacking;
mod lease;
mod look;
mod press;
mod question;
mod reach;
mod read_back;
mod reconcile;
mod record;
mod recover;
mod report;
mod seal;
mod secret_texts;
mod send;
mod setup;
mod step;
mod talk;
mod tell;
mod terminal;
mod worker;

pub use call::{Call, Reply};
pub use cancel::Cancelled;
pub use decide::Waiting;
pub use handle::Handle;
pub use lease::{lease_with, leased_guest};
pub use question::{Answered, Question};
pub use recover::Closed;
pub use setup::{Clock, Setup, State};
pub use talk::{Asked, Progress, Silent, Talk};

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock, RwLock};
use std::time::Instant;

use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::caller::Caller;
use crate::claim::Claim;
use crate::context::{Cluster, Context};
use crate::echo::LongTexts;
use crate::fault::Fault;
use crate::hold::{Held, Holds};
use crate::meter::Meter;
use crate::plan::Plan;
use crate::policy::{Decision, Policy};
use crate::registry::{Choices, Extras, Registry};
use crate::rights::Rights;
use crate::spec::{Risk, Toolset};
use crate::store::{Copyist, Store};
use crate::tool::{Ran, Rendered, Tool};
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
    choices: Choices,
    /// One for each thing that a caller may do at worst, made when it is first needed.
    registries: Arc<[OnceLock<Arc<Registry>>; 3]>,
    /// All clusters that are configured, whichever of them this engine reaches: what is offered is the same for all.
    names: Arc<[String]>,
    /// Whether it acts for somebody by tokens of their own.
    is_on_behalf: bool,
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
    /// What the plans that wait for approval would type in secret.
    secret_texts: Arc<secret_texts::SecretTexts>,
    /// Where secrets go that PVE tells, if nothing else is kept.
    scratch: Arc<OnceLock<confide::Scratch>>,
    /// What the tokens of the clusters may do, as far as it is known.
    rights: OnceLock<Rights>,
}

impl Engine {
    /// The life of a call: find the tool, parse, look or plan, decide, confirm, guard, record, send, read back.
    pub async fn call(self: &Arc<Self>, call: Call, talk: &dyn Talk) -> Result<Reply, Fault> {
        let mut call = call;
        let registry = self.registry_for(call.caller.bounds.scope);
        let tool = registry.meant(&mut call.tool, &mut call.arguments)?;
        let begun = Instant::now();
        let long = LongTexts::of(&call.arguments);
        let reply = self.answer(tool, call, &long, talk).await;
        let reply = reply.map_err(|fault| long.clip(fault).harmless());
        let failed = reply.as_ref().err().map(|fault| fault.kind);
        self.meter.call(tool.spec().name, begun.elapsed(), failed);
        reply
    }

    async fn answer(
        self: &Arc<Self>,
        tool: &'static dyn Tool,
        call: Call,
        long: &LongTexts,
        talk: &dyn Talk,
    ) -> Result<Reply, Fault> {
        if tool.spec().risk == Risk::Read {
            return self.read(tool, call, long, talk).await.map(Reply::Done);
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
            Err(fault) => Err(attempt.refused(long.clip(fault)).await),
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
            let is_offered = self.choices.allow(tool.spec().name);
            let is_meant = tool.spec().name == call.tool && is_offered;
            is_meant && tool.spec().risk == Risk::Read && !tool.relays()
        };
        match crate::registry::all().find(reads) {
            Some(tool) => {
                let long = LongTexts::of(&call.arguments);
                self.read(tool, call, &long, talk).await
            }
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
        long: &LongTexts,
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
        let seen = looking.await.map_err(|fault| long.clip(fault));
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
                None => Consent::Given(self.agreed(*stored, &by, lease)?),
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
            unlisted: self.rights().unlisted(),
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
}
