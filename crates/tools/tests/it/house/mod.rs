//! A simulator and an engine of one's own, on free ports, for every test.

mod files;
mod people;
mod ways;

pub(crate) use files::shelf;
pub(crate) use people::{Meanwhile, Nobody, Person};
pub(crate) use ways::{Ways, closed_port};

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use pve::{Credentials, Fingerprint, Host, Reader, Settings};
use serde_json::{Map, Value};
use sim::{Sim, World};
use tools::claim::Claim;
use tools::context::Cluster;
use tools::engine::{Call, Engine, Reply, Setup, State, Talk};
use tools::fault::Fault;
use tools::policy::{Mode, Policy};
use tools::spec::Toolset;
use tools::store::{AuditEntry, Link, PlanState};
use tools::tool::Rendered;

use files::{scripts, uploads};

/// Who calls in these tests.
pub(crate) const CALLER: &str = "test";

/// A whole installation.
pub(crate) struct House {
    pub(crate) sim: Sim,
    pub(crate) engine: Arc<Engine>,
    clock: Arc<AtomicI64>,
}

/// What a cluster is to an engine, behind this Reader.
pub(crate) type Made = Box<dyn Fn(Reader) -> Cluster>;

/// How a house is furnished.
pub(crate) struct Furnish {
    pub(crate) world: World,
    pub(crate) policy: Policy,
    /// user, token name, secret
    pub(crate) token: (String, String, String),
    /// Where the engine keeps what outlives a call.
    pub(crate) state: State,
    /// How time passes for the simulator.
    pub(crate) clock: sim::Clock,
}

impl Default for Furnish {
    fn default() -> Self {
        let (user, name, secret) = sim::worlds::ROOT_TOKEN;
        Self {
            world: sim::worlds::homelab(),
            policy: Policy::default(),
            token: (user.to_owned(), name.to_owned(), secret.to_owned()),
            state: State::Memory,
            clock: sim::Clock::default(),
        }
    }
}

impl House {
    /// The demo world, in the default mode `ask`.
    pub(crate) async fn new() -> Self {
        Self::furnished(Furnish::default()).await
    }

    /// The demo world in another mode.
    pub(crate) async fn in_mode(mode: Mode) -> Self {
        Self::furnished(Furnish {
            policy: Policy {
                mode,
                ..Policy::default()
            },
            ..Furnish::default()
        })
        .await
    }

    /// The demo world for somebody who logs in with a password.
    pub(crate) async fn logged_in(mode: Mode) -> Self {
        Self::logged_in_under(Policy {
            mode,
            ..Policy::default()
        })
        .await
    }

    /// The same under this policy.
    pub(crate) async fn logged_in_under(policy: Policy) -> Self {
        let house = Self::in_mode(policy.mode).await;
        let engine = house.with_password("root@pam", sim::worlds::ROOT_PASSWORD, policy);
        Self { engine, ..house }
    }

    pub(crate) async fn furnished(furnish: Furnish) -> Self {
        let builder = Sim::builder(furnish.world).clock(furnish.clock);
        let sim = builder.start().await.unwrap();
        let clock = Arc::new(AtomicI64::new(1_800_000_000));
        let engine = engine(&sim, &furnish.token, furnish.policy, furnish.state, &clock);
        Self { sim, engine, clock }
    }

    /// The demo world, with these toolsets alone and under this policy.
    pub(crate) async fn offering(toolsets: &[Toolset], policy: Policy) -> Self {
        let house = Self::new().await;
        let engine = house.engine_offering(toolsets, policy);
        Self { engine, ..house }
    }

    /// A second engine on the same cluster, with these toolsets alone.
    pub(crate) fn engine_offering(&self, toolsets: &[Toolset], policy: Policy) -> Arc<Engine> {
        let (reader, writer) = pve::connect(self.settings()).unwrap();
        let setup = Setup {
            toolsets: toolsets.to_vec(),
            ..setup(policy, State::Memory, &self.clock)
        };
        Engine::new(vec![(Cluster::new("homelab", reader), writer)], setup)
    }

    /// A second engine on the same cluster, with another token.
    pub(crate) fn with_token(
        &self,
        token: &(String, String, String),
        policy: Policy,
    ) -> Arc<Engine> {
        engine(&self.sim, token, policy, State::Memory, &self.clock)
    }

    /// A second engine as another process would have it: on the same cluster and in this state directory.
    pub(crate) fn beside(&self, dir: &Path) -> Arc<Engine> {
        self.replica(State::Dir(dir.to_owned()))
    }

    /// The same with this state.
    pub(crate) fn replica(&self, state: State) -> Arc<Engine> {
        let Furnish { token, policy, .. } = Furnish::default();
        engine(&self.sim, &token, policy, state, &self.clock)
    }

    /// An engine for somebody who brings this token along.
    pub(crate) fn on_behalf(&self, engine: &Engine, token: (&str, &str, &str)) -> Arc<Engine> {
        let credentials = Credentials::Token {
            user: token.0.to_owned(),
            name: token.1.to_owned(),
            secret: token.2.to_owned().into(),
        };
        let (reader, writer) = pve::connect(settings(&self.sim, credentials)).unwrap();
        engine.on_behalf(vec![(Cluster::new("homelab", reader), writer)])
    }

    /// A second engine that logs in with a user's password, as a person does.
    pub(crate) fn with_password(&self, user: &str, password: &str, policy: Policy) -> Arc<Engine> {
        let credentials = Credentials::Password {
            user: user.to_owned(),
            password: password.to_owned().into(),
        };
        let sims = [("homelab", &self.sim)];
        logged_in(&sims, &credentials, (policy, State::Memory), &self.clock)
    }

    /// A second engine that logs in with a password and keeps its state in this directory.
    pub(crate) fn kept_in(&self, dir: &Path, policy: Policy) -> Arc<Engine> {
        let credentials = Credentials::Password {
            user: "root@pam".to_owned(),
            password: sim::worlds::ROOT_PASSWORD.into(),
        };
        let sims = [("homelab", &self.sim)];
        let state = State::Dir(dir.to_owned());
        logged_in(&sims, &credentials, (policy, state), &self.clock)
    }

    /// A second engine that has this cluster, and another beside it.
    pub(crate) fn with_cluster(&self, name: &str, other: &Sim) -> Arc<Engine> {
        let (user, token, secret) = sim::worlds::ROOT_TOKEN;
        let credentials = Credentials::Token {
            user: user.to_owned(),
            name: token.to_owned(),
            secret: secret.into(),
        };
        let sims = [("homelab", &self.sim), (name, other)];
        let kept = (Policy::default(), State::Memory);
        logged_in(&sims, &credentials, kept, &self.clock)
    }

    /// The way to its cluster, as root.
    pub(crate) fn settings(&self) -> Settings {
        let (user, token, secret) = sim::worlds::ROOT_TOKEN;
        let credentials = Credentials::Token {
            user: user.to_owned(),
            name: token.to_owned(),
            secret: secret.into(),
        };
        settings(&self.sim, credentials)
    }

    /// A second engine on these clusters, each behind the way to it.
    pub(crate) fn on(&self, clusters: Vec<(Settings, Made)>, policy: Policy) -> Arc<Engine> {
        let connect = |(settings, cluster): (Settings, Made)| {
            let (reader, writer) = pve::connect(settings).unwrap();
            (cluster(reader), writer)
        };
        let setup = setup(policy, State::Memory, &self.clock);
        Engine::new(clusters.into_iter().map(connect).collect(), setup)
    }

    /// Lets time pass for the engine.
    pub(crate) fn later(&self, seconds: i64) {
        self.clock.fetch_add(seconds, Ordering::Relaxed);
    }

    /// A call with nobody to ask.
    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> Result<Rendered, Fault> {
        self.ask(tool, arguments, &Nobody).await
    }

    /// A call with this person at the other end.
    pub(crate) async fn ask(
        &self,
        tool: &str,
        arguments: &str,
        talk: &dyn Talk,
    ) -> Result<Rendered, Fault> {
        done(self.engine.call(call(tool, arguments), talk).await)
    }

    /// A call by a token that holds just these privileges on this path.
    pub(crate) async fn call_with(
        &self,
        (path, privileges): (&str, &[&str]),
        tool: &str,
        arguments: &str,
    ) -> Result<Rendered, Fault> {
        self.sim.world(|world| {
            world.add_token("narrow@pve!t", "secret");
            world.grant("narrow@pve", path, privileges);
        });
        let token = ("narrow@pve".to_owned(), "t".to_owned(), "secret".to_owned());
        let engine = self.with_token(&token, Policy::default());
        done(engine.call(call(tool, arguments), &Nobody).await)
    }

    /// A call that a person agrees to.
    pub(crate) async fn agreed(&self, tool: &str, arguments: &str) -> Result<Rendered, Fault> {
        self.ask(tool, arguments, &Person::saying_yes()).await
    }

    /// What a change would do.
    pub(crate) async fn preview(&self, tool: &str, arguments: &str) -> Result<Rendered, Fault> {
        let mut call = call(tool, arguments);
        call.preview = true;
        done(self.engine.call(call, &Nobody).await)
    }

    /// Somebody changes a guest's configuration behind our back.
    pub(crate) fn set(&self, vmid: u32, key: &str, value: &str) {
        self.sim.world(|world| {
            let guest = world.guests.get_mut(&vmid).unwrap();
            guest.config.set(key, value);
        });
    }

    /// What a guest's configuration holds.
    pub(crate) fn config(&self, vmid: u32, key: &str) -> Option<String> {
        self.sim
            .world(|world| world.guests[&vmid].config.get(key).map(str::to_owned))
    }

    /// Whether a guest runs.
    pub(crate) fn runs(&self, vmid: u32) -> bool {
        self.sim.world(|world| world.guests[&vmid].is_running())
    }

    /// What a tool sees here.
    pub(crate) fn context(&self) -> tools::context::Context {
        tools::context::Context {
            claim: Claim::default(),
            clusters: self.engine.clusters().to_vec(),
            unlisted: Arc::default(),
            registry: Arc::new(tools::registry::Registry::new(
                Toolset::ALL,
                tools::spec::Risk::Grant,
                Vec::new(),
            )),
            policy: Arc::new(Policy {
                mode: Mode::Trusted,
                ..Policy::default()
            }),
            begun: None,
            baselines: None,
            scripts: Some(scripts().into()),
            uploads: Arc::new(uploads()),
            now: self.clock.load(Ordering::Relaxed),
            held: Arc::default(),
            news: None,
        }
    }

    /// How many bytes were typed on terminals.
    pub(crate) fn typed(&self) -> usize {
        self.sim.world(|world| {
            let guests = world.guests.values();
            guests.map(|guest| guest.terminals.typed).sum()
        })
    }

    /// What the simulator was asked to change. Opening a console changes nothing.
    pub(crate) fn writes(&self) -> Vec<String> {
        let requests = self.sim.requests();
        let opens_console =
            |path: &str| path.ends_with("/vncproxy") || path.ends_with("/termproxy");
        let writes = requests
            .iter()
            .filter(|request| request.method != "GET" && !opens_console(&request.path));
        writes
            .map(|request| format!("{} {}", request.method, request.path))
            .collect()
    }

    /// The audit trail.
    pub(crate) async fn trail(&self) -> Vec<Link> {
        let store = self.engine.store().await.unwrap();
        store.audit_trail(1000).await.unwrap()
    }

    /// The same as (opened, closed results).
    pub(crate) async fn audit(&self) -> (usize, Vec<String>) {
        let mut opened = 0;
        let mut closed = Vec::new();
        for link in self.trail().await {
            match link.entry {
                AuditEntry::Opened { .. } => opened += 1,
                AuditEntry::Closed { result, .. } => closed.push(result),
                AuditEntry::Decided { .. } => {}
            }
        }
        (opened, closed)
    }

    /// A person at another terminal: `oxmox approve ID`.
    pub(crate) async fn approve(&self, id: &str) {
        let store = self.engine.store().await.unwrap();
        let stored = store.plan(id).await.unwrap().expect("the plan is stored");
        assert_eq!(stored.state, PlanState::Waiting);
        assert!(
            store
                .decide_plan(&stored, true, "person", self.clock.load(Ordering::Relaxed))
                .await
                .unwrap()
        );
    }
}

fn engine(
    sim: &Sim,
    token: &(String, String, String),
    policy: Policy,
    state: State,
    clock: &Arc<AtomicI64>,
) -> Arc<Engine> {
    let credentials = Credentials::Token {
        user: token.0.clone(),
        name: token.1.clone(),
        secret: token.2.clone().into(),
    };
    logged_in(&[("homelab", sim)], &credentials, (policy, state), clock)
}

/// An engine on these clusters, all with the same way to log in.
fn logged_in(
    sims: &[(&str, &Sim)],
    credentials: &Credentials,
    (policy, state): (Policy, State),
    clock: &Arc<AtomicI64>,
) -> Arc<Engine> {
    let cluster = |(name, sim): &(&str, &Sim)| {
        let (reader, writer) = pve::connect(settings(sim, credentials.clone())).unwrap();
        (Cluster::new(name, reader), writer)
    };
    Engine::new(
        sims.iter().map(cluster).collect(),
        setup(policy, state, clock),
    )
}

fn setup(policy: Policy, state: State, clock: &Arc<AtomicI64>) -> Setup {
    let clock = clock.clone();
    Setup {
        toolsets: Toolset::ALL.to_vec(),
        choices: tools::registry::Choices::default(),
        policy,
        state,
        clock: Arc::new(move || clock.load(Ordering::Relaxed)),
        uploads: uploads(),
        approve: "oxmox approve".to_owned(),
        scripts: Some(scripts()),
        copyist: None,
    }
}

fn settings(sim: &Sim, credentials: Credentials) -> Settings {
    let pin: Fingerprint = sim.fingerprint().parse().unwrap();
    let host = Host {
        name: sim.addr().ip().to_string(),
        port: sim.addr().port(),
        pin: Some(pin),
    };
    let mut settings = Settings::new(vec![host], credentials);
    settings.timeouts.task_poll = Duration::from_millis(1);
    settings.timeouts.retry = Duration::from_millis(20);
    settings
}

/// A call from the test's caller.
pub(crate) fn call(tool: &str, arguments: &str) -> Call {
    Call::new(tool, object(arguments), CALLER)
}

/// JSON text as an object.
pub(crate) fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// The answer of a call that does not need a second one.
pub(crate) fn done(reply: Result<Reply, Fault>) -> Result<Rendered, Fault> {
    match reply? {
        Reply::Done(answer) | Reply::Running(answer, _) => Ok(answer),
        Reply::Ask(question) => panic!("a question: {}", question.outcome.summary),
    }
}
