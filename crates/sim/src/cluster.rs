//! One simulated cluster and what surrounds it: the clock that drives it, the faults on the way to it, and the log of
//! what was asked. [`Cluster::serve`] is the one entry for requests, with or without a socket.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use crate::auth;
use crate::call::Params;
use crate::clock::{Clock, Ticker};
use crate::control;
use crate::dispatch::{self, Handled};
use crate::fault::{Fault, Faults, Trouble};
use crate::http::render::{Format, render_error};
use crate::http::websocket::{self, Accepted};
use crate::http::{Request, Response};
use crate::log::Log;
use crate::retell::Retold;
use crate::world::World;
use crate::world::console::{Console, Screen};

/// How long PVE makes a client wait for a 401.
const UNAUTHORIZED_DELAY: Duration = Duration::from_secs(3);

/// A request that was answered, for tests that ask what a client really sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// `GET`, `POST`, ...
    pub method: String,
    /// The path below `/api2/json`.
    pub path: String,
    /// Query and body, without path captures.
    pub params: Params,
    /// The status of the answer, also when the connection was dropped instead.
    pub status: u16,
    /// The node that was asked.
    pub node: String,
    /// The API token that it came with, without its secret, right or not.
    pub token: Option<String>,
}

/// What becomes of a request.
#[derive(Debug)]
pub enum Outcome {
    /// It is answered, after a delay of real time.
    Answer {
        /// The answer.
        response: Response,
        /// How long to wait before sending it.
        delay: Duration,
    },
    /// It becomes a websocket to a console, after a delay of real time.
    Connect {
        /// The answer that says so.
        accepted: Accepted,
        /// The console.
        console: Box<Console>,
        /// How long to wait before.
        delay: Duration,
    },
    /// The connection is closed in the middle of this answer.
    BreakOff(Response),
    /// The connection is closed without an answer.
    HangUp,
}

/// A world, its clock, its faults and its request log.
#[derive(Debug)]
pub struct Cluster {
    /// The state.
    pub world: World,
    ticker: Ticker,
    faults: Faults,
    requests: Log<Logged>,
    arrivals: Log<String>,
    /// Somebody has used the control endpoint.
    steered: bool,
    slow_unauthorized: bool,
    changes: watch::Sender<()>,
}

impl Cluster {
    /// A cluster in this state.
    pub fn new(world: World, clock: Clock) -> Self {
        Self {
            world,
            ticker: Ticker::new(clock),
            faults: Faults::default(),
            requests: Log::default(),
            arrivals: Log::default(),
            steered: false,
            slow_unauthorized: false,
            changes: watch::Sender::new(()),
        }
    }

    /// Makes a 401 take three seconds of real time, as PVE does.
    pub fn slow_unauthorized(&mut self, slow: bool) {
        self.slow_unauthorized = slow;
    }

    /// Whether the node accepts connections.
    pub fn is_reachable(&self, node: &str) -> bool {
        self.world
            .nodes
            .get(node)
            .is_some_and(crate::world::node::Node::is_online)
    }

    /// Whether connections to the node's port are taken. With all nodes down, the first one's is left to whoever steers
    /// from outside: there is no other way to bring them back.
    pub(crate) fn takes_connections(&self, node: &str) -> bool {
        let nodes = &self.world.nodes;
        let is_first = || nodes.keys().next().is_some_and(|first| first == node);
        let all_down = || nodes.keys().all(|node| !self.is_reachable(node));
        self.is_reachable(node) || (self.steered && is_first() && all_down())
    }

    /// Tells when something may have changed, by changing itself.
    pub(crate) fn watch(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Says that something may have changed, to those who watch.
    pub(crate) fn touch(&self) {
        self.changes.send_replace(());
    }

    /// Time passes because somebody asks.
    pub(crate) fn tick(&mut self) {
        let step = self.ticker.on_request();
        self.world.advance(step);
    }

    /// Whether the clock moves although nobody asks anything.
    pub(crate) fn moves_on_its_own(&self) -> bool {
        self.ticker.moves_on_its_own()
    }

    /// Time that has passed without any request, for clocks that follow the machine's.
    pub(crate) fn idle(&mut self) {
        let step = self.ticker.on_idle();
        self.world.advance(step);
    }

    /// Takes a request and says what becomes of it.
    pub fn serve(&mut self, request: &Request) -> Outcome {
        let outcome = self.decide(request);
        self.touch();
        outcome
    }

    fn decide(&mut self, request: &Request) -> Outcome {
        if let Some(response) = control::answer(self, request) {
            self.steered = true;
            return at_once(response);
        }
        self.tick();
        if !self.is_reachable(&request.endpoint) {
            return Outcome::HangUp;
        }
        let path = below_api(request);
        self.arrivals.add(format!("{} {path}", request.method));
        match self.faults.take(request, &path) {
            Some(Trouble::DropBefore | Trouble::DropDuring) => Outcome::HangUp,
            Some(Trouble::DropAfter) => {
                self.carry_out(request);
                Outcome::HangUp
            }
            Some(Trouble::Refuse { status, reason }) => at_once(Response::bare(status, reason)),
            Some(Trouble::RefuseAfter { status, reason }) => {
                self.carry_out(request);
                at_once(Response::bare(status, reason))
            }
            Some(Trouble::CutAnswer) => Outcome::BreakOff(self.carry_out(request).0),
            Some(Trouble::Gibberish) => {
                let (response, _) = self.carry_out(request);
                at_once(response.without_its_end())
            }
            Some(Trouble::LoginPage) => at_once(Response::login_page()),
            Some(Trouble::Outage(node)) => {
                self.world.set_online(&node, false);
                if !self.is_reachable(&request.endpoint) {
                    return Outcome::HangUp;
                }
                self.carry_out_or_connect(request, Duration::ZERO)
            }
            Some(Trouble::Answer(data)) => at_once(self.answer_with(request, data)),
            Some(Trouble::Delay(delay)) => self.carry_out_or_connect(request, delay),
            Some(Trouble::Retell(retold)) => self.retell(request, &retold),
            None => self.carry_out_or_connect(request, Duration::ZERO),
        }
    }

    fn retell(&mut self, request: &Request, retold: &Retold) -> Outcome {
        match self.carry_out_or_connect(request, Duration::ZERO) {
            Outcome::Answer {
                mut response,
                delay,
            } => {
                response.body = retold.body(response.body);
                Outcome::Answer { response, delay }
            }
            other => other,
        }
    }

    /// Whether the connection of this request breaks while its body comes.
    pub(crate) fn cuts_off(&mut self, head: &Request) -> bool {
        self.faults.cuts_off(head, &below_api(head))
    }

    /// Answers a request, or connects it to a console if that is what it asks for.
    fn carry_out_or_connect(&mut self, request: &Request, delay: Duration) -> Outcome {
        let (response, port) = self.carry_out(request);
        let slow = self.slow_unauthorized && response.status == 401 && delay.is_zero();
        let delay = if slow { UNAUTHORIZED_DELAY } else { delay };
        let accepted = match websocket::accept(request) {
            Ok(Some(accepted)) if response.status == 200 => accepted,
            Ok(_) => return Outcome::Answer { response, delay },
            Err(error) => {
                let response = render_error(&error, Format::Json);
                return Outcome::Answer { response, delay };
            }
        };
        let node = &request.endpoint;
        match port.and_then(|port| self.world.claim_console(node, port)) {
            // The proxy goes on to the node that has the guest, by SSH.
            Some(console) if !self.leads_somewhere(&console) => {
                self.world.end_task(&console.upid, None, &console.failure);
                Outcome::HangUp
            }
            Some(console) => {
                if let Some(logged) = self.requests.last_mut() {
                    logged.status = 101;
                }
                Outcome::Connect {
                    accepted,
                    console: Box::new(console),
                    delay,
                }
            }
            // PVE gives up after five seconds.
            None => Outcome::HangUp,
        }
    }

    /// Whether what is behind a console is on a node that is up.
    fn leads_somewhere(&self, console: &Console) -> bool {
        match &console.screen {
            Screen::Display(vmid) | Screen::Container(vmid) | Screen::Serial(vmid, _) => {
                let guest = self.world.guests.get(vmid);
                guest.is_none_or(|guest| self.is_reachable(&guest.node))
            }
            Screen::Shell(node) => self.is_reachable(node),
        }
    }

    fn carry_out(&mut self, request: &Request) -> (Response, Option<u16>) {
        let handled = dispatch::handle(&mut self.world, request);
        let console = handled.console;
        (self.log(request, handled), console)
    }

    fn answer_with(&mut self, request: &Request, data: Value) -> Response {
        let handled = dispatch::answer_with(request, data);
        self.log(request, handled)
    }

    fn log(&mut self, request: &Request, handled: Handled) -> Response {
        self.requests.add(Logged {
            method: request.method.clone(),
            path: handled.path,
            params: handled.params,
            status: handled.response.status,
            node: request.endpoint.clone(),
            token: auth::named_token(request),
        });
        handled.response
    }

    /// Adds a fault.
    pub fn add_fault(&mut self, fault: Fault) {
        match fault {
            Fault::Request(fault) => self.faults.add(fault),
            Fault::Task(fault) => self.world.tasks.faults.push(fault),
        }
    }

    /// Removes all faults.
    pub fn clear_faults(&mut self) {
        self.faults.clear();
        self.world.tasks.faults.clear();
    }

    /// What was asked so far.
    pub fn requests(&self) -> &[Logged] {
        self.requests.entries()
    }

    /// What came so far, whatever became of it: `POST /pools`, ...
    pub fn arrivals(&self) -> &[String] {
        self.arrivals.entries()
    }

    /// Forgets what was asked so far.
    pub fn clear_requests(&mut self) {
        self.requests.clear();
        self.arrivals.clear();
    }
}

fn at_once(response: Response) -> Outcome {
    Outcome::Answer {
        response,
        delay: Duration::ZERO,
    }
}

/// The path that faults are matched with.
fn below_api(request: &Request) -> String {
    let path = request.path();
    let below = path
        .strip_prefix("/api2/json")
        .or_else(|| path.strip_prefix("/api2/extjs"));
    below.map(str::to_owned).unwrap_or(path)
}
